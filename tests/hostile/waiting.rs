//! Reports of sleep primitives and periodic timers with impossible figures, and with possible but
//! absurd ones.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::folder::Folder;
use super::program::program;
use super::run::Run;

/// A sound one.
const REPORT: &str = include_str!("../fuzz/corpus/report/waits.json");
/// Kilobytes.
const MOST: u64 = 400_000;

fn report() -> Value {
    serde_json::from_str(REPORT).expect("it is JSON")
}

/// The report with another value in each of these places.
fn changed(changes: &[(&str, Value)]) -> Value {
    let mut report = report();
    for (place, value) in changes {
        *report
            .pointer_mut(place)
            .unwrap_or_else(|| panic!("no {place}")) = value.clone();
    }
    report
}

/// What reads a report: the arguments of each verb.
fn readers([path, page, figures]: [&str; 3]) -> [Vec<&str>; 7] {
    [
        vec!["table", path, "--all"],
        vec![
            "table",
            path,
            "--layout",
            "side-by-side",
            "--format",
            "csv",
            "--kind",
            "periods",
        ],
        vec!["compare", path, path, "--all"],
        vec!["compare", path, path, "--format", "json"],
        vec!["inspect", "*", "--from", path, "--svg", figures],
        vec!["pick", "--every", "1ms", "--within", "50us", "--from", path],
        vec!["report", path, "-o", page],
    ]
}

