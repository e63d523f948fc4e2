//! What a timer counts, found by experiment and not by its name.
//!
//! What is declared against what was found.

use super::{Case, ns};
use crate::model::{Counted, Declared, Nature, Outcome, Stable};
use crate::resolution::Resolution;
use crate::text::numbers::significant;
use crate::trace::Meanwhile;

pub(super) fn what_it_counts(case: &Case) -> Nature {
    let [spinning, sleeping, busy] =
        [Meanwhile::Spin, Meanwhile::Sleep, Meanwhile::OtherSpin].map(|during| share(case, during));
    let claimed = case.claimed();
    let found = found(spinning, sleeping, busy, claimed);
    let percent = |share: Option<f64>| {
        share.map_or("?".to_owned(), |share| format!("{:.0} %", 100.0 * share))
    };
    let [computed, slept, with_busy] = [spinning, sleeping, busy].map(percent);
    let moved = format!(
        "it advanced by {computed} of the time while the thread computed, {slept} while it slept, {with_busy} with a busy thread"
    );
    let words = Counted::in_words;
    let (outcome, finding) = match (found, claimed) {
        (None, _) => {
            let watched = spinning.or(sleeping).is_some();
            let why = match (case.refusal("advance"), case.step_ns()) {
                (Some(why), _) => format!("it could not be watched: {why}"),
                (None, Some(_)) if watched => {
                    format!("{moved}{}", kept_away(spinning, sleeping, busy))
                }
                (None, Some(step)) => {
                    let step = ns(step);
                    format!("its step of up to {step} is too long for the time that it was watched")
                }
                (None, None) => "it did not move".into(),
            };
            (
                Outcome::NotTested,
                format!("what it counts is unknown: {why}"),
            )
        }
        (Some(found), Some(claimed)) if found != claimed => {
            let (found, claimed) = (words(found), words(claimed));
            (
                Outcome::Fail,
                format!("it counts {found}, not {claimed}: {moved}"),
            )
        }
        (Some(found), _) => (Outcome::Pass, format!("it counts {}", words(found))),
    };
    Nature {
        outcome,
        finding,
        found,
        claimed,
        spinning,
        sleeping,
        next_to_busy_thread: busy,
    }
}

/// How much of the time of the reference it advanced by. `None` where its steps are too long to
/// tell.
fn share(case: &Case, meanwhile: Meanwhile) -> Option<f64> {
    /// Of the time watched, at most this much may be lost to the step.
    /// *Judgement*.
    const LOST: f64 = 0.35;
    let all = case
        .evidence()
        .advances
        .iter()
        .filter(|moved| moved.meanwhile == meanwhile);
    let longest = all.max_by_key(|moved| moved.reference)?;
    let passed = longest.reference as f64 * case.trace.reference.ns_per_tick;
    let advanced = case.ns(longest.timer as f64)?;
    (passed > 0.0 && case.step_ns()? <= LOST * passed).then_some(advanced / passed)
}

/// A clock that advanced by more than this share of the time moved along with it.
/// *Judgement*.
const MOVED: f64 = 0.5;

/// One that advanced by less than this share stood still. Between the two a thread may have had a
/// part of a CPU, or lost it between the readings of both clocks, which makes the window of one of
/// them longer. *Judgement*.
const STILL: f64 = 0.1;

/// The same asleep, of a clock that does not claim wall time: what other threads of a runtime do
/// then, and what was charged late, is added. *Judgement*.
const STILL_ASLEEP: f64 = 0.3;

/// Whether that is moving along with time, or standing still; in between neither is known.
fn moved(share: f64, still: f64) -> Option<bool> {
    if share > MOVED {
        Some(true)
    } else if share < still {
        Some(false)
    } else {
        None
    }
}

