//! `selftest`: probes simulated timers of known truth and prints declared against found.

use std::collections::BTreeMap;
use std::io::Write;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use timers::simulated::Updates;

use super::CommandError;
use crate::analysis::resolution::Resolution;
use crate::cli::{SelftestArgs, ShortFormat};
use crate::prober::plan::Plan;
use crate::report::figures;
use crate::selftest::{Case, Verdict, population};

/// Simulated timers, unless told otherwise.
const COUNT: u32 = 200;
/// The share of timers with a step of which each figure has to be right.
const REQUIRED: f64 = 0.98;
/// Timers that are shown one by one when their figures are wrong.
const MOST_SHOWN: usize = 12;

/// How the estimators did on one kind of timer.
#[derive(Clone, Debug, Default, Serialize)]
struct Score {
    timers: u32,
    accuracy: u32,
    cost: u32,
    spread: u32,
    quality: u32,
    order: u32,
    all: u32,
}

impl Score {
    /// The share of timers on which the figure that is wrong most often is right.
    fn worst(&self) -> f64 {
        let right = [self.accuracy, self.cost, self.spread, self.quality, self.order].into_iter().min();
        f64::from(right.unwrap_or(0)) / f64::from(self.timers.max(1))
    }

    fn add(&mut self, verdict: &Verdict) {
        self.timers += 1;
        self.accuracy += u32::from(verdict.accuracy_holds());
        self.cost += u32::from(verdict.cost_holds());
        self.spread += u32::from(verdict.spread_holds());
        self.quality += u32::from(verdict.quality_holds());
        self.order += u32::from(verdict.order_holds());
        self.all += u32::from(verdict.holds());
    }
}

/// A timer whose figures are wrong: declared and found.
#[derive(Clone, Debug, Serialize)]
struct Miss {
    timer: String,
    reference: String,
    accuracy_ns: [Option<f64>; 2],
    cost_ns: [Option<f64>; 2],
    spread: [Option<f64>; 2],
    quality: [Option<f64>; 2],
}

#[derive(Serialize)]
struct Outcome {
    seed: u64,
    profile: &'static str,
    kinds: BTreeMap<String, Score>,
    regular: Score,
    /// Timers without a step that were given one all the same.
    numbers_for_irregular: u32,
    irregular: u32,
    required: f64,
    passed: bool,
    misses: Vec<Miss>,
}

/// Runs the command.
///
/// # Errors
/// When too many figures are wrong.
pub fn run(args: &SelftestArgs, output: &mut dyn Write) -> Result<(), CommandError> {
    let outcome = judge(args.seed.unwrap_or(1), args.count.unwrap_or(COUNT) as usize)?;
    match args.format {
        ShortFormat::Json => {
            writeln!(output, "{}", super::pretty(&outcome)?)?;
        }
        ShortFormat::Table => print(&outcome, output)?,
    }
    output.flush()?;
    if outcome.passed { Ok(()) } else { Err(CommandError::Failed(failure(&outcome))) }
}

fn judge(seed: u64, count: usize) -> Result<Outcome, CommandError> {
    let verdict = |case: &Case| {
        case.judge(&Plan::DEFAULT)
            .map_err(|fault| CommandError::Failed(format!("a simulated timer could not be probed: {fault}")))
    };
    let (mut kinds, mut regular, mut misses) =
        (BTreeMap::<String, Score>::new(), Score::default(), Vec::new());
    for case in population::regular(count, seed) {
        let verdict = verdict(&case)?;
        kinds.entry(kind(&case)).or_default().add(&verdict);
        regular.add(&verdict);
        if !verdict.holds() {
            misses.push(miss(&case, &verdict));
        }
    }
    let mut numbers = 0;
    let irregular = population::irregular(count, seed);
    for case in &irregular {
        let verdict = verdict(case)?;
        kinds.entry(kind(case)).or_default().add(&verdict);
        if matches!(verdict.profile.resolution, Resolution::Resolved { .. }) {
            numbers += 1;
            misses.push(miss(case, &verdict));
        }
    }
    let passed = numbers == 0 && regular.worst() >= REQUIRED;
    Ok(Outcome {
        seed,
        profile: Plan::DEFAULT.name,
        kinds,
        regular,
        numbers_for_irregular: numbers,
        irregular: irregular.len() as u32,
        required: REQUIRED,
        passed,
        misses,
    })
}

