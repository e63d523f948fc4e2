//! Hosts that cannot compare say at least how far both clocks moved while the thread computed or
//! slept: a rate an answer.
//!
//! Such an answer is worth less than a comparison. No second reading of the reference shows how
//! long it took to get from one clock to the other, and a thread that loses its CPU in between
//! makes both windows differ by milliseconds. So a single answer disqualifies no timer, and what
//! several say counts only as far as it holds whichever of them is left out.

use super::{SLEW, answered};
use crate::model::{Outcome, Stable};
use crate::text::numbers::significant;
use crate::trace::{Meanwhile, Moved};
use crate::trust::{Case, ns, ppm};

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

pub(super) fn judge(case: &Case, stable: Stable) -> Stable {
    let answers = answers(case);
    let best = (answers.iter()).min_by(|a, b| a.uncertainty.total_cmp(&b.uncertainty));
    let Some(best) = best else {
        let why = case.refusal("advance").or(case.refusal("comparisons"));
        let why = why.unwrap_or("it moves too slowly for the time that it was watched");
        let finding = format!("its rate could not be watched: {why}");
        return answered(stable, Outcome::NotTested, finding);
    };
    if !agree(&answers) {
        let listed: Vec<String> = answers.iter().map(RateAnswer::in_words).collect();
        let listed = listed.join(", ");
        if agree_but_one(&answers) {
            let finding = format!(
                "answers of its host differ, of which one may have been interrupted: {listed}"
            );
            return answered(stable, Outcome::NotTested, finding);
        }
        let finding = format!("its rate changes from one answer of its host to the next: {listed}");
        return answered(stable, Outcome::Fail, finding);
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
    let off = match case.trace.declared {
        true => off(&answers, case.trace.reference.rate_uncertainty),
        false => 0,
    };
    let (outcome, finding) = match off {
        0 if known.uncertainty > KNOWN => {
            let finding = format!(
                "its rate is known to ± {} ppm only, as its host cannot compare it with its reference",
                significant(1e6 * known.uncertainty, 2)
            );
            (Outcome::NotTested, finding)
        }
        0 => (
            Outcome::Pass,
            format!("it keeps the rate of its reference to {rate}"),
        ),
        1 => {
            let finding = format!(
                "by one answer of its host, which may have been interrupted, it is faster than its reference by {rate}"
            );
            (Outcome::NotTested, finding)
        }
        _ => (
            Outcome::Fail,
            format!("it is faster than its reference by {rate}"),
        ),
    };
    answered(stable, outcome, finding)
}

impl RateAnswer {
    fn in_words(&self) -> String {
        let rate = ppm(1e6 * self.offset, 1e6 * self.uncertainty);
        format!("{rate} over {}", ns(self.window))
    }
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
    let least = |answer: &RateAnswer| answer.uncertainty + rate_uncertainty + SLEW;
    let off = |sign: f64| {
        let says = |answer: &&RateAnswer| sign * answer.offset > least(answer);
        answers.iter().filter(says).count()
    };
    off(1.0).max(off(-1.0))
}

/// Whether all but some one agree.
fn agree_but_one(answers: &[RateAnswer]) -> bool {
    let but = |left_out: usize| [&answers[..left_out], &answers[left_out + 1..]].concat();
    (0..answers.len()).any(|left_out| agree(&but(left_out)))
}