/// Runs every reader; none panics, takes much memory or steers a terminal. Returns what each ended
/// with and said.
#[track_caller]
fn read_by_all(name: &str, report: &Value) -> Vec<(Option<i32>, String)> {
    let folder = Folder::new();
    fs::write(folder.file("r.json"), report.to_string()).expect("there is room");
    let [path, page, figures] = ["r.json", "page.html", "figures"].map(|name| folder.arg(name));
    let ended = readers([&path, &page, &figures]).into_iter().map(|args| {
        // Into a file, as a pipe is not read while its memory is watched.
        let mut command = Command::new("sh");
        command
            .args(["-c", r#"exec "$0" "$@" > "$SHOWN""#, program()])
            .args(&args)
            .env("SHOWN", folder.file("shown"));
        let mut run = Run::spawn(command);
        let peak = run.peak();
        let (status, output) = run.end();
        let shown = fs::read(folder.file("shown")).expect("it was made");
        let said = [shown, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        let code = status.code();
        assert!(
            matches!(code, Some(0 | 1 | 3 | 4)),
            "{name}: {args:?}: {status:?}: {}",
            said[1]
        );
        let steers =
            |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}');
        let [shown, reported] =
            said.map(|text| text.trim_start_matches('\u{feff}').replace("\r\n", "\n"));
        assert!(
            !reported.contains("panicked") && !reported.contains(steers),
            "{name}: {args:?}: {reported}"
        );
        // JSON keeps text as it was found.
        assert!(
            args.contains(&"json") || !shown.contains(steers),
            "{name}: {args:?}: {shown}"
        );
        assert!(peak < MOST, "{name}: {args:?}: {peak} kB");
        (code, reported)
    });
    ended.collect()
}

#[test]
fn rejects_impossible_figures_with_place() {
    let folder = Folder::new();
    let path = folder.arg("r.json");
    let late = "/waits/0/figures/lateness/0";
    let known = |value: f64, low: f64, high: f64| json!({"value": value, "low": low, "high": high});
    for (place, value, words) in [
        (
            "/waits/0/figures/lateness/0/early",
            json!(1.5),
            "1 ms (slack 1 ns)': early is 1.5; it has to be from 0 to 1",
        ),
        (
            "/waits/0/figures/lateness/0/spread",
            json!(-0.5),
            "1 ms (slack 1 ns)': wait_spread is -0.5",
        ),
        (
            "/waits/0/figures/lateness/0/quality",
            json!(7),
            "1 ms (slack 1 ns)': wait_quality is 7.0",
        ),
        (
            "/waits/0/figures/lateness/0/max_ns",
            json!(1e308),
            "1 ms (slack 1 ns)': late_max_ns is 1e308",
        ),
        (
            "/waits/0/figures/lateness/0/error_ns",
            json!(-1),
            "1 ms (slack 1 ns)': error_ns is -1.0",
        ),
        (
            "/waits/0/figures/lateness/0/request_ns",
            json!(u64::MAX),
            "request_ns",
        ),
        (
            "/waits/0/figures/lateness/0/p50_ns",
            known(1.0, 3.0, 2.0),
            "late_p50_ns ends at 2.0, below its beginning at 3.0",
        ),
        (
            "/waits/0/figures/lateness/0/cpu_ns",
            known(1e300, 1.0, 2.0),
            "cpu_ns is 1e300",
        ),
        (
            "/waits/0/figures/lateness/0/histogram/bins",
            json!({"4294967295": 1, "90": 2}),
            "bin number is 4294967295.0; it has to be from 0 to 400",
        ),
        (
            "/waits/0/figures/staircase",
            json!([[1e308, 1e308], [-1e308, 1.0], [0.0, 0.0]]),
            "staircase is 1e308",
        ),
        (
            "/waits/0/figures/floor_ns",
            known(1.0, -1e300, 2.0),
            "'nanosleep 1 ms (slack 1 ns)': floor_ns is -1e300",
        ),
        (
            "/waits/0/figures/steps/0/rounding",
            json!({"step": known(0.0, 0.0, 0.0)}),
            "rounding_ns is 0.0; it has to be more than 0",
        ),
        (
            "/waits/0/figures/steps/0/grid",
            json!({"at-most": -1.0}),
            "grid_ns is -1.0",
        ),
        (
            "/waits/1/id",
            json!("nanosleep"),
            "two sleep primitives are 'nanosleep'; names are unique",
        ),
        (
            "/periods/0/period_ns",
            json!(0),
            "'nanosleep' has a period of 0",
        ),
        (
            "/periods/0/figures/rate_error_ppm",
            known(1.0, 2.0, 1.0),
            "rate_error_ppm ends at 1.0",
        ),
        (
            "/periods/1/figures/max_ns",
            json!(-1e19),
            "'timerfd 1 ms': late_max_ns is -1e19",
        ),
        (
            "/periods/1/id",
            json!("nanosleep"),
            "two periodic timers are 'nanosleep'; names are unique",
        ),
    ] {
        let mut report = changed(&[(place, value)]);
        if place.ends_with("waits/1/id") {
            report["waits"][1]["conditions"] = report["waits"][0]["conditions"].clone();
        }
        fs::write(folder.file("r.json"), report.to_string()).expect("there is room");
        // A reader of all of it, and one that passes over its bulk.
        for args in [
            &["inspect", "*", "--from", &path][..],
            &["table", &path],
            &["compare", &path, &path],
        ] {
            let (status, output) = Run::start(args).end();
            let reported = String::from_utf8_lossy(&output.stderr);
            let refused = if args[0] == "compare" { 4 } else { 1 };
            assert_eq!(
                status.code(),
                Some(refused),
                "{place}: {args:?}: {reported}"
            );
            assert!(
                reported.contains("r.json") && reported.contains(words),
                "{place}: {args:?}: {reported}"
            );
        }
    }
    assert!(report().pointer(late).is_some());
}

#[test]
fn all_verbs_print_extreme_figures() {
    assert!(
        read_by_all("sound", &report())
            .iter()
            .all(|(code, _)| matches!(code, Some(0 | 3)))
    );
    let bins = "/waits/0/figures/lateness/0/histogram/bins";
    let most = u64::MAX;
    for (name, changes) in [
        ("the last bin", vec![(bins, json!({"400": 1, "90": 2}))]),
        ("only the last bin", vec![(bins, json!({"400": 1}))]),
        (
            "counts that overflow together",
            vec![(bins, json!({"0": most, "1": most, "90": most}))],
        ),
        ("no bins", vec![(bins, json!({}))]),
        ("counts of nothing", vec![(bins, json!({"90": 0}))]),
        (
            "no waits",
            vec![("/waits/0/figures/lateness/0/waits", json!(0))],
        ),
        (
            "countless waits",
            vec![
                ("/waits/0/figures/lateness/0/waits", json!(most)),
                ("/periods/0/figures/missed", json!(most)),
            ],
        ),
        (
            "no lengths",
            vec![
                ("/waits/0/figures/lateness", json!([])),
                ("/waits/1/figures/lateness", json!([])),
            ],
        ),
        ("no steps", vec![("/waits/0/figures/steps", json!([]))]),
        (
            "steps too small to draw",
            vec![(
                "/waits/0/figures/steps/0/grid",
                json!({"step": {"value": 1e-300, "low": null, "high": null}}),
            )],
        ),
        (
            "points beyond all",
            vec![(
                "/waits/0/figures/staircase",
                json!([[1.8e19, 1.8e19], [-1.8e19, 1.0], [0.0, 0.0]]),
            )],
        ),
        (
            "a length of nothing",
            vec![("/waits/0/figures/lateness/0/request_ns", json!(0))],
        ),
        (
            "all waits early",
            vec![
                ("/waits/0/figures/lateness/0/early", json!(1)),
                ("/waits/0/figures/lateness/0/max_ns", json!(-1e18)),
                (
                    "/waits/0/figures/lateness/0/p50_ns",
                    json!({"value": -1e18, "low": -1e18, "high": -1e18}),
                ),
            ],
        ),
        (
            "words that steer",
            vec![
                ("/waits/0/id", json!("=cmd|'\u{1b}[31m\u{202e}")),
                (
                    "/waits/0/label",
                    json!("<script>alert(1)</script>\r\n| a | b |"),
                ),
                (
                    "/waits/0/conditions/policy",
                    json!("\u{1b}]0;owned\u{7}\n| x | <script>"),
                ),
                ("/waits/1/reason", json!("\u{1b}[2J\u{202e}")),
                ("/periods/0/id", json!("\u{9b}31m")),
            ],
        ),
        (
            "ok without figures",
            vec![
                ("/waits/0/figures", json!(null)),
                ("/periods/0/figures", json!(null)),
            ],
        ),
        (
            "endless conditions",
            vec![
                ("/waits/0/conditions/slack_ns", json!(most)),
                ("/waits/0/conditions/cpu", json!(u32::MAX)),
                ("/waits/0/conditions/policy", json!("x".repeat(100_000))),
            ],
        ),
    ] {
        for (code, reported) in read_by_all(name, &changed(&changes)) {
            // Where there are no waits of that length, there is nothing to pick.
            assert!(
                matches!(code, Some(0 | 3)) || reported.contains("no waits of about"),
                "{name}: {reported}"
            );
        }
    }
}

#[test]
fn rejects_too_many_rows() {
    let many = |count: usize| {
        let mut report = report();
        let row = report["waits"][0].clone();
        let numbered = (0..count).map(|number| {
            let mut row = row.clone();
            row["conditions"]["slack_ns"] = number.into();
            row["figures"]["staircase"] = json!([]);
            row["figures"]["lateness"][0]["histogram"]["bins"] = json!({});
            row
        });
        report["waits"] = numbered.collect();
        report
    };
    read_by_all("many", &many(1_000));
    let folder = Folder::new();
    let path = folder.arg("crowd.json");
    let row = r#"{"id":"a","label":"","runtime":"","conditions":{"slack_ns":0,"policy":"","load":"none"},"means":"blocks","status":"failed","findings":[]}"#;
    let mut report = report();
    report["waits"] = json!([]);
    let text = report.to_string().replace(
        "\"waits\":[]",
        &format!("\"waits\":[{}]", vec![row; 9_000].join(",")),
    );
    fs::write(folder.file("crowd.json"), text).expect("there is room");
    let (status, output) = Run::start(&["table", &path]).end();
    let reported = String::from_utf8_lossy(&output.stderr);
    assert_eq!(status.code(), Some(1), "{reported}");
    assert!(reported.contains("more than 8192 timers"), "{reported}");
}
