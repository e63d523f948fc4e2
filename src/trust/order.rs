//! Monotonic: does it step backwards within a thread?

use super::{Case, nanoseconds, reference, times};
use crate::model::{Monotonic, Outcome};

pub(super) fn judge(case: &Case) -> Monotonic {
    let order = case.evidence().order.unwrap_or_default();
    let seen = case.profile.backward;
    // A clock that wraps may do so between two answers only.
    let between = reference::of_the_timer(case);
    let backward = order.backward + seen.steps + between.steps;
    let largest = order.largest.max(seen.largest).max(between.largest);
    let largest_ns = (backward > 0).then(|| case.ns(largest as f64)).flatten();
    let readings =
        order.readings + case.trace.runs.iter().map(|run| run.readings.values.len() as u64).sum::<u64>();
    let moved = match order.moves {
        0 => String::new(),
        moves => format!(", while the thread was moved {moves} times among {} CPUs", order.cpus),
    };
    let (outcome, finding) = if backward > 0 {
        let by = nanoseconds(largest_ns, largest);
        (
            Outcome::Fail,
            format!(
                "it stepped backwards {} in {readings} readings of one thread, by up to {by}",
                times(backward)
            ),
        )
    } else if readings == 0 {
        (Outcome::NotTested, "there were no readings".into())
    } else if let (0, Some(why)) = (order.readings, case.refusal("readings")) {
        (Outcome::NotTested, format!("no long series of readings could be had: {why}"))
    } else {
        (Outcome::Pass, format!("{readings} readings never stepped backwards{moved}"))
    };
    Monotonic { outcome, finding, readings, backward_steps: backward, largest_ns, moves: order.moves }
}
