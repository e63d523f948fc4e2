//! Fuzzes all readers of input with mutated valid files. No reader may panic, accept impossible
//! values or print control characters. `corpus/` contains the valid files.
//! `TIMERMETER_FUZZ_TIMES=100` runs 100 times as many cases, `TIMERMETER_FUZZ_SEED=7` the same ones again.
//!
//! Proptest minimises a failing file and stores it in `proptest-regressions/`.

mod extremes;
mod mutation;
mod verbs;

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::steering::{around, steers_nothing};
use clap::Parser;
use estimators::model::Report;
use flate2::Compression;
use flate2::write::GzEncoder;
use judgement::choice::waits::{WaitRequirement, choose};
use judgement::samples::judge;
use judgement::watching::log;
use mutation::{Change, change, changed};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use reporting::comparison::Comparison;
use reporting::document::Document;
use reporting::durations;
use reporting::fields::all_rows;
use reporting::format::{Format, Render, Style};
use reporting::page;
use reporting::plot::plots;
use reporting::report::{Detail, checked, facts, parse, parse_line};
use reporting::text::plain;
use serde_json::{Value, json};
use timermeter::agents::protocol::{Hello, Reply};
use timermeter::cli::Cli;
use timermeter::recording::TraceFile;

const PLAIN: Style = Style {
    width: Some(100),
    colour: false,
    ascii: false,
    legend: false,
    quiet: false,
};

/// The files of a corpus.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fuzz/corpus")
        .join(name);
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// The number in the environment variable `TIMERMETER_FUZZ_…`.
fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(format!("TIMERMETER_FUZZ_{name}")).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name}: {value}")))
}

/// Runs a reader over `times` mutated files. `read` returns whether the file was accepted.
fn fuzz(name: &str, times: u32, read: impl Fn(&[u8]) -> bool) {
    let files = corpus(name);
    for file in &files {
        read(file);
    }
    let strategy = (
        prop::sample::select(files),
        prop::collection::vec(change(), 1..4),
    );
    let (read_well, all) = (std::cell::Cell::new(0_u32), std::cell::Cell::new(0_u32));
    let config = Config {
        cases: times * variable("TIMES").unwrap_or(1) as u32,
        max_shrink_iters: 2_000,
        rng_seed: variable("SEED").map_or(RngSeed::Random, RngSeed::Fixed),
        ..Config::with_source_file(file!())
    };
    let ended =
        TestRunner::new(config).run(&strategy, |(file, changes): (Vec<u8>, Vec<Change>)| {
            all.set(all.get() + 1);
            read_well.set(read_well.get() + u32::from(read(&changed(&file, &changes))));
            Ok(())
        });
    ended.unwrap_or_else(|error| panic!("{name}: {error}"));
    println!(
        "{name}: {} files, {} of them were read",
        all.get(),
        read_well.get()
    );
    assert!(
        read_well.get() > all.get() / 200,
        "{name}: nearly all files were rejected"
    );
}

/// Whether `inf` or `NaN` in a text that is printed can be a word of the input. A date of which a
/// part was replaced is printed in parts.
fn names_what_is_not_finite(input: &str) -> bool {
    input.contains("NaN") || not_finite(input).is_some()
}

/// The first `inf` or `NaN` in a text, with its context.
fn not_finite(text: &str) -> Option<&str> {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let word = words.find(|word| ["inf", "NaN"].contains(word))?;
    Some(around(
        text,
        word.as_ptr() as usize - text.as_ptr() as usize,
    ))
}

fn show(report: &Report) {
    for format in [Format::Table, Format::Markdown, Format::Csv, Format::Latex] {
        let text = report.rendered(format, PLAIN);
        steers_nothing(&text);
    }
    for row in all_rows(report) {
        for (_, value) in facts(row, Detail::Full) {
            steers_nothing(&plain(&value));
        }
        for plot in plots(row) {
            steers_nothing(&plot.to_string());
        }
    }
    let often = WaitRequirement {
        every_ns: 1e6,
        once: false,
        language: None,
    };
    let _ = choose(report, &often);
    let json = report.rendered(Format::Json, PLAIN);
    parse(&json, "again").unwrap();
}

#[test]
fn survives_changed_reports() {
    fuzz("report", 60, |bytes| {
        let Ok(text) = str::from_utf8(bytes) else {
            return false;
        };
        // Messages are cleaned when they are printed. This one quotes the text, so it has to be
        // clean before.
        let report = match parse(text, "r.json") {
            Ok(report) => report,
            Err(error) => {
                steers_nothing(&error.to_string());
                return false;
            }
        };
        show(&report);
        verbs::read(text);
        if let Some(comparison) = Comparison::between(&[&report], &[&report]) {
            let document = comparison.add_to(Document::new(&comparison), true);
            for format in [Format::Table, Format::Markdown, Format::Json] {
                let text = document.rendered(format, PLAIN);
                if format == Format::Table {
                    steers_nothing(&text);
                }
            }
        }
        let page = page::render(&[report], &[]).unwrap();
        assert_eq!(page.matches("<script").count(), 1, "one script");
        steers_nothing(&page);
        true
    });
}

