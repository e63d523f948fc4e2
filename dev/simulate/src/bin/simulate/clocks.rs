//! Judges the estimators for clocks: draws simulated clocks, probes them, and checks the summaries
//! of the verdicts against the requirements.

mod shown;

use std::collections::BTreeMap;
use std::io::Write;

use indexmap::IndexMap;
use reporting::parallel;
use serde::Serialize;
use simulate::score::{FIGURES, SHOWN, SHOWN_IDENTICAL, Score, Scores, Summary, groups, kind};
use simulate::{Case, FoundFigure, Verdict, coverage, population};
use timermeter::campaign::sampling::CampaignPlan;
use timermeter::commands::CommandError;

use super::{Args, DEFAULT_COUNT, MAX_STANDARD_ERRORS, print, progress};

/// The number of timers whose verdicts are in memory at the same time.
const CHUNK_TIMERS: usize = 128;

/// A timer with a wrong figure. Each pair is the true and the estimated value.
#[derive(Clone, Debug, Serialize)]
pub struct Miss {
    pub timer: String,
    pub reference: String,
    pub resolution_ns: [Option<f64>; 2],
    pub cost_ns: [Option<f64>; 2],
    pub spread: [Option<f64>; 2],
    pub quality: [Option<f64>; 2],
}

/// The summaries of all timers with the same kind of reference.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    pub reference: String,
    pub groups: BTreeMap<String, Summary>,
    pub all: Summary,
}

#[derive(Serialize)]
pub struct Outcome {
    pub seed: u64,
    pub figures: &'static str,
    pub references: Vec<Judged>,
    /// The number of timers without a fixed step for which a resolution was reported.
    pub numbers_for_irregular: u32,
    pub irregular: u32,
    pub required: Required,
    pub passed: bool,
    /// A sentence for each unmet requirement.
    pub failures: Vec<String>,
    pub misses: Vec<Miss>,
}

/// What is required of the estimators.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Required {
    /// The smallest share of timers for which each figure is right, among timers whose median cost
    /// any reference determines. For the cost, only timers with identical processes count, because
    /// processes may differ by more than the tolerance.
    right: f64,
    /// The smallest coverage over all timers.
    covered: f64,
    /// The smallest coverage of each kind of timer.
    covered_per_kind: f64,
    /// The largest share of timers with a relevant error outside the interval, in addition to the
    /// share that exact intervals of these widths would have.
    misses: f64,
    /// The largest share of timers without a fixed step for which a resolution is reported.
    numbers_for_irregular: f64,
}

const REQUIRED: Required = Required {
    right: 0.97,
    covered: coverage::REQUIRED_OVERALL,
    covered_per_kind: coverage::REQUIRED_PER_KIND,
    misses: 0.02,
    numbers_for_irregular: 0.005,
};

/// The scores of groups and of all timers, by the name of the reference.
type ByReference = IndexMap<String, (Scores, Score)>;

/// Judges the estimators for clocks and prints the outcome.
///
/// # Errors
/// If a requirement is not met.
pub fn run(args: &Args, output: &mut dyn Write) -> Result<(), CommandError> {
    let seed = args.seed;
    let (sampling, mut regular) = match args.per_kind {
        Some(count) => (
            Sampling::PerKind,
            population::per_kind(count as usize, seed),
        ),
        None => (
            Sampling::Population,
            population::regular(args.count.unwrap_or(DEFAULT_COUNT) as usize, seed),
        ),
    };
    let mut count = args.count.or(args.per_kind).unwrap_or(DEFAULT_COUNT) as usize;
    if let Some(text) = &args.kind {
        regular.retain(|case| groups(case).iter().any(|group| group.contains(text)));
        count = 0;
    }
    let plan = if args.quick {
        &CampaignPlan::QUICK
    } else {
        &CampaignPlan::DEFAULT
    };
    let outcome = judge(
        seed,
        (sampling, &regular),
        &population::irregular(count, seed),
        plan,
    )?;
    print(
        (&outcome, &outcome.failures),
        args.format,
        shown::print,
        output,
    )
}

/// How the simulated timers are drawn.
#[derive(Clone, Copy)]
enum Sampling {
    /// Random timers of the population.
    Population,
    /// The same number of timers of each kind.
    PerKind,
}

fn judge(
    seed: u64,
    (sampling, regular): (Sampling, &[Case]),
    irregular: &[Case],
    plan: &CampaignPlan,
) -> Result<Outcome, CommandError> {
    let fault = |fault| CommandError::Failed(format!("cannot probe a simulated timer: {fault}"));
    let progress = progress(regular.len() + irregular.len());
    let judged = |chunk: &[Case]| -> Result<Vec<Verdict>, CommandError> {
        let judged = |case: &Case| case.judge(plan).inspect(|_| progress.inc(1));
        parallel::map(chunk, judged)
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(fault)
    };
    let mut by_reference = ByReference::new();
    let mut misses = Vec::new();
    // A verdict is as large as a row of a report, so only a chunk of them is kept at a time.
    for chunk in regular.chunks(CHUNK_TIMERS) {
        for (case, verdict) in chunk.iter().zip(&judged(chunk)?) {
            let (groups, all) = by_reference.entry(case.reference.name.clone()).or_default();
            groups.add(case, verdict);
            all.add(verdict);
            if !verdict.holds() {
                misses.push(miss(case, verdict));
            }
        }
    }
    let mut numbers = 0;
    for chunk in irregular.chunks(CHUNK_TIMERS) {
        let verdicts = judged(chunk)?;
        let given = chunk
            .iter()
            .zip(&verdicts)
            .filter(|(_, verdict)| verdict.resolution.value.is_some());
        for (case, verdict) in given {
            numbers += 1;
            misses.push(miss(case, verdict));
        }
    }
    progress.finish_and_clear();
    Ok(outcome(
        seed,
        sampling,
        plan,
        by_reference,
        (numbers, irregular.len() as u32),
        misses,
    ))
}

