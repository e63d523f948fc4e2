//! One recommendation: the first line of a report, `pick` and `timermeter` alone name the same
//! clock, and code that can be pasted compiles and runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use timermeter::method::answer::ClockAnswer;
use timermeter::method::{Requirement, USUAL_DURATION, choose, summarize_clocks};
use timermeter::model::{ProvenanceKind, Report, value_of};

use super::program::program;
use super::skipping::skipped;

fn kept() -> Vec<(PathBuf, Report)> {
    let within = |folder: PathBuf| {
        std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
    };
    let files = within("reports".into()).flat_map(within).flat_map(within);
    let json = files.filter(|file| file.extension().is_some_and(|ending| ending == "json"));
    json.map(|file| {
        let report = timermeter::report::read(&file).unwrap_or_else(|error| panic!("{error}"));
        (file, report)
    })
    .collect()
}

#[test]
fn summary_and_pick_agree_on_clock() {
    let usual = Requirement::new(USUAL_DURATION, 0.01, 0.95).expect("it makes sense");
    let mut count = 0;
    for (file, report) in kept() {
        let Some(sentence) = summarize_clocks(&report) else {
            continue;
        };
        let picked = choose(&report, &usual)
            .expect("it has native clocks")
            .picked
            .expect("a clock suffices");
        assert!(
            sentence.starts_with(&format!("To time things: {} (", picked.id)),
            "{}: {sentence}",
            file.display()
        );
        let answer = ClockAnswer::from_reports(&report, &[], [Vec::new(), Vec::new()]);
        let to_time = answer.to_time.map(|clock| (clock.id, Some(clock.step_ns)));
        let row = report
            .timers
            .iter()
            .find(|row| row.id == picked.id)
            .expect("it has a row");
        let step = value_of(row.step_or_limit_ns());
        assert_eq!(to_time, Some((picked.id, step)), "{}", file.display());
        // Rank 1 is another clock only for a reason, which stands beside it.
        let ranked = report.timers.iter().filter(|row| row.runtime == "native");
        let best = ranked
            .filter_map(|row| Some((row.quality?.value, &row.id)))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let (Some((_, best)), ProvenanceKind::Measured) = (best, &report.provenance.kind) {
            let agrees = sentence.starts_with(&format!("To time things: {best} ("));
            assert!(
                agrees || sentence.contains(&format!("; rank 1 {best}: ")),
                "{}: {sentence}",
                file.display()
            );
        }
        count += 1;
    }
    assert!(count >= 4, "only {count} reports say which clock to use");
}

/// So it is with what waits.
#[test]
fn summary_and_pick_agree_on_wait() {
    use timermeter::method::waiting::{Punctuality, choose, summarize_waits};
    let asked = Punctuality {
        every_ns: 1e6,
        within_ns: None,
        share: 0.99,
        overhead: None,
    };
    let mut count = 0;
    for (file, report) in kept() {
        let Some(sentence) = summarize_waits(&report) else {
            continue;
        };
        let Ok(found) = choose(&report, &asked) else {
            continue;
        };
        let blocks = found.picked.expect("one of them blocks");
        let begins = format!("): {} (p50 ", blocks.id);
        assert!(
            sentence.starts_with("To wait 1 ms on this machine (") && sentence.contains(&begins),
            "{}: {sentence}",
            file.display()
        );
        let first = found.others.first().expect("several were measured");
        if first.reason.starts_with("where it must not be late") {
            let names = sentence.contains(&format!("where it must not be late: {} (", first.id));
            assert!(names, "{}: {sentence}", file.display());
        }
        count += 1;
    }
    assert!(count >= 2, "only {count} reports say how to wait");
}

/// And with the clocks of a runtime, whichever is alone in a report.
#[test]
fn summary_and_pick_agree_on_runtime() {
    let mut count = 0;
    for (file, report) in kept() {
        for runtime in ["java", "python", "node"] {
            let mut alone = report.clone();
            alone
                .timers
                .retain(|row| row.agent().is_none_or(|agent| agent == runtime));
            if !alone.timers.iter().any(|row| row.agent().is_some()) {
                continue;
            }
            let usual = Requirement::new(USUAL_DURATION, 0.01, 0.95).expect("it makes sense");
            let wanted = Requirement {
                runtime: Some(runtime.into()),
                ..usual
            };
            let Some(picked) = choose(&alone, &wanted).expect("it has some").picked else {
                continue;
            };
            let sentence = summarize_clocks(&alone).expect("it has clocks");
            let names = sentence.contains(&format!(" In {runtime}: {} (", picked.id));
            assert!(names, "{}: {sentence}", file.display());
            count += 1;
        }
    }
    assert!(count >= 3, "only {count} runtimes have their sentence");
}

