//! Judges the estimators for sleep primitives and periodic timers: draws simulated ones, probes
//! them, and checks the counts against the requirements.

use std::collections::BTreeMap;
use std::io::Write;

use estimators::model::Estimate;
use reporting::format::{Format, Render, Style};
use reporting::parallel;
use reporting::table::CellValue;
use reporting::text::hang;
use serde::Serialize;
use simulate::figure::FigureSummary;
use simulate::waits::population;
use simulate::waits::score::{Counts, Judged, Score};
use timermeter::campaign::sampling::CampaignPlan;
use timermeter::commands::{CommandError, terminal_style};
use timers::Answer;

use super::{Args, DEFAULT_COUNT, MAX_STANDARD_ERRORS, print, progress, sizes, table};

#[derive(Serialize)]
struct WaitsOutcome {
    seed: u64,
    plan_name: &'static str,
    /// Verdicts on the granularity, by kind of timer.
    granularity: BTreeMap<String, Counts>,
    /// Verdicts on missed expirations, by kind of timer.
    missed_expirations: BTreeMap<String, Counts>,
    figures: BTreeMap<&'static str, FigureSummary>,
    required: Required,
    passed: bool,
    /// A sentence for each unmet requirement.
    failures: Vec<String>,
}

/// What is required of the estimators.
#[derive(Clone, Copy, Debug, Serialize)]
struct Required {
    /// The smallest share of timers with right granularities: all identifiable ones found to 1 %,
    /// and no others.
    granularity: f64,
    /// The largest share of timers with a granularity that they do not have.
    false_granularity: f64,
    /// The smallest share of periodic timers whose numbers of missed expirations are exact.
    exact: f64,
    /// The smallest coverage of intervals, and the largest coverage of those for quantiles.
    covered: [f64; 2],
}

const REQUIRED: Required = Required {
    granularity: 0.98,
    false_granularity: 0.005,
    exact: 0.99,
    covered: [0.93, 0.97],
};
/// The required share of right granularities with the plan of `wait --quick`, which has too few
/// waits for some granularities.
const QUICK_GRANULARITY: f64 = 0.9;

/// Judges the estimators for waits and prints the outcome.
///
/// # Errors
/// If a requirement is not met.
pub fn run(args: &Args, output: &mut dyn Write) -> Result<(), CommandError> {
    let plan = if args.quick {
        &CampaignPlan::QUICK
    } else {
        &CampaignPlan::DEFAULT
    };
    let (seed, count) = (args.seed, args.count.unwrap_or(DEFAULT_COUNT) as usize);
    let score = judge(seed, count, plan).map_err(|fault| {
        CommandError::Failed(format!(
            "cannot probe a simulated sleep primitive or periodic timer: {fault}"
        ))
    })?;
    let figures = score.summary();
    let granularity = if args.quick {
        QUICK_GRANULARITY
    } else {
        REQUIRED.granularity
    };
    let required = Required {
        granularity,
        ..REQUIRED
    };
    let failures = failures(&score, &figures, required);
    let outcome = WaitsOutcome {
        seed,
        plan_name: plan.name,
        granularity: score.steps,
        missed_expirations: score.expirations,
        figures,
        required,
        passed: failures.is_empty(),
        failures,
    };
    print((&outcome, &outcome.failures), args.format, as_table, output)
}

/// Judges `count` sleep primitives and `count` periodic timers.
fn judge(seed: u64, count: usize, plan: &CampaignPlan) -> Answer<Score> {
    let (mut waits, mut ticks) = (
        population::waits(count, seed),
        population::ticks(count, seed),
    );
    waits.extend(population::coarse_references(count.div_ceil(4), seed));
    ticks.extend(population::jittery_ticks(count.div_ceil(8), seed));
    let progress = progress(waits.len() + ticks.len());
    let count_progress = |judged: Judged| {
        progress.inc(1);
        judged
    };
    let waits = parallel::map(&waits, |case| {
        Ok(count_progress(Judged::wait(case, &case.figures(plan)?)))
    });
    let ticks = parallel::map(&ticks, |case| {
        let (figures, missed) = case.figures(plan)?;
        Judged::ticks(case, &figures, missed).map(&count_progress)
    });
    let mut score = Score::default();
    for judged in waits.into_iter().chain(ticks) {
        score.add(&judged?);
    }
    progress.finish_and_clear();
    Ok(score)
}

