//! Causes of pauses that `watch` itself, a debugger or a freezer makes: none is the machine.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, PipeReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use super::folder::Folder;
use crate::c_compiler::{LIBRARY, compile};
use crate::program::program;
use crate::skipping::skipped;

/// A disk that takes 250 ms for each write and each sync. Makes the file $SLOW_WRITES.
const SLOW_DISK: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static void be_slow(int fd) {
    struct stat data;
    if (fstat(fd, &data) || !S_ISREG(data.st_mode)) return;
    close(open(getenv("SLOW_WRITES"), O_CREAT | O_WRONLY, 0600));
    usleep(250000);
}
ssize_t write(int fd, const void *bytes, size_t length) { be_slow(fd); return syscall(SYS_write, fd, bytes, length); }
int fsync(int fd) { be_slow(fd); return syscall(SYS_fsync, fd); }
int fdatasync(int fd) { be_slow(fd); return syscall(SYS_fdatasync, fd); }
"#;

/// A debugger that stops all threads of a process for 400 ms, without a signal. Ends with status 77
/// where it may not.
const DEBUGGER: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **args) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/task", args[1]);
    DIR *folder = opendir(path);
    int threads[64], n = 0;
    for (struct dirent *entry; folder && n < 64 && (entry = readdir(folder));)
        if (atoi(entry->d_name)) threads[n++] = atoi(entry->d_name);
    for (int i = 0; i < n; i++) {
        if (ptrace(PTRACE_SEIZE, threads[i], 0, 0)) return 77;
        ptrace(PTRACE_INTERRUPT, threads[i], 0, 0);
        waitpid(threads[i], 0, __WALL);
    }
    usleep(400000);
    for (int i = 0; i < n; i++) ptrace(PTRACE_DETACH, threads[i], 0, 0);
    return n ? 0 : 1;
}
"#;

