//! `check --counter`: judges whether programs may read the CPU counter directly on this machine.

use std::io::Write;
use std::time::Duration;

use timers::raw::{Machine, RateRecipe, ThisMachine};

use super::{
    CommandError, CommandResult, emit, failed, machine_document, prepare_outputs, probe, usage,
};
use crate::campaign::counter::{CounterPlan, observe};
use crate::campaign::sampling::CampaignPlan;
use crate::cli::{CheckArgs, RecipeArgs};
use crate::counter::{CounterInput, CounterJudgement, RecipeOutcome, RecipeRow, judge};
use crate::findings::counter::CounterCase;
use crate::hosts::children::{self, with_remedy};
use crate::hosts::tool::run_within;
use crate::model::TimerRow;
use crate::platform;
use crate::rate::correction::LargeCorrection;
use crate::rate::counter::{findings, paired_rate};
use crate::rate::rate_from_paired_readings;
use crate::requests::{ProbeRequest, RunRequest};
use crate::runs::choose_cpu;
use crate::selection::is_available;
use crate::table::{Notation, Table, TableColumn};

/// Number of fresh processes that try each recipe, a common method to find the rate of the counter.
/// *Judgement*: the worst of 20 processes represents one start of a program in twenty.
const PROCESSES: usize = 20;
/// Time limit of a process that tries a recipe.
const RECIPE_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of samples of the counter and a clock before and after each round of recipes. The sample
/// that took the shortest time is used.
const CLOCK_SAMPLES: u32 = 25;

/// Runs the command. Returns `true` if programs may read the counter, at least until the machine is
/// migrated.
///
/// # Errors
/// When the counter cannot be read at all, or the output cannot be written.
pub fn run(args: &CheckArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let outputs = prepare_outputs(&args.output)?;
    let ids = ThisMachine::ids();
    let mut here = ThisMachine::open().map_err(|why| {
        failed(format!(
            "the counter cannot be read here, also not by other programs: {}",
            with_remedy(&why)
        ))
    })?;
    let cpu = choose_cpu(args.cpu)?;
    let root = platform::Root::system();
    let before = platform::vmclock(&root);
    let rows = probe_counter(&ids)?;
    let mut clock_samples = vec![here.bracket_clock(CLOCK_SAMPLES)];
    let observed = observe(&mut here, &CounterPlan::USUAL);
    clock_samples.push(here.bracket_clock(CLOCK_SAMPLES));
    let corrected = rate_from_paired_readings(&clock_samples, 1.0);
    let correction = corrected
        .zip(paired_rate(&observed))
        .map(|(corrected, paired)| corrected.ns_per_tick / paired.ns_per_tick - 1.0)
        .and_then(|share| LargeCorrection::measured(share, platform::ntp().as_ref()));
    let found = findings(&observed, correction);
    let age_s = found
        .rate
        .map(|rate| here.counter() as f64 * rate.ns_per_tick * 1e-9);
    let facts = platform::counter(&root, age_s);
    let recipes = try_recipes(&mut here, correction)?;
    let failure = ThisMachine::clock_ids()
        .into_iter()
        .find_map(timers::failure);
    if let Some(why) = failure {
        return Err(failed(with_remedy(&why)));
    }
    let platform = platform::identify_since(before, cpu);
    drop(here);
    let case = CounterInput {
        ids,
        evidence: CounterCase {
            platform: &platform,
            facts: &facts,
            found: &found,
        },
        rows: &rows,
        recipes: &recipes,
    };
    let counter = judge(&case);
    let mut document = machine_document(None, &counter);
    for line in &counter.summary {
        document = document.paragraph(line);
    }
    document = document.findings(&counter.findings);
    if !counter.recipes.is_empty() {
        document = document
            .heading(
                "errors of the rates that programs find, in fresh processes (ppm; positive: durations come out too long)",
            )
            .table(recipe_table(&counter));
    }
    if let Some(snippets) = &counter.snippets {
        document = document.heading("in C").code(snippets.c.as_str());
        document = document.heading("in Rust").code(snippets.rust.as_str());
    }
    emit(&document, outputs, output)?;
    Ok(counter.verdict.is_positive())
}

