//! All figures of a comparison together: of what did not change, something is called changed in one
//! comparison of a hundred only.

use super::evidence::{Evidence, Sides, evidence};
use super::scatter::Read;
use super::{Compared, Difference, Quantity, Unit, Verdict};
use crate::statistics::hypotheses::holm;

/// The probability that anything is called changed where nothing did.
/// *Definition*: the aim that was set.
pub const FAMILY_ERROR: f64 = 0.01;
/// How much more of it a cost is given than another figure: it is what was asked for.
/// *Judgement*.
const OF_COSTS: f64 = 8.0;

/// A figure of a timer in all runs that have it.
pub(super) struct Candidate {
    pub timer: String,
    pub quantity: Quantity,
    pub read: Read,
    /// In each unit that it may be the same in: a change has to show in all of them.
    pub ways: Vec<Sides>,
    /// Whether a report rests the timer on a single process.
    pub single_process: bool,
}

/// What single runs were taken to differ by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Assumed {
    pub read: Read,
    pub shared_core: bool,
}

/// What became of each.
pub(super) fn judged(candidates: &[Candidate]) -> Vec<Compared> {
    let found = found(candidates);
    let asked = |at: &usize| found[*at].is_some() && candidates[*at].quantity != Quantity::QUALITY;
    let family: Vec<usize> = (0..candidates.len()).filter(asked).collect();
    let weight = |at: usize| {
        if candidates[at].quantity == Quantity::COST {
            OF_COSTS
        } else {
            1.0
        }
    };
    let all: f64 = family.iter().map(|at| weight(*at)).sum();
    let probabilities: Vec<(f64, f64)> = family
        .iter()
        .map(|at| {
            (
                found[*at].as_ref().map_or(1.0, Evidence::probability),
                weight(*at),
            )
        })
        .collect();
    let mut adjusted = vec![None; candidates.len()];
    family
        .iter()
        .zip(holm(&probabilities))
        .for_each(|(at, probability)| adjusted[*at] = Some(probability));
    let mut compared: Vec<Compared> = (0..candidates.len())
        .filter_map(|at| {
            one(
                &candidates[at],
                found[at].as_ref(),
                adjusted[at],
                FAMILY_ERROR * weight(at) / all,
            )
        })
        .collect();
    follow(&mut compared);
    compared
}

/// The evidence of each, in the unit in which it is weakest; none where a unit lacks it.
fn found(candidates: &[Candidate]) -> Vec<Option<Evidence>> {
    let mut found: Vec<Vec<Evidence>> = vec![Vec::new(); candidates.len()];
    for quantity in Quantity::all() {
        for unit in [None, Some(Unit::Cycles), Some(Unit::Time)] {
            let ways = candidates
                .iter()
                .enumerate()
                .filter(|(_, candidate)| candidate.quantity == quantity);
            let ways: Vec<(usize, Read, &Sides)> = ways
                .flat_map(|(at, candidate)| {
                    candidate
                        .ways
                        .iter()
                        .map(move |way| (at, candidate.read, way))
                })
                .filter(|(_, _, way)| way.unit == unit)
                .collect();
            let sides: Vec<(Read, &Sides)> =
                ways.iter().map(|(_, read, way)| (*read, *way)).collect();
            for ((at, ..), evidence) in ways.iter().zip(evidence(quantity, &sides)) {
                found[*at].extend(evidence);
            }
        }
    }
    let weakest = |(candidate, ways): (&Candidate, Vec<Evidence>)| {
        (ways.len() == candidate.ways.len())
            .then(|| Evidence::weakest(&ways))
            .flatten()
    };
    candidates.iter().zip(found).map(weakest).collect()
}

fn one(
    candidate: &Candidate,
    evidence: Option<&Evidence>,
    adjusted: Option<f64>,
    level: f64,
) -> Option<Compared> {
    let quantity = candidate.quantity;
    let difference = match evidence {
        Some(evidence) => evidence.difference(),
        None => candidate.ways.first()?.bare(quantity)?,
    };
    let matters = quantity.matters(&difference);
    let level = if quantity == Quantity::QUALITY {
        FAMILY_ERROR
    } else {
        level
    };
    let probability = adjusted.or(evidence.map(Evidence::probability));
    let verdict = match probability {
        None => Verdict::Unjudged,
        Some(probability) if matters && probability <= FAMILY_ERROR => {
            quantity.direction(&difference)
        }
        Some(_) => Verdict::Noise,
    };
    let units: Vec<Unit> = candidate.ways.iter().filter_map(|way| way.unit).collect();
    Some(Compared {
        timer: candidate.timer.clone(),
        quantity,
        difference,
        verdict,
        matters,
        single_process: candidate.single_process,
        unit: if units.len() > 1 {
            Some(Unit::Both)
        } else {
            units.first().copied()
        },
        probability,
        detectable: evidence
            .map(|evidence| evidence.detectable(level))
            .filter(|change| change.is_finite()),
    })
}

/// A Quality follows from cost, resolution and spread: it is no finding of its own, and has changed
/// only where one of these has. One that was taken away, or given back, is as sure as the verdict
/// that it goes by.
fn follow(compared: &mut [Compared]) {
    let is_told = |verdict: Verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
    let of_parts: Vec<String> = compared
        .iter()
        .filter(|compared| compared.quantity != Quantity::QUALITY && is_told(compared.verdict))
        .map(|compared| compared.timer.clone())
        .collect();
    for quality in compared
        .iter_mut()
        .filter(|compared| compared.quantity == Quantity::QUALITY)
    {
        let Difference { old, new, .. } = quality.difference;
        if (old.value == 0.0) != (new.value == 0.0) && old.ends().is_some() && new.ends().is_some()
        {
            quality.verdict = if new.value == 0.0 {
                Verdict::Worse
            } else {
                Verdict::Better
            };
        } else if is_told(quality.verdict) && !of_parts.contains(&quality.timer) {
            quality.verdict = Verdict::Noise;
        }
    }
}

/// What single runs of these were taken to differ by.
pub(super) fn assumed(candidates: &[Candidate]) -> Vec<Assumed> {
    let single = |sides: &&Sides| sides.unchanged().all(|runs| runs.len() == 1);
    let of = |candidate: &Candidate| {
        let sides = candidate.ways.first().filter(single)?;
        let shared_core = sides.runs.iter().flatten().any(|run| run.shared_core);
        let has_intervals = sides
            .runs
            .iter()
            .flatten()
            .all(|run| run.figure.ends().is_some());
        let read = candidate.read;
        (has_intervals
            && [Quantity::COST, Quantity::LATENESS, Quantity::FLOOR].contains(&candidate.quantity))
        .then_some(Assumed {
            read,
            shared_core: shared_core && read != Read::Waiting,
        })
    };
    let mut assumed: Vec<Assumed> = candidates.iter().filter_map(of).collect();
    assumed.sort_unstable();
    assumed.dedup();
    assumed
}