/// A kernel's clock that adjtime slews: 5 s after the first read by 500 ppm for 3 s, and 5 s after
/// that by -500 ppm for 3 s. Makes the file $SLEWED at the first read.
const SLEWED: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static long long read_ns(clockid_t clock) {
    struct timespec t;
    syscall(SYS_clock_gettime, clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static long long within(long long ns, long long from) {
    ns -= from;
    return ns < 0 ? 0 : ns > 3000000000LL ? 3000000000LL : ns;
}
static long long began, offsets[16];
__attribute__((constructor)) static void begin(void) {
    began = read_ns(CLOCK_MONOTONIC_RAW);
    for (clockid_t clock = 0; clock < 16; clock++) offsets[clock] = read_ns(clock) - began;
}
int clock_gettime(clockid_t clock, struct timespec *t) {
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME && clock != CLOCK_REALTIME)
        return syscall(SYS_clock_gettime, clock, t);
    static int is_known;
    if (!is_known++) close(open(getenv("SLEWED"), O_CREAT | O_WRONLY, 0600));
    long long now = read_ns(CLOCK_MONOTONIC_RAW), passed = now - began;
    now += offsets[clock] + within(passed, 5000000000LL) / 2000 - within(passed, 13000000000LL) / 2000;
    t->tv_sec = now / 1000000000;
    t->tv_nsec = now % 1000000000;
    return 0;
}
"#;

/// Compiles a C source in the folder. Returns its path; `None` without a compiler.
fn compiled(folder: &Folder, source: &str, flags: &[&str]) -> Option<String> {
    let from = folder.file("source.c");
    fs::write(&from, source).unwrap();
    compile(&from, folder.arg("compiled"), flags)
}

/// A watch that writes to a file of the system, such as a pipe.
struct Watch {
    child: Child,
    lines: BufReader<File>,
}

impl Watch {
    /// Starts a watch, and waits until it begins.
    fn start(stdout: OwnedFd, reader: OwnedFd, more: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = Command::new(program());
        command
            .args(["watch", "1h", "--pause", "100ms", "--format", "json"])
            .args(more)
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(stdout);
        let child = command.spawn().unwrap();
        // The command holds its own end of the pipe.
        drop(command);
        let lines = BufReader::new(File::from(reader));
        let mut watch = Self { child, lines };
        assert_eq!(watch.next_line()["line"], "begin");
        watch
    }

    /// Starts a watch that writes to a pipe.
    fn into_pipe(more: &[&str], env: &[(&str, &str)]) -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        Self::start(writer.into(), reader.into(), more, env)
    }

    /// The next line as JSON; the test's own lines have blanks only.
    fn next_line(&mut self) -> Value {
        loop {
            let mut text = String::new();
            let length = self.lines.read_line(&mut text).unwrap();
            assert!(length > 0, "the watch has ended");
            if !text.trim().is_empty() {
                let line = serde_json::from_str(&text);
                return line.unwrap_or_else(|error| panic!("{error}: {text}"));
            }
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops the process for 400 ms.
    fn stop(&self) {
        self.signal(Signal::STOP);
        sleep(Duration::from_millis(400));
        self.signal(Signal::CONT);
    }

    /// Starts a watch in a control group, together with a shell for each CPU that uses all CPU time
    /// it gets. The kernel stops a group on each CPU by itself, when its part of the quota there is
    /// used up: a watch that has a CPU alone is stopped once in minutes.
    fn start_in_group(procs: &str) -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        // The number of CPUs comes first: `nproc` counts those of the quota.
        let script = r#"cpus=$(nproc)
            echo $$ > "$1"
            for cpu in $(seq "$cpus"); do
                (trap '' INT; while kill -0 $$; do :; done) > /dev/null 2>&1 &
            done
            exec "$2" watch 1h --pause 20ms --format json"#;
        let mut command = Command::new("sh");
        command
            .args(["-c", script, "sh", procs, program()])
            .stdin(Stdio::null())
            .stdout(writer);
        let child = command.spawn().unwrap();
        drop(command);
        let mut watch = Self {
            child,
            lines: BufReader::new(File::from(OwnedFd::from(reader))),
        };
        assert_eq!(watch.next_line()["line"], "begin");
        watch
    }

    /// Ends the watch. Returns its events.
    fn end(mut self) -> Vec<Value> {
        self.signal(Signal::INT);
        let mut events = Vec::new();
        loop {
            let line = self.next_line();
            if line["line"] == "end" {
                break;
            }
            events.push(line);
        }
        assert_eq!(self.child.wait().unwrap().code(), Some(130));
        events
    }
}

/// The first event of a watch that lasted for 400 ms or more.
fn first_stop(events: &[Value]) -> &Value {
    let stop = events
        .iter()
        .find(|event| event["size"]["high"].as_f64() >= Some(0.4));
    stop.unwrap_or_else(|| panic!("a stop of 400 ms is missing: {events:#?}"))
}

/// Lets a watch write an event while its output is blocked for more than a second.
#[track_caller]
fn check_blocked_output(watch: Watch, unblock: impl FnOnce()) {
    watch.stop();
    sleep(Duration::from_millis(1_200));
    unblock();
    // The next samples show whether one was late.
    sleep(Duration::from_millis(500));
    let events = watch.end();
    assert_eq!(first_stop(&events)["cause"], "process", "{events:#?}");
    // The first second of the block ended before the reader came.
    let blocked = events
        .iter()
        .find(|event| event["size"]["low"].as_f64() >= Some(0.9));
    assert!(
        blocked.is_none(),
        "it paused while it was blocked: {blocked:#?}"
    );
}

#[test]
fn slow_disk_makes_no_pauses() {
    let folder = Folder::new();
    let Some(library) = compiled(&folder, SLOW_DISK, LIBRARY) else {
        return;
    };
    let save = format!("--save={}", folder.arg("saved.jsonl"));
    let marker = folder.arg("slow");
    let env = [("LD_PRELOAD", &*library), ("SLOW_WRITES", &marker)];
    let watch = Watch::into_pipe(&[&save], &env);
    watch.stop();
    sleep(Duration::from_secs(3));
    let events = watch.end();
    if !folder.file("slow").exists() {
        return skipped(
            "the program writes without the C library",
            "test a program that is not static",
        );
    }
    assert_eq!(first_stop(&events)["cause"], "process", "{events:#?}");
    // A pause at each write would be ten or more. The host may pause the machine once or twice.
    let is_unexplained =
        |event: &&Value| event["cause"] == "machine" || event["cause"] == "unknown";
    let pauses = events.iter().filter(is_unexplained).count();
    assert!(pauses < 4, "{events:#?}");
    let saved = fs::read_to_string(folder.file("saved.jsonl")).unwrap();
    let kept = saved.matches("\"line\":\"event\"").count();
    assert_eq!(kept, events.len(), "{saved}");
}

/// A watch whose output is a full pipe, and a reader of the pipe.
fn into_full_pipe() -> (Watch, PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    // Another open file, so that only the writes of the test do not wait.
    let mut filler = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(format!("/proc/self/fd/{}", writer.as_raw_fd()))
        .unwrap();
    let unread = reader.try_clone().unwrap();
    let watch = Watch::start(writer.into(), reader.into(), &[], &[]);
    let full = loop {
        if let Err(error) = filler.write(&[b'\n'; 512]) {
            break error;
        }
    };
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
    (watch, unread)
}

#[test]
fn unread_pipe_is_no_pause() {
    let (watch, mut unread) = into_full_pipe();
    check_blocked_output(watch, move || {
        unread.read_exact(&mut [0; 4096]).unwrap();
    });
}

#[test]
fn interrupted_watch_ends_though_unread() {
    let (mut watch, _unread) = into_full_pipe();
    watch.stop();
    watch.signal(Signal::INT);
    let status = watch.child.wait().unwrap();
    assert_eq!(status.signal(), Some(Signal::INT.as_raw()), "{status:?}");
}

#[test]
fn stopped_terminal_is_no_pause() {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NOCTTY)
        .open(name.to_str().unwrap())
        .unwrap();
    let mut keyboard = File::from(master.try_clone().unwrap());
    let watch = Watch::start(terminal.into(), master, &[], &[]);
    keyboard.write_all(b"\x13").unwrap();
    check_blocked_output(watch, move || keyboard.write_all(b"\x11").unwrap());
}