/// Probes the counter, and CLOCK_MONOTONIC as its alternative.
fn probe_counter(ids: &[&str; 2]) -> CommandResult<Vec<TimerRow>> {
    const BUDGET_S: f64 = 6.0;
    let timers = ids.iter().copied().chain(["monotonic"]);
    // The plan measures the time that a read adds to the surrounding code.
    let request = ProbeRequest {
        plan: CampaignPlan::DEFAULT,
        ..ProbeRequest::quick(RunRequest::of(timers.filter(|id| is_available(id))))
    };
    Ok(probe::report(&request.limited(Some(BUDGET_S)))?.timers)
}

/// Tries each recipe in fresh processes. The true rate is measured meanwhile, from before the first
/// process until after the last. Returns no rows if the true rate could not be measured.
fn try_recipes(
    here: &mut ThisMachine,
    correction: Option<LargeCorrection>,
) -> CommandResult<Vec<RecipeRow>> {
    let mut outcomes: Vec<Vec<RecipeOutcome>> = vec![Vec::new(); RateRecipe::ALL.len()];
    let mut clock_samples = vec![here.bracket_clock(CLOCK_SAMPLES)];
    for _ in 0..PROCESSES {
        for (recipe, outcomes) in RateRecipe::ALL.into_iter().zip(&mut outcomes) {
            outcomes.push(try_recipe(recipe)?);
        }
        clock_samples.push(here.bracket_clock(CLOCK_SAMPLES));
    }
    let Some(rate) = rate_from_paired_readings(&clock_samples, 1.0) else {
        return Ok(Vec::new());
    };
    let rate = correction.map_or(rate, |large| large.settle(rate, true));
    let truth = (rate.ns_per_tick, rate.uncertainty);
    let rows = RateRecipe::ALL.into_iter().zip(&outcomes);
    Ok(rows
        .map(|(recipe, outcomes)| {
            RecipeRow::from_outcomes(recipe.id, recipe.label, outcomes, truth)
        })
        .collect())
}

/// Tries a recipe in a fresh process. Returns the nanoseconds per tick that it finds, or the reason
/// why it finds none.
fn try_recipe(recipe: RateRecipe) -> CommandResult<RecipeOutcome> {
    let (program, words) = children::this_program().map_err(failed)?;
    let mut command = std::process::Command::new(program);
    command.args(words).args(["counter-recipe", recipe.id]);
    let output = run_within(RECIPE_TIMEOUT, command);
    if children::interrupted() {
        return Err(CommandError::Interrupted);
    }
    let output = output.map_err(|error| error.to_string());
    Ok(output.and_then(|output| {
        output
            .trim()
            .parse()
            .map_err(|_| "the output of the process is not a number".to_owned())
    }))
}

/// Runs a recipe in the fresh process (`counter-recipe`) and prints the nanoseconds per tick that
/// it finds.
///
/// # Errors
/// When there is no such recipe, or it finds no rate.
pub fn run_recipe(args: &RecipeArgs, output: &mut dyn Write) -> CommandResult {
    let recipe = RateRecipe::ALL
        .into_iter()
        .find(|recipe| recipe.id == args.recipe);
    let recipe = recipe.ok_or_else(|| usage(format!("there is no recipe `{}`", args.recipe)))?;
    let mut here = ThisMachine::open().map_err(failed)?;
    let ns = (recipe.ns_per_tick)(&mut here).map_err(failed)?;
    Ok(writeln!(output, "{ns:e}")?)
}

/// The table of the recipes with their errors.
fn recipe_table(counter: &CounterJudgement) -> Table<'static> {
    let mut table = Table::new(vec![
        TableColumn::left("recipe"),
        TableColumn::right("median", Notation::Fixed(2)),
        TableColumn::right("worst", Notation::Fixed(2)),
        TableColumn::program_text("no rate found"),
        TableColumn::left("what it does"),
    ]);
    for row in &counter.recipes {
        table.push(vec![
            row.id.into(),
            row.median_ppm.into(),
            row.worst_ppm.into(),
            format!("{} of {}", row.without, row.processes).into(),
            row.label.into(),
        ]);
    }
    table
}
