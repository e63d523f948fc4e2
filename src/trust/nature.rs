//! What a timer counts, found by experiment and not by its name.

use super::Case;
use crate::report::figures::time;
use crate::report::{Nature, Outcome};
use crate::trace::{Counted, Meanwhile};

pub(super) fn judge(case: &Case) -> Nature {
    let share = |meanwhile| share(case, meanwhile);
    let spinning = share(Meanwhile::Spin);
    let sleeping = share(Meanwhile::Sleep);
    let beside = share(Meanwhile::OtherSpin);
    let found = found(spinning.and_then(moved), sleeping.and_then(moved), beside.and_then(moved), case);
    let claimed = case.claimed();
    let told = |share: Option<f64>| share.map_or("?".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    let seen = format!(
        "it advanced by {} of the time while the thread computed, {} while it slept, {} while it slept beside a busy thread",
        told(spinning),
        told(sleeping),
        told(beside)
    );
    let (outcome, finding) = match (found, claimed) {
        (None, _) => (Outcome::NotTested, unknown(case, &seen, spinning.or(sleeping).is_some())),
        (Some(found), Some(claimed)) if found != claimed => {
            let (found, claimed) = (found.in_words(), claimed.in_words());
            (Outcome::Fail, format!("it counts {found}, not {claimed}: {seen}"))
        }
        (Some(Counted::SomethingElse), None) => (Outcome::Pass, format!("it counts something else: {seen}")),
        (Some(found), _) => (Outcome::Pass, format!("it counts {}", found.in_words())),
    };
    Nature { outcome, finding, found, claimed, spinning, sleeping, beside_busy_thread: beside }
}

fn unknown(case: &Case, seen: &str, was_watched: bool) -> String {
    match (case.refusal("advance"), case.step_ns()) {
        (Some(why), _) => format!("what it counts could not be watched: {why}"),
        (None, Some(_)) if was_watched => format!("what it counts cannot be told: {seen}"),
        (None, Some(step)) => {
            format!("its step of up to {} is too long for the time that it was watched", time(Some(step)))
        }
        (None, None) => "it did not move".into(),
    }
}

/// How much of the time of the reference it advanced by. `None` where its steps are too long to tell.
fn share(case: &Case, meanwhile: Meanwhile) -> Option<f64> {
    /// Of the time watched, at most this much may be lost to the step.
    const LOST: f64 = 0.35;
    let all = case.evidence().advances.iter().filter(|moved| moved.meanwhile == meanwhile);
    let longest = all.max_by_key(|moved| moved.reference)?;
    let passed = longest.reference as f64 * case.trace.reference.ns_per_tick;
    let advanced = case.ns(longest.timer as f64)?;
    (passed > 0.0 && case.step_ns()? <= LOST * passed).then_some(advanced / passed)
}

/// Whether that is moving along with time, or standing still; in between nothing can be told.
fn moved(share: f64) -> Option<bool> {
    if share > 0.5 {
        Some(true)
    } else if share < 0.3 {
        Some(false)
    } else {
        None
    }
}

fn found(
    spinning: Option<bool>,
    sleeping: Option<bool>,
    beside: Option<bool>,
    case: &Case,
) -> Option<Counted> {
    match (spinning, sleeping, beside) {
        // A raw counter whose rate was taken while the thread computed may count cycles as well as time.
        (Some(true), Some(false), Some(false)) if case.claimed() == Some(Counted::ThreadCycles) => {
            Some(Counted::ThreadCycles)
        }
        (Some(true) | None, Some(true), Some(true) | None) => Some(Counted::Wall),
        // Whoever claims to count CPU time and got little of it while it computed was kept from its CPU.
        (Some(false), Some(false), _) if claims_cpu_time(case) => None,
        (Some(true), Some(false), Some(true)) => Some(Counted::ProcessCpu),
        (Some(true), Some(false), Some(false)) => Some(Counted::ThreadCpu),
        (Some(_), Some(_), Some(_)) => Some(Counted::SomethingElse),
        _ => None,
    }
}

fn claims_cpu_time(case: &Case) -> bool {
    matches!(case.claimed(), Some(Counted::ProcessCpu | Counted::ThreadCpu | Counted::ThreadCycles))
}
