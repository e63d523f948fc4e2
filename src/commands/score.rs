//! `timermeter score`: Quality from figures that are given, nothing is measured.

use std::io::Write;

use serde::Serialize;

use super::CommandError;
use crate::cli::ScoreArgs;
use crate::model::{Cycles, Hertz, Nanos};
use crate::quality::quality;
use crate::quantity::Quantity;
use crate::report::Format;
use crate::report::openmetrics::Metrics;
use crate::table::{Table, TableColumn};
use crate::text::json::{Layout, written};
use crate::text::numbers;

/// What was given, in cycles, and what follows from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct ScoreDocument {
    quality: f64,
    accuracy_cycles: f64,
    accuracy_ns: Option<f64>,
    cost_cycles: f64,
    cost_ns: Option<f64>,
    spread: f64,
    frequency_hz: Option<f64>,
}

/// Prints the Quality that Formula (1) gives.
///
/// # Errors
/// When a figure cannot be turned into cycles, makes no sense, or the output cannot be written.
pub fn run(args: &ScoreArgs, out: &mut dyn Write) -> Result<(), CommandError> {
    let score = score(args).map_err(CommandError::Usage)?;
    out.write_all(render(&score, args.format).as_bytes())?;
    Ok(out.flush()?)
}

fn score(args: &ScoreArgs) -> Result<ScoreDocument, String> {
    let accuracy = cycles("accuracy", args.accuracy, args)?;
    if accuracy.0 == 0.0 {
        return Err(
            "--accuracy is zero, but a timer moves in steps: give the size of one, as in 10ns".to_owned()
        );
    }
    let cost = cycles("cost", args.cost, args)?;
    let quality = quality(accuracy, cost, args.spread).ok_or("the figures do not give a Quality")?;
    let in_ns = |cycles: Cycles| args.frequency.map(|frequency| cycles.nanos(frequency).0);
    let score = ScoreDocument {
        quality,
        accuracy_cycles: accuracy.0,
        accuracy_ns: in_ns(accuracy),
        cost_cycles: cost.0,
        cost_ns: in_ns(cost),
        spread: args.spread,
        frequency_hz: args.frequency.map(|Hertz(hz)| hz),
    };
    let figures = [Some(score.accuracy_cycles), Some(score.cost_cycles), score.accuracy_ns, score.cost_ns];
    match figures.into_iter().flatten().find(|figure| !figure.is_finite()) {
        Some(_) => {
            Err("with this frequency the figures are larger than any number; give it in Hz, kHz, MHz or GHz"
                .into())
        }
        None => Ok(score),
    }
}

fn cycles(name: &str, quantity: Quantity, args: &ScoreArgs) -> Result<Cycles, String> {
    let time = match (quantity, args.tick) {
        (Quantity::Cycles(cycles), _) => return Ok(cycles),
        (Quantity::Time(time), _) => time,
        (Quantity::Ticks(ticks), Some(tick)) => Nanos(ticks * tick.0),
        (Quantity::Ticks(_), None) => {
            return Err(format!(
                "--{name} {quantity} is in ticks: say how long a tick is, as in --tick 100ns, and at which \
                 frequency the CPU runs, as in --frequency 2.8GHz"
            ));
        }
    };
    let Some(frequency) = args.frequency else {
        return Err(format!(
            "--{name} {quantity} is a time, but Quality counts CPU cycles: say at which frequency the CPU runs, \
             as in --frequency 2.8GHz, or give cycles, as in --{name} 2400cycles"
        ));
    };
    let cycles = time.cycles(frequency);
    if cycles.0.is_finite() { Ok(cycles) } else { Err(format!("--{name} {quantity} is too large")) }
}

fn render(score: &ScoreDocument, format: Format) -> String {
    match format {
        Format::Table => {
            let lines = shown(score).into_iter().map(|(name, value)| format!("{name:<9} {value}\n"));
            lines.collect()
        }
        Format::Json => written(score, Layout::Indented).expect("all keys are strings") + "\n",
        Format::Csv => csv(score),
        Format::OpenMetrics => metrics(score),
        Format::Markdown => {
            let mut table = Table::new(vec![TableColumn::left(""), TableColumn::left("")]);
            shown(score).into_iter().for_each(|(name, value)| table.push(vec![name.into(), value.into()]));
            table.render(crate::table::Format::Markdown)
        }
    }
}

fn shown(score: &ScoreDocument) -> Vec<(&'static str, String)> {
    let length = |cycles: f64, ns: Option<f64>| match ns {
        Some(_) => format!("{} cycles ({})", exact(cycles), numbers::time(ns)),
        None => format!("{} cycles", exact(cycles)),
    };
    let mut shown = vec![
        ("Quality", format!("{} %", numbers::percent(Some(score.quality)))),
        ("accuracy", length(score.accuracy_cycles, score.accuracy_ns)),
        ("cost", length(score.cost_cycles, score.cost_ns)),
        ("spread", score.spread.to_string()),
    ];
    shown.extend(score.frequency_hz.map(|hz| ("frequency", numbers::rate(Some(hz)))));
    shown
}