/// What explains the observations, and nothing else does.
///
/// Where other programs want the CPUs a thread that should compute does not run, and a clock of CPU
/// time shows less of it than it would, or nothing; never more. So only what moved is certain, and
/// that a clock stood still is so only where no thread was to run, asleep. What a clock of CPU time
/// would show beside a thread that was kept from its CPU is held against none.
fn found(
    spinning: Option<f64>,
    sleeping: Option<f64>,
    with_busy: Option<f64>,
    claimed: Option<Counted>,
) -> Option<Counted> {
    let at_work = spinning.map(|share| moved(share, STILL));
    let with_busy = with_busy.map(|share| moved(share, STILL));
    let still_asleep = if claimed == Some(Counted::Wall) {
        STILL
    } else {
        STILL_ASLEEP
    };
    match (at_work, moved(sleeping?, still_asleep)?, with_busy) {
        (Some(Some(true)) | None, true, Some(Some(true)) | None) => Some(Counted::Wall),
        // No CPU time does so. But that of a process moves asleep as well, by the threads of its
        // runtime.
        (Some(Some(false)), true, Some(_)) if claimed != Some(Counted::ProcessCpu) => {
            Some(Counted::SomethingElse)
        }
        (Some(Some(true)), false, Some(Some(true))) => Some(Counted::ProcessCpu),
        // The clock of a process stands still as well beside a busy thread that was kept from its
        // CPU.
        (Some(Some(true)), false, Some(Some(false))) => match claimed {
            Some(Counted::ProcessCpu) => None,
            // A raw counter whose rate was taken while the thread computed may count cycles as well
            // as time.
            Some(Counted::ThreadCycles) => Some(Counted::ThreadCycles),
            _ => Some(Counted::ThreadCpu),
        },
        _ => None,
    }
}

/// Which thread may not have run though it should, where that explains what was observed.
fn kept_away(spinning: Option<f64>, sleeping: Option<f64>, busy: Option<f64>) -> &'static str {
    let short = |share: Option<f64>| share.is_some_and(|share| share <= MOVED);
    if short(sleeping) && (short(spinning) || short(busy)) {
        "; a thread may have been kept from its CPU while it should have computed"
    } else {
        ""
    }
}

/// Steps that are longer than declared by less than this are as declared: units are rounded.
/// *Judgement*.
const AS_DECLARED: f64 = 1.5;

/// How much a declared tick may be off, in ppm, beyond what is not known of it: the most that the
/// kernel slews a clock. *Definition*.
const OFF: f64 = 500.0;

pub(super) fn against_the_declared(case: &Case, stable: &Stable) -> Declared {
    let unit = case
        .trace
        .declared
        .then_some(case.profile.ns_per_tick)
        .flatten();
    let system = case.evidence().claims.resolution_ns;
    let declared = system.or(unit);
    let found = match case.profile.resolution {
        Resolution::Resolved { .. } => case.step_ns(),
        _ => None,
    };
    let times_coarser = declared
        .zip(found)
        .map(|(declared, found)| found / declared);
    let by = if system.is_some() {
        "the system"
    } else {
        "its unit"
    };
    let off_by =
        (stable.offset_ppm.zip(stable.offset_uncertainty_ppm)).filter(|(ppm, uncertainty)| {
            case.trace.declared && stable.outcome == Outcome::Fail && ppm.abs() - uncertainty > OFF
        });
    let (outcome, finding) = match (unit.zip(off_by), declared, found.zip(times_coarser)) {
        (Some((unit, (ppm, uncertainty))), ..) => {
            let (unit, lasts) = (ns(unit), significant(1.0 / (1.0 + ppm * 1e-6), 6));
            let uncertainty = significant(uncertainty, 2);
            let finding = format!(
                "its unit declares ticks of {unit}, but they last {lasts} of that (± {uncertainty} ppm)"
            );
            (Outcome::Fail, finding)
        }
        (None, None, _) => (
            Outcome::NotApplicable,
            "nothing is declared of a raw counter".into(),
        ),
        (None, Some(_), None) => (
            Outcome::NotTested,
            "its resolution was not found, so it cannot be compared with what is declared".into(),
        ),
        (None, Some(declared), Some((found, times))) => {
            let outcome = if times > AS_DECLARED {
                Outcome::Fail
            } else {
                Outcome::Pass
            };
            let (declared, found) = (ns(declared), ns(found));
            let finding =
                format!("{by} declares a resolution of {declared}; it moves in steps of {found}");
            (outcome, finding)
        }
    };
    Declared {
        outcome,
        finding,
        resolution_ns: declared,
        times_coarser,
    }
}
