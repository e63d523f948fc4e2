//! Runs one machine: builds the file system in memory from which it boots, starts the emulator, stops
//! it for a while if the guest requests that, and unpacks the result files. These come over the
//! console, the only channel that all machines have: packed, in hexadecimal digits.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::list::{Emulator, Machine};
use crate::{Outcome, compiled};

/// The number of polls, in a quarter of an hour, after which a machine counts as hung.
const MAX_POLLS: u32 = 50 * 60 * 15;
/// The text before a request of the guest that the emulator be stopped.
const REQUEST_MARK: &str = "stop from outside: ";
/// The lines around the digits.
const MARKS: [&str; 2] = ["begin of result files", "end of result files"];

/// Returns the script that the kernel starts. It sleeps at the end, so that all output leaves the
/// machine before it powers off.
fn script(machine: &Machine) -> String {
    let [begin, end] = MARKS;
    format!(
        "#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /out; /bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
dmesg
outside() {{ echo \"{REQUEST_MARK}$1\" >/dev/console; }}
probe() {{ timermeter probe --quick --quiet --format json \"$@\" >/out/report.json; }}
watch() {{ timermeter watch $1 --pause 1s --format json >/out/watch.jsonl; }}
choose() {{ echo $1 >/sys/devices/system/clocksource/clocksource0/current_clocksource; }}
suspend() {{ echo +$1 >/sys/class/rtc/rtc0/wakealarm; echo mem >/sys/power/state; }}
{}
dmesg -n 1
{{ echo '{begin}'; tar -C /out -c . | gzip | hexdump -v -e '64/1 \"%02x\" \"\\n\"'; echo '{end}'; }} >/dev/console
sleep 2; poweroff -f
",
        machine.script
    )
}

/// Runs a command.
fn ran(command: &mut Command) -> Outcome<()> {
    let status = command.status();
    let status = status.map_err(|error| format!("{command:?} cannot be started: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{command:?} ended with {status}").into())
}

/// Returns the folder of an architecture after it has provided kernel, busybox and programs.
fn parts(emulator: &Emulator, use_compiled: bool) -> Outcome<PathBuf> {
    let root = crate::root()?;
    let sources = root.join("dev/xtask/src/machines");
    let target = compiled::folder(root);
    let folder = std::path::absolute(target.join("machines").join(emulator.architecture))?;
    fs::create_dir_all(&folder)?;
    if !folder.join("kernel").is_file() {
        let mut script = Command::new(sources.join("parts.sh"));
        ran(script.arg(&folder).args([emulator.debian, emulator.kernel]))?;
    }
    if !use_compiled {
        fs::copy(
            compiled::program(root, emulator.target)?,
            folder.join("timermeter"),
        )?;
        let mut compiler = Command::new(format!("{}-linux-gnu-gcc", emulator.architecture));
        compiler
            .args(["-static", "-O1", "-o"])
            .arg(folder.join("provoke"));
        ran(compiler.arg(sources.join("provoke.c")))?;
    }
    Ok(folder)
}

/// Boots a machine and writes the kernel log and the result files of the guest to `folder`.
///
/// # Errors
/// If the machine cannot be started, hangs, or ends without result files.
pub fn boot(machine: &Machine, use_compiled: bool, folder: &Path) -> Outcome<()> {
    let parts = parts(machine.emulator, use_compiled)?;
    let (root, log) = (parts.join("root"), parts.join("console"));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(root.join("bin"))?;
    for name in ["timermeter", "busybox", "provoke"] {
        fs::copy(parts.join(name), root.join("bin").join(name))?;
    }
    fs::write(root.join("init"), script(machine))?;
    fs::set_permissions(root.join("init"), fs::Permissions::from_mode(0o755))?;
    let mut pack = Command::new("sh");
    pack.args(["-c", "find . | cpio -o -H newc --quiet >../initramfs"]);
    ran(pack.current_dir(&root))?;
    let mut command = Command::new(machine.emulator.program);
    command.args([
        "-accel", "tcg", "-smp", "2", "-m", "512", "-display", "none",
    ]);
    command.args([
        "-nodefaults",
        "-no-reboot",
        "-kernel",
        "kernel",
        "-initrd",
        "initramfs",
    ]);
    command
        .args(["-serial", "file:console", "-append"])
        .arg(format!(
            "console={} quiet panic=-1 no_timer_check {}",
            machine.emulator.console, machine.parameters
        ));
    command.args(machine.emulator.options).args(machine.options);
    let _ = fs::remove_file(&log);
    let started = command.current_dir(&parts).stdin(Stdio::null()).spawn();
    let mut running = started.map_err(|error| format!("{command:?} cannot be started: {error}"))?;
    let ended = run_until_end(&mut running, &log);
    let _ = running.kill();
    let _ = running.wait();
    ended?;
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let kernel_log = unpack(&String::from_utf8_lossy(&fs::read(&log)?), folder)?;
    Ok(fs::write(folder.join("kernel.log"), kernel_log)?)
}

/// Carries out the requests of the guest until the machine ends.
fn run_until_end(running: &mut Child, log: &Path) -> Outcome<()> {
    let mut done = 0;
    for _ in 0..MAX_POLLS {
        if let Some(status) = running.try_wait()? {
            return match status.success() {
                true => Ok(()),
                false => Err(format!("the emulator ended with {status}").into()),
            };
        }
        let console = fs::read(log).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        let lines = console
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        let requests = lines.filter_map(|line| line.trim().split_once(REQUEST_MARK));
        let requests: Vec<&str> = requests.map(|(_, seconds)| seconds).collect();
        for seconds in requests.iter().skip(done) {
            let id = running.id().to_string();
            ran(Command::new("kill").args(["-STOP", &id]))?;
            thread::sleep(Duration::from_secs(seconds.parse()?));
            ran(Command::new("kill").args(["-CONT", &id]))?;
        }
        done = requests.len();
        thread::sleep(Duration::from_millis(20));
    }
    Err("it did not end within a quarter of an hour".into())
}

/// Unpacks the result files from the console output of a machine into `folder`. Returns the rest of
/// the output.
fn unpack(console: &str, folder: &Path) -> Outcome<String> {
    let parts = console.split_once(MARKS[0]).and_then(|(before, rest)| {
        let (digits, after) = rest.split_once(MARKS[1])?;
        Some((before, digits, after))
    });
    let (before, digits, after) = parts.ok_or("the console output has no complete result files")?;
    let digits: Option<Vec<u8>> = digits
        .chars()
        .filter(|digit| !digit.is_ascii_whitespace())
        .map(|digit| Some(digit.to_digit(16)? as u8))
        .collect();
    let digits = digits.ok_or("other console output is mixed with the result files")?;
    let packed: Vec<u8> = digits
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect();
    tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice())).unpack(folder)?;
    Ok(format!("{before}{after}"))
}