/// Checks that the interval of each figure in a document contains its value.
fn each_contains_its_value(document: &Value) {
    if let Some(value) = document["value"].as_f64() {
        let end = |key: &str, unknown| document[key].as_f64().unwrap_or(unknown);
        let interval = end("low", value)..=end("high", value);
        assert!(interval.contains(&value), "{document}");
    }
    let (values, members) = (document.as_array(), document.as_object());
    let members = members.into_iter().flat_map(|members| members.values());
    let all = values.into_iter().flatten().chain(members);
    all.for_each(each_contains_its_value);
}

/// A changed line stands before an event and the end of a watch, or after its event.
#[test]
fn survives_changed_logs() {
    let [begin, end, pause] = ["begin", "end", "pause"].map(|name| {
        let path = format!("tests/fuzz/corpus/log/{name}.json");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        fs::read_to_string(path).unwrap()
    });
    fuzz("log", 600, |bytes| {
        let line = String::from_utf8_lossy(bytes);
        verbs::read_log(&format!("{begin}{line}\n{pause}{end}"));
        verbs::read_log(&format!("{begin}{pause}{line}\n"));
        log::parse(&line, parse_line).damaged == 0
    });
}

/// Zero and what rounds to it are no frequencies; a slow core has one.
#[test]
fn traces_hold_no_impossible_numbers() {
    let with = |place: &str, number: f64| {
        let mut trace: Value =
            serde_json::from_str(include_str!("corpus/trace/waits.json")).unwrap();
        *trace.pointer_mut(place).unwrap() = json!(number);
        let read = TraceFile::unpack(&gzip(trace.to_string().as_bytes()), "a.trace");
        read.map(drop).map_err(|error| error.to_string())
    };
    for place in ["before/hertz", "before/low", "after/high", "tsc"] {
        let place = format!("/frequency/{place}");
        for hertz in [0.0, -0.0, -1.0, 5e-324, 1e13] {
            let error = with(&place, hertz).unwrap_err();
            assert!(error.contains("no frequency (line 1, column"), "{error}");
        }
        assert_eq!(with(&place, 1.0), Ok(()));
    }
    let error = with("/waits/0/outcome/Ok/reference/ns_per_tick", 1e19).unwrap_err();
    assert!(
        error.contains("reference.ns_per_tick of 'nanosleep' is 1"),
        "{error}"
    );
}

#[test]
fn survives_changed_traces() {
    fuzz("trace", 60, |json| {
        let bytes = gzip(json);
        // The header and the tables before the JSON.
        let mut frame = bytes.clone();
        for (at, byte) in frame.clone().iter().enumerate().take(20) {
            frame[at] = byte ^ json.get(at).map_or(0, |byte| byte & 0x11);
            let _ = TraceFile::unpack(&frame, "a.trace");
        }
        match TraceFile::unpack(&bytes, "a.trace") {
            Ok(recording) => {
                // `probe --from` rejects impossible reports.
                let report = recording.report();
                if let Ok(report) = checked(&report.rendered(Format::Json, PLAIN)) {
                    show(&report);
                    verbs::read(&report.rendered(Format::Json, PLAIN));
                }
                true
            }
            Err(error) => {
                steers_nothing(&plain(&error.to_string()));
                false
            }
        }
    });
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

#[test]
fn survives_changed_durations() {
    fuzz("durations", 300, |bytes| {
        match durations::parse(bytes, Some("2"), None) {
            Ok(found) => {
                for series in found {
                    let judged = judge(&series.durations, series.rounding, series.is_floating);
                    each_contains_its_value(&json!(judged));
                }
                true
            }
            Err(error) => {
                steers_nothing(&error);
                false
            }
        }
    });
}

#[test]
fn survives_changed_answers() {
    fuzz("answers", 4_000, |line| {
        serde_json::from_slice::<Hello>(line).is_ok_and(|hello| hello.objection().is_none())
            || serde_json::from_slice::<Reply>(line).is_ok()
    });
}

#[test]
fn survives_changed_arguments() {
    fuzz("arguments", 300, |line| {
        let line = String::from_utf8_lossy(line);
        let words = ["timermeter"].into_iter().chain(line.split_whitespace());
        Cli::try_parse_from(words).is_ok()
    });
}