/// All digits of a count of cycles that a person would want to see.
fn exact(cycles: f64) -> String {
    if cycles >= 1000.0 { format!("{cycles:.0}") } else { numbers::significant(cycles, 4) }
}

fn csv(score: &ScoreDocument) -> String {
    let figures = figures(score);
    let mut table = Table::new(figures.map(|(name, _)| TableColumn::left(name)).to_vec());
    table.push(figures.map(|(_, figure)| figure.into()).to_vec());
    table.render(crate::table::Format::Csv)
}

fn metrics(score: &ScoreDocument) -> String {
    let mut metrics = Metrics::default();
    for (name, figure) in figures(score) {
        let (name, figure) = match name.strip_suffix("_ns") {
            Some(time) => (format!("{time}_seconds"), figure.map(|ns| ns / 1e9)),
            None => (name.replace("_hz", "_hertz"), figure),
        };
        metrics.gauge(&format!("timermeter_score_{name}"), "As given, or as it follows.", "", figure);
    }
    metrics.text()
}

fn figures(score: &ScoreDocument) -> [(&'static str, Option<f64>); 7] {
    [
        ("quality", Some(score.quality)),
        ("accuracy_cycles", Some(score.accuracy_cycles)),
        ("accuracy_ns", score.accuracy_ns),
        ("cost_cycles", Some(score.cost_cycles)),
        ("cost_ns", score.cost_ns),
        ("spread", Some(score.spread)),
        ("frequency_hz", score.frequency_hz),
    ]
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::cli::{Cli, Command};
    use crate::commands::CommandError;
    use clap::Parser;

    fn score(line: &str) -> Result<String, CommandError> {
        let cli = Cli::try_parse_from(format!("timermeter score {line}").split_whitespace()).expect(line);
        let Some(Command::Score(args)) = cli.command else { panic!("{line} is not a score") };
        let mut out = Vec::new();
        run(&args, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_row_of_table_1() {
        let text =
            score("--accuracy 10ticks --cost 2ticks --tick 100ns --spread 1 --frequency 2.8GHz").unwrap();
        assert_eq!(
            text,
            "Quality   24.01 %\naccuracy  2800 cycles (1.000 µs)\ncost      560.0 cycles (200.0 ns)\n\
             spread    1\nfrequency 2.800 GHz\n"
        );
    }

    #[test]
    fn cycles_need_no_frequency() {
        let text = score("--accuracy 2400cycles --cost 4800cycles --spread 0.993").unwrap();
        assert!(text.starts_with("Quality   19.60 %\naccuracy  2400 cycles\n"), "{text}");
    }

    #[test]
    fn machine_formats() {
        let given = "--accuracy 168cycles --cost 1680cycles --spread 0.578 --format";
        let json: serde_json::Value =
            serde_json::from_str(&score(&format!("{given} json")).unwrap()).unwrap();
        assert!((json["quality"].as_f64().unwrap() - 0.2167).abs() < 5e-5);
        assert!(json["accuracy_ns"].is_null());
        let csv = score(&format!("{given} csv")).unwrap();
        assert!(
            csv.starts_with("quality,accuracy_cycles,accuracy_ns,") && csv.ends_with(",168,,1680,,0.578,\n"),
            "{csv}"
        );
        assert!(score(&format!("{given} markdown")).unwrap().contains("| Quality | 21.67 % |"));
    }

    #[test]
    fn what_is_missing_is_told_with_its_remedy() {
        for (line, remedy) in [
            ("--accuracy 1ms --cost 5cycles --spread 1", "--frequency 2.8GHz"),
            ("--accuracy 5cycles --cost 3us --spread 1", "--cost 2400cycles"),
            ("--accuracy 10ticks --cost 5cycles --spread 1 --frequency 1GHz", "--tick 100ns"),
            ("--accuracy 10ticks --cost 5cycles --spread 1 --tick 1ns", "--frequency 2.8GHz"),
            ("--accuracy 0cycles --cost 5cycles --spread 1", "size of one"),
            ("--accuracy 1e290s --cost 5cycles --spread 1 --frequency 9GHz", "too large"),
        ] {
            match score(line) {
                Err(CommandError::Usage(text)) => assert!(text.contains(remedy), "{line}: {text}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn below_one_cycle_counts_as_one() {
        let text = score("--accuracy 1cycle --cost 0ns --spread 1 --frequency 1GHz").unwrap();
        assert!(text.starts_with("Quality   100.00 %"), "{text}");
    }
}
