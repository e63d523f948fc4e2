//! Judges whether a timer is stable: whether it keeps its rate relative to the reference, without
//! jumps and freezes.
//!
//! A comparison reads the reference, the timer, and the reference again: a point, whose time has an
//! error of half the distance of both reference readings. A line through the points is the rate. A
//! window between two points in which the timer advanced by more or less than rate, error and steps
//! explain is a jump or a freeze. Tolerated is a difference of 1000 ppm: twice the most that the
//! kernel slews a clock (adjtimex(2)), and more than the error of any quartz.

mod rates;
mod windows;

use self::rates::{KnownRate, LONGEST_TICK_NS, is_wrong, known_rate};
use self::windows::{Expected, Found, usual_rate};
use super::{Case, faster_by, ppm, reference, times};
use crate::model::{Counted, Family, Outcome, Stable};
use crate::numbers::time;
use crate::rate::line::{Reading, Slope};
use crate::resolution::Resolution;
use timers::clock_sources;

/// Uncertainty in ppm above which a rate counts as unknown.
/// *Judgement*: that of a timer whose step is a twentieth of the time watched.
const MAX_UNCERTAINTY_PPM: f64 = 50_000.0;

/// Largest number of steps by which the update of a clock may be late. A clock that the timer
/// interrupt updates is late if the CPU that handles the interrupt does not run; the clock then
/// catches up, and no time is lost.
/// *Judgement*: ten ticks of 4 ms are as long as hypervisors that share CPUs keep one from running.
const MAX_LATE_STEPS: f64 = 10.0;

/// Judges the stability of the timer of `case`.
pub(super) fn judge(case: &Case) -> Stable {
    let limit = max_rate(case);
    let unfit =
        reference::miscounted(case).or_else(|| reference::moved(case).filter(|_| limit.is_none()));
    let is_fit = unfit.is_none();
    let evidence = case.evidence();
    let runs = [
        &evidence.series,
        &evidence.close_comparisons,
        &evidence.sparse_comparisons,
    ]
    .map(|raw| {
        if is_fit {
            to_readings(case, raw)
        } else {
            Vec::new()
        }
    });
    let watched_ns =
        |run: &[Reading]| Some(run.last()?.time - run.first()?.time).filter(|length| *length > 0.0);
    let watched = runs.iter().filter_map(|run| Some((run, watched_ns(run)?)));
    let longest = watched.max_by(|a, b| a.1.total_cmp(&b.1));
    let step_ns = case.step_ns().unwrap_or(0.0);
    let steps_ns = 2.0 * case.trace.reference.uncertainty_ns() + step_ns;
    let is_cycles = case.claimed() == Some(Counted::ThreadCycles);
    let mut found = Found::default();
    let mut smallest_jump_ns = None;
    if is_cycles || knows_steps(case) {
        for run in &runs {
            let expected = Expected {
                rate: limit.unwrap_or_else(|| usual_rate(run, steps_ns)),
                is_limit: limit.is_some(),
                steps_ns: steps_ns + max_late_charge_ns(case),
                step_ns,
            };
            let undetected_ns = found.check_windows(run, &expected);
            if longest.is_some_and(|(longest, _)| std::ptr::eq(longest, run)) {
                smallest_jump_ns = Some(undetected_ns).filter(|_| limit.is_none());
            }
        }
    }
    // A clock of CPU time may be charged late for work.
    if is_fit && (is_cycles || (limit.is_none() && knows_steps(case))) {
        found.check_work(case);
    }
    let known = longest
        .filter(|_| limit.is_none())
        .and_then(|(run, _)| known_rate(case, run, steps_ns));
    let stable = Stable {
        outcome: Outcome::NotTested,
        evidence: String::new(),
        offset_ppm: known.map(|known| 1e6 * (known.typical.rate - 1.0)),
        offset_uncertainty_ppm: known.map(|known| 1e6 * known.typical.uncertainty),
        longest_window_s: longest.map(|(_, watched_ns)| 1e-9 * watched_ns),
        jumps: found.jumps,
        freezes: found.freezes,
        largest_ns: found.largest_ns(),
        smallest_jump_ns,
        rate_processes: known
            .map(|known| known.processes)
            .filter(|&processes| processes > 0),
        shares_oscillator: shares_oscillator(case).filter(|_| is_fit && !is_cycles),
    };
    let (outcome, evidence) = unfit.unwrap_or_else(|| conclude(case, &stable, known));
    with_verdict(stable, outcome, evidence)
}

