//! `watch` on this machine: a stopped process is named as the cause, output that nobody reads is no
//! pause, the log is appended, and series in it are lines of the summary; the RTC of `check`. Events of all kinds, simulated: `judgement/watching/tests.rs`.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::folder::Folder;
use super::{json, printed, run};
use crate::program::program;
use crate::steering::steers_nothing;

/// A watch that writes to a pipe.
struct Watch {
    child: Child,
    lines: BufReader<PipeReader>,
}

impl Watch {
    /// Starts a watch, waits until it begins, and fills the pipe.
    fn start() -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        // Another open file, so that only the writes of the test do not wait.
        let mut filler = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(format!("/proc/self/fd/{}", writer.as_raw_fd()))
            .unwrap();
        let args = ["watch", "1h", "--pause", "100ms", "--format", "json"];
        let mut command = Command::new(program());
        let child = command.args(args).stdout(writer).spawn().unwrap();
        // The command holds its own end of the pipe.
        drop(command);
        let lines = BufReader::new(reader);
        let mut watch = Self { child, lines };
        let begin = watch.next_line();
        assert_eq!(begin["schema"], "timermeter.watch.v1", "{begin}");
        while filler.write(&[b'\n'; 512]).is_ok() {}
        watch
    }

    /// The next line as JSON; the test's own lines are empty.
    fn next_line(&mut self) -> Value {
        loop {
            let mut text = String::new();
            let length = self.lines.read_line(&mut text).unwrap();
            assert!(length > 0, "the watch has ended");
            if !text.trim().is_empty() {
                return serde_json::from_str(&text).expect("JSON");
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

/// While its output blocks for more than a second, the watch goes on sampling.
#[test]
fn stop_is_pause_and_unread_output_is_none() {
    let mut watch = Watch::start();
    watch.stop();
    sleep(Duration::from_millis(1_200));
    watch.lines.get_mut().read_exact(&mut [0; 4096]).unwrap();
    // The next samples show whether one was late.
    sleep(Duration::from_millis(500));
    let events = watch.end();
    // A busy machine may pause it as well, which has other causes.
    let pauses = |least: f64, end: &str, causes: &[&str]| {
        let is_meant = |event: &&Value| {
            let cause = event["cause"].as_str().unwrap_or_default();
            event["size"][end].as_f64() >= Some(least) && causes.contains(&cause)
        };
        events.iter().filter(is_meant).count()
    };
    assert!(
        pauses(0.4, "high", &["process"]) > 0,
        "it was stopped: {events:#?}"
    );
    let blocked = pauses(0.9, "low", &["process", "unknown"]);
    assert_eq!(blocked, 0, "it paused while it was blocked: {events:#?}");
}

#[test]
fn interrupted_watch_ends_though_unread() {
    let mut watch = Watch::start();
    watch.stop();
    watch.signal(Signal::INT);
    let status = watch.child.wait().unwrap();
    assert_eq!(status.signal(), Some(Signal::INT.as_raw()), "{status:?}");
}

/// A full disk or a power cut leaves the last line of the log unfinished.
#[test]
fn unfinished_line_spoils_no_later_record() {
    let folder = Folder::new();
    fs::create_dir(folder.file("home")).unwrap();
    let log = folder.file("home/watched.jsonl");
    let old = r#"{"schema":"timermeter.watch.v1","line":"begin","date":"2001-01-01T00:00:00Z","period_s":0.1,"shortest_pause_s":0.02,"cpu":null,"clock_source":null,"counter":null,"unread":[]}"#;
    let findings = |text: &str| {
        fs::write(&log, text).unwrap();
        let run = |args: &[&str]| {
            let mut command = Command::new(program());
            let command = command
                .args(args)
                .env("TIMERMETER_HOME", folder.file("home"));
            command.output().unwrap()
        };
        let watch = [
            "watch", "100ms", "--period", "50ms", "--pause", "100s", "--save",
        ];
        assert!(run(&watch).status.success());
        let checked: Value =
            serde_json::from_slice(&run(&["check", "--format", "json"]).stdout).unwrap();
        let of = |code| {
            let all = checked["findings"].as_array().unwrap();
            all.iter().find(|finding| finding["code"] == code).cloned()
        };
        (of("watched").expect("a watch was saved"), of("watch-log"))
    };
    let (_, damage) = findings(&format!("{old}\n"));
    assert_eq!(damage, None);
    for unfinished in [&old[..60], &old[..1], "\0\0\0"] {
        let (watched, damage) = findings(&format!("{old}\n{unfinished}"));
        assert_ne!(
            watched["values"]["date"], "2001-01-01T00:00:00Z",
            "{unfinished:?}"
        );
        let values = &damage.expect("the damaged line is named")["values"];
        assert_eq!(values["first"]["value"], 2.0, "{values}");
        assert_eq!(values["log"], log.to_str().unwrap(), "{values}");
    }
}

/// A log that a person or a fault changed is cleaned, and lines with impossible figures are skipped.
#[test]
fn changed_logs_are_cleaned_and_skipped() {
    let folder = Folder::new();
    fs::create_dir(folder.file("home")).unwrap();
    let log = folder.file("home/watched.jsonl");
    let lines = ["begin", "pause", "end"]
        .map(|name| fs::read_to_string(format!("tests/fuzz/corpus/log/{name}.json")).unwrap());
    let outputs = |at: usize, from: &str, to: &str| {
        let mut lines = lines.clone();
        lines[at] = lines[at].replacen(from, to, 1);
        fs::write(&log, lines.concat()).unwrap();
        let log = log.to_str().unwrap();
        [
            vec!["watch", "--from", log],
            vec!["watch", "--from", log, "--format", "json"],
            vec!["check", "-v"],
        ]
        .map(|args| {
            let mut command = Command::new(program());
            let command = command
                .args(&args)
                .env("TIMERMETER_HOME", folder.file("home"));
            let output = command.output().unwrap();
            assert_ne!(output.status.code(), Some(101), "{to}: {output:?}");
            let all = [output.stdout, output.stderr].concat();
            String::from_utf8(all).unwrap()
        })
    };
    for at in [0, 2] {
        for printed in outputs(at, "2026", r"\u001b]0;title\u0007\u001b[2J\u202e2026") {
            steers_nothing(&printed);
            assert!(!printed.contains("damaged"), "{printed}");
        }
    }
    for (at, from, to) in [
        (0, ":0.02", ":-1"),
        (0, ":0.1", ":1e308"),
        (1, "1790000000.5", "1e18"),
        (1, "5.2", "-5.2"),
        (1, r#""low":0.5"#, r#""low":-0.5"#),
        (1, r#""value":0.5"#, r#""value":5"#),
        (2, ":0.002", ":1e308"),
        (2, ":0.002", ":-5"),
        (2, ":120.0", ":1.8e19"),
        (2, "1.2e-6", "-1.2e-6"),
    ] {
        for printed in outputs(at, from, to) {
            let normal = printed.split_whitespace().collect::<Vec<_>>().join(" ");
            let place = format!("line {} of ", at + 1);
            assert!(
                normal.contains(&place) && normal.contains("is damaged"),
                "{to}: {normal}"
            );
        }
    }
}

/// The time of day of a watch whose host sets it back, and of one that was set by hand.
#[test]
fn series_are_lines_of_the_summary() {
    let folder = Folder::new();
    let log = |times: &[f64]| {
        let mut text = r#"{"schema":"timermeter.watch.v1","line":"begin","date":"2026-01-01T00:00:00Z","period_s":0.1,"shortest_pause_s":0.02,"cpu":null,"clock_source":"tsc","counter":null,"unread":[]}"#.to_owned();
        for at in times {
            text += &format!(
                "\n{{\"schema\":\"timermeter.watch.v1\",\"line\":\"event\",\"kind\":\"step\",\"cause\":\"clock-set\",\"at_s\":1.79e9,\"since_s\":{at},\"size\":{{\"value\":-0.02,\"low\":-0.02,\"high\":-0.02}},\"unit\":\"s\",\"note\":\"\"}}"
            );
        }
        text += "\n{\"schema\":\"timermeter.watch.v1\",\"line\":\"end\",\"date\":\"2026-01-01T00:01:00Z\",\"watched_s\":60,\"cpu_share\":null,\"events\":10,\"monotonic_stability\":[],\"counter_stability\":[]}\n";
        fs::write(folder.file("watch.jsonl"), text).unwrap();
        let printed = run(&format!("watch --from {}", folder.arg("watch.jsonl"))).success();
        String::from_utf8_lossy(&printed.get_output().stdout).into_owned()
    };
    let regular: Vec<f64> = (0..10).map(|at| 5.0 + 3.0 * f64::from(at)).collect();
    let printed = log(&regular);
    let sentence = "set back by 20 ms every 3.0 s: something outside corrects a drift of 6667 ppm";
    assert_eq!(printed.matches(sentence).count(), 2, "{printed}");
    assert!(printed.contains("Series: the time of day"), "{printed}");
    assert!(
        printed.contains("Not known, as no RTC shows it"),
        "{printed}"
    );
    let printed = log(&[5.0, 6.0, 11.0, 30.0, 31.5, 40.0, 52.0, 53.0, 58.0, 59.5]);
    assert!(!printed.contains("every"), "{printed}");
    assert_eq!(
        printed.matches("a program or a person set it").count(),
        10,
        "{printed}"
    );
}

/// Pauses by a quota, one by another cause between them, and one an hour later.
#[test]
fn repeated_pauses_are_one_line() {
    let folder = Folder::new();
    let mut text = r#"{"schema":"timermeter.watch.v1","line":"begin","date":"2026-01-01T00:00:00Z","period_s":0.1,"shortest_pause_s":0.02,"cpu":null,"clock_source":"tsc","counter":null,"unread":[]}"#.to_owned();
    for (at, cause) in [
        (1.0, "quota"),
        (2.2, "quota"),
        (2.9, "quota"),
        (7.0, "scheduler"),
        (9.0, "quota"),
        (3_600.0, "quota"),
    ] {
        text += &format!(
            "\n{{\"schema\":\"timermeter.watch.v1\",\"line\":\"event\",\"kind\":\"pause\",\"cause\":\"{cause}\",\"at_s\":1.79e9,\"since_s\":{at},\"size\":{{\"value\":0.09,\"low\":0.09,\"high\":0.12}},\"unit\":\"s\",\"note\":\"\"}}"
        );
    }
    text += "\n{\"schema\":\"timermeter.watch.v1\",\"line\":\"end\",\"date\":\"2026-01-01T01:00:00Z\",\"watched_s\":3600,\"cpu_share\":null,\"events\":6,\"monotonic_stability\":[],\"counter_stability\":[]}\n";
    fs::write(folder.file("watch.jsonl"), text).unwrap();
    let printed = printed(&run(&format!("watch --from {}", folder.arg("watch.jsonl"))).success());
    assert!(printed.contains("  3 × pause of 90 ms to 1"), "{printed}");
    assert_eq!(printed.matches("pause of").count(), 4, "{printed}");
    assert!(printed.contains("6 pauses of up to 90 ms"), "{printed}");
}

/// The RTC of a made-up machine is a day ahead, or right.
#[test]
fn check_compares_rtc() {
    let folder = Folder::new();
    let rtc = folder.file("sys/class/rtc/rtc0/since_epoch");
    fs::create_dir_all(rtc.parent().unwrap()).unwrap();
    for (ahead_s, severity) in [(100_000, "note"), (0, "ok")] {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        fs::write(&rtc, (now + ahead_s).to_string()).unwrap();
        let checked = json(&run(&format!(
            "check --format json --root {}",
            folder.arg(".")
        )));
        let found = checked["findings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|finding| finding["code"] == "rtc");
        // A time service that synchronises the time of day makes the RTC the one that is wrong.
        let ntp = &checked["platform"]["ntp"];
        let says = ntp["synchronised"] == false
            && checked["platform"]["limits"]["time_namespace"].is_null();
        let severity = says.then_some(severity);
        assert_eq!(
            found.and_then(|finding| finding["severity"].as_str()),
            severity,
            "{checked}"
        );
    }
}
