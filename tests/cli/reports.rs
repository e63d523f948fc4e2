//! Output and files of `probe`, `list`, `platform` and `report`, also if a timer is unavailable.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::{fs, io};

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::folder::Folder;
use super::{json, listed, printed, program, row, rows, timermeter};
#[cfg(unix)]
use crate::steering::steers_nothing;
use crate::skipping::skipped;

/// The ids of all clocks that the program lists on Linux.
const LINUX_IDS: &str = "rdtsc rdtsc-lfence rdtscp monotonic monotonic-raw monotonic-coarse realtime \
    realtime-coarse boottime tai process-cputime thread-cputime monotonic-syscall monotonic-raw-syscall \
    monotonic-coarse-syscall realtime-syscall realtime-coarse-syscall boottime-syscall process-cputime-syscall \
    thread-cputime-syscall gettimeofday time clock times getrusage-self getrusage-thread instant system-time \
    quanta quanta-raw perf-task-clock perf-cycles rdpmc-cycles";

/// A quick probe of two timers.
const PROBE_TWO: [&str; 4] = ["probe", "--quick", "rdtsc", "monotonic"];

/// Runs a probe of two timers.
#[track_caller]
fn probe(more: &[&str]) -> assert_cmd::assert::Assert {
    let args: Vec<&str> = PROBE_TWO.iter().chain(more).copied().collect();
    timermeter(&args).code(predicate::in_iter(STATUSES))
}

/// The possible exit statuses of that probe: 3 if the processor lacks one of the timers, or a busy
/// machine does not reveal its resolution.
const STATUSES: [i32; 2] = [0, 3];

/// A kept report with a rate of 82.43 ± 150.24 ppm.
const KEPT: &str = include_str!("../fuzz/corpus/report/kept.json");

#[test]
fn rates_have_their_uncertainty() {
    let folder = Folder::new();
    let report = folder.arg("r.json");
    fs::write(&report, KEPT).expect("it can be written");
    for (args, text) in [
        (
            vec!["inspect", "-v", "--from", &report, "realtime-coarse"],
            "80 ± 160 ppm\n",
        ),
        (
            vec!["report", "--format", "html", &report],
            "<bdi>80 ± 160 ppm</bdi>",
        ),
        (
            vec!["table", "--columns", "timer,rate", &report],
            "80 ± 160\n",
        ),
        (
            vec!["table", "--columns", "timer,rate", "-f", "csv", &report],
            ",82.42830714033644\n",
        ),
    ] {
        timermeter(&args)
            .success()
            .stdout(contains(text).and(contains("82.43").not()));
    }
}

#[test]
fn unknown_load_is_not_quiet() {
    let folder = Folder::new();
    let load = r#""load":{"one_minute":1.22,"five_minutes":1.41,"fifteen_minutes":1.17},"#;
    assert!(KEPT.contains(load));
    let loaded = load.replace("1.22", "5.22");
    for (load, unknown, line) in [
        (load, &[][..], "not quiet: load 1.2 →"),
        (&loaded, &[], "not quiet: load 5.2 →"),
        ("", &["load"], "not known to be quiet: load unknown\n"),
    ] {
        let report = folder.arg("r.json");
        let text = KEPT.replace(
            r#""load":{"one_minute":1.22,"five_minutes":1.41,"fifteen_minutes":1.17},"#,
            load,
        );
        fs::write(&report, &text).expect("it can be written");
        timermeter(&["--from", &report])
            .success()
            .stdout(contains(line));
        let answer = json(&timermeter(&["--from", &report, "--format", "json"]));
        assert_eq!(answer["unknown"], Value::from(unknown.to_vec()));
        assert_eq!(
            answer["unquiet"].as_array().map(Vec::is_empty),
            Some(load.is_empty())
        );
    }
}

#[cfg(unix)]
#[test]
fn names_of_files_steer_nothing() {
    let folder = Folder::new();
    for (name, text) in [
        ("r\u{1b}[31m\u{202e}.json", KEPT),
        ("b\u{1b}]0;\u{2066}.json", "{}"),
    ] {
        fs::write(folder.file(name), text).expect("it can be written");
    }
    let path = folder.arg("");
    let report = folder.arg("r\u{1b}[31m\u{202e}.json");
    let site = folder.arg("site");
    let all = [
        vec!["report", &path],
        vec!["report", "--format", "html", &path],
        vec!["table", &path, &path],
        vec!["table", "--format", "html", &path],
        vec!["compare", "--format", "html", &report, &report],
        vec!["inspect", "--from", &report, "*"],
        vec!["publish", &path, "--output", &site],
    ];
    for args in all {
        let run = timermeter(&args);
        let output = run.get_output();
        for text in [&output.stdout, &output.stderr] {
            steers_nothing(&String::from_utf8_lossy(text));
        }
    }
}

