//! Judges whether a timer steps backwards within a thread (monotonic) or between threads
//! (thread-safe).

use super::{Case, reference, step_size, times};
use crate::model::{Counted, CpuOffset, Monotonic, Outcome, ThreadSafe};
use crate::numbers::significant;
use crate::rate::order::offsets;
use crate::rate::order::{EXPECTED_FOR_DETECTION, MIN_CHANGES};
use crate::trace::{Order, Threads};

/// Judges whether readings that are handed from thread to thread step backwards.
pub(super) fn judge_between_threads(case: &Case) -> ThreadSafe {
    let none = Threads::default();
    let threads = case.evidence().threads.as_ref().unwrap_or(&none);
    let pairs = || threads.pairs.iter();
    let handoffs: u64 = pairs().map(|pair| u64::from(pair.handoffs)).sum();
    let backward: u64 = pairs().map(|pair| u64::from(pair.backward)).sum();
    let changed: Option<u64> = pairs().map(|pair| Some(u64::from(pair.changed?))).sum();
    let chosen = pairs().filter(|pair| pair.cpus.is_some()).count();
    let worst = pairs().max_by_key(|pair| pair.largest);
    let largest = worst.map_or(0, |pair| pair.largest);
    let largest_ns = (backward > 0)
        .then(|| case.ticks_to_ns(largest as f64))
        .flatten();
    let offsets = cpu_offsets(case, threads);
    let (outcome, evidence) = match case.claimed() {
        Some(Counted::ThreadCpu | Counted::ThreadCycles) => (
            Outcome::NotApplicable,
            "it counts for one thread; readings of two cannot be compared".into(),
        ),
        _ if handoffs == 0 => {
            let refusal = case.refusal("handoffs");
            let why = refusal.unwrap_or("no handoffs were asked for");
            (
                Outcome::NotTested,
                format!("readings could not be handed from thread to thread: {why}"),
            )
        }
        _ if backward > 0 => {
            let (by, steps) = (step_size(largest_ns, largest), times(backward));
            let mut evidence = format!(
                "it stepped backwards {steps} in {handoffs} handoffs between threads, by up to {by}"
            );
            if let Some([a, b]) = worst.and_then(|pair| pair.cpus) {
                let place = case.place();
                evidence += &format!(" between {place} {a} and {place} {b}");
            }
            (Outcome::Fail, evidence)
        }
        _ if changed.is_some_and(|changed| changed < MIN_CHANGES.into()) => {
            let changed = times(changed.unwrap_or_default());
            let evidence = format!(
                "its value changed {changed} in {handoffs} handoffs between threads, too seldom to detect steps back"
            );
            (Outcome::NotTested, evidence)
        }
        _ if threads.possible_pairs == 0 && case.device.is_none() => (
            Outcome::NotTested,
            format!("there is one CPU only; {handoffs} handoffs on it went forward"),
        ),
        _ => {
            let place = case.place();
            let on = match chosen {
                0 => format!("on {place}s chosen by the system"),
                _ => format!(
                    "in {chosen} of {} pairs of {place}s",
                    threads.possible_pairs
                ),
            };
            let mut evidence = format!("{handoffs} handoffs between threads went forward, {on}");
            if let Some(changed) = changed {
                evidence += &detectable(handoffs, changed);
            }
            (Outcome::Pass, evidence)
        }
    };
    ThreadSafe {
        outcome,
        evidence,
        handoffs,
        backward_steps: backward,
        largest_ns,
        rounds: threads.rounds,
        pairs: chosen as u32,
        pairs_possible: threads.possible_pairs,
        offsets,
    }
}

/// How often the value changed at least between two successive readings of one thread; `None` if
/// that is unknown. Of comparisons, which are further apart, those count between which it moved by
/// one step: others would hide a step back.
fn changes(case: &Case, order: &Order) -> Option<u64> {
    let step = case.profile.resolution.step_or_limit().unwrap_or(1.0);
    let in_order = if order.readings > 0 {
        order.changes(step)?
    } else {
        0
    };
    let runs = case.trace.runs.iter();
    let own = runs
        .flat_map(|run| run.readings.values.windows(2))
        .map(|pair| pair[1].wrapping_sub(pair[0]));
    let close = reference::timer_gaps(case).filter(|gap| (*gap as f64) < 1.5 * step);
    Some(in_order + own.chain(close).filter(|gap| *gap > 0).count() as u64)
}

/// Says in which share of the changes of the value steps back would have been detected with 95 %
/// probability.
fn detectable(readings: u64, changes: u64) -> String {
    let percent = 100.0 * EXPECTED_FOR_DETECTION / changes as f64;
    let changed = if changes < readings / 2 {
        format!("; its value changed {}", times(changes))
    } else {
        String::new()
    };
    if percent >= 100.0 {
        return changed + ", too seldom to detect steps back";
    }
    let percent = significant(percent, 2);
    format!("{changed}; steps back at {percent} % of the changes would have been detected")
}

/// Returns the offsets between the clocks of the CPUs; empty if the tick or the step is unknown.
fn cpu_offsets(case: &Case, threads: &Threads) -> Vec<CpuOffset> {
    let (Some(ns), Some(step_ns)) = (case.profile.ns_per_tick, case.step_ns()) else {
        return Vec::new();
    };
    offsets(&threads.pairs, step_ns / ns, ns)
}

/// Judges whether successive readings of one thread step backwards.
pub(super) fn judge_one_thread(case: &Case) -> Monotonic {
    let mut order = case.evidence().order.unwrap_or_default();
    if case.device.is_some() {
        order.moves = 0;
    }
    let in_readings = case.profile.backward;
    // A clock that wraps may do so only between two answers.
    let between = reference::timer_backward_steps(case);
    let found = in_readings.and(between);
    let backward = order.backward + found.steps;
    let largest = order.largest.max(found.largest);
    let largest_ns = (backward > 0)
        .then(|| case.ticks_to_ns(largest as f64))
        .flatten();
    let own_readings = (case.trace.runs.iter()).map(|run| run.readings.values.len() as u64);
    let readings = order.readings + own_readings.sum::<u64>();
    let watched = changes(case, &order);
    let (outcome, evidence) = if backward > 0 {
        let (often, by) = (times(backward), step_size(largest_ns, largest));
        let evidence = format!(
            "it stepped backwards {often} in {readings} readings of one thread, by up to {by}"
        );
        (Outcome::Fail, evidence)
    } else if readings == 0 {
        (Outcome::NotTested, "there were no readings".into())
    } else if watched == Some(0) && reference::timer_gaps(case).all(|gap| gap == 0) {
        let evidence = format!("its value never changed in {readings} readings");
        (Outcome::NotTested, evidence)
    } else if let (0, Some(why)) = (order.readings, case.refusal("readings")) {
        let evidence = format!("no long series of readings could be taken: {why}");
        (Outcome::NotTested, evidence)
    } else {
        let mut evidence = format!("{readings} readings never stepped backwards");
        if order.moves > 0 {
            let (moves, cpus) = (order.moves, order.cpus);
            evidence += &format!(", while the thread was moved {moves} times among {cpus} CPUs");
        }
        if let Some(changes) = watched {
            evidence += &detectable(readings, changes);
        }
        (Outcome::Pass, evidence)
    };
    Monotonic {
        outcome,
        evidence,
        readings,
        backward_steps: backward,
        largest_ns,
        moves: order.moves,
    }
}