/// Stops a watch in its first second by `stop`, which sends no signal. Neither the machine nor its
/// host is the cause.
#[track_caller]
fn check_early_stop(stop: impl FnOnce(&Watch) -> bool) {
    let watch = Watch::into_pipe(&[], &[]);
    // The watch has taken its first samples, and does not know the usual number of interrupts.
    sleep(Duration::from_millis(300));
    if stop(&watch) {
        let events = watch.end();
        let cause = first_stop(&events)["cause"].as_str().unwrap();
        assert!(matches!(cause, "unknown" | "process"), "{events:#?}");
    } else {
        watch.end();
    }
}

#[test]
fn debugger_is_not_machine() {
    let folder = Folder::new();
    let Some(debugger) = compiled(&folder, DEBUGGER, &[]) else {
        return;
    };
    check_early_stop(|watch| {
        let id = watch.child.id().to_string();
        let status = Command::new(&debugger).arg(id).status().unwrap();
        if status.code() == Some(77) {
            skipped(
                "no process may be traced",
                "allow ptrace (CAP_SYS_PTRACE, or kernel.yama.ptrace_scope=0)",
            );
            return false;
        }
        assert!(status.success(), "{status:?}");
        true
    });
}

/// Freezes a process for 400 ms in a new control group of this folder.
fn freeze(folder: &str, [file, on, off]: [&str; 3]) {
    let group = format!("{folder}/timermeter-test-{}", std::process::id());
    let write = |name: &str, text: &str| fs::write(format!("{group}/{name}"), text);
    check_early_stop(|watch| {
        let id = watch.child.id().to_string();
        let frozen = fs::create_dir(&group)
            .and_then(|()| write("cgroup.procs", &id))
            .and_then(|()| write(file, on));
        if let Err(error) = &frozen {
            skipped(
                format!("no control group in {folder} can be frozen: {error}"),
                "run it as root",
            );
        } else {
            sleep(Duration::from_millis(400));
            write(file, off).unwrap();
        }
        frozen.is_ok()
    });
    // The watch has ended, so the group is empty.
    let _ = fs::remove_dir(group);
}