fn kind(case: &Case) -> String {
    match case.timer.updates {
        Updates::Regular => case.timer.name.clone(),
        _ => format!("no step: {}", case.timer.name),
    }
}

fn miss(case: &Case, verdict: &Verdict) -> Miss {
    let profile = &verdict.profile;
    Miss {
        timer: kind(case),
        reference: case.reference.name.clone(),
        accuracy_ns: [verdict.truth.accuracy, profile.accuracy_ns().map(|found| found.value)],
        cost_ns: [Some(verdict.truth.cost), profile.cost.map(|found| found.value)],
        spread: [verdict.truth.spread, profile.spread.map(|found| found.value)],
        quality: [verdict.true_quality, verdict.quality],
    }
}

fn failure(outcome: &Outcome) -> String {
    format!(
        "the estimators are not good enough: a figure is right on {:.1} % of {} timers ({} % required), \
         {} numbers for {} timers without a step",
        outcome.regular.worst() * 100.0,
        outcome.regular.timers,
        outcome.required * 100.0,
        outcome.numbers_for_irregular,
        outcome.irregular
    )
}

fn print(outcome: &Outcome, output: &mut dyn Write) -> Result<(), CommandError> {
    writeln!(
        output,
        "# {} simulated timers with a step and {} without, seed {}, profile {}\n\
         # right: accuracy within 1 %, cost within 2 % or 0.5 ns, spread within 0.02, Quality within 0.5 points;\n\
         # no number for a timer without a step",
        outcome.regular.timers, outcome.irregular, outcome.seed, outcome.profile
    )?;
    let mut table = table(&["kind", "timers", "accuracy", "cost", "spread", "Quality", "order", "all"]);
    let total = ("with a step, all".to_owned(), outcome.regular.clone());
    for (kind, score) in outcome.kinds.clone().into_iter().chain([total]) {
        let share =
            |right: u32| format!("{:.1} %", 100.0 * f64::from(right) / f64::from(score.timers.max(1)));
        let right =
            [score.accuracy, score.cost, score.spread, score.quality, score.order, score.all].map(share);
        table.add_row([kind, score.timers.to_string()].into_iter().chain(right));
    }
    writeln!(output, "{table}")?;
    writeln!(output, "numbers given to timers without a step: {}", outcome.numbers_for_irregular)?;
    if !outcome.misses.is_empty() {
        writeln!(output, "\nwrong (declared → found)")?;
        writeln!(output, "{}", misses(&outcome.misses))?;
    }
    Ok(())
}

fn misses(misses: &[Miss]) -> Table {
    let mut table = table(&["kind", "reference", "accuracy", "cost", "spread", "Quality %"]);
    let time = |pair: [Option<f64>; 2]| format!("{} → {}", figures::time(pair[0]), figures::time(pair[1]));
    let share = |pair: [Option<f64>; 2]| format!("{} → {}", figures::share(pair[0]), figures::share(pair[1]));
    let percent =
        |pair: [Option<f64>; 2]| format!("{} → {}", figures::percent(pair[0]), figures::percent(pair[1]));
    for miss in misses.iter().take(MOST_SHOWN) {
        table.add_row([
            miss.timer.clone(),
            miss.reference.clone(),
            time(miss.accuracy_ns),
            time(miss.cost_ns),
            share(miss.spread),
            percent(miss.quality),
        ]);
    }
    if misses.len() > MOST_SHOWN {
        table.add_row([format!("… and {} more", misses.len() - MOST_SHOWN)]);
    }
    table
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
