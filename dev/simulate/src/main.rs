//! The command `simulate`: judges the estimators on simulated timers whose true figures are known,
//! and `compare` on simulated runs. Each mode draws cases and has requirements; counting, judging
//! and printing are the same for all.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Parser, ValueEnum, value_parser};
use reporting::document::Document;
use reporting::format::{self, Render, Style};
use reporting::table::{CellValue, Table, TableColumn};
use reporting::text::numbers;
use serde::Serialize;
use simulate::figure::FigureSummary;
use simulate::tally::{Outcome, Requirement, Share, Tally};
use simulate::{clocks, comparing, samples, steps, trust, waits};
use timermeter::commands::CommandError;
use timermeter::plan::Plan;

/// The largest number of cases with wrong answers that are listed.
const MAX_LISTED: usize = 40;

/// Judge the estimators on simulated timers of known truth
#[derive(Debug, Parser)]
struct Args {
    /// Use the plan of `probe --quick`, or of `wait --quick`
    #[arg(long)]
    quick: bool,
    /// Simulate N timers of each kind of timer and machine with each kind of reference
    #[arg(long, value_name = "N", group = "mode", value_parser = value_parser!(u32).range(1..=100_000))]
    per_kind: Option<u32>,
    /// Judge only those of them that belong to a kind with this text in its name
    #[arg(long, value_name = "TEXT", requires = "per_kind")]
    kind: Option<String>,
    /// Judge the steps that are found of clocks with all kinds of steps, units, costs and jitter
    #[arg(long, group = "mode")]
    steps: bool,
    /// Judge the estimators for sleep primitives and periodic timers
    #[arg(long, group = "mode")]
    waits: bool,
    /// Judge the steps that `samples` finds in made-up files of durations
    #[arg(long, group = "mode")]
    samples: bool,
    /// Judge verdicts: clocks that differ between CPUs, and a counter and a kernel's clock of which
    /// one is slewed
    #[arg(long, group = "mode")]
    trust: bool,
    /// Judge `compare` on simulated runs of unchanged and of changed machines
    #[arg(long, group = "mode")]
    compare: bool,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of cases, with --samples, --trust and --compare of each kind
    #[arg(long, value_name = "N", default_value_t = 200, conflicts_with = "per_kind", value_parser = value_parser!(u32).range(1..))]
    count: u32,
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

/// What is printed as JSON.
#[derive(Serialize)]
struct Printed {
    seed: u64,
    plan: &'static str,
    passed: bool,
    #[serde(flatten)]
    outcome: Outcome,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match judge(&args).and_then(|outcome| print(&args, outcome)) {
        Ok(()) | Err(CommandError::Closed) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("simulate: {error}");
            ExitCode::from(error.exit_status())
        }
    }
}

fn plan(args: &Args) -> &'static Plan {
    if args.quick {
        &Plan::QUICK
    } else {
        &Plan::DEFAULT
    }
}

/// Judges the cases of the mode.
fn judge(args: &Args) -> Result<Outcome, CommandError> {
    let (seed, count, plan) = (args.seed, args.count as usize, plan(args));
    if args.compare {
        return Ok(Outcome::new(
            comparing::judge(count, seed)?,
            &comparing::REQUIRED,
        ));
    }
    let required = |requirements: &[Requirement]| requirements.to_vec();
    let (judged, requirements) = match args.per_kind {
        Some(count) => {
            let judged = clocks::judge_per_kind(count as usize, seed, args.kind.as_deref(), plan);
            (judged, required(&clocks::REQUIRED))
        }
        None if args.steps => (steps::judge(count, seed, plan), required(&steps::REQUIRED)),
        None if args.waits => (waits::judge(count, seed, plan), waits::required(args.quick)),
        None if args.samples => (
            samples::judge_files(count, seed),
            required(&samples::REQUIRED),
        ),
        None if args.trust => (trust::judge(count, seed), required(&trust::REQUIRED)),
        None => (
            clocks::judge(count, seed, plan),
            required(&clocks::REQUIRED),
        ),
    };
    let judged = judged.map_err(|fault| {
        CommandError::Failed(format!("cannot probe a simulated timer: {fault}"))
    })?;
    Ok(Outcome::new(judged, &requirements))
}

/// Prints an outcome. Fails if a requirement is not met.
fn print(args: &Args, outcome: Outcome) -> Result<(), CommandError> {
    let failures = outcome.failures.join("; ");
    let mut output = BufWriter::new(io::stdout().lock());
    match args.format {
        Format::Json => {
            let printed = Printed {
                seed: args.seed,
                plan: plan(args).name,
                passed: failures.is_empty(),
                outcome,
            };
            Document::new(&printed).write(format::Format::Json, Style::default(), &mut output)?;
        }
        Format::Table => print_tables(&outcome, &mut output)?,
    }
    output.flush()?;
    if failures.is_empty() {
        return Ok(());
    }
    Err(CommandError::Failed(format!(
        "requirements are not met: {failures}"
    )))
}

/// Prints a table of the answers, one of each figure, and the cases with wrong answers.
fn print_tables(outcome: &Outcome, output: &mut dyn Write) -> Result<(), CommandError> {
    let all = ("all".to_owned(), &outcome.all);
    let kinds = outcome
        .kinds
        .iter()
        .map(|(kind, tally)| (kind.clone(), tally));
    let kinds: Vec<(String, &Tally)> = kinds.chain([all]).collect();
    let answers = outcome.all.answers.keys().copied();
    let headings: Vec<&'static str> = ["share, %", "cases"].into_iter().chain(answers).collect();
    let mut table = empty_table(&headings);
    for (kind, tally) in &kinds {
        let shares = headings[2..]
            .iter()
            .map(|name| tally.answers.get(name).copied());
        let shares = shares.map(|share| percent(share.unwrap_or_default()));
        let begin = [
            CellValue::from(kind.clone()),
            tally.cases.to_string().into(),
        ];
        table.push(begin.into_iter().chain(shares).collect());
    }
    write!(
        output,
        "{}",
        table.rendered(format::Format::Table, Style::default())
    )?;
    for &name in outcome.all.figures.keys() {
        let mut table = empty_table(&[name, "intervals", "covered %", "±", "error"]);
        for (kind, tally) in &kinds {
            let Some(found) = tally.figures.get(name).map(|score| score.summary()) else {
                continue;
            };
            let FigureSummary {
                covered: yes,
                intervals: of,
                half_width,
                error,
            } = found;
            let sizes = [half_width, error].map(|size| {
                size.map_or_else(
                    || numbers::NOTHING.to_owned(),
                    |size| numbers::significant(size, 2),
                )
            });
            let begin = [CellValue::from(kind.clone()), of.to_string().into()];
            let rest = [percent(Share { yes, of })]
                .into_iter()
                .chain(sizes.map(CellValue::from));
            table.push(begin.into_iter().chain(rest).collect());
        }
        write!(
            output,
            "\n{}",
            table.rendered(format::Format::Table, Style::default())
        )?;
    }
    for wrong in outcome.wrong.iter().take(MAX_LISTED) {
        writeln!(output, "wrong: {wrong}")?;
    }
    Ok(())
}

fn empty_table(headings: &[&'static str]) -> Table<'static> {
    let column = |(at, heading): (usize, &&'static str)| TableColumn {
        right_aligned: at > 0,
        ..TableColumn::left(heading)
    };
    Table::new(headings.iter().enumerate().map(column).collect())
}

fn percent(share: Share) -> CellValue {
    let percent = share.percent();
    percent
        .map_or_else(
            || numbers::NOTHING.to_owned(),
            |percent| format!("{percent:.1}"),
        )
        .into()
}