/// The folder at which control groups of a kind are mounted with an option.
fn group_mount<'a>(mounts: &'a str, kind: &str, option: &str) -> Option<&'a str> {
    mounts.lines().find_map(|line| {
        let (place, source) = line.split_once(" - ")?;
        let mut options = source.split([' ', ',']);
        let is_searched = source.split(' ').next() == Some(kind)
            && (option.is_empty() || options.any(|found| found == option));
        is_searched.then(|| place.split(' ').nth(4))?
    })
}

#[test]
fn freezer_is_not_machine() {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mut freezers = 0;
    for (kind, option, files) in [
        ("cgroup2", "", ["cgroup.freeze", "1", "0"]),
        ("cgroup", "freezer", ["freezer.state", "FROZEN", "THAWED"]),
    ] {
        if let Some(folder) = group_mount(&mounts, kind, option) {
            freeze(folder, files);
            freezers += 1;
        }
    }
    if freezers == 0 {
        skipped("no control groups are mounted", "mount /sys/fs/cgroup");
    }
}

/// Watches in a control group that may use half of a CPU and always has used it up.
#[test]
fn quota_is_the_cause() {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let v1 = [
        ("cpu.cfs_period_us", "200000"),
        ("cpu.cfs_quota_us", "100000"),
    ];
    let v2 = [("cpu.max", "100000 200000")];
    let found = group_mount(&mounts, "cgroup", "cpu").map(|folder| (folder, &v1[..]));
    let found = found.or_else(|| Some((group_mount(&mounts, "cgroup2", "")?, &v2[..])));
    let Some((folder, files)) = found else {
        return skipped("no control groups are mounted", "mount /sys/fs/cgroup");
    };
    let group = format!("{folder}/timermeter-quota-{}", std::process::id());
    let made = fs::create_dir(&group).and_then(|()| {
        let mut files = files.iter();
        files.try_for_each(|(name, text)| fs::write(format!("{group}/{name}"), text))
    });
    if let Err(error) = made {
        skipped(
            format!("no control group in {folder} can have a CPU quota: {error}"),
            "run it as root, with the controller cpu enabled",
        );
    } else {
        let mut watch = Watch::start_in_group(&format!("{group}/cgroup.procs"));
        let mut events = Vec::new();
        while events.len() < 30 {
            events.push(watch.next_line());
        }
        watch.end();
        let count = |cause: &str| {
            events
                .iter()
                .filter(|event| event["cause"] == cause)
                .count()
        };
        assert!(count("quota") > 0, "{events:#?}");
        // The host may pause the machine, too.
        assert!(count("machine") < 3, "{events:#?}");
    }
    // The busy shells end when they find that the watch has ended.
    while fs::remove_dir(&group).is_err_and(|error| error.kind() == ErrorKind::ResourceBusy) {
        sleep(Duration::from_millis(50));
    }
}

/// Both slews of a clock have their size, their sign and their duration.
#[test]
fn adjtime_has_size_and_duration() {
    let folder = Folder::new();
    let Some(library) = compiled(&folder, SLEWED, LIBRARY) else {
        return;
    };
    let marker = folder.arg("slewed");
    let env = [("LD_PRELOAD", &*library), ("SLEWED", &marker)];
    let watch = Watch::into_pipe(&[], &env);
    sleep(Duration::from_secs(21));
    let events = watch.end();
    if !folder.file("slewed").exists() {
        return skipped(
            "the program reads clocks without the C library",
            "test a program that is not static",
        );
    }
    let slews: Vec<&Value> = events
        .iter()
        .filter(|event| event["kind"] == "slew")
        .collect();
    assert_eq!(slews.len(), 2, "{events:#?}");
    for (event, ppm) in slews.into_iter().zip([500.0, -500.0]) {
        let covers = |key: &str, truth: f64| {
            event[key]["low"].as_f64() <= Some(truth) && event[key]["high"].as_f64() >= Some(truth)
        };
        assert!(covers("size", ppm) && covers("duration", 3.0), "{event:#}");
    }
}