#[test]
fn list_names_every_promised_id() {
    let listed = listed();
    let table = printed(
        &timermeter(&["list", "--all"])
            .success()
            .stderr(predicate::str::is_empty()),
    );
    for id in LINUX_IDS.split_whitespace() {
        let timer = listed
            .iter()
            .find(|timer| timer["id"] == id)
            .unwrap_or_else(|| panic!("no `{id}`"));
        let available = timer["available"].as_bool().expect("true or false");
        assert_eq!(
            available,
            timer["reason"].is_null(),
            "a reason only if it is not available: {timer}"
        );
        let listed = table.split([' ', ',', ':', '\n']).any(|word| word == id);
        assert!(listed, "no `{id}`: {table}");
    }
}

#[test]
fn lists_matching_timers() {
    let list = json(&timermeter(&["list", "--format", "json", "monotonic*", "realtime"]).success());
    let ids: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|timer| timer["id"].as_str())
        .collect();
    assert!(
        ids.contains(&"realtime") && ids.contains(&"monotonic-raw"),
        "{ids:?}"
    );
    assert!(
        ids.iter()
            .all(|id| id.starts_with("monotonic") || *id == "realtime"),
        "{ids:?}"
    );
}

#[test]
fn platform_in_both_formats() {
    let platform = json(&timermeter(&["platform", "--format", "json"]).success());
    for part in ["cpu", "os", "kernel", "clocksource"] {
        assert!(platform["platform"][part].is_object(), "{part}: {platform}");
    }
    assert!(
        platform["frequency"]["cycles_from"].is_string(),
        "{platform}"
    );
    timermeter(&["platform"])
        .success()
        .stdout(contains("\u{1b}").not());
}