/// Sets the outcome and the evidence.
pub(super) fn with_verdict(
    stable: Stable,
    outcome: Outcome,
    evidence: impl Into<String>,
) -> Stable {
    Stable {
        outcome,
        evidence: evidence.into(),
        ..stable
    }
}

/// Concludes in this order from jumps, freezes, and the rate.
fn conclude(case: &Case, stable: &Stable, known: Option<KnownRate>) -> (Outcome, String) {
    use Outcome::{Fail, NotApplicable, NotTested};
    let largest = time(stable.largest_ns);
    let (jumps, freezes) = (times(stable.jumps.into()), times(stable.freezes.into()));
    let over = time(stable.longest_window_s.map(|s| s * 1e9));
    match (case.claimed(), known) {
        (Some(Counted::ThreadCycles), _) if stable.jumps > 0 => {
            let evidence = "it leapt by more cycles than any core runs in that time";
            (Fail, evidence.into())
        }
        (Some(Counted::ProcessCpu | Counted::ThreadCpu), _) if stable.jumps > 0 => {
            let evidence = format!("it counts CPU time but ran ahead of wall time by {largest}");
            (Fail, evidence)
        }
        _ if stable.jumps > 0 => {
            let evidence = format!("it jumped ahead of its reference {jumps}, by up to {largest}");
            (Fail, evidence)
        }
        _ if stable.freezes > 0 => {
            let evidence = format!(
                "it stood still or fell behind its reference {freezes}, by up to {largest}"
            );
            (Fail, evidence)
        }
        (Some(Counted::ThreadCycles), _) => {
            let evidence = "it counts core cycles, whose rate is the frequency of the core";
            (NotApplicable, evidence.into())
        }
        (Some(Counted::ProcessCpu | Counted::ThreadCpu), _) => {
            let evidence = "it counts CPU time, which stands still when something else runs";
            (NotApplicable, evidence.into())
        }
        (_, None) => {
            let why = case.refusal("comparisons");
            let why = why.unwrap_or("it moves too slowly for the time that it was watched");
            (NotTested, format!("its rate could not be watched: {why}"))
        }
        (_, Some(known)) => conclude_from_rate(case, stable, &known, &over),
    }
}

