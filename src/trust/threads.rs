//! Does it step backwards, within a thread (monotonic) or between two (thread-safe)?

use super::{Case, nanoseconds, reference, times};
use crate::model::{Counted, CpuOffset, Monotonic, Outcome, ThreadSafe};
use crate::rate::order::offsets;
use crate::text::numbers::time;
use crate::trace::Threads;

pub(super) fn between_threads(case: &Case) -> ThreadSafe {
    let none = Threads::default();
    let threads = case.evidence().threads.as_ref().unwrap_or(&none);
    let handoffs: u64 = threads
        .pairs
        .iter()
        .map(|pair| u64::from(pair.handoffs))
        .sum();
    let backward: u64 = threads
        .pairs
        .iter()
        .map(|pair| u64::from(pair.backward))
        .sum();
    let largest = threads
        .pairs
        .iter()
        .map(|pair| pair.largest)
        .max()
        .unwrap_or(0);
    let largest_ns = (backward > 0).then(|| case.ns(largest as f64)).flatten();
    let of_cpus = cpu_offsets(case, threads);
    let (outcome, finding) = match case.claimed() {
        Some(Counted::ThreadCpu | Counted::ThreadCycles) => (
            Outcome::NotApplicable,
            "it counts for one thread; readings of two cannot be compared".into(),
        ),
        _ if handoffs == 0 => {
            let why = case
                .refusal("handoffs")
                .unwrap_or("no handoffs were asked for");
            (
                Outcome::NotTested,
                format!("readings could not be handed from thread to thread: {why}"),
            )
        }
        _ if backward > 0 => {
            let by = nanoseconds(largest_ns, largest);
            let worst = threads
                .pairs
                .iter()
                .max_by_key(|pair| pair.largest)
                .and_then(|pair| pair.cpus);
            let cpus = worst.map_or_else(String::new, |[a, b]| {
                format!(" between CPU {a} and CPU {b}")
            });
            let steps = times(backward);
            (
                Outcome::Fail,
                format!(
                    "it stepped backwards {steps} in {handoffs} handoffs between threads, by up to {by}{cpus}"
                ),
            )
        }
        _ if threads.possible == 0 => (
            Outcome::NotTested,
            format!("there is one CPU only; {handoffs} handoffs on it went forward"),
        ),
        _ => (Outcome::Pass, agreed(threads, handoffs, &of_cpus)),
    };
    ThreadSafe {
        outcome,
        finding,
        handoffs,
        backward_steps: backward,
        largest_ns,
        rounds: threads.rounds,
        pairs: threads
            .pairs
            .iter()
            .filter(|pair| pair.cpus.is_some())
            .count() as u32,
        pairs_possible: threads.possible,
        offsets: of_cpus,
    }
}

fn agreed(threads: &Threads, handoffs: u64, offsets: &[CpuOffset]) -> String {
    let chosen = threads
        .pairs
        .iter()
        .filter(|pair| pair.cpus.is_some())
        .count();
    let pairs = match chosen {
        0 => "on CPUs that were not chosen".to_owned(),
        1 => "on the only pair of CPUs".to_owned(),
        _ => format!("on {chosen} of {} pairs of CPUs", threads.possible),
    };
    let apart = offsets
        .iter()
        .map(|offset| offset.ns.abs() + offset.uncertainty_ns)
        .fold(0.0, f64::max);
    let within = if apart > 0.0 {
        format!(
            "; the clocks of all CPUs agree within {}",
            time(Some(apart))
        )
    } else {
        String::new()
    };
    format!("{handoffs} handoffs between threads went forward, {pairs}{within}")
}

fn cpu_offsets(case: &Case, threads: &Threads) -> Vec<CpuOffset> {
    let (Some(ns), Some(step_ns)) = (case.profile.ns_per_tick, case.step_ns()) else {
        return Vec::new();
    };
    offsets(&threads.pairs, step_ns / ns)
        .into_iter()
        .map(|offset| CpuOffset {
            cpu: offset.cpu,
            ns: offset.ticks * ns,
            uncertainty_ns: offset.uncertainty * ns,
        })
        .collect()
}

pub(super) fn within_a_thread(case: &Case) -> Monotonic {
    let order = case.evidence().order.unwrap_or_default();
    let seen = case.profile.backward;
    // A clock that wraps may do so between two answers only.
    let between = reference::of_the_timer(case);
    let backward = order.backward + seen.steps + between.steps;
    let largest = order.largest.max(seen.largest).max(between.largest);
    let largest_ns = (backward > 0).then(|| case.ns(largest as f64)).flatten();
    let readings = order.readings
        + case
            .trace
            .runs
            .iter()
            .map(|run| run.readings.values.len() as u64)
            .sum::<u64>();
    let moved = match order.moves {
        0 => String::new(),
        moves => format!(
            ", while the thread was moved {moves} times among {} CPUs",
            order.cpus
        ),
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
        (
            Outcome::NotTested,
            format!("no long series of readings could be had: {why}"),
        )
    } else {
        (
            Outcome::Pass,
            format!("{readings} readings never stepped backwards{moved}"),
        )
    };
    Monotonic {
        outcome,
        finding,
        readings,
        backward_steps: backward,
        largest_ns,
        moves: order.moves,
    }
}
