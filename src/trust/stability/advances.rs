//! Hosts that cannot compare say at least how far both clocks moved while the thread computed or
//! slept: a rate an answer.
//!
//! Such an answer is worth less than a comparison. No second reading of the reference shows how
//! long it took to get from one clock to the other, and a thread that loses its CPU in between
//! makes both windows differ by milliseconds. So a single answer disqualifies no timer, and what
//! several say counts only as far as it holds whichever of them is left out.

use super::SLEW;
use crate::model::{Outcome, Stable};
use crate::text::numbers::{significant, time};
use crate::trace::{Meanwhile, Moved};
use crate::trust::Case;

/// What reading one clock after the other may take longer at one end than at the other: at the
/// first of them the code may be cold. Node compiles the reads anew for each answer, which took up
/// to 54 µs on a machine that had other work to do; Python up to 6 µs. Twice the most that was
/// seen. *Seen*.
const COLD_NS: f64 = 1e5;

/// A rate that is not known better than this share does not differ from one that a clock may be
/// slewed by. *Definition*.
const KNOWN: f64 = SLEW;

/// Answers may differ by this share beyond their uncertainties: in one window the clock was slewed
/// one way, in the next the other. *Computed*.
const SLEWED: f64 = 2.0 * SLEW;

/// A clock that moved by less than this share of the time stood still. While the thread slept that
/// says what it counts, and nothing of its rate. *Judgement*: as `STILL_ASLEEP`.
const STILL: f64 = 0.3;

/// One answer.
#[derive(Clone, Copy, Debug)]
struct RateAnswer {
    /// How much faster than the reference the clock ran, as a share.
    offset: f64,
    /// The true figure lies within this of that, unless the thread was interrupted.
    uncertainty: f64,
    /// How long both were watched, in nanoseconds.
    window: f64,
    /// Whether the thread computed.
    spun: bool,
}

pub(super) fn judge(case: &Case, stable: Stable) -> (Outcome, String, Stable) {
    let answers = answers(case);
    let Some(best) = answers
        .iter()
        .min_by(|a, b| a.uncertainty.total_cmp(&b.uncertainty))
    else {
        let why = case.refusal("advance").or(case.refusal("comparisons"));
        let why = why.unwrap_or("it moves too slowly for the time that it was watched");
        return (
            Outcome::NotTested,
            format!("its rate could not be watched: {why}"),
            stable,
        );
    };
    let window = time(Some(best.window));
    if !agree_but_one(&answers) {
        let finding = format!(
            "its rate changes from one answer of its host to the next: {}",
            listed(&answers)
        );
        return (Outcome::Fail, finding, stable);
    }
    if !agree(&answers) {
        let finding = format!(
            "the answers of its host contradict each other, of which one may have been interrupted: {}",
            listed(&answers)
        );
        return (Outcome::NotTested, finding, stable);
    }
    let uncertainty = best.uncertainty + case.trace.reference.rate_uncertainty;
    let (offset_ppm, uncertainty_ppm) = (
        significant(1e6 * best.offset, 3),
        significant(1e6 * uncertainty, 2),
    );
    let stable = Stable {
        offset_ppm: Some(1e6 * best.offset),
        offset_uncertainty_ppm: Some(1e6 * uncertainty),
        longest_window_s: Some(best.window * 1e-9),
        ..stable
    };
    let off = if case.trace.declared {
        off(&answers, case.trace.reference.rate_uncertainty)
    } else {
        0
    };
    let (outcome, finding) = if off > 1 {
        (
            Outcome::Fail,
            format!(
                "it runs {offset_ppm} ± {uncertainty_ppm} ppm faster than its reference (over {window})"
            ),
        )
    } else if off == 1 {
        let finding = format!(
            "by one answer of its host it runs {offset_ppm} ± {uncertainty_ppm} ppm faster than its reference, but one alone may have been \
             interrupted"
        );
        (Outcome::NotTested, finding)
    } else if uncertainty > KNOWN {
        let finding = format!(
            "its rate is known to ± {uncertainty_ppm} ppm only, from {window}: its host cannot compare it with its reference"
        );
        (Outcome::NotTested, finding)
    } else {
        let finding = format!(
            "it keeps the rate of its reference to {offset_ppm} ± {uncertainty_ppm} ppm over {window}; its host cannot compare them oftener"
        );
        (Outcome::Pass, finding)
    };
    (outcome, finding, stable)
}

/// The answers that tell a rate: while the thread computed; and while it slept, unless the clock
/// stood still then only.
fn answers(case: &Case) -> Vec<RateAnswer> {
    let reference = &case.trace.reference;
    let cost = case.profile.cost.map_or(0.0, |cost| cost.value.max(0.0));
    let Some(step) = case.step_ns() else {
        return Vec::new();
    };
    let of = |moved: &Moved| {
        let window = moved.reference as f64 * reference.ns_per_tick;
        let offset = case.ns(moved.timer as f64)? / window - 1.0;
        let uncertainty = (step + reference.uncertainty_ns() + 2.0 * cost + COLD_NS) / window;
        let spun = moved.meanwhile == Meanwhile::Spin;
        (window > 0.0 && uncertainty < super::WORTHLESS * 1e-6).then_some(RateAnswer {
            offset,
            uncertainty,
            window,
            spun,
        })
    };
    let mut answers: Vec<RateAnswer> = case.evidence().advances.iter().filter_map(of).collect();
    let moves = |answer: &RateAnswer| 1.0 + answer.offset >= STILL;
    if answers.iter().any(|answer| answer.spun && moves(answer)) {
        answers.retain(|answer| answer.spun || moves(answer));
    }
    answers
}

/// Whether no two of them differ by more than their uncertainties, and slewing, explain.
fn agree(answers: &[RateAnswer]) -> bool {
    let explained = |a: &RateAnswer, b: &RateAnswer| {
        (a.offset - b.offset).abs() <= a.uncertainty + b.uncertainty + SLEWED
    };
    answers
        .iter()
        .enumerate()
        .all(|(at, a)| answers[at + 1..].iter().all(|b| explained(a, b)))
}

/// How many of them, which agree, say that it runs too fast, or too slow. Others may be too short
/// to say.
fn off(answers: &[RateAnswer], rate_uncertainty: f64) -> usize {
    let says =
        |offset: f64, answer: &RateAnswer| offset > answer.uncertainty + rate_uncertainty + SLEW;
    let fast = answers
        .iter()
        .filter(|answer| says(answer.offset, answer))
        .count();
    let slow = answers
        .iter()
        .filter(|answer| says(-answer.offset, answer))
        .count();
    fast.max(slow)
}

/// Whether they agree, or all but some one do.
fn agree_but_one(answers: &[RateAnswer]) -> bool {
    let but = |left_out: usize| [&answers[..left_out], &answers[left_out + 1..]].concat();
    agree(answers) || (0..answers.len()).any(|left_out| agree(&but(left_out)))
}

fn listed(answers: &[RateAnswer]) -> String {
    let of = |answer: &RateAnswer| {
        let window = time(Some(answer.window));
        let (offset, uncertainty) = (
            significant(1e6 * answer.offset, 3),
            significant(1e6 * answer.uncertainty, 2),
        );
        format!("{offset} ± {uncertainty} ppm over {window}")
    };
    answers.iter().map(of).collect::<Vec<_>>().join(", ")
}
