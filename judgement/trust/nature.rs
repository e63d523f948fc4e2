//! Determines by experiment what a timer counts, and compares its declared resolution and tick with
//! the measured ones.

use super::{Case, faster_by};
use crate::model::{Counted, Declared, MAX_SLEW, Nature, Outcome, Stable};
use crate::numbers::time;
use crate::resolution::Resolution;
use crate::trace::ThreadActivity;

/// Determines what the timer counts, and compares that with what it declares.
pub(super) fn judge_counted(case: &Case) -> Nature {
    let shares = [
        ThreadActivity::Spin,
        ThreadActivity::Sleep,
        ThreadActivity::OtherSpin,
    ]
    .map(|during| advanced_share(case, during));
    let [spinning, sleeping, next_to_busy_thread] = shares;
    let claimed = case.claimed();
    let found = identify_counted(shares, claimed);
    let percent = |share: Option<f64>| {
        share.map_or("?".to_owned(), |share| format!("{:.0} %", 100.0 * share))
    };
    let [computed, slept, with_busy] = shares.map(percent);
    let observed = format!(
        "it advanced by {computed} of the time while the thread computed, {slept} while it slept, {with_busy} while another thread computed"
    );
    let words = Counted::in_words;
    let (outcome, evidence) = match (found, claimed) {
        (None, _) => {
            let why = match case.refusal("advance") {
                Some(why) => format!("it could not be watched: {why}"),
                None if shares.iter().any(Option::is_some) => observed,
                None => "it moves too slowly for the time that it was watched".into(),
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
                format!("it counts {found}, not {claimed}: {observed}"),
            )
        }
        (Some(found), _) => (Outcome::Pass, format!("it counts {}", words(found))),
    };
    Nature {
        outcome,
        evidence,
        found,
        claimed,
        spinning,
        sleeping,
        next_to_busy_thread,
    }
}

/// Returns how far the timer advanced during `activity`, as a share of the time that
/// passed on the reference. `None` if this was not observed, or the steps of the timer are too
/// long.
fn advanced_share(case: &Case, activity: ThreadActivity) -> Option<f64> {
    /// Largest step of the timer, as a share of the observed time, for which the share is known.
    /// *Judgement*.
    const MAX_STEP_SHARE: f64 = 0.35;
    let all = case
        .evidence()
        .advances
        .iter()
        .filter(|moved| moved.activity == activity);
    let longest = all.max_by_key(|moved| moved.reference)?;
    let passed = longest.reference as f64 * case.trace.reference.ns_per_tick;
    let advanced = case.ticks_to_ns(longest.timer as f64)?;
    (passed > 0.0 && case.step_ns()? <= MAX_STEP_SHARE * passed).then_some(advanced / passed)
}

/// Share of the elapsed time above which a clock counts as moving.
/// *Judgement*.
const MIN_MOVING_SHARE: f64 = 0.5;

/// Share of the elapsed time below which a clock counts as standing still. Between this share and
/// `MIN_MOVING_SHARE` nothing is concluded: the thread may have had a part of a CPU, or lost its
/// CPU between the readings of the two clocks, which makes one of their windows longer.
/// *Judgement*.
const MAX_STILL_SHARE: f64 = 0.1;

/// Share of the elapsed time below which a clock that does not claim wall time counts as standing
/// still during sleep: such a clock includes the time of other threads of a runtime, and time that
/// was charged late. *Judgement*.
const MAX_STILL_SHARE_ASLEEP: f64 = 0.3;

/// Returns whether a clock that advanced by this share of the elapsed time moves (`true`), or
/// stands still because the share is below `max_still` (`false`). `None` between the limits.
fn is_moving(share: f64, max_still: f64) -> Option<bool> {
    if share > MIN_MOVING_SHARE {
        Some(true)
    } else if share < max_still {
        Some(false)
    } else {
        None
    }
}

/// Returns the only quantity that explains the observations, if there is exactly one.
///
/// If other programs compete for the CPUs, a thread that should compute does not run, and a clock
/// of CPU time shows less movement or none, but never more. Movement is therefore certain, while
/// standing still is certain only during sleep, when no thread should run. Missing movement next to
/// a busy thread is not counted against a clock of CPU time, because that thread may have been kept
/// from its CPU.
fn identify_counted(
    [spinning, sleeping, with_busy]: [Option<f64>; 3],
    claimed: Option<Counted>,
) -> Option<Counted> {
    let [while_computing, with_busy] =
        [spinning, with_busy].map(|share| share.map(|share| is_moving(share, MAX_STILL_SHARE)));
    let max_still_asleep = if claimed == Some(Counted::Wall) {
        MAX_STILL_SHARE
    } else {
        MAX_STILL_SHARE_ASLEEP
    };
    match (
        while_computing,
        is_moving(sleeping?, max_still_asleep)?,
        with_busy,
    ) {
        (Some(Some(true)) | None, true, Some(Some(true)) | None) => Some(Counted::Wall),
        // No clock of thread CPU time behaves like this. A clock of process CPU time may move
        // during sleep because of the threads of its runtime.
        (Some(Some(false)), true, Some(_)) if claimed != Some(Counted::ProcessCpu) => {
            Some(Counted::SomethingElse)
        }
        (Some(Some(true)), false, Some(Some(true))) => Some(Counted::ProcessCpu),
        // The clock of a process also stands still next to a busy thread that was kept from its
        // CPU.
        (Some(Some(true)), false, Some(Some(false))) => match claimed {
            Some(Counted::ProcessCpu) => None,
            // For a raw counter whose rate was measured while the thread computed, cycles and CPU
            // time look the same.
            Some(Counted::ThreadCycles) => Some(Counted::ThreadCycles),
            _ => Some(Counted::ThreadCpu),
        },
        _ => None,
    }
}

/// Largest ratio of the measured resolution to the declared one that passes: units are rounded.
/// *Judgement*.
const MAX_STEP_RATIO: f64 = 1.5;

/// Compares the declared resolution and tick with the measured ones.
pub(super) fn compare_with_declared(case: &Case, stable: &Stable) -> Declared {
    let unit = case
        .trace
        .declared
        .then_some(case.profile.ns_per_tick)
        .flatten();
    let declared_by_system = case.evidence().claims.resolution_ns;
    let declared = declared_by_system.or(unit);
    let found = match case.profile.resolution {
        Resolution::Resolved { .. } => case.step_ns(),
        _ => None,
    };
    let times_coarser = declared
        .zip(found)
        .map(|(declared, found)| found / declared);
    let is_off = |[ppm, uncertainty]: &[f64; 2]| ppm.abs() - uncertainty > MAX_SLEW * 1e6;
    let rate = (stable.offset_ppm.zip(stable.offset_uncertainty_ppm)).map(<[f64; 2]>::from);
    let wrong =
        rate.filter(|rate| unit.is_some() && stable.outcome == Outcome::Fail && is_off(rate));
    let (outcome, evidence) = match (wrong, declared, found.zip(times_coarser)) {
        (Some([offset, uncertainty]), ..) => {
            let rate = faster_by(offset, uncertainty);
            (Outcome::Fail, format!("its unit is wrong: it runs {rate}"))
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
            let outcome = if times > MAX_STEP_RATIO {
                Outcome::Fail
            } else {
                Outcome::Pass
            };
            let source = if declared_by_system.is_some() {
                "the system"
            } else {
                "its unit"
            };
            let (declared, found) = (time(declared), time(found));
            let evidence = format!("{source} declares {declared}, the clock moves by {found}");
            (outcome, evidence)
        }
    };
    Declared {
        outcome,
        evidence,
        resolution_ns: declared,
        times_coarser,
    }
}
