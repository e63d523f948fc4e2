//! The unit that judges the counter at boot, and the programs of docs/counter.md that read its
//! verdict.

use std::fs;
use std::process::Command;

use super::folder::Folder;
use super::timermeter;
use crate::skipping::not_installed;

const UNIT: &str = include_str!("../../deploy/systemd/timermeter-counter.service");
const PAGE: &str = include_str!("../../docs/counter.md");
/// Where the unit writes the verdict, and the programs look for it.
const VERDICT: &str = "/run/timermeter/counter.json";

fn setting(key: &str) -> &'static str {
    let mut lines = UNIT.lines();
    lines
        .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
        .unwrap_or_else(|| panic!("the unit sets {key}"))
}

/// A program of the page: the code in this language that defines `counter_hz`.
fn program_in(language: &str) -> &'static str {
    let fence = format!("```{language}\n");
    let blocks = PAGE.split(&fence).skip(1);
    let mut codes = blocks.filter_map(|block| Some(block.split_once("```")?.0));
    let code = codes
        .find(|code| code.contains("counter_hz("))
        .expect("code");
    let lines = code.lines().count();
    assert!(lines <= 15, "{lines} lines: {code}");
    code
}

/// The rates that the programs in C and in Python find in a file, by whether a guest may move.
/// `None` if the compiler or the interpreter is not installed.
struct Readers(Folder);

impl Readers {
    fn new() -> Option<Self> {
        let folder = Folder::new();
        let source = format!(
            "{}\n#include <stdlib.h>\nint main(int n, char **words) {{ (void)n; \
             printf(\"%.17g\\n\", counter_hz(words[1], atoi(words[2]))); return 0; }}\n",
            program_in("c")
        );
        fs::write(folder.file("reader.c"), source).expect("the program is written");
        let script = format!(
            "{}\nimport sys\nprint(counter_hz(sys.argv[1], sys.argv[2] == '1') or 0)\n",
            program_in("python")
        );
        fs::write(folder.file("reader.py"), script).expect("the program is written");
        let mut compiler = Command::new("cc");
        compiler.args(["-Wall", "-Wextra", "-Werror", "-o"]);
        compiler.args([folder.arg("reader"), folder.arg("reader.c")]);
        let Ok(compiled) = compiler.output() else {
            not_installed("no C compiler is installed", "install gcc or clang");
            return None;
        };
        assert!(compiled.status.success(), "{compiled:?}");
        if Command::new("python3").arg("--version").output().is_err() {
            not_installed("python3 is not installed", "install it");
            return None;
        }
        Some(Self(folder))
    }

    fn rate(&self, file: &str, may_move: bool) -> f64 {
        let arguments = [file, if may_move { "1" } else { "0" }];
        let mut c = Command::new(self.0.file("reader"));
        let mut python = Command::new("python3");
        python.arg(self.0.file("reader.py"));
        let [c, python] = [&mut c, &mut python].map(|command| {
            let output = command.args(arguments).output().expect("it runs");
            assert!(output.status.success(), "{output:?}");
            let text = String::from_utf8(output.stdout).expect("text");
            text.trim().parse::<f64>().expect("a number")
        });
        assert_eq!(c, python, "both programs read {file} in the same way");
        c
    }
}

/// Checks the form of a verdict: the figures depend on the machine.
fn assert_consistent(answer: &serde_json::Value, status: Option<i32>) {
    assert_eq!(answer["schema"], "timermeter.counter.v1");
    assert_eq!(
        answer["summary"].as_array().map(Vec::len),
        Some(5),
        "{answer}"
    );
    let verdict = answer["verdict"].as_str();
    let is_readable = matches!(verdict, Some("safe" | "until-moved"));
    assert_eq!(status, Some(if is_readable { 0 } else { 3 }), "{verdict:?}");
    let mut findings = answer["findings"].as_array().expect("findings").iter();
    let has_problem = findings.any(|finding| finding["severity"] == "problem");
    assert_eq!(has_problem, verdict == Some("unsafe"), "{answer}");
    assert_eq!(answer.get("snippets").is_some(), is_readable);
    for recipe in answer["recipes"].as_array().expect("recipes") {
        let none_found = recipe["without"] == recipe["processes"];
        assert!(recipe["median_ppm"].is_number() || none_found, "{recipe}");
    }
}

#[test]
fn programs_read_verdict_of_unit() {
    assert!(PAGE.contains(VERDICT) && setting("ExecStart").ends_with(VERDICT));
    let Some(readers) = Readers::new() else {
        return;
    };
    // What the unit runs writes a file that the programs understand.
    let file = readers.0.arg("counter.json");
    let words = setting("ExecStart").replace(VERDICT, &file);
    let words: Vec<&str> = words.split(' ').skip(1).collect();
    let assert = timermeter(&words);
    let (status, accepted) = (
        assert.get_output().status.code(),
        setting("SuccessExitStatus"),
    );
    if status == Some(1) {
        assert!(!readers.0.file("counter.json").exists());
        assert_eq!(readers.rate(&file, true), 0.0);
        return;
    }
    assert!(status == Some(0) || status.is_some_and(|status| status.to_string() == accepted));
    let text = fs::read_to_string(readers.0.file("counter.json")).expect("a verdict");
    let counter: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_consistent(&counter, status);
    let hz = counter["hz"].as_f64().unwrap_or(0.0);
    for (verdict, is_read, is_read_if_moved) in [
        ("safe", true, true),
        ("until-moved", false, true),
        ("not-proven", false, false),
        ("unsafe", false, false),
    ] {
        let found = format!("\"verdict\": {}", counter["verdict"]);
        assert!(text.contains(&found), "{text}");
        let changed = text.replacen(&found, &format!("\"verdict\": \"{verdict}\""), 1);
        fs::write(readers.0.file("counter.json"), changed).expect("it is written");
        let rate = |is_read| if is_read { hz } else { 0.0 };
        assert_eq!(readers.rate(&file, false), rate(is_read), "{verdict}");
        assert_eq!(
            readers.rate(&file, true),
            rate(is_read_if_moved),
            "{verdict}"
        );
    }
    // A text that a machine reports cannot pass for the verdict, and half a file is none.
    for other in [
        "",
        "{",
        "{\"verdict\": \"unsafe\",\n  \"hz\": 3, \"a\": \"\\\"verdict\\\": \\\"safe\\\"\"}",
        "{\"verdict\": \"safe\",\n  \"hz\": null\n}",
    ] {
        fs::write(readers.0.file("counter.json"), other).expect("it is written");
        assert_eq!(readers.rate(&file, true), 0.0, "{other}");
    }
}

#[test]
fn systemd_accepts_unit() {
    let folder = Folder::new();
    // The program is not installed where the tests run.
    let unit = UNIT.replace("/usr/bin/timermeter", env!("CARGO_BIN_EXE_timermeter"));
    fs::write(folder.file("timermeter-counter.service"), unit).expect("it is written");
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no"]);
    let Ok(output) = verify
        .arg(folder.file("timermeter-counter.service"))
        .output()
    else {
        not_installed("systemd-analyze is not installed", "install systemd");
        return;
    };
    let messages = String::from_utf8_lossy(&output.stderr);
    let of_unit = |line: &&str| line.contains("timermeter");
    let complaints: Vec<&str> = messages.lines().filter(of_unit).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    assert_eq!(setting("RuntimeDirectory"), "timermeter");
    assert_eq!(setting("WantedBy"), "multi-user.target");
}
