//! Timers that are read.

use std::collections::BTreeMap;
use std::io::Write;

use indexmap::IndexMap;
use serde::Serialize;
use simulate::score::{FIGURES, SHOWN, SHOWN_IDENTICAL, Score, Scores, Summary, kind};
use simulate::{Case, FoundFigure, Verdict, coverage, population};
use timermeter::campaign::sampling::Plan;
use timermeter::commands::CommandError;
use timermeter::parallel;

use super::{Args, CHANCE, COUNT, print, progress, shown};

/// Timers that are judged before what was found of them is forgotten.
const CHUNK: usize = 128;

/// A timer whose figures are wrong: declared and found.
#[derive(Clone, Debug, Serialize)]
pub struct Miss {
    pub timer: String,
    pub reference: String,
    pub resolution_ns: [Option<f64>; 2],
    pub cost_ns: [Option<f64>; 2],
    pub spread: [Option<f64>; 2],
    pub quality: [Option<f64>; 2],
}

/// What came of timers that one kind of reference timed.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    pub reference: String,
    pub groups: BTreeMap<String, Summary>,
    pub all: Summary,
}

#[derive(Serialize)]
pub struct Outcome {
    pub seed: u64,
    pub profile: &'static str,
    pub references: Vec<Judged>,
    /// Timers without a step that were given one all the same.
    pub numbers_for_irregular: u32,
    pub irregular: u32,
    pub required: Required,
    pub passed: bool,
    /// What does not meet the requirements.
    pub failures: Vec<String>,
    pub misses: Vec<Miss>,
}

/// What is required of the estimators.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Required {
    /// The share of timers on which each figure is right, of those whose middle any reference
    /// shows; the cost where processes are identical, as it cannot be where they differ by more than
    /// the tolerance.
    right: f64,
    /// The least share of intervals that hold the truth, of all timers and of each kind.
    covered: f64,
    covered_of_a_kind: f64,
    /// The largest share of timers that may miss by what matters, beyond that which exact intervals
    /// of these widths would have.
    misses: f64,
    /// The largest share of timers without a step that may be given one.
    numbers_for_irregular: f64,
}

const REQUIRED: Required = Required {
    right: 0.97,
    covered: coverage::OF_ALL,
    covered_of_a_kind: coverage::OF_A_KIND,
    misses: 0.02,
    numbers_for_irregular: 0.005,
};

/// Scores of groups of timers and of all of them, by what timed them.
type ByReference = IndexMap<String, (Scores, Score)>;