/// Concludes from the rate of a clock of wall time without jumps and freezes, watched for `over`.
fn conclude_from_rate(
    case: &Case,
    stable: &Stable,
    known: &KnownRate,
    over: &str,
) -> (Outcome, String) {
    use Outcome::{Fail, NotTested, Pass};
    let in_ppm = |rate: Slope| [1e6 * (rate.rate - 1.0), 1e6 * rate.uncertainty];
    let [offset, uncertainty] = in_ppm(known.typical);
    // A few processes of any run may calibrate their clock wrongly, so only a majority counts. The
    // rate of a raw counter was measured.
    let processes = known.processes + 1;
    let wrong = if case.trace.declared { known.wrong } else { 0 };
    let in_processes = format!("{wrong} of {processes} processes");
    let is_vague = |rate: Slope| 1e6 * rate.uncertainty > MAX_UNCERTAINTY_PPM;
    // The rates of the processes make that of the clock uncertain, but do not excuse the majority.
    if is_vague(known.longest) || (2 * wrong < processes && is_vague(known.typical)) {
        let rate = ppm(offset, uncertainty);
        let evidence = format!("its rate is not known: {rate} over {over}");
        return (NotTested, evidence);
    }
    if 2 * wrong > processes {
        let shown = if is_wrong(&known.longest) {
            known.longest
        } else {
            known.typical
        };
        let [offset, uncertainty] = in_ppm(shown);
        let rate = faster_by(offset, uncertainty);
        let evidence = format!("it runs {rate} than its reference over {over}, in {in_processes}");
        return (Fail, evidence);
    }
    if 2 * wrong == processes {
        let evidence = format!("it ran at a false rate in {in_processes}");
        return (NotTested, evidence);
    }
    if !knows_steps(case) {
        let evidence = "it keeps its rate, but its step was not found, and steps look like jumps";
        return (NotTested, evidence.into());
    }
    let mut evidence = if case.trace.declared {
        let rate = ppm(offset, uncertainty);
        format!("it keeps the rate of its reference to {rate} over {over}")
    } else {
        format!("it keeps its rate against its reference over {over}")
    };
    // Larger jumps would have been found anywhere in the watched time.
    if let Some(most_ns) = stable.smallest_jump_ns {
        evidence += &format!(", without jumps of more than {}", time(most_ns));
    }
    if known.processes > 0 {
        evidence += &format!("; {} fresh processes are within that", known.processes);
    }
    if stable.shares_oscillator == Some(true) {
        evidence += "; both run on one oscillator, whose true frequency is unknown";
    }
    (Pass, evidence)
}

/// Converts raw comparisons to nanoseconds. Empty if the tick of the timer is unknown.
fn to_readings(case: &Case, raw: &[[i64; 3]]) -> Vec<Reading> {
    let to_ns = |ns| Reading::from_ticks(raw, case.trace.reference.ns_per_tick, ns);
    case.profile.ns_per_tick.map_or(Vec::new(), to_ns)
}

/// Returns whether the step of the timer is known. Steps of unknown length look like jumps and
/// freezes.
fn knows_steps(case: &Case) -> bool {
    matches!(case.profile.resolution, Resolution::Resolved { .. })
}

/// Returns the number of CPUs whose time a clock of the CPU time of a process may count.
fn cpus(case: &Case) -> f64 {
    let order = case.evidence().order;
    order.map_or(1.0, |order| f64::from(order.cpus.max(1)))
}

/// Returns the highest rate of a clock that may stand still, relative to wall time; `None` for
/// others. The usual rate of CPU time is no limit, because a thread that is often interrupted runs
/// for half of most windows, and for all of some.
fn max_rate(case: &Case) -> Option<Slope> {
    /// Largest number of cycles of a core in a nanosecond.
    /// *Definition*: no core is that fast.
    const MAX_CYCLES_PER_NS: f64 = 20.0;
    let rate = match case.claimed()? {
        Counted::ProcessCpu => cpus(case),
        Counted::ThreadCpu => 1.0,
        Counted::ThreadCycles => MAX_CYCLES_PER_NS * case.profile.ns_per_tick.unwrap_or(1.0),
        Counted::Wall | Counted::SomethingElse => return None,
    };
    Some(Slope {
        rate,
        uncertainty: 0.0,
    })
}

/// Returns the CPU time of a process that its clock may not yet include, in nanoseconds: each other
/// CPU adds the time of a thread to its process only once a tick.
fn max_late_charge_ns(case: &Case) -> f64 {
    if case.claimed() == Some(Counted::ProcessCpu) {
        LONGEST_TICK_NS * (cpus(case) - 1.0)
    } else {
        0.0
    }
}

/// Returns `Some(true)` if timer and reference share an oscillator: the kernel builds its clocks on
/// the counter that the reference reads, or both are raw counters. Otherwise this is unknown, also
/// for other clock sources (hpet, acpi_pm).
fn shares_oscillator(case: &Case) -> Option<bool> {
    let reads_counter =
        case.device.is_none() && case.trace.reference.family == Some(Family::CpuCounter);
    let source = case.machine.baselines.clock_source.as_deref();
    let shares = !case.trace.declared || source.is_some_and(clock_sources::reads_counter);
    (reads_counter && shares).then_some(true)
}