/// Summarises the verdicts and checks the requirements. The pair is the number of timers without a
/// fixed step for which a resolution was reported, and the number of all such timers.
fn outcome(
    seed: u64,
    sampling: Sampling,
    plan: &CampaignPlan,
    mut by_reference: ByReference,
    (numbers, irregular): (u32, u32),
    misses: Vec<Miss>,
) -> Outcome {
    by_reference.sort_unstable_keys();
    // With the same number of timers of each kind, many have a median that a coarse reference
    // cannot determine. For these only the coverage of the intervals is required.
    let mut failures: Vec<String> = match sampling {
        Sampling::PerKind => Vec::new(),
        Sampling::Population => {
            let failures_of = |(reference, (groups, all)): (&String, &(Scores, Score))| {
                failures(reference, groups, all)
            };
            by_reference.iter().flat_map(failures_of).collect()
        }
    };
    failures.extend(insufficient_coverage(&by_reference));
    if f64::from(numbers) > REQUIRED.numbers_for_irregular * f64::from(irregular) {
        failures.push(format!(
            "{numbers} timers without a fixed step were given a resolution"
        ));
    }
    let summed = |(reference, (groups, all)): (&String, &(Scores, Score))| Judged {
        reference: reference.clone(),
        groups: groups
            .0
            .iter()
            .map(|(group, score)| (group.clone(), score.summary()))
            .collect(),
        all: all.summary(),
    };
    Outcome {
        seed,
        figures: plan.name,
        references: by_reference.iter().map(summed).collect(),
        numbers_for_irregular: numbers,
        irregular,
        required: REQUIRED,
        passed: failures.is_empty(),
        failures,
        misses,
    }
}

/// Returns a sentence for each requirement that the timers of one kind of reference do not meet by
/// more than chance explains.
fn failures(reference: &str, groups: &Scores, score: &Score) -> Vec<String> {
    let margin = |share: f64, timers: u32| {
        MAX_STANDARD_ERRORS * (share * (1.0 - share) / f64::from(timers.max(1))).sqrt()
    };
    let chance = |share: f64| margin(share, score.timers);
    let summary = score.summary();
    // For the other groups only the coverage of the intervals is required.
    let shown = |group: &str| groups.0.get(group).map(Score::summary);
    let figures = [SHOWN, SHOWN_IDENTICAL, SHOWN, SHOWN]
        .map(shown)
        .into_iter()
        .enumerate();
    let of_figures = figures.filter_map(|(at, summary)| {
        let summary = summary?;
        let (share, required) = (summary.figures()[at].right?, REQUIRED.right);
        (share < required - margin(required, summary.timers)).then(|| {
            format!(
                "{reference}: {} right for {:.1} % of the timers whose median it determines; {:.0} % are required",
                FIGURES[at],
                100.0 * share,
                100.0 * required
            )
        })
    });
    let most = summary.unavoidable + REQUIRED.misses;
    let misses = (summary.misses > most + chance(most)).then(|| {
        format!(
            "{reference}: {:.1} % of the timers have a relevant error outside the interval; {:.1} % are allowed",
            100.0 * summary.misses,
            100.0 * most
        )
    });
    of_figures.chain(misses).collect()
}

/// Returns a sentence for each figure, of a group or of all timers, whose intervals contain the
/// truth too rarely.
fn insufficient_coverage(by_reference: &ByReference) -> Vec<String> {
    let of_groups = |(reference, (groups, _)): (&String, &(Scores, Score))| {
        let with_name =
            |(name, score): (&String, &Score)| (format!("{reference}, {name}"), score.summary());
        groups.0.iter().map(with_name).collect::<Vec<_>>()
    };
    let kinds: Vec<(String, Summary)> = by_reference.iter().flat_map(of_groups).collect();
    let all: Vec<Summary> = by_reference
        .values()
        .map(|(_, all)| all.summary())
        .collect();
    coverage::insufficient_coverage(&kinds, &all)
}

fn miss(case: &Case, verdict: &Verdict) -> Miss {
    let pair = |found: &FoundFigure| [found.truth, found.value];
    Miss {
        timer: kind(case),
        reference: case.reference.name.clone(),
        resolution_ns: pair(&verdict.resolution),
        cost_ns: pair(&verdict.cost),
        spread: pair(&verdict.spread),
        quality: pair(&verdict.quality),
    }
}
