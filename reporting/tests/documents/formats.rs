//! Formats of handmade reports with missing values, failed timers and malicious text: screens are
//! compared with snapshots.

use reporting::report::{parse, render, schema};
use reporting::table::{Format, Style};

use crate::steering::steers_nothing;

use crate::sample::{
    nothing_determined, report, report_of_periods, report_of_waits, report_without_finite_waits,
};

fn table(width: Option<u16>, colour: bool) -> String {
    render(
        &report(),
        Format::Table,
        Style {
            width,
            colour,
            ..Style::default()
        },
    )
}

fn render_sample(format: Format) -> String {
    render(&report(), format, Style::default())
}

#[test]
fn table_at_80_columns() {
    insta::assert_snapshot!(table(Some(80), false));
}

#[test]
fn table_in_colour() {
    insta::assert_snapshot!(table(Some(100), true).replace('\u{1b}', "␛"));
}

#[test]
fn similar_clocks_share_rank() {
    let mut report = report();
    let second = report.timers[1].quality.expect("the clock has a Quality");
    report.timers[0]
        .quality
        .as_mut()
        .expect("the clock has a Quality")
        .low = second.value;
    let table = render(&report, Format::Table, Style::default());
    let rank = |id: &str| {
        let row = table
            .lines()
            .find(|line| line.split_whitespace().nth(1) == Some(id));
        row.and_then(|line| line.split_whitespace().next())
            .map(str::to_owned)
    };
    assert_eq!(
        ["rdtsc", "rdtscp", "monotonic"].map(rank),
        ["1", "1", "3"].map(|rank| Some(rank.to_owned()))
    );
    let markdown = render(&report, Format::Markdown, Style::default());
    let html = reporting::page::render(&[report], &[]).expect("the page is rendered");
    for (id, rank) in [("rdtsc", 1), ("rdtscp", 1), ("monotonic", 3)] {
        assert!(
            markdown.contains(&format!("| {rank} | {id} |")),
            "{markdown}"
        );
        let row = html
            .split("<tr data-find")
            .find(|row| row.contains(&format!("data-v=\"{id}\"")));
        assert!(
            row.is_some_and(|row| row.contains(&format!("<small>rank {rank}"))),
            "{row:?}"
        );
    }
}

#[test]
fn quality_interval_stays_in_range() {
    let mut report = report();
    let quality = report.timers[2]
        .quality
        .as_mut()
        .expect("the clock has a Quality");
    (quality.low, quality.high) = (0.0, 1.0);
    for format in [Format::Table, Format::Markdown] {
        let text = render(&report, format, Style::default());
        assert!(text.contains(" 0–100"), "{text}");
    }
}

#[test]
fn report_without_results() {
    insta::assert_snapshot!(render(
        &nothing_determined(),
        Format::Table,
        Style::default()
    ));
}

#[test]
fn hostile_texts_steer_nothing_and_are_no_formulas() {
    for report in [
        report(),
        report_of_waits(),
        report_of_periods(),
        report_without_finite_waits(),
    ] {
        for format in [Format::Table, Format::Csv, Format::Markdown] {
            steers_nothing(&render(&report, format, Style::default()));
        }
        let text = render(&report, Format::Csv, Style::default());
        for record in csv::Reader::from_reader(text.as_bytes()).records() {
            let is_formula = |cell: &str| {
                cell.parse::<f64>().is_err() && cell.starts_with(['=', '+', '-', '@', '\t', '\r'])
            };
            let record = record.expect("as many cells as names");
            assert!(!record.iter().any(is_formula), "{record:?}");
        }
    }
}

#[test]
fn json_round_trips_and_fits_schema() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for report in [
        report(),
        nothing_determined(),
        report_of_waits(),
        report_of_periods(),
        report_without_finite_waits(),
    ] {
        let text = render(&report, Format::Json, Style::default());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:?}");
        // Reading a report removes control characters from its text.
        let read = parse(&text, "sample").unwrap();
        let again = render(&read, Format::Json, Style::default());
        assert_eq!(again.lines().count(), text.lines().count());
        assert_eq!(parse(&again, "sample").unwrap(), read);
    }
    for report in [report(), report_of_waits(), report_of_periods()] {
        assert_eq!(
            parse(&render(&report, Format::Json, Style::default()), "sample").unwrap(),
            report
        );
    }
}

#[test]
fn schema_refuses_other_documents() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let good: serde_json::Value = serde_json::from_str(&render_sample(Format::Json)).unwrap();
    for (pointer, bad) in [
        ("/schema", "timermeter.report.v1".into()),
        ("/timers/0/status", "fine".into()),
        ("/timers/0/quality", 1.5.into()),
        ("/timers/0/resolution/kind", serde_json::Value::Null),
        ("/settings/seed", (-1).into()),
    ] {
        let mut value = good.clone();
        *value.pointer_mut(pointer).unwrap() = bad;
        assert!(!validator.is_valid(&value), "{pointer}");
    }
    let mut absent = good.clone();
    absent["timers"][0]
        .as_object_mut()
        .unwrap()
        .remove("quality");
    assert!(
        !validator.is_valid(&absent),
        "an undetermined value is null, not absent"
    );
}

/// A report of sleep primitives and a report of periodic timers in a format.
fn render_waits(format: Format, width: Option<u16>) -> String {
    [report_of_waits(), report_of_periods()]
        .map(|report| {
            render(
                &report,
                format,
                Style {
                    width,
                    colour: false,
                    ..Style::default()
                },
            )
        })
        .join("\n=====\n\n")
}

#[test]
fn waits_at_80_columns() {
    insta::assert_snapshot!(render_waits(Format::Table, Some(80)));
}
