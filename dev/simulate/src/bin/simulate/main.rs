//! Judges the estimators: probes simulated timers of known truth and prints declared against found.

mod clocks;
mod pick;
mod shown;
mod waits;

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum, value_parser};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use timermeter::commands::CommandError;
use timermeter::document::{Document, Render};
use timermeter::table::{Style, Table, TableColumn};

/// Simulated timers, unless specified otherwise.
const COUNT: u32 = 200;
/// A share that holds for the population is found to within this many standard errors.
const CHANCE: f64 = 2.5;

/// Judge the estimators on simulated timers of known truth
#[derive(Debug, Parser)]
struct Args {
    /// Judge the estimators on what `probe --quick` observes, or `wait --quick`
    #[arg(long)]
    quick: bool,
    /// Judge those of timers that wait, and of periodic ones
    #[arg(long)]
    waits: bool,
    /// Seed of the simulated timers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How many timers to simulate
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Simulate this many of each kind of timer and machine instead, by either reference; of 500
    /// each kind has to be covered
    #[arg(long, value_name = "N", conflicts_with_all = ["count", "waits"], value_parser = value_parser!(u32).range(1..=100_000))]
    per_kind: Option<u32>,
    /// Judge the plans of `pick` on this machine instead, which has to be quiet: measure by every
    /// clock of this report (JSON), and hold what is found against what was promised
    #[arg(long, value_name = "REPORT", conflicts_with_all = ["quick", "waits", "seed", "count", "per_kind", "format"])]
    pick: Option<PathBuf>,
    /// Format of the output
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people
    #[default]
    Table,
    /// JSON
    Json,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let mut output = BufWriter::new(std::io::stdout().lock());
    let judged = match &args.pick {
        Some(report) => pick::run(report, &mut output),
        None if args.waits => waits::run(&args, &mut output),
        None => clocks::run(&args, &mut output),
    };
    match judged {
        Ok(()) | Err(CommandError::Closed) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("simulate: {error}");
            ExitCode::from(error.exit_status())
        }
    }
}

/// Prints an outcome, as it is or as a table; what the estimators do not meet is an error.
fn print<T: Serialize>(
    (outcome, failures): (&T, &[String]),
    format: Format,
    as_table: impl FnOnce(&T, &mut dyn Write) -> Result<(), CommandError>,
    output: &mut dyn Write,
) -> Result<(), CommandError> {
    match format {
        Format::Json => Document::new(outcome).write(
            timermeter::table::Format::Json,
            Style::default(),
            output,
        )?,
        Format::Table => as_table(outcome, output)?,
    }
    output.flush()?;
    if failures.is_empty() {
        return Ok(());
    }
    let failures = failures.join("; ");
    Err(CommandError::Failed(format!(
        "the estimators are not as good as they have to be: {failures}"
    )))
}

/// On standard error, where that is a terminal.
fn progress(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {percent:>3} %, {eta} left");
    ProgressBar::new(steps as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn table(headings: &[&'static str]) -> Table<'static> {
    let column = |(at, heading): (usize, &&'static str)| TableColumn {
        right: at > 0,
        ..TableColumn::left(heading)
    };
    Table::new(headings.iter().enumerate().map(column).collect())
}
