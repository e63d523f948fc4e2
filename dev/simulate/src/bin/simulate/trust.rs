//! Judges verdicts: clocks that differ between CPUs, and a counter and a kernel's clock of which
//! one is slewed during the run.

use std::collections::BTreeMap;
use std::io::Write;

use reporting::format::{Format, Render, Style};
use reporting::parallel;
use serde::Serialize;
use simulate::trust::{Judged, clocks_on_cpus, slewed_clocks};
use timermeter::commands::CommandError;

use super::{Args, DEFAULT_COUNT, print, progress, table};

/// The verdicts on the clocks of one kind.
#[derive(Clone, Default, Serialize)]
struct Kind {
    clocks: u32,
    right: u32,
    intervals: u32,
    covered: u32,
}

#[derive(Serialize)]
struct TrustOutcome {
    seed: u64,
    kinds: BTreeMap<&'static str, Kind>,
    required: Required,
    passed: bool,
    /// A sentence for each unmet requirement.
    failures: Vec<String>,
    /// The evidence of clocks that were judged wrongly.
    wrong: Vec<String>,
}

/// What is required of the verdicts.
#[derive(Clone, Copy, Debug, Serialize)]
struct Required {
    /// The smallest share of right verdicts of each kind of clock.
    right_per_kind: f64,
    /// The smallest share of right verdicts.
    right: f64,
    /// The smallest coverage of the intervals of each kind of clock.
    covered: f64,
}

const REQUIRED: Required = Required {
    right_per_kind: 0.98,
    right: 0.99,
    covered: 0.93,
};

/// Judges the verdicts and prints the outcome.
///
/// # Errors
/// If a requirement is not met.
pub fn run(args: &Args, output: &mut dyn Write) -> Result<(), CommandError> {
    let (seed, count) = (args.seed, args.count.unwrap_or(DEFAULT_COUNT) as usize);
    let (on_cpus, slewed) = (clocks_on_cpus(count, seed), slewed_clocks(count, seed));
    let progress = progress(on_cpus.len() + slewed.len());
    let judged = [
        parallel::map(&on_cpus, |case| case.judge().inspect(|_| progress.inc(1))),
        parallel::map(&slewed, |case| case.judge().inspect(|_| progress.inc(1))),
    ];
    progress.finish_and_clear();
    let judged: Result<Vec<Judged>, _> = judged.into_iter().flatten().collect();
    let judged = judged.map_err(|fault| {
        CommandError::Failed(format!("cannot probe a simulated clock: {fault}"))
    })?;
    let mut kinds: BTreeMap<&'static str, Kind> = BTreeMap::new();
    for one in &judged {
        let kind = kinds.entry(one.kind).or_default();
        kind.clocks += 1;
        kind.right += u32::from(one.right);
        let covered = one.figures.iter().filter_map(|figure| figure.covered());
        for covered in covered {
            kind.intervals += 1;
            kind.covered += u32::from(covered);
        }
    }
    let wrong = judged.iter().filter(|one| !one.right);
    let wrong = wrong.map(|one| format!("{}: {}", one.kind, one.evidence));
    let failures = failures(&kinds);
    let outcome = TrustOutcome {
        seed,
        kinds,
        required: REQUIRED,
        passed: failures.is_empty(),
        failures,
        wrong: wrong.collect(),
    };
    print((&outcome, &outcome.failures), args.format, as_table, output)
}

fn share(part: u32, all: u32) -> f64 {
    f64::from(part) / f64::from(all.max(1))
}

/// A sentence for each requirement that is not met.
fn failures(kinds: &BTreeMap<&'static str, Kind>) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, kind) in kinds {
        let below = share(kind.right, kind.clocks) < REQUIRED.right_per_kind;
        failures.extend(below.then(|| format!("{name}: {} of {} right", kind.right, kind.clocks)));
        let covered = share(kind.covered, kind.intervals);
        let below = kind.intervals > 0 && covered < REQUIRED.covered;
        failures.extend(below.then(|| {
            let all = kind.intervals;
            format!(
                "{name}: {} of {all} intervals contain the truth",
                kind.covered
            )
        }));
    }
    let sum = |value: fn(&Kind) -> u32| kinds.values().map(value).sum::<u32>();
    let (right, clocks) = (sum(|kind| kind.right), sum(|kind| kind.clocks));
    if share(right, clocks) < REQUIRED.right {
        failures.push(format!("{right} of {clocks} verdicts right"));
    }
    failures
}

fn as_table(outcome: &TrustOutcome, output: &mut dyn Write) -> Result<(), CommandError> {
    /// The largest number of wrong verdicts that are listed.
    const MAX_LISTED: usize = 12;
    writeln!(
        output,
        "simulated clocks of known faults, seed {}\n",
        outcome.seed
    )?;
    let mut rows = table(&["kind", "clocks", "right", "intervals", "covered"]);
    for (name, kind) in &outcome.kinds {
        let numbers = [kind.clocks, kind.right, kind.intervals, kind.covered];
        let numbers = numbers.map(|number| number.to_string().into());
        rows.push([(*name).into()].into_iter().chain(numbers).collect());
    }
    write!(output, "{}", rows.rendered(Format::Table, Style::default()))?;
    for wrong in outcome.wrong.iter().take(MAX_LISTED) {
        writeln!(output, "wrong: {wrong}")?;
    }
    Ok(())
}
