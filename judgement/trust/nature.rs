//! Determines by experiment what a timer counts, and compares its declared resolution and tick with
//! the measured ones.

use super::Case;
use estimators::model::{Counted, Declared, MAX_SLEW, Nature, Outcome, Stable};
use estimators::numbers::time;
use estimators::trace::ThreadActivity;

/// Determines what the timer counts, and compares that with what it declares.
pub(super) fn judge_counted(case: &Case) -> Nature {
    use ThreadActivity::{OtherSpin, Sleep, Spin};
    let shares = [Spin, Sleep, OtherSpin].map(|during| advanced_share(case, during));
    let [spinning, sleeping, next_to_busy_thread] = shares;
    let claimed = case.claimed();
    let found = identify_counted(shares, claimed);
    let [computed, slept, with_busy] =
        shares.map(|share| share.map_or("?".into(), |share| format!("{:.0} %", 100.0 * share)));
    let observed = format!(
        "it advanced by {computed} of the time while the thread computed, {slept} while it slept, {with_busy} while another thread computed"
    );
    let (outcome, evidence) = match (found.map(Counted::in_words), claimed) {
        (None, _) => {
            let why = case.refusal("advance").unwrap_or(&observed);
            let evidence = format!("what it counts is unknown: {why}");
            (Outcome::NotTested, evidence)
        }
        (Some(words), Some(claimed)) if found != Some(claimed) => {
            let claimed = claimed.in_words();
            let evidence = format!("it counts {words}, not {claimed}: {observed}");
            (Outcome::Fail, evidence)
        }
        (Some(words), _) => (Outcome::Pass, format!("it counts {words}")),
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
    let all = case.evidence().advances.iter();
    let longest = all
        .filter(|moved| moved.activity == activity)
        .max_by_key(|moved| moved.reference)?;
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
    // Whether the clock moves or stands still; `None` between the limits.
    let moves = |share: f64, max_still: f64| {
        let is_moving = share > MIN_MOVING_SHARE;
        (is_moving || share < max_still).then_some(is_moving)
    };
    let awake = |share: Option<f64>| share.map(|share| moves(share, MAX_STILL_SHARE));
    let max_still_asleep = match claimed {
        Some(Counted::Wall) => MAX_STILL_SHARE,
        _ => MAX_STILL_SHARE_ASLEEP,
    };
    let asleep = moves(sleeping?, max_still_asleep)?;
    match (awake(spinning), asleep, awake(with_busy)) {
        (Some(Some(true)) | None, true, Some(Some(true)) | None) => Some(Counted::Wall),
        // No clock of thread CPU time behaves like this. A clock of process CPU time may move
        // during sleep because of the threads of its runtime.
        (Some(Some(false)), true, _) if claimed != Some(Counted::ProcessCpu) => {
            Some(Counted::SomethingElse)
        }
        (Some(Some(true)), false, Some(Some(true))) => Some(Counted::ProcessCpu),
        (Some(Some(true)), false, Some(Some(false))) => match claimed {
            // The clock of a process also stands still next to a busy thread that was kept from its
            // CPU.
            Some(Counted::ProcessCpu) => None,
            // For a raw counter whose rate was measured while the thread computed, cycles and CPU
            // time look the same.
            Some(Counted::ThreadCycles) => claimed,
            _ => Some(Counted::ThreadCpu),
        },
        _ => None,
    }
}

/// Compares the declared resolution and tick with the measured ones.
pub(super) fn compare_with_declared(case: &Case, stable: &Stable) -> Declared {
    /// Largest ratio of the measured resolution to the declared one that passes: units are rounded.
    /// *Judgement*.
    const MAX_STEP_RATIO: f64 = 1.5;
    let unit = case.figures.ns_per_tick.filter(|_| case.trace.declared);
    let by_system = case.evidence().claims.resolution_ns;
    let declared = by_system.or(unit);
    let found = case.step_ns().filter(|_| case.knows_step());
    let times_coarser = (declared.zip(found)).map(|(declared, found)| found / declared);
    let runs_off = stable.outcome == Outcome::Fail
        && stable.jumps + stable.freezes == 0
        && stable
            .offset_ppm
            .is_some_and(|ppm| ppm.abs() > 1e6 * MAX_SLEW);
    let (outcome, evidence) = match (declared, times_coarser) {
        _ if unit.is_some() && runs_off => {
            let evidence = format!("its unit is wrong: {}", stable.evidence);
            (Outcome::Fail, evidence)
        }
        (None, _) => {
            let evidence = "nothing is declared of a raw counter";
            (Outcome::NotApplicable, evidence.into())
        }
        (_, None) => {
            let evidence = "its resolution was not found";
            (Outcome::NotTested, evidence.into())
        }
        (_, Some(times)) => {
            let by = by_system.map_or("its unit", |_| "the system");
            let [declared, found] = [declared, found].map(time);
            let evidence = format!("{by} declares {declared}, the clock moves by {found}");
            let outcome = match times > MAX_STEP_RATIO {
                true => Outcome::Fail,
                false => Outcome::Pass,
            };
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
