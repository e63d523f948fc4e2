//! Judges whether a timer is stable: whether it keeps its rate relative to the reference, without
//! jumps and freezes.
//!
//! A comparison reads the reference, the timer, and the reference again. The timer was therefore
//! read at the midpoint of both reference readings, with an error of at most half their distance.
//! From one comparison to the next both clocks must advance by the same time. Tolerated are the
//! truncation by their steps and a difference of 1000 ppm: twice the most that the kernel slews a
//! clock (adjtimex(2)), and more than the error of any quartz.

mod rates;
mod windows;

use self::rates::{KnownRate, LONGEST_TICK_NS};
use self::windows::{Expected, FoundInWindows, longest_run, to_readings, usual_rate, watched_ns};
use super::nature::MAX_STILL_SHARE;
use super::{Case, faster_by, reference, times};
use crate::model::{Counted, Family, MAX_SLEW, Outcome, Stable};
use crate::numbers::{significant, time};
use crate::rate::line::{Reading, Slope};
use crate::resolution::Resolution;
use timers::clock_sources;

/// Uncertainty in ppm above which a rate counts as unknown.
/// *Judgement*: that of a timer whose step is a fifth of the time watched.
const MAX_UNCERTAINTY_PPM: f64 = 200_000.0;

/// Largest number of steps by which the update of a clock may be late. A clock that the timer
/// interrupt updates is late if the CPU that handles the interrupt does not run; the clock then
/// catches up, and no time is lost.
/// *Judgement*: ten ticks of 4 ms are as long as hypervisors that share CPUs keep one from running.
const MAX_LATE_STEPS: f64 = 10.0;