fn picked(words: &[&str]) -> String {
    let report = "tests/data/epyc-2026-11-21.json";
    let mut command = Command::new(program());
    command
        .args(["pick", "250ns", "--from", report])
        .args(words)
        .env("COLUMNS", "80");
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn an_answer_is_short() {
    for words in [
        &[][..],
        &["--for", "cpp"],
        &["--for", "rust"],
        &["--for", "java"],
    ] {
        let text = picked(words);
        assert!(text.lines().count() <= 20, "{words:?}:\n{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{words:?}:\n{text}"
        );
    }
    let all = picked(&["--all"]);
    assert!(
        all.contains("quantisation") && all.lines().count() > 20,
        "{all}"
    );
}

/// The lines of code in an answer.
fn code(language: &str) -> String {
    let text = picked(&["--for", language]);
    let answer = text.split("\nother timers").next().unwrap_or_default();
    let lines = answer.lines().filter_map(|line| line.strip_prefix("    "));
    let code: Vec<&str> = lines.skip_while(|line| line.starts_with('→')).collect();
    assert!(code.len() >= 3, "no code in:\n{text}");
    code.join("\n") + "\n"
}

/// Code split into what stands at the head of a file, and the rest.
fn split(code: &str, heads: &[&str]) -> (String, String) {
    let is_head = |line: &&str| heads.iter().any(|head| line.starts_with(head));
    let (head, body): (Vec<&str>, Vec<&str>) = code.lines().partition(|line| is_head(line));
    (head.join("\n"), body.join("\n"))
}

/// Compiles and runs a program by these commands, one after the other, where the first of them is
/// there.
fn runs(file: &str, text: &str, commands: &[&[&str]]) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(file), text).expect("it can be written");
    for (at, words) in commands.iter().enumerate() {
        let program = if words[0].starts_with("./") {
            folder.path().join(words[0])
        } else {
            words[0].into()
        };
        let ended = Command::new(&program)
            .args(&words[1..])
            .current_dir(folder.path())
            .output();
        match ended {
            Err(_) if at == 0 => {
                return skipped(format!("{file}, code that `pick` writes"), words[0]);
            }
            Err(error) => panic!("{words:?}: {error}"),
            Ok(ended) => assert!(ended.status.success(), "{words:?}: {ended:?}\n{text}"),
        }
    }
}

#[test]
fn code_in_c_and_cpp_runs() {
    let code_in_c = code("c");
    let (head, body) = code_in_c
        .split_once("\ndouble begin")
        .expect("a function, and its use");
    let body = format!("double begin{body}");
    let rest = "static volatile long done;\nstatic void operation(void) { done++; }\n";
    let text = format!(
        "#include <stdio.h>\n{head}\n{rest}int main(void) {{\n{body}\nprintf(\"%f\\n\", ns);\n}}\n"
    );
    runs(
        "a.c",
        &text,
        &[
            &["cc", "-O2", "-Wall", "-Werror", "a.c", "-o", "a"],
            &["./a"],
        ],
    );
    let (head, body) = split(&code("cpp"), &["#include"]);
    let text = format!(
        "#include <cstdio>\n{head}\n{rest}int main() {{\n{body}\nstd::printf(\"%f\\n\", ns);\n}}\n"
    );
    runs(
        "a.cpp",
        &text,
        &[
            &["c++", "-O2", "-Wall", "-Werror", "a.cpp", "-o", "a"],
            &["./a"],
        ],
    );
}

#[test]
fn code_in_rust_runs() {
    let text = format!(
        "fn operation() -> u64 {{ 1 }}\nfn main() {{\n{}\nprintln!(\"{{ns}}\");\n}}\n",
        code("rust")
    );
    runs(
        "a.rs",
        &text,
        &[&["rustc", "--edition=2024", "a.rs", "-o", "a"], &["./a"]],
    );
}

#[test]
fn code_in_java_runs() {
    let text = format!(
        "class A {{ static long done; static void operation() {{ done++; }}\n\
         public static void main(String[] a) {{\n{}\nSystem.out.println(ns); }} }}\n",
        code("java")
    );
    runs(
        "A.java",
        &text,
        &[&["javac", "A.java"], &["java", "-cp", ".", "A"]],
    );
}

#[test]
fn code_in_python_and_go_runs() {
    let text = format!(
        "def operation():\n    pass\n{}print(ns)\n",
        snippet_of("python")
    );
    runs("a.py", &text, &[&["python3", "a.py"]]);
    let text = format!(
        "package main\nimport (\"fmt\"; \"time\")\nfunc operation() {{}}\nfunc main() {{\n{}\nfmt.Println(ns)\n}}\n",
        code("go")
    );
    runs("a.go", &text, &[&["go", "run", "a.go"]]);
}

/// Of Python no kept report holds a clock.
fn snippet_of(language: &str) -> String {
    use clap::ValueEnum as _;
    use timermeter::method::{Language, snippet::snippet};
    let report: Report =
        timermeter::report::read(Path::new("tests/data/epyc-2026-11-21.json")).expect("it reads");
    let usual = Requirement::new(USUAL_DURATION, 0.01, 0.95).expect("it makes sense");
    let picked = choose(&report, &usual)
        .expect("clocks")
        .picked
        .expect("one suffices");
    snippet(
        Language::from_str(language, true).expect("it is known"),
        &picked,
        40.0,
    )
    .expect("a few lines")
}

/// What is measured differs from run to run; what is said of it holds.
#[test]
fn timermeter_alone_answers() {
    let answered = Command::new(program())
        .env("COLUMNS", "80")
        .output()
        .expect("it runs");
    assert!(answered.status.success(), "{answered:?}");
    let text = String::from_utf8(answered.stdout).expect("UTF-8");
    assert!((3..=14).contains(&text.lines().count()), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let json = Command::new(program())
        .args(["--format", "json"])
        .output()
        .expect("it runs");
    let answer: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(answer["schema"], "timermeter.answer.v1");
    if let Some(clock) = answer["to_time"].as_object() {
        assert!(
            clock["cost_ns"].as_f64() > Some(0.0) && clock["step_ns"].as_f64() > Some(0.0),
            "{answer}"
        );
    }
    let wrong = Command::new(program())
        .arg("--jsn")
        .output()
        .expect("it runs");
    assert_eq!(wrong.status.code(), Some(2), "wrong usage still gets help");
}
