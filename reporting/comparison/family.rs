//! Judges all values of a comparison together (the family of a multiple test), so that at most 1 %
//! of comparisons of unchanged machines report any change.

use super::Quantity;
use super::evidence::{Evidence, Sides, evidence};
use super::scatter::Read;
use super::{Compared, Unit, Verdict};
use crate::statistics::hypotheses::holm;

/// The probability that a comparison reports a change although nothing changed. *Definition*: the
/// aim that was set.
pub(super) const FAMILY_ERROR: f64 = 0.01;
/// The weight of a cost relative to other quantities, because users mainly ask about costs.
/// *Judgement*.
const COST_WEIGHT: f64 = 8.0;

/// A quantity of a timer in all runs that contain it.
pub(super) struct Candidate {
    pub timer: String,
    pub quantity: Quantity,
    pub read: Read,
    /// The runs in each unit in which the value may be unchanged. The value changed only if it
    /// changed in all these units.
    pub ways: Vec<Sides>,
    /// Whether a report measured the timer in a single process.
    pub single_process: bool,
}

/// Judges all candidates. The probabilities are corrected for the number of candidates by the
/// method of Holm.
pub(super) fn judge(candidates: &[Candidate]) -> Vec<Compared> {
    let found = find_evidence(candidates);
    // A Quality follows from other quantities, so it does not count as a separate test.
    let weights: Vec<f64> = candidates
        .iter()
        .zip(&found)
        .map(|(candidate, evidence)| match candidate.quantity {
            _ if evidence.is_none() => 0.0,
            quantity if quantity == Quantity::QUALITY => 0.0,
            quantity if quantity == Quantity::COST => COST_WEIGHT,
            _ => 1.0,
        })
        .collect();
    let all: f64 = weights.iter().sum();
    let family: Vec<usize> = (0..weights.len()).filter(|at| weights[*at] > 0.0).collect();
    let asked: Vec<(f64, f64)> = family
        .iter()
        .filter_map(|at| Some((found[*at].as_ref()?.probability(), weights[*at])))
        .collect();
    let mut probabilities: Vec<Option<f64>> = found
        .iter()
        .map(|evidence| evidence.as_ref().map(Evidence::probability))
        .collect();
    for (at, adjusted) in family.into_iter().zip(holm(&asked)) {
        probabilities[at] = Some(adjusted);
    }
    let judged = candidates.iter().enumerate().filter_map(|(at, candidate)| {
        let level = match weights[at] {
            0.0 => FAMILY_ERROR,
            weight => FAMILY_ERROR * weight / all,
        };
        candidate.judge(found[at].as_ref(), probabilities[at], level)
    });
    let mut judged: Vec<Compared> = judged.collect();
    judge_qualities(&mut judged);
    judged
}

/// The evidence for each candidate, in the unit with the weakest evidence; `None` if any unit lacks
/// evidence.
fn find_evidence(candidates: &[Candidate]) -> Vec<Option<Evidence>> {
    let mut found: Vec<Vec<Evidence>> = vec![Vec::new(); candidates.len()];
    for quantity in Quantity::all() {
        for unit in [None, Some(Unit::Cycles), Some(Unit::Time)] {
            let mut places = Vec::new();
            let mut sides = Vec::new();
            for (at, candidate) in candidates.iter().enumerate() {
                let mut ways = candidate.ways.iter();
                if let Some(way) = ways.find(|way| way.unit == unit)
                    && candidate.quantity == quantity
                {
                    places.push(at);
                    sides.push((candidate.read, way));
                }
            }
            for (at, evidence) in places.into_iter().zip(evidence(quantity, &sides)) {
                found[at].extend(evidence);
            }
        }
    }
    let weakest = |(candidate, ways): (&Candidate, Vec<Evidence>)| {
        let is_complete = ways.len() == candidate.ways.len();
        is_complete.then(|| Evidence::weakest(&ways)).flatten()
    };
    candidates.iter().zip(found).map(weakest).collect()
}

impl Candidate {
    /// Judges the candidate. `probability` is the corrected probability of its difference if
    /// nothing changed. A difference whose uncorrected probability is below `level` counts as a
    /// change whatever the other candidates are.
    fn judge(
        &self,
        evidence: Option<&Evidence>,
        probability: Option<f64>,
        level: f64,
    ) -> Option<Compared> {
        let quantity = self.quantity;
        let change = match evidence {
            Some(evidence) => evidence.change(),
            None => self.ways.first()?.bare_change(quantity)?,
        };
        let smallest = quantity.smallest_difference(change.old.value);
        let matters = change.difference.value.abs() >= smallest;
        let verdict = match probability {
            None => Verdict::Unjudged,
            Some(probability) if !matters || probability > FAMILY_ERROR => Verdict::Noise,
            Some(_) if quantity.is_better(change.old.value, change.new.value) => Verdict::Better,
            Some(_) => Verdict::Worse,
        };
        Some(Compared {
            timer: self.timer.clone(),
            quantity,
            change,
            verdict,
            matters,
            single_process: self.single_process,
            unit: match self.ways.as_slice() {
                [way] => way.unit,
                _ => Some(Unit::Both),
            },
            probability,
            detectable: evidence
                .map(|evidence| evidence.detectable(level))
                .filter(|change| change.is_finite()),
        })
    }
}

/// Judges the Qualities. A Quality follows from cost, resolution and spread, so it changes only if
/// one of these changed. A change of Quality to or from 0 follows from a verdict and is certain.
fn judge_qualities(compared: &mut [Compared]) {
    let changed = compared.iter().filter(|part| part.is_changed());
    let of_parts: Vec<String> = changed
        .filter(|part| part.quantity != Quantity::QUALITY)
        .map(|part| part.timer.clone())
        .collect();
    for quality in compared.iter_mut() {
        let [old, new] = [quality.change.old, quality.change.new];
        if quality.quantity != Quantity::QUALITY {
            continue;
        }
        if (old.value == 0.0) != (new.value == 0.0) && old.is_bounded() && new.is_bounded() {
            quality.verdict = if new.value == 0.0 {
                Verdict::Worse
            } else {
                Verdict::Better
            };
        } else if quality.is_changed() && !of_parts.contains(&quality.timer) {
            quality.verdict = Verdict::Noise;
        }
    }
}
