//! Judges the rate of timers on hosts that cannot compare clocks. Such hosts only answer how far
//! the timer and the reference moved while the thread computed or slept; each answer gives a rate.
//!
//! An answer is less reliable than a comparison. It has no second reading of the reference, which
//! would show the delay between the reads of the two clocks; if the thread loses its CPU between
//! them, the answer is wrong by milliseconds. A single answer therefore disqualifies no timer, and
//! several do so only if they still agree when any one of them is left out.

use super::with_verdict;
use crate::model::{MAX_SLEW, Outcome, Stable};
use crate::numbers::{significant, time};
use crate::trace::{Advance, ThreadActivity};
use crate::trust::nature::MAX_STILL_SHARE_ASLEEP;
use crate::trust::{Case, direction, ppm};

/// The largest difference between the delays from the read of one clock to the read of the other,
/// at the beginning and at the end of a window, in nanoseconds. At the first read the code may not
/// be in the caches. Node compiles the reads again for each answer, which took up to 54 µs on a
/// busy machine; Python took up to 6 µs. The value is twice the largest observed. *Seen*.
const MAX_COLD_DELAY_NS: f64 = 1e5;

/// The rate that one answer shows.
#[derive(Clone, Copy, Debug)]
struct RateAnswer {
    /// How much faster than the reference the clock ran, as a share.
    offset: f64,
    /// Largest error of `offset`, as a share, unless the thread was interrupted.
    uncertainty: f64,
    /// The time watched, in nanoseconds.
    window: f64,
    /// Whether the thread computed.
    spun: bool,
}

/// Judges the rate from the answers of the host.
pub(super) fn judge(case: &Case, stable: Stable) -> Stable {
    let answers = answers(case);
    let best = (answers.iter()).min_by(|a, b| a.uncertainty.total_cmp(&b.uncertainty));
    let Some(best) = best else {
        let why = case
            .refusal("advance")
            .or(case.refusal("comparisons"))
            .unwrap_or("it moves too slowly for the time that it was watched");
        let evidence = format!("its rate could not be watched: {why}");
        return with_verdict(stable, Outcome::NotTested, evidence);
    };
    if !agree(&answers) {
        let listed: Vec<String> = answers.iter().map(RateAnswer::in_words).collect();
        let listed = listed.join(", ");
        if agree_but_one(&answers) {
            let evidence = format!(
                "answers of its host differ, but one of them may have been interrupted: {listed}"
            );
            return with_verdict(stable, Outcome::NotTested, evidence);
        }
        let evidence =
            format!("its rate changes from one answer of its host to the next: {listed}");
        return with_verdict(stable, Outcome::Fail, evidence);
    }
    let known = RateAnswer {
        uncertainty: best.uncertainty + case.trace.reference.rate_uncertainty,
        ..*best
    };
    let stable = Stable {
        offset_ppm: Some(1e6 * known.offset),
        offset_uncertainty_ppm: Some(1e6 * known.uncertainty),
        longest_window_s: Some(known.window * 1e-9),
        ..stable
    };
    let rate = known.in_words();
    let size = RateAnswer {
        offset: known.offset.abs(),
        ..known
    };
    let (direction, off) = (direction(known.offset), size.in_words());
    let proven_off = match case.trace.declared {
        true => count_proven(&answers, case.trace.reference.rate_uncertainty),
        false => 0,
    };
    let (outcome, evidence) = match proven_off {
        // A more uncertain rate may be the effect of slewing.
        0 if known.uncertainty > MAX_SLEW => {
            let evidence = format!(
                "its rate is known to ± {} ppm only, as its host cannot compare it with its reference",
                significant(1e6 * known.uncertainty, 2)
            );
            (Outcome::NotTested, evidence)
        }
        0 => (
            Outcome::Pass,
            format!("it keeps the rate of its reference to {rate}"),
        ),
        1 => {
            let evidence = format!(
                "by one answer of its host, which may have been interrupted, it is {direction} than its reference by {off}"
            );
            (Outcome::NotTested, evidence)
        }
        _ => (
            Outcome::Fail,
            format!("it is {direction} than its reference by {off}"),
        ),
    };
    with_verdict(stable, outcome, evidence)
}

impl RateAnswer {
    fn in_words(&self) -> String {
        let rate = ppm(1e6 * self.offset, 1e6 * self.uncertainty);
        format!("{rate} over {}", time(self.window))
    }
}

/// Returns the answers that show a rate: those while the thread computed, and those while it slept,
/// unless the clock stood still only during sleep.
fn answers(case: &Case) -> Vec<RateAnswer> {
    let reference = &case.trace.reference;
    let cost = case.profile.cost.map_or(0.0, |cost| cost.value.max(0.0));
    let Some(step) = case.step_ns() else {
        return Vec::new();
    };
    let answer = |moved: &Advance| {
        let window = moved.reference as f64 * reference.ns_per_tick;
        let offset = case.ticks_to_ns(moved.timer as f64)? / window - 1.0;
        let uncertainty =
            (step + reference.uncertainty_ns() + 2.0 * cost + MAX_COLD_DELAY_NS) / window;
        let spun = moved.activity == ThreadActivity::Spin;
        (window > 0.0 && uncertainty < super::MAX_UNCERTAINTY_PPM * 1e-6).then_some(RateAnswer {
            offset,
            uncertainty,
            window,
            spun,
        })
    };
    let mut answers: Vec<RateAnswer> = case.evidence().advances.iter().filter_map(answer).collect();
    let moves = |answer: &RateAnswer| 1.0 + answer.offset >= MAX_STILL_SHARE_ASLEEP;
    if answers.iter().any(|answer| answer.spun && moves(answer)) {
        answers.retain(|answer| answer.spun || moves(answer));
    }
    answers
}

/// Returns whether the uncertainties and slewing, in one direction in one window and in the other
/// in another, explain the differences between all pairs of answers.
fn agree(answers: &[RateAnswer]) -> bool {
    let explained = |a: &RateAnswer, b: &RateAnswer| {
        (a.offset - b.offset).abs() <= a.uncertainty + b.uncertainty + 2.0 * MAX_SLEW
    };
    answers
        .iter()
        .enumerate()
        .all(|(at, a)| answers[at + 1..].iter().all(|b| explained(a, b)))
}

/// Returns the number of agreeing answers that prove the clock too fast, or too slow, whichever is
/// larger. The other answers may be too short to prove it.
fn count_proven(answers: &[RateAnswer], rate_uncertainty: f64) -> usize {
    let largest_error = |answer: &RateAnswer| answer.uncertainty + rate_uncertainty + MAX_SLEW;
    let count_off = |sign: f64| {
        let proves = |answer: &&RateAnswer| sign * answer.offset > largest_error(answer);
        answers.iter().filter(proves).count()
    };
    count_off(1.0).max(count_off(-1.0))
}

/// Returns whether the answers agree if some single answer is left out.
fn agree_but_one(answers: &[RateAnswer]) -> bool {
    let without = |left_out: usize| [&answers[..left_out], &answers[left_out + 1..]].concat();
    (0..answers.len()).any(|left_out| agree(&without(left_out)))
}