/// Runs the command.
///
/// # Errors
/// When too many figures are wrong.
pub fn run(args: &Args, output: &mut dyn Write) -> Result<(), CommandError> {
    let seed = args.seed;
    let (drawn, regular) = match args.per_kind {
        Some(count) => (Drawn::PerKind, population::per_kind(count as usize, seed)),
        None => (
            Drawn::Together,
            population::regular(args.count.unwrap_or(COUNT) as usize, seed),
        ),
    };
    let count = args.count.or(args.per_kind).unwrap_or(COUNT) as usize;
    let plan = if args.quick {
        &Plan::QUICK
    } else {
        &Plan::DEFAULT
    };
    let outcome = judge(
        seed,
        (drawn, &regular),
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

/// How timers were drawn.
#[derive(Clone, Copy)]
enum Drawn {
    /// As they are met.
    Together,
    /// This many of each kind.
    PerKind,
}

fn judge(
    seed: u64,
    (drawn, regular): (Drawn, &[Case]),
    irregular: &[Case],
    plan: &Plan,
) -> Result<Outcome, CommandError> {
    let fault =
        |fault| CommandError::Failed(format!("a simulated timer could not be probed: {fault}"));
    let progress = progress(regular.len() + irregular.len());
    let judged = |chunk: &[Case]| -> Result<Vec<Verdict>, CommandError> {
        let judged = |case: &Case| case.judge(plan).inspect(|_| progress.inc(1));
        parallel::mapped(chunk, judged)
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(fault)
    };
    let mut by_reference = ByReference::new();
    let mut misses = Vec::new();
    // A chunk at a time: what was found of a timer is as large as a row of a report.
    for chunk in regular.chunks(CHUNK) {
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
    for chunk in irregular.chunks(CHUNK) {
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
        drawn,
        plan,
        by_reference,
        (numbers, irregular.len() as u32),
        misses,
    ))
}

/// What all verdicts come down to; `irregular` are timers without a step that were given one, and
/// all of them.
fn outcome(
    seed: u64,
    drawn: Drawn,
    plan: &Plan,
    mut by_reference: ByReference,
    (numbers, irregular): (u32, u32),
    misses: Vec<Miss>,
) -> Outcome {
    by_reference.sort_unstable_keys();
    // Of kinds that cannot be determined within a step of a coarse reference, as many as of others, what
    // counts is whether intervals say so.
    let mut failures: Vec<String> = match drawn {
        Drawn::PerKind => Vec::new(),
        Drawn::Together => {
            let of = |(reference, (groups, all)): (&String, &(Scores, Score))| {
                failures(reference, groups, all)
            };
            by_reference.iter().flat_map(of).collect()
        }
    };
    failures.extend(seldom_covered(&by_reference));
    if f64::from(numbers) > REQUIRED.numbers_for_irregular * f64::from(irregular) {
        failures.push(format!("{numbers} timers without a step were given one"));
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
        profile: plan.name,
        references: by_reference.iter().map(summed).collect(),
        numbers_for_irregular: numbers,
        irregular,
        required: REQUIRED,
        passed: failures.is_empty(),
        failures,
        misses,
    }
}

/// What timers of one kind of reference do not meet, beyond what chance does to so many.
fn failures(reference: &str, groups: &Scores, score: &Score) -> Vec<String> {
    let beyond = |share: f64, timers: u32| {
        CHANCE * (share * (1.0 - share) / f64::from(timers.max(1))).sqrt()
    };
    let chance = |share: f64| beyond(share, score.timers);
    let summary = score.summary();
    // Of the others what counts is whether intervals hold the truth.
    let shown = |group: &str| groups.0.get(group).map(Score::summary);
    let figures = [SHOWN, SHOWN_IDENTICAL, SHOWN, SHOWN]
        .map(shown)
        .into_iter()
        .enumerate();
    let of_figures = figures.filter_map(|(at, summary)| {
        let summary = summary?;
        let (share, required) = (summary.figures()[at].right?, REQUIRED.right);
        (share < required - beyond(required, summary.timers)).then(|| {
            format!(
                "{reference}: {} right on {:.1} % of those that it shows, and {:.0} % are required",
                FIGURES[at],
                100.0 * share,
                100.0 * required
            )
        })
    });
    let most = summary.unavoidable + REQUIRED.misses;
    let misses = (summary.misses > most + chance(most)).then(|| {
        format!(
            "{reference}: the truth is missed by what matters on {:.1} % of them, and {:.1} % may be",
            100.0 * summary.misses,
            100.0 * most
        )
    });
    of_figures.chain(misses).collect()
}

/// Figures of groups, and of all timers, whose intervals hold the truth too seldom.
fn seldom_covered(by_reference: &ByReference) -> Vec<String> {
    let of_groups = |(reference, (groups, _)): (&String, &(Scores, Score))| {
        let named =
            |(name, score): (&String, &Score)| (format!("{reference}, {name}"), score.summary());
        groups.0.iter().map(named).collect::<Vec<_>>()
    };
    let kinds: Vec<(String, Summary)> = by_reference.iter().flat_map(of_groups).collect();
    let all: Vec<Summary> = by_reference
        .values()
        .map(|(_, all)| all.summary())
        .collect();
    coverage::too_seldom(&kinds, &all)
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
