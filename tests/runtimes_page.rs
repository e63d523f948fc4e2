//! The figures of docs/runtimes-measured.md are those of a kept run, one row a clock.
//! `TIMERMETER_UPDATE=1 cargo test --test main runtimes_page::` writes them again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use timermeter::text::numbers::{significant, time};

const BEGIN: &str = "<!-- figures of a kept run -->\n";
const END: &str = "<!-- end of the figures -->\n";
/// A kept run is of all runtimes where it has this many of them, and this many clocks.
const RUNTIMES: usize = 12;
const CLOCKS: usize = 40;
/// What is said and what is done differ where one is this many times the other.
const DIFFERENT: f64 = 1.5;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn of_runtimes(report: &Value) -> impl Iterator<Item = &Value> {
    let rows = report["timers"].as_array().into_iter().flatten();
    rows.filter(|row| row["runtime"] != "native" && row["status"] != "unavailable")
}

fn runtimes(report: &Value) -> BTreeSet<&str> {
    of_runtimes(report)
        .filter_map(|row| row["id"].as_str()?.split_once(':'))
        .map(|(name, _)| name)
        .collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let all = entries.flat_map(|entry| match entry.path() {
        path if path.is_dir() => files(&path),
        path => vec![path],
    });
    all.filter(|path| path.ends_with("report.json")).collect()
}

/// The latest kept run of all runtimes, and where it is.
fn kept() -> Option<(PathBuf, Value)> {
    let read = |path: PathBuf| {
        let report: Value = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        (runtimes(&report).len() >= RUNTIMES).then_some((path, report))
    };
    let reports = files(&root().join("reports")).into_iter().filter_map(read);
    reports.max_by_key(|(_, report)| report["created"].to_string())
}

/// What is said of a clock beside what it does.
fn said(row: &Value) -> (String, String) {
    let declared = &row["verdicts"]["declared"];
    let said = declared["resolution_ns"].as_f64();
    let note = declared["times_coarser"]
        .as_f64()
        .map_or_else(String::new, |times| {
            if times > DIFFERENT {
                format!("steps are {} times what is said", significant(times, 2))
            } else if times * DIFFERENT < 1.0 {
                format!("steps are {} of what is said", significant(times, 2))
            } else {
                String::new()
            }
        });
    (said.map_or_else(|| "–".into(), |ns| time(Some(ns))), note)
}

fn step(row: &Value) -> String {
    let [step, limit] =
        ["resolution_ns", "resolution_at_most_ns"].map(|key| row[key]["value"].as_f64());
    match limit {
        Some(_) => format!("≤ {}", time(limit)),
        None => time(step),
    }
}

fn line(row: &Value) -> String {
    let text = |key: &str| row[key].as_str().unwrap_or_default().replace('|', "\\|");
    let cost = row["cost_ns"]["value"]
        .as_f64()
        .map_or_else(|| "–".into(), |ns| time(Some(ns)));
    let percent = |number: &str| row["quality"][number].as_f64().map(|share| 100.0 * share);
    let quality = match (percent("value"), percent("low"), percent("high")) {
        (Some(value), Some(low), Some(high)) => format!("{value:.2} ({low:.1} to {high:.1})"),
        (Some(value), ..) => format!("{value:.2}"),
        _ => "–".into(),
    };
    let (said, differs) = said(row);
    let moved = row["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|warning| warning["code"] == "edges-moved");
    let failed = row["reason"].as_str().filter(|_| row["status"] == "failed");
    let notes: Vec<String> = [
        Some(differs).filter(|note| !note.is_empty()),
        moved.then(|| "edges are moved".into()),
        failed.map(|why| why.replace('|', "\\|")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let (id, label, step) = (text("id"), text("label"), step(row));
    format!(
        "| `{id}` | `{label}` | {said} | {step} | {cost} | {quality} | {} |\n",
        notes.join("; ")
    )
}

/// The figures of a run that is kept at `place`.
fn figures(place: &str, report: &Value) -> String {
    let mut rows: Vec<&Value> = of_runtimes(report).collect();
    rows.sort_by_key(|row| {
        row["id"]
            .as_str()
            .unwrap_or_default()
            .split(':')
            .next()
            .unwrap_or_default()
    });
    let versions: BTreeSet<String> = rows
        .iter()
        .filter(|row| row["status"] != "failed")
        .map(|row| {
            format!(
                "{} ({})",
                row["id"]
                    .as_str()
                    .unwrap_or_default()
                    .split(':')
                    .next()
                    .unwrap_or_default(),
                row["runtime"].as_str().unwrap_or_default()
            )
        })
        .collect();
    let cpu = report["platform"]["cpu"]["model"]
        .as_str()
        .unwrap_or("an unknown CPU");
    let day = report["created"]
        .as_str()
        .unwrap_or_default()
        .split('T')
        .next()
        .unwrap_or_default()
        .to_owned();
    let mut text = format!(
        "{} clocks of {} hosts on one machine ({cpu}, {day}); [the run]({place}) has the rest: {}.\n\n",
        rows.len(),
        runtimes(report).len(),
        versions.into_iter().collect::<Vec<_>>().join(", "),
    );
    text += "| clock | call | says | moves in | cost | Quality %, 95 % | notes |\n|---|---|---:|---:|---:|---:|---|\n";
    rows.iter().for_each(|row| text += &line(row));
    text
}

#[test]
fn page_matches_kept_run() {
    let path = root().join("docs/runtimes-measured.md");
    let page = fs::read_to_string(&path).expect("it is there");
    let (before, rest) = page.split_once(BEGIN).expect("it has a place for them");
    let (there, after) = rest.split_once(END).expect("that ends");
    let wanted = match kept() {
        Some((place, report)) => {
            let place = place
                .strip_prefix(root())
                .expect("below the root")
                .parent()
                .expect("a folder");
            assert!(
                of_runtimes(&report).count() >= CLOCKS,
                "{}",
                place.display()
            );
            figures(&format!("../{}", place.display()), &report)
        }
        None => "No run of all runtimes is kept.\n".into(),
    };
    if std::env::var_os("TIMERMETER_UPDATE").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).expect("written");
    } else {
        assert_eq!(
            there, wanted,
            "`TIMERMETER_UPDATE=1 cargo test --test main runtimes_page::` writes it again"
        );
    }
}

#[test]
fn deviating_clock_has_a_note() {
    let row = serde_json::json!({
        "id": "x:now", "label": "now(a|b)", "status": "ok", "resolution_ns": {"value": 1e6}, "resolution": {"kind": "resolved"}, "cost_ns": {"value": 25.0},
        "quality": {"value": 0.25, "low": 0.2, "high": 0.3}, "verdicts": {"declared": {"resolution_ns": 1e3, "times_coarser": 1e3}},
        "findings": [{"code": "edges-moved"}]
    });
    assert_eq!(
        line(&row),
        "| `x:now` | `now(a\\|b)` | 1.000 µs | 1.000 ms | 25.00 ns | 25.00 (20.0 to 30.0) | steps are 1000 times what is said; edges are moved |\n"
    );
}