#[test]
fn json_follows_schema() {
    let report =
        json(&probe(&["--format", "json", "--seed", "7"]).stderr(predicate::str::is_empty()));
    let schema = include_str!("../../docs/report.v2.schema.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&report)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(report["settings"]["profile"], "quick");
    assert_eq!(report["settings"]["seed"], 7);
    assert_eq!(rows(&report).len(), 2);
    for id in ["rdtsc", "monotonic"] {
        let row = row(&report, id);
        let status = row["status"].as_str().expect("a row has a status");
        assert!(
            matches!(status, "ok" | "unresolved" | "failed" | "unavailable"),
            "{row}"
        );
        let quality = row["quality"]["value"].as_f64();
        assert!(quality.is_some() || status != "ok", "{row}");
        assert!(
            quality.is_none_or(|quality| (0.0..=1.0).contains(&quality)),
            "{row}"
        );
    }
    let qualities: Vec<f64> = rows(&report)
        .iter()
        .filter_map(|row| row["quality"]["value"].as_f64())
        .collect();
    assert!(
        qualities.is_sorted_by(|a, b| a >= b),
        "best first: {qualities:?}"
    );
}

#[test]
fn csv_has_one_line_per_timer() {
    let text = printed(&probe(&["--format", "csv"]));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    for name in [
        "timer",
        "status",
        "resolution_ns",
        "cost_ns",
        "spread",
        "quality",
    ] {
        assert!(
            header.iter().any(|column| column == name),
            "no `{name}`: {text}"
        );
    }
    let records: Result<Vec<_>, _> = reader.records().collect();
    assert_eq!(records.expect("all lines have all columns").len(), 2);
}

#[test]
fn writes_files_and_prints_table() {
    let folder = Folder::new();
    let (as_json, markdown) = (folder.arg("x.json"), folder.arg("x.md"));
    fs::write(&as_json, "an older report").expect("it can be written");
    let assert = probe(&[
        "--output", &as_json, "--output", &markdown, "--cycles", "2.8GHz",
    ]);
    let table = printed(&assert);
    assert!(
        table.contains("monotonic") && !table.contains('\u{1b}'),
        "{table}"
    );
    assert!(serde_json::from_str::<Value>(&table).is_err());
    let report: Value =
        serde_json::from_slice(&fs::read(&as_json).unwrap()).expect("the file holds JSON");
    assert_eq!(rows(&report).len(), 2);
    assert_eq!(report["frequency"]["cycles_hz"]["value"], 2.8e9);
    let text = fs::read_to_string(&markdown).unwrap();
    let cells = |line: &str| line.starts_with('|') && line.contains("monotonic");
    assert!(text.lines().any(cells) && text.contains("|:-"), "{text}");
    assert_eq!(folder.names(), ["x.json", "x.md"]);
}

#[test]
fn markdown_has_a_table() {
    let text = printed(&probe(&["--format", "markdown", "--quiet"]));
    assert!(
        text.lines()
            .any(|line| line.starts_with('|') && line.contains("monotonic")),
        "{text}"
    );
}

#[test]
fn accepts_closed_output() {
    // A reader that takes one line, like `head -1`.
    let mut list = Command::new(program());
    let mut list = list
        .arg("list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut reader = BufReader::with_capacity(1, list.stdout.take().expect("a pipe"));
    reader.read_line(&mut line).expect("a line");
    drop(reader);
    assert!(line.contains("timer"), "{line}");
    let ended = list.wait_with_output().expect("it ends");
    assert!(
        ended.status.success() && ended.stderr.is_empty(),
        "{ended:?}"
    );
    // An output that is closed from the beginning.
    for args in [
        &["list"][..],
        &["list", "--format", "json"],
        &["platform"],
        &PROBE_TWO,
    ] {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let ended = Command::new(program())
            .args(args)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output();
        let ended = ended.expect("it starts");
        let done = ended
            .status
            .code()
            .is_some_and(|code| STATUSES.contains(&code));
        assert!(done && ended.stderr.is_empty(), "{args:?}: {ended:?}");
    }
}

#[test]
fn files_complete_despite_closed_pipe() {
    let folder = Folder::new();
    let file = folder.arg("x.json");
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    let args = PROBE_TWO
        .iter()
        .chain(&["--output", &file])
        .copied()
        .collect::<Vec<_>>();
    let ended = Command::new(program())
        .args(args)
        .stdout(writer)
        .output()
        .expect("it starts");
    assert!(
        ended
            .status
            .code()
            .is_some_and(|code| STATUSES.contains(&code)),
        "{ended:?}"
    );
    let report: Value =
        serde_json::from_slice(&fs::read(&file).unwrap()).expect("the file holds JSON");
    assert_eq!(rows(&report).len(), 2);
}

#[test]
fn reports_unavailable_timer() {
    let listed = listed();
    let Some(timer) = listed.iter().find(|timer| timer["available"] == false) else {
        skipped(
            "all timers are available here",
            "run it where one is not, as in a virtual machine without a PMU",
        );
        return;
    };
    let id = timer["id"].as_str().expect("it has an id");
    let named = json(&timermeter(&["probe", "--quick", "--format", "json", id]).code(3));
    assert_eq!(rows(&named).len(), 1);
    let unavailable = row(&named, id);
    assert_eq!(unavailable["status"], "unavailable");
    assert!(
        unavailable["reason"]
            .as_str()
            .is_some_and(|reason| !reason.is_empty()),
        "{unavailable}"
    );
    assert!(
        unavailable["quality"].is_null() && unavailable["resolution"].is_null(),
        "{unavailable}"
    );
    // For a timer that was selected by a glob, the status is 0.
    let glob = format!("{}[{}]", &id[..id.len() - 1], &id[id.len() - 1..]);
    let matched = json(&timermeter(&["probe", "--quick", "--format", "json", &glob]).success());
    assert_eq!(row(&matched, id)["status"], "unavailable");
}

/// `report` prints a stored report in the formats of `probe`.
#[test]
fn stored_report_prints_in_all_formats() {
    let kept = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23/report.json"
    );
    let print_as =
        |format: &str| printed(&timermeter(&["report", kept, "--format", format]).success());
    let again: Value = serde_json::from_str(&print_as("json")).expect("JSON");
    let report: Value = serde_json::from_slice(&fs::read(kept).expect("it is kept")).expect("JSON");
    assert_eq!(
        again["timers"].as_array().map(Vec::len),
        report["timers"].as_array().map(Vec::len)
    );
    let metrics = print_as("openmetrics");
    assert!(
        metrics.starts_with("# HELP ") && metrics.ends_with("# EOF\n"),
        "{metrics}"
    );
    let header = print_as("csv").lines().next().map(str::to_owned);
    assert!(header.is_some_and(|header| header.contains(",timer,label,runtime,")));
    // The extension determines the format of the file, --format that of standard output.
    let folder = Folder::new();
    let page = folder.arg("page.html");
    let both = ["report", kept, "--format", "csv", "--output", &page];
    assert_eq!(printed(&timermeter(&both).success()), print_as("csv"));
    assert_eq!(
        fs::read_to_string(&page).expect("it is written"),
        print_as("html")
    );
    timermeter(&["report", kept, kept, "--format", "csv"])
        .code(2)
        .stderr(contains("in this format"));
}