/// Judges the stability of the timer of `case`.
pub(super) fn judge(case: &Case) -> Stable {
    let series = to_readings(case, &case.evidence().series);
    let close = to_readings(case, &case.evidence().close_comparisons);
    let sparse_comparisons = to_readings(case, &case.evidence().sparse_comparisons);
    let uncertainty = 2.0 * case.trace.reference.uncertainty_ns() + case.step_ns().unwrap_or(0.0);
    let runs = [&series, &close, &sparse_comparisons];
    let mut found = FoundInWindows::default();
    // Both values are those of the run that was watched for longest.
    let (mut longest_ns, mut smallest_jump_ns) = (0.0, None);
    if knows_steps(case) {
        for run in runs {
            let highest = max_rate(case).map(|rate| Slope {
                rate,
                uncertainty: 0.0,
            });
            let rate = highest.unwrap_or_else(|| usual_rate(run, uncertainty));
            let uncertainty = uncertainty + max_late_charge_ns(case);
            let expected = Expected {
                rate,
                uncertainty,
                max_late_ns: MAX_LATE_STEPS * case.step_ns().unwrap_or(0.0),
            };
            let undetected_ns = found.check_windows(run, &expected);
            if let Some(length_ns) = watched_ns(run).filter(|length_ns| *length_ns >= longest_ns) {
                (longest_ns, smallest_jump_ns) = (length_ns, Some(undetected_ns));
            }
        }
        found.check_work(case);
    }
    let known = rates::known_rate(case, &runs, uncertainty);
    let stable = Stable {
        outcome: Outcome::Pass,
        evidence: String::new(),
        offset_ppm: known.map(|known| 1e6 * known.typical),
        offset_uncertainty_ppm: known.map(|known| 1e6 * known.half_width),
        longest_window_s: longest_run(&runs).and_then(|run| Some(1e-9 * watched_ns(run)?)),
        jumps: found.jumps,
        freezes: found.freezes,
        largest_ns: Some(found.largest_ns()).filter(|&largest| largest > 0.0),
        smallest_jump_ns,
        rate_processes: known
            .map(|known| known.processes)
            .filter(|&processes| processes > 0),
        shares_oscillator: shares_oscillator(case),
    };
    if let Some((outcome, evidence)) = reference::reference_fault(case) {
        let not_compared = Stable {
            longest_window_s: None,
            shares_oscillator: None,
            ..without_rate(stable)
        };
        return with_verdict(not_compared, outcome, evidence);
    }
    match (case.claimed(), known) {
        (Some(Counted::ThreadCycles), _) => judge_cycles(case, stable, &runs),
        (Some(Counted::ProcessCpu | Counted::ThreadCpu), _) => judge_cpu_time(stable),
        _ if case.trace.reference.unexplained_deviation_ns > 0.0 => {
            judge_by_deviating_reference(case, stable)
        }
        // Either the reference or the kernel's clock moved.
        _ if case.trace.reference.rate_uncertainty > MAX_SLEW => {
            let id = &case.trace.reference.id;
            let evidence = format!(
                "it could be compared with `{id}` only, and which of `{id}` and the kernel's clock moved is not known"
            );
            with_verdict(without_rate(stable), Outcome::NotTested, evidence)
        }
        (_, None) => {
            let why = case.refusal("comparisons");
            let why = why.unwrap_or("it moves too slowly for the time that it was watched");
            let evidence = format!("its rate could not be watched: {why}");
            with_verdict(stable, Outcome::NotTested, evidence)
        }
        (_, Some(known)) => judge_wall_time(case, stable, &known, &found),
    }
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

/// Removes the rate, jumps and freezes, which say nothing about such a timer.
fn without_rate(stable: Stable) -> Stable {
    Stable {
        offset_ppm: None,
        offset_uncertainty_ppm: None,
        jumps: 0,
        freezes: 0,
        largest_ns: None,
        smallest_jump_ns: None,
        rate_processes: None,
        ..stable
    }
}

/// Judges a clock of CPU time: it stands still whenever something else runs, so freezes are no
/// error, but it must not run ahead of wall time.
fn judge_cpu_time(stable: Stable) -> Stable {
    if stable.jumps > 0 {
        let ahead = time(stable.largest_ns);
        let evidence = format!("it counts CPU time but ran ahead of wall time by {ahead}");
        return with_verdict(stable, Outcome::Fail, evidence);
    }
    let evidence = "it counts CPU time, which stands still when something else runs";
    with_verdict(without_rate(stable), Outcome::NotApplicable, evidence)
}

/// Judges a cycle counter: it follows the frequency of the core and claims no rate, but must
/// neither exceed the speed of any core nor stand still during work.
fn judge_cycles(case: &Case, stable: Stable, runs: &[&Vec<Reading>]) -> Stable {
    /// Largest number of cycles of a core in a nanosecond.
    /// *Definition*: no core is that fast.
    const MAX_CYCLES_PER_NS: f64 = 20.0;
    let tick = case.profile.ns_per_tick.unwrap_or(1.0);
    let leap_of = |pair: &[Reading]| {
        let passed = pair[1].time - pair[0].time + pair[0].error + pair[1].error;
        Some(pair[1].clock - pair[0].clock)
            .filter(|moved| moved / tick > MAX_CYCLES_PER_NS * passed.max(0.0))
    };
    let leap = runs
        .iter()
        .flat_map(|run| run.windows(2).filter_map(leap_of))
        .max_by(f64::total_cmp);
    let mut at_work = FoundInWindows::default();
    at_work.check_work(case);
    let stable = without_rate(stable);
    if let Some(leap) = leap {
        let cycles = leap / tick;
        let evidence =
            format!("it leapt by {cycles:.3e} cycles, more than any core runs in that time");
        let stable = Stable {
            jumps: 1,
            largest_ns: Some(leap),
            ..stable
        };
        return with_verdict(stable, Outcome::Fail, evidence);
    }
    if at_work.freezes > 0 {
        let often = times(at_work.freezes.into());
        let stable = Stable {
            freezes: at_work.freezes,
            largest_ns: Some(at_work.largest_freeze_ns),
            ..stable
        };
        let evidence = format!("it stood still while work was done, {often}");
        return with_verdict(stable, Outcome::Fail, evidence);
    }
    let stable = Stable {
        shares_oscillator: None,
        ..stable
    };
    let evidence = "it counts core cycles, whose rate is the frequency of the core";
    with_verdict(stable, Outcome::NotApplicable, evidence)
}

/// Judges a clock of wall time, whose rate is known, in this order: jumps, freezes, then the rate.
fn judge_wall_time(
    case: &Case,
    stable: Stable,
    known: &KnownRate,
    found: &FoundInWindows,
) -> Stable {
    use Outcome::{Fail, NotTested, Pass};
    // Only the longest window decides, without its parts: its rate is certain even if the rate varied
    // in between.
    let (offset, uncertainty) = (
        1e6 * known.longest_window.offset,
        1e6 * known.longest_window.uncertainty,
    );
    let is_off = offset.abs() - uncertainty > MAX_SLEW * 1e6;
    // The longest window is from one process, which may have calibrated its clock wrongly.
    let is_one_of_few = 2 * known.proven_off < known.processes;
    let declared = case.trace.declared;
    // A few processes of any run may calibrate their clock wrongly, so only a majority counts.
    let wrong_in_most = known
        .farthest
        .filter(|_| 2 * known.proven_off > known.processes);
    let window = time(stable.longest_window_s.map(|s| s * 1e9));
    let largest = time(stable.largest_ns);
    let often = |count: u32| times(count.into());
    let (outcome, evidence) = if stable.jumps > 0 {
        let often = often(stable.jumps);
        (
            Fail,
            format!("it jumped ahead of its reference {often}, by up to {largest}"),
        )
    } else if stable.freezes > 0 {
        let often = often(stable.freezes);
        (
            Fail,
            format!("it stood still or fell behind its reference {often}, by up to {largest}"),
        )
    } else if uncertainty > MAX_UNCERTAINTY_PPM {
        (
            NotTested,
            format!("its steps are too long for the {window} that it was watched"),
        )
    } else if !knows_steps(case) && !is_off {
        let unknown =
            "but jumps cannot be distinguished from its steps, whose length was not found";
        (
            NotTested,
            format!("it keeps its rate over {window}, {unknown}"),
        )
    } else if declared && offset < 1e6 * (MAX_STILL_SHARE - 1.0) {
        (
            Fail,
            format!("it stood still or fell behind its reference over {window}"),
        )
    } else if declared && is_off && !is_one_of_few {
        let rate = faster_by(offset, uncertainty);
        (
            Fail,
            format!("it runs {rate} than its reference (over {window})"),
        )
    } else if let Some(rate) = wrong_in_most {
        let rate = faster_by(1e6 * rate.offset, 1e6 * rate.uncertainty);
        let (off, processes) = (known.proven_off, known.processes);
        (
            Fail,
            format!(
                "it ran at a false rate in {off} of {processes} fresh processes, up to {rate} than its reference"
            ),
        )
    } else if 1e6 * known.half_width > MAX_UNCERTAINTY_PPM {
        // Its parts or processes differ by more than the reads explain, but not certainly.
        let half = significant(1e6 * known.half_width, 2);
        (NotTested, format!("its rate is known to ± {half} ppm only"))
    } else {
        (Pass, describe_steady_rate(case, &stable, known, found))
    };
    with_verdict(stable, outcome, evidence)
}

/// Describes the rate of a stable clock.
fn describe_steady_rate(
    case: &Case,
    stable: &Stable,
    known: &KnownRate,
    found: &FoundInWindows,
) -> String {
    let figure = |share: f64, digits| significant(1e6 * share, digits);
    let mut evidence = if case.trace.declared {
        // An offset within its uncertainty is reported as 0, unless the processes differ.
        let is_none = known.typical.abs() < known.half_width && known.range.is_none();
        let usual = if is_none { 0.0 } else { known.typical };
        let (usual, half) = (figure(usual, 2), figure(known.half_width, 2));
        format!("it keeps the rate of its reference to {usual} ± {half} ppm")
    } else {
        "it keeps its rate against its reference".to_owned()
    };
    evidence += &format!(" over {}", time(stable.longest_window_s.map(|s| s * 1e9)));
    // Larger jumps would have been found anywhere in the watched time.
    if let Some(most_ns) = stable.smallest_jump_ns {
        evidence += &format!(", without jumps of more than {}", time(most_ns));
    }
    let processes = known.processes;
    if let Some([low, high]) = known.range {
        let (low, high) = (figure(low, 3), figure(high, 3));
        evidence += &format!("; {processes} fresh processes ran at {low} to {high} ppm");
    } else if processes > 0 {
        evidence += &format!("; {processes} fresh processes agree within that");
    }
    if stable.shares_oscillator == Some(true) {
        evidence += "; both run on one oscillator, whose true frequency is unknown";
    }
    // A clock that the timer interrupt updates is late if the CPU was kept from running.
    if found.late > 0 {
        let (often, latest) = (times(found.late.into()), time(found.latest_ns));
        evidence += &format!("; it was updated late {often}, by up to {latest}, and caught up");
    }
    evidence
}

/// Returns whether the step of the timer is known. Steps of unknown length look like jumps and
/// freezes.
fn knows_steps(case: &Case) -> bool {
    matches!(case.profile.resolution, Resolution::Resolved { .. })
}

/// Returns the highest rate of a clock of CPU time relative to wall time: 1 for that of a thread,
/// the number of CPUs for that of a process; `None` for other clocks. The usual rate of CPU time is
/// no limit, because a thread that is often interrupted runs for half of most windows, and for all
/// of some.
fn max_rate(case: &Case) -> Option<f64> {
    match case.claimed()? {
        Counted::ProcessCpu => Some(
            case.evidence()
                .order
                .map_or(1.0, |order| f64::from(order.cpus.max(1))),
        ),
        Counted::ThreadCpu => Some(1.0),
        Counted::Wall | Counted::ThreadCycles | Counted::SomethingElse => None,
    }
}

/// Returns the CPU time of a process that its clock may not yet include, in nanoseconds: each other
/// CPU adds the time of a thread to its process only once a tick.
fn max_late_charge_ns(case: &Case) -> f64 {
    if case.claimed() == Some(Counted::ProcessCpu) {
        max_rate(case).map_or(0.0, |cpus| LONGEST_TICK_NS * (cpus - 1.0))
    } else {
        0.0
    }
}

/// Judges a timer whose reference, a raw counter, deviated from the kernel's clock by more than
/// slewing explains. Such a reference proves nothing about a clock; a raw counter fails, because it
/// is a counter like the reference.
fn judge_by_deviating_reference(case: &Case, stable: Stable) -> Stable {
    let reference = &case.trace.reference;
    let deviated = format!(
        "deviated from the kernel's clock by {}",
        time(reference.unexplained_deviation_ns)
    );
    let stable = Stable {
        offset_ppm: None,
        offset_uncertainty_ppm: None,
        ..stable
    };
    if case.trace.declared {
        let evidence = format!(
            "it could be compared with `{}` only, which itself {deviated}",
            reference.id
        );
        return with_verdict(stable, Outcome::NotTested, evidence);
    }
    let evidence = format!("counters of its kind {deviated} during the campaign");
    with_verdict(stable, Outcome::Fail, evidence)
}

/// Returns whether timer and reference share an oscillator: `Some(true)` if the kernel builds its
/// clocks on the counter that the reference reads, or if both are raw counters; otherwise `None`.
fn shares_oscillator(case: &Case) -> Option<bool> {
    let reads_counter =
        case.device.is_none() && case.trace.reference.family == Some(Family::CpuCounter);
    match case.machine.baselines.clock_source.as_deref() {
        // The oscillator of other clock sources (hpet, acpi_pm) is unknown.
        Some(source) if reads_counter && clock_sources::reads_counter(source) => Some(true),
        _ if reads_counter && !case.trace.declared => Some(true),
        _ => None,
    }
}
