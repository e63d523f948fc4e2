//! The command `simulate`: judges the estimators on simulated timers whose true figures are known,
//! and `compare` on simulated runs.

mod clocks;
mod compare;
mod samples;
mod steps;
mod trust;
mod waits;

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use clap::{Parser, ValueEnum, value_parser};
use indicatif::{ProgressBar, ProgressStyle};
use reporting::document::Document;
use reporting::format::{Render, Style};
use reporting::table::{Table, TableColumn};
use reporting::text::numbers;
use serde::Serialize;
use simulate::figure::FigureSummary;
use timermeter::commands::CommandError;

/// The default number of simulated timers.
const DEFAULT_COUNT: u32 = 200;
/// A share fails a requirement if it misses it by more than this many standard errors.
const MAX_STANDARD_ERRORS: f64 = 2.5;

/// Judge the estimators on simulated timers of known truth
#[derive(Debug, Parser)]
struct Args {
    /// Use the plan of `probe --quick`, or of `wait --quick`
    #[arg(long)]
    quick: bool,
    /// Judge the estimators for sleep primitives and periodic timers instead of clocks
    #[arg(long)]
    waits: bool,
    /// Judge the steps that are found of clocks with all kinds of steps, units, costs and jitter
    #[arg(long, conflicts_with_all = ["waits", "trust", "compare", "per_kind"])]
    steps: bool,
    /// Judge the steps that `samples` finds in made-up files of durations; --count of each kind
    #[arg(long, conflicts_with_all = ["quick", "waits", "steps", "trust", "compare", "per_kind"])]
    samples: bool,
    /// Judge verdicts instead: clocks that differ between CPUs, and a counter and a kernel's clock
    /// of which one is slewed
    #[arg(long, conflicts_with_all = ["quick", "waits", "compare", "per_kind"])]
    trust: bool,
    /// Judge `compare` on simulated runs of unchanged and of changed machines
    #[arg(long, conflicts_with_all = ["quick", "waits", "count", "per_kind"])]
    compare: bool,
    /// Number of pairs that each kind of comparison of unchanged machines is judged by
    #[arg(long, value_name = "N", requires = "compare", default_value_t = 1000, value_parser = value_parser!(u32).range(1..))]
    pairs: u32,
    /// Seed of the simulated timers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of timers to simulate
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Simulate N timers of each kind of timer and machine with each kind of reference; with 500 or
    /// more, each kind has to reach its coverage
    #[arg(long, value_name = "N", conflicts_with_all = ["count", "waits"], value_parser = value_parser!(u32).range(1..=100_000))]
    per_kind: Option<u32>,
    /// Judge only those of them that belong to a kind with this text in its name
    #[arg(long, value_name = "TEXT", requires = "per_kind")]
    kind: Option<String>,
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
    let run = match () {
        () if args.compare => compare::run,
        () if args.samples => samples::run,
        () if args.steps => steps::run,
        () if args.trust => trust::run,
        () if args.waits => waits::run,
        () => clocks::run,
    };
    let judged = run(&args, &mut output);
    match judged {
        Ok(()) | Err(CommandError::Closed) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("simulate: {error}");
            ExitCode::from(error.exit_status())
        }
    }
}

/// Prints an outcome as JSON or as a table. Fails if a requirement is not met.
fn print<T: Serialize>(
    (outcome, failures): (&T, &[String]),
    format: Format,
    as_table: impl FnOnce(&T, &mut dyn Write) -> Result<(), CommandError>,
    output: &mut dyn Write,
) -> Result<(), CommandError> {
    match format {
        Format::Json => Document::new(outcome).write(
            reporting::format::Format::Json,
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
        "requirements are not met: {failures}"
    )))
}

/// Returns a progress bar, which is shown if standard error is a terminal.
fn progress(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {percent:>3} %, {eta} left");
    ProgressBar::new(steps as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn table(headings: &[&'static str]) -> Table<'static> {
    let column = |(at, heading): (usize, &&'static str)| TableColumn {
        right_aligned: at > 0,
        ..TableColumn::left(heading)
    };
    Table::new(headings.iter().enumerate().map(column).collect())
}

/// Formats a fraction in percent with two significant digits.
fn short_percent(fraction: Option<f64>) -> String {
    // Rounds to four decimals first, so that a rounding error, such as 1e-13, is shown as 0.
    let rounded = |fraction: f64| numbers::significant((100.0 * fraction * 1e4).round() / 1e4, 2);
    fraction.map_or_else(|| numbers::NOTHING.to_owned(), rounded)
}

/// Formats the half-width and the error of a figure in percent.
fn sizes(figure: FigureSummary) -> String {
    format!(
        "±{} ({})",
        short_percent(figure.half_width),
        short_percent(figure.error)
    )
}
