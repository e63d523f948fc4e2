//! All formats of a handmade report with missing values, failed timers and malicious text, compared
//! with snapshots.

use timermeter::report::{Advice, parse, render, schema};
use timermeter::table::{Format, Style};

use crate::sample::waits::{report_of_periods, report_of_waits, report_without_finite_waits};
use crate::sample::{nothing_determined, report};

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
fn table_at_120_columns() {
    insta::assert_snapshot!(table(Some(120), false));
}

#[test]
fn table_in_colour() {
    insta::assert_snapshot!(table(Some(100), true).replace('\u{1b}', "␛"));
}

#[test]
fn prints_report_as_json() {
    insta::assert_snapshot!(render_sample(Format::Json));
}

#[test]
fn prints_report_as_csv() {
    insta::assert_snapshot!(render_sample(Format::Csv));
}

#[test]
fn prints_report_as_markdown() {
    insta::assert_snapshot!(render_sample(Format::Markdown));
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
    let html = timermeter::page::render(&[report], &[], |_| Advice::default())
        .expect("the page is rendered");
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
fn lines_fit_terminal() {
    for width in [80, 100, 120, 200] {
        for line in table(Some(width), false).lines() {
            assert!(
                line.chars().count() <= usize::from(width),
                "{width}: {line}"
            );
        }
    }
}

#[test]
fn default_width_is_120_columns() {
    assert_eq!(table(None, false), table(Some(120), false));
}

#[test]
fn output_has_no_control_characters() {
    for format in [Format::Table, Format::Csv, Format::Markdown] {
        let text = render_sample(format);
        let is_control =
            |c: &char| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{2069}').contains(c);
        assert_eq!(text.chars().find(is_control), None, "{format:?}");
    }
    assert!(table(Some(20), false).contains("rdtsc"));
}

#[test]
fn csv_is_rectangular_without_formulas() {
    let text = render_sample(Format::Csv);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(|record| record.unwrap()).collect();
    assert_eq!(records.len(), report().timers.len());
    for cell in records.iter().flatten() {
        assert!(
            cell.parse::<f64>().is_ok() || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']),
            "{cell}"
        );
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

#[test]
fn waits_at_120_columns() {
    insta::assert_snapshot!(render_waits(Format::Table, Some(120)));
}

#[test]
fn waits_as_json() {
    let waits: serde_json::Value =
        serde_json::from_str(&render(&report_of_waits(), Format::Json, Style::default())).unwrap();
    let periods: serde_json::Value = serde_json::from_str(&render(
        &report_of_periods(),
        Format::Json,
        Style::default(),
    ))
    .unwrap();
    // Only rows differ from other reports; a row of each kind shows all members.
    let rows = [
        &waits["waits"][0],
        &waits["waits"][4],
        &periods["periods"][0],
    ];
    insta::assert_snapshot!(serde_json::to_string_pretty(&rows).unwrap());
    assert!(
        periods.get("waits").is_none() && waits.get("periods").is_none(),
        "kinds of timers that were not measured are absent"
    );
}

#[test]
fn waits_as_csv() {
    insta::assert_snapshot!(render_waits(Format::Csv, None));
}

#[test]
fn waits_as_markdown() {
    insta::assert_snapshot!(render_waits(Format::Markdown, None));
}

#[test]
fn hostile_wait_texts_are_cleaned() {
    for report in [
        report_of_waits(),
        report_of_periods(),
        report_without_finite_waits(),
    ] {
        for format in [Format::Table, Format::Csv, Format::Markdown] {
            let text = render(&report, format, Style::default());
            let is_control =
                |c: &char| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{2069}').contains(c);
            assert_eq!(text.chars().find(is_control), None, "{format:?}");
        }
        for width in [80, 100, 120, 200] {
            let text = render(
                &report,
                Format::Table,
                Style {
                    width: Some(width),
                    colour: false,
                    ..Style::default()
                },
            );
            let widest = text
                .lines()
                .max_by_key(|line| line.chars().count())
                .unwrap();
            assert!(
                widest.chars().count() <= usize::from(width),
                "{width}: {widest}"
            );
        }
        let text = render(&report, Format::Csv, Style::default());
        for record in csv::Reader::from_reader(text.as_bytes()).records() {
            let record = record.unwrap();
            let is_formula = |cell: &str| {
                cell.parse::<f64>().is_err() && cell.starts_with(['=', '+', '-', '@', '\t', '\r'])
            };
            assert!(!record.iter().any(is_formula), "{record:?}");
        }
    }
}