/// Requirements that the estimators fail by more than chance explains for the number of waits.
fn failures(
    score: &Score,
    figures: &BTreeMap<&'static str, FigureSummary>,
    required: Required,
) -> Vec<String> {
    let chance = |share: f64, count: u32| {
        MAX_STANDARD_ERRORS * (share * (1.0 - share) / f64::from(count.max(1))).sqrt()
    };
    let (steps, expirations) = (Counts::sum(&score.steps), Counts::sum(&score.expirations));
    let share = |part: u32, counts: &Counts| f64::from(part) / f64::from(counts.timers.max(1));
    let mut failures = Vec::new();
    let mut at_least = |what: &str, right: u32, counts: &Counts, wanted: f64| {
        if share(right, counts) < wanted - chance(wanted, counts.timers) {
            let percent = [share(right, counts), wanted].map(|share| 100.0 * share);
            failures.push(format!(
                "{what} for {:.1} % of the timers; {:.0} % are required",
                percent[0], percent[1]
            ));
        }
    };
    at_least(
        "granularity right",
        steps.right,
        &steps,
        required.granularity,
    );
    at_least(
        "missed expirations exact",
        expirations.right,
        &expirations,
        required.exact,
    );
    let most = required.false_granularity;
    if share(steps.wrong, &steps) > most + chance(most, steps.timers) {
        failures.push(format!(
            "{} timers were given a granularity that they do not have",
            steps.wrong
        ));
    }
    let [least, most] = required.covered;
    for (name, figure) in figures {
        let Some(covered) = figure.covered else {
            continue;
        };
        let quantile = name.starts_with("lateness");
        let too_few = covered < least - chance(least, figure.intervals);
        if too_few || (quantile && covered > most + chance(most, figure.intervals)) {
            let wanted = if too_few { least } else { most };
            let bound = if too_few { "at least" } else { "at most" };
            failures.push(format!(
                "{name}: {:.1} % of the intervals contain the truth; {bound} {:.0} % are required",
                100.0 * covered,
                100.0 * wanted
            ));
        }
    }
    failures
}

fn as_table(outcome: &WaitsOutcome, output: &mut dyn Write) -> Result<(), CommandError> {
    writeln!(
        output,
        "simulated sleep primitives and periodic timers, seed {}, profile {}\n",
        outcome.seed, outcome.plan_name
    )?;
    let counted = |heading: [&'static str; 5], counts: &BTreeMap<String, Counts>| {
        let mut table = table(&heading);
        let all = ("all".to_owned(), Counts::sum(counts));
        for (kind, counts) in counts.iter().chain([(&all.0, &all.1)]) {
            let numbers = [counts.timers, counts.right, counts.missed, counts.wrong];
            let numbers = numbers.map(|number| CellValue::from(number.to_string()));
            table.push(
                [CellValue::from(kind.as_str())]
                    .into_iter()
                    .chain(numbers)
                    .collect(),
            );
        }
        table.rendered(Format::Table, Style::default())
    };
    let steps = [
        "granularity",
        "timers",
        "right to 1 %",
        "not found",
        "false",
    ];
    let expirations = [
        "missed expirations",
        "timers",
        "exact",
        "not determined",
        "wrong",
    ];
    writeln!(output, "{}", counted(steps, &outcome.granularity))?;
    writeln!(
        output,
        "{}",
        counted(expirations, &outcome.missed_expirations)
    )?;
    let mut figures = table(&["figure", "intervals", "covered %", "±half-width (error)"]);
    for (name, figure) in &outcome.figures {
        let Some(covered) = figure.covered else {
            continue;
        };
        let known = Estimate::exact(covered).with_counting_error(f64::from(figure.intervals));
        let [covered, low, high] = [known.value, known.low, known.high].map(|share| 100.0 * share);
        figures.push(vec![
            (*name).into(),
            figure.intervals.to_string().into(),
            format!("{covered:.1} ({low:.1} to {high:.1})").into(),
            sizes(if name.ends_with("error") {
                scaled_to_ppm(*figure)
            } else {
                *figure
            })
            .into(),
        ]);
    }
    write!(
        output,
        "{}",
        figures.rendered(Format::Table, Style::default())
    )?;
    let mut legend = String::new();
    hang(&mut legend, "", "  ", LEGEND, terminal_style().columns());
    write!(output, "\n{legend}")?;
    Ok(())
}

const LEGEND: &str = "half-width and error: medians, in % of the figure; for the proportional error and the rate error in ppm";

/// Scales a figure in ppm so that formatting it in percent prints ppm.
fn scaled_to_ppm(figure: FigureSummary) -> FigureSummary {
    let scaled = |size: Option<f64>| size.map(|size| size / 100.0);
    FigureSummary {
        half_width: scaled(figure.half_width),
        error: scaled(figure.error),
        ..figure
    }
}
