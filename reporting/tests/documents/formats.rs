//! Formats of handmade reports with missing values, failed timers and malicious text: screens are
//! compared with snapshots.

use reporting::format::{Format, Render, Style};

use reporting::report::{Detail, document, parse, schema};

use crate::steering::steers_nothing;

use crate::sample::{nothing_determined, report, report_of_periods, report_of_waits};

fn table(width: u16, detail: Detail, colour: bool) -> String {
    let style = Style {
        width: Some(width),
        colour,
        ..Style::default()
    };
    document(&report(), detail).rendered(Format::Table, style)
}

#[test]
fn table_at_80_columns() {
    insta::assert_snapshot!(table(80, Detail::Short, false));
}

#[test]
fn table_in_colour() {
    insta::assert_snapshot!(table(100, Detail::Full, true).replace('\u{1b}', "␛"));
}

#[test]
fn report_without_results() {
    insta::assert_snapshot!(nothing_determined().rendered(Format::Table, Style::default()));
}

#[test]
fn hostile_texts_steer_nothing_and_are_no_formulas() {
    for report in [report(), report_of_waits(), report_of_periods()] {
        for format in [Format::Table, Format::Csv, Format::Markdown, Format::Latex] {
            steers_nothing(&report.rendered(format, Style::default()));
        }
        let text = report.rendered(Format::Csv, Style::default());
        for record in csv::Reader::from_reader(text.as_bytes()).records() {
            let is_formula = |cell: &str| {
                cell.parse::<f64>().is_err() && cell.starts_with(['=', '+', '-', '@', '\t', '\r'])
            };
            let record = record.unwrap();
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
    ] {
        let text = report.rendered(Format::Json, Style::default());
        let value = serde_json::from_str(&text).unwrap();
        let errors = validator.iter_errors(&value).map(|error| error.to_string());
        assert_eq!(errors.collect::<Vec<_>>(), [""; 0]);
        let read = parse(&text, "sample").unwrap();
        let again = read.rendered(Format::Json, Style::default());
        assert_eq!(parse(&again, "sample").unwrap(), read);
        assert!(read == report || text.contains("null"), "{text}");
    }
}

#[test]
fn schema_refuses_other_documents() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let good: serde_json::Value =
        serde_json::from_str(&report().rendered(Format::Json, Style::default())).unwrap();
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
    // An undetermined value is null, not absent.
    let mut absent = good.clone();
    absent["timers"][0]
        .as_object_mut()
        .unwrap()
        .remove("quality");
    assert!(!validator.is_valid(&absent));
}

#[test]
fn waits_at_80_columns() {
    let style = Style {
        width: Some(80),
        ..Style::default()
    };
    let reports = [report_of_waits(), report_of_periods()];
    let texts = reports.map(|report| report.rendered(Format::Table, style));
    insta::assert_snapshot!(texts.join("\n=====\n\n"));
}
