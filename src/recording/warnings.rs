//! What a reader of a row has to know: one warning a function, each with its cause and what to do
//! about it.

use crate::cost::edges;
use crate::model::{Cycles, Estimate, Hertz, Platform, TimerRow, Warning};
use crate::profile::{FEWEST, Profile};
use crate::trace::{Reference, Trace};

/// All that apply.
pub(super) fn warnings(trace: &Trace, profile: &Profile, frequency: Option<Hertz>) -> Vec<Warning> {
    [
        finer_unit(trace, profile),
        moved_edges(trace, profile),
        more_expensive_than_step(profile),
        unsteady_cost(profile),
        vague_reference(trace),
        shared_core(trace),
        unstable_core(trace),
        two_regimes(profile),
        single_process(profile),
        contradiction(profile),
        below_one_cycle(profile, frequency),
        runtime_at_work(trace),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// One of them.
pub(super) fn warning(code: &str, message: String, advice: &str) -> Option<Warning> {
    Some(Warning {
        code: code.into(),
        message,
        advice: advice.into(),
    })
}

/// Figures of a program that an emulator carried out, of the whole report.
pub(super) fn emulated(platform: &Platform) -> Option<Warning> {
    warning(
        "emulated",
        format!(
            "{} carried out the program: costs, spreads and cycles are the emulator's, and steps those of the clocks beneath it",
            platform.emulator()?
        ),
        "compare these figures with nothing but others of the same emulator on the same machine",
    )
}

/// Clocks that other processes of the machine read otherwise, of the whole report.
pub(super) fn shifted(platform: &Platform) -> Option<Warning> {
    let namespace = platform.limits.time_namespace?;
    let [monotonic, boottime] =
        [namespace.monotonic_ns, namespace.boottime_ns].map(|ns| signed(ns as f64));
    warning(
        "time-namespace",
        format!(
            "a time namespace shifts CLOCK_MONOTONIC by {monotonic} and CLOCK_BOOTTIME by {boottime}: durations are not touched"
        ),
        "compare readings with those of processes of the same time namespace only",
    )
}

fn finer_unit(trace: &Trace, profile: &Profile) -> Option<Warning> {
    let (unit, step) = (profile.ns_per_tick?, profile.resolution_ns()?.value);
    (trace.declared && step > 1.5 * unit).then(|| {
        warning(
            "unit-finer-than-step",
            format!("it counts in units of {} but moves in steps of {}", time(unit), time(step)),
            "take the step, not the unit, for its resolution: a single duration is uncertain by one step",
        )
    })?
}

fn moved_edges(trace: &Trace, profile: &Profile) -> Option<Warning> {
    let step = profile.resolution_ns()?.value;
    (edges::are_moved(&trace.evidence.edges)?).then(|| {
        warning(
            "edges-moved",
            format!("its readings lie on a grid of {}, but its edges are moved at random, each by up to a step", time(step)),
            "take two steps, not one, for what a single duration may be off; no search for edges makes it finer",
        )
    })?
}

fn more_expensive_than_step(profile: &Profile) -> Option<Warning> {
    let (cost, step) = (profile.cost?.value, profile.resolution_ns()?.value);
    (cost > 2.0 * step).then(|| {
        warning(
            "read-dearer-than-step",
            format!("a read takes {}, longer than the step of {}", time(cost), time(step)),
            "take the cost of a read off short durations, or time many operations between two reads",
        )
    })?
}

fn unsteady_cost(profile: &Profile) -> Option<Warning> {
    /// Wider than this share of the cost, or than half a nanosecond, an interval is told.
    const WIDE: f64 = 0.05;
    let cost = profile.cost.filter(Estimate::is_bounded)?;
    let half = (cost.high - cost.low) / 2.0;
    (half > (WIDE * cost.value).max(0.5)).then(|| {
        warning(
            "unsteady-cost",
            format!(
                "its median cost is known to no better than {} to {} (95 % confidence)",
                time(cost.low.max(0.0)),
                time(cost.high)
            ),
            "keep the machine idle and repeat with --thorough; compare it with others only beyond this interval",
        )
    })?
}

/// Quality that is not known as well as was asked for: `half` its half-width, `scatter` the part of
/// it that more processes would make narrower.
pub(super) fn imprecise(
    half: f64,
    precision: f64,
    processes: u32,
    scatter: Option<f64>,
) -> Option<Warning> {
    let points = |share: f64| crate::text::numbers::significant(100.0 * share, 2);
    let (why, advice) = match scatter {
        Some(scatter) if scatter <= precision => (
            format!(
                "its {processes} processes agree to ±{}, but what single calls leave open, or the frequency of the core, does not",
                points(scatter)
            ),
            "more processes do not help: fix the frequency of the core, or compare it with others only beyond this interval",
        ),
        _ => (
            format!(
                "its {processes} processes differ by more than the time or the processes that it may take would make up for"
            ),
            "repeat when the machine is quiet, or give it more time with --budget or --thorough",
        ),
    };
    let message = format!(
        "its Quality is known to ±{} points only, not to ±{}: {why}",
        points(half),
        points(precision)
    );
    warning("precision-not-reached", message, advice)
}

fn two_regimes(profile: &Profile) -> Option<Warning> {
    let two = profile.regimes?;
    let [cheap, expensive] = two.processes;
    warning(
        "two-regimes",
        format!(
            "its processes fell into two groups: {cheap} of {} found a cost of {}, the others one of {}; its interval holds both",
            cheap + expensive,
            time(two.low.max(0.0)),
            time(two.high)
        ),
        "where its code came to lie, or a neighbour, makes the difference: expect either, and compare beyond both",
    )
}

fn single_process(profile: &Profile) -> Option<Warning> {
    (profile.cost?.samples == 1).then(|| {
        warning(
            "single-process",
            "its figures are those of one process, so they have no interval".into(),
            "repeat when the machine is quiet, or with --thorough",
        )
    })?
}

fn contradiction(profile: &Profile) -> Option<Warning> {
    const ADVICE: &str = "one of the two is no measurement: look at how the host of the timer answers, and do not rely on its cost";
    if let Some(shortest) = profile.contradicted {
        let message = format!(
            "calls in batches take {}, but no two reads with nothing between them are less than {} apart: its interval holds both",
            signed(profile.cost?.value),
            time(shortest)
        );
        return warning("cost-contradiction", message, ADVICE);
    }
    let (alone, in_a_row) = (profile.cost?.value, profile.amortised?);
    let least = profile.single_median?.max(1.0);
    (in_a_row <= 0.0 && alone >= least || alone <= 0.0 && in_a_row >= least).then(|| {
        warning(
            "cost-contradiction",
            format!(
                "a call alone takes {} by single calls, but {} in a row of many",
                signed(alone),
                signed(in_a_row)
            ),
            ADVICE,
        )
    })?
}

/// A time that may be below nothing.
fn signed(ns: f64) -> String {
    if ns < 0.0 {
        format!("-{}", time(-ns))
    } else {
        time(ns)
    }
}

fn vague_reference(trace: &Trace) -> Option<Warning> {
    let Reference {
        id,
        step_at_most,
        ns_per_tick,
        ..
    } = &trace.reference;
    let at_most = step_at_most.as_ref()? * ns_per_tick;
    warning(
        "vague-reference",
        format!(
            "the step of `{id}`, which timed it, could not be determined; it is at most {}",
            time(at_most)
        ),
        "its cost holds, but do not rely on its spread nor its Quality: repeat when the machine is quiet",
    )
}

/// The code of figures that come from a shared core.
const SHARED_CORE: &str = "shared-core";

fn shared_core(trace: &Trace) -> Option<Warning> {
    let (disturbed, all) = (trace.shared, trace.runs.len());
    let mut reasons: Vec<(&String, &u32)> = trace.dropped.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let reasons: Vec<String> = reasons
        .into_iter()
        .map(|(reason, count)| format!("{reason} {count} times"))
        .collect();
    (disturbed > 0).then(|| {
        warning(
            SHARED_CORE,
            format!(
                "{disturbed} of its {all} processes could not measure undisturbed ({}) and count all the same, as there were too few others: \
                 its figures are those of a core that it shared; their intervals reach over all of these processes and a tenth of the cost beyond",
                reasons.join(", ")
            ),
            "stop what else runs on this machine or choose a quiet CPU with --cpu, and repeat",
        )
    })?
}

/// The same of the whole report, so that it is not missed.
pub(super) fn shared_cores(timers: &[TimerRow]) -> Option<Warning> {
    let is_shared = |row: &&TimerRow| {
        row.warnings
            .iter()
            .any(|warning| warning.code == SHARED_CORE)
    };
    let shared = timers.iter().filter(is_shared).count();
    let all = timers
        .iter()
        .filter(|row| row.observations.is_some())
        .count();
    (shared > 0).then(|| {
        warning(
            "shared-machine",
            format!("{shared} of {all} timers were measured on a core that something else used all the time: their figures are wide, and no ranking"),
            "stop what else runs on this machine, and repeat",
        )
    })?
}

fn unstable_core(trace: &Trace) -> Option<Warning> {
    if trace.shared > 0 {
        return None;
    }
    let (calm, all) = (
        trace.runs.iter().filter(|run| run.is_calm()).count(),
        trace.runs.len(),
    );
    // Where the core cannot be seen, nothing is known of that either.
    (calm < FEWEST.min(all)).then(|| {
        warning(
            "restless-core",
            format!(
                "only {calm} of {all} processes had a core of their own at one frequency; its cost may be off by a tenth, \
                 its spread by more, whatever their intervals say"
            ),
            "something else uses the core (another guest of the host, its sibling, threads of the runtime): repeat when it is quiet",
        )
    })?
}

fn below_one_cycle(profile: &Profile, frequency: Option<Hertz>) -> Option<Warning> {
    let one = Cycles(1.0).nanos(frequency?).0;
    let (cost, step) = (profile.cost?.value, profile.resolution_ns()?.value);
    (cost < one || step < one).then(|| {
        warning(
            "below-one-cycle",
            format!(
                "its cost ({}) or step ({}) is below one CPU cycle",
                time(cost.max(0.0)),
                time(step)
            ),
            "none needed: for Quality it counts as one cycle",
        )
    })?
}

fn runtime_at_work(trace: &Trace) -> Option<Warning> {
    let disturbed: u32 = trace.runs.iter().map(|run| run.disturbed).sum();
    (disturbed > 0).then(|| {
        warning(
            "runtime-at-work",
            format!("its runtime collected or compiled in {disturbed} windows and did so again when they were repeated"),
            "its calls make the garbage themselves: take the median cost, not the tail",
        )
    })?
}

fn time(ns: f64) -> String {
    crate::text::numbers::time(Some(ns))
}
