//! Stable: does a timer keep its rate relative to the reference, without jumps and freezes?
//!
//! A comparison reads the reference, the timer, and the reference again. The timer was therefore
//! read at the midpoint of both reference readings, with an error of at most half their distance.
//! From one comparison to the next both clocks must move by the same time, except for the
//! truncation by their steps and for 1000 ppm: twice the most that the kernel slews a clock
//! (adjtimex(2)), and more than the error of any quartz.

mod advances;
mod rates;
mod windows;

use self::rates::KnownRate;
use self::windows::{
    Comparison, Expected, FoundInWindows, comparisons, length, longest, usual_rate,
};
use super::{Case, ns, ppm, reference, times};
use crate::model::{AllanPoint, Counted, Family, Outcome, Stable};
use crate::rate::allan_deviations;
use crate::resolution::Resolution;
use crate::text::numbers::{significant, time};
use timers::clock_sources;

/// Largest rate error of a stable clock, as a share.
/// *Definition*: the most that the kernel slews a clock (adjtimex(2)).
const MAX_SLEW: f64 = 500e-6;

/// Offset in ppm below which a clock stood still for most of the time.
/// *Judgement*.
const STILL_PPM: f64 = -900_000.0;

/// Uncertainty in ppm above which a rate counts as unknown.
/// *Judgement*: a step of a fifth of the time watched.
const MAX_UNCERTAINTY_PPM: f64 = 200_000.0;

/// Steps by which the update of a clock may be late. If the kernel moves a clock by its tick, it
/// updates the clock when the CPU that keeps the tick runs again, and no time is lost. *Judgement*:
/// ten ticks of 4 ms are as long as hypervisors that share CPUs keep one of them from running.
const MAX_LATE_STEPS: f64 = 10.0;

pub(super) fn judge(case: &Case) -> Stable {
    let series = comparisons(case, &case.evidence().series);
    let close = comparisons(case, &case.evidence().close_comparisons);
    let sparse_comparisons = comparisons(case, &case.evidence().sparse_comparisons);
    let uncertainty = 2.0 * case.trace.reference.uncertainty_ns() + case.step_ns().unwrap_or(0.0);
    let runs = [&series, &close, &sparse_comparisons];
    let mut found = FoundInWindows::default();
    // Values of the run that was watched for longest.
    let (mut watched_ns, mut smallest_jump_ns) = (0.0, None);
    if knows_steps(case) {
        for run in runs {
            let rate =
                most_rate(case).map_or_else(|| usual_rate(run, uncertainty), |rate| (rate, 0.0));
            let uncertainty = uncertainty + late_ns(case);
            let expected = Expected {
                rate,
                uncertainty,
                latest: MAX_LATE_STEPS * case.step_ns().unwrap_or(0.0),
            };
            let most_ns = found.check(run, &expected);
            if let Some(over_ns) = length(run).filter(|over_ns| *over_ns >= watched_ns) {
                (watched_ns, smallest_jump_ns) = (over_ns, Some(most_ns));
            }
        }
        found.check_work(case);
    }
    let known = rates::known(case, &runs, uncertainty);
    let stable = Stable {
        outcome: Outcome::Pass,
        evidence: String::new(),
        offset_ppm: known.map(|known| 1e6 * known.usual),
        offset_uncertainty_ppm: known.map(|known| 1e6 * known.half),
        longest_window_s: longest(&runs).and_then(|run| Some(1e-9 * length(run)?)),
        allan: allan(&runs),
        jumps: found.jumps,
        freezes: found.freezes,
        largest_ns: Some(found.largest()).filter(|&largest| largest > 0.0),
        smallest_jump_ns,
        rate_processes: known
            .map(|known| known.processes)
            .filter(|&processes| processes > 0),
        shares_oscillator: shares_oscillator(case),
    };
    if let Some((outcome, evidence)) = reference::objection(case) {
        let unwatched = Stable {
            longest_window_s: None,
            shares_oscillator: None,
            ..without_rate(stable)
        };
        return answered(unwatched, outcome, evidence);
    }
    match (case.claimed(), known) {
        (Some(Counted::ThreadCycles), _) => judge_cycles(case, stable, &runs),
        (Some(Counted::ProcessCpu | Counted::ThreadCpu), _) => judge_cpu_time(stable),
        _ if case.trace.reference.strayed_ns > 0.0 => blame_reference(case, stable),
        (_, None) => advances::judge(case, stable),
        (_, Some(known)) => judge_wall_time(case, stable, &known, &found),
    }
}

fn answered(stable: Stable, outcome: Outcome, evidence: impl Into<String>) -> Stable {
    Stable {
        outcome,
        evidence: evidence.into(),
        ..stable
    }
}

fn without_rate(stable: Stable) -> Stable {
    Stable {
        offset_ppm: None,
        offset_uncertainty_ppm: None,
        allan: Vec::new(),
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
        return answered(stable, Outcome::Fail, evidence);
    }
    let evidence = "it counts CPU time, which stands still when something else runs";
    answered(without_rate(stable), Outcome::NotApplicable, evidence)
}

/// Judges a cycle counter: it follows the frequency of the core and claims no rate, but must
/// neither exceed the speed of any core nor stand still during work.
fn judge_cycles(case: &Case, stable: Stable, runs: &[&Vec<Comparison>]) -> Stable {
    /// Most cycles in a nanosecond.
    /// *Definition*: no core is that fast.
    const FASTEST: f64 = 20.0;
    let tick = case.profile.ns_per_tick.unwrap_or(1.0);
    let ahead = |pair: &[Comparison]| {
        let passed =
            pair[1].reference - pair[0].reference + pair[0].uncertainty + pair[1].uncertainty;
        Some(pair[1].timer - pair[0].timer).filter(|moved| moved / tick > FASTEST * passed.max(0.0))
    };
    let leaps = runs.iter().flat_map(|run| run.windows(2).filter_map(ahead));
    let leap = leaps.max_by(f64::total_cmp);
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
        return answered(stable, Outcome::Fail, evidence);
    }
    if at_work.freezes > 0 {
        let often = times(at_work.freezes.into());
        let stable = Stable {
            freezes: at_work.freezes,
            largest_ns: Some(at_work.largest_freeze),
            ..stable
        };
        let evidence = format!("it stood still while work was done, {often}");
        return answered(stable, Outcome::Fail, evidence);
    }
    let stable = Stable {
        shares_oscillator: None,
        ..stable
    };
    let evidence = "it counts core cycles, whose rate is the frequency of the core";
    answered(stable, Outcome::NotApplicable, evidence)
}

fn judge_wall_time(
    case: &Case,
    stable: Stable,
    known: &KnownRate,
    found: &FoundInWindows,
) -> Stable {
    use Outcome::{Fail, NotTested, Pass};
    // The endpoints alone decide, because they are certain even if the rate varied in between.
    let (offset, uncertainty) = (1e6 * known.long.offset, 1e6 * known.long.uncertainty);
    let is_off = offset.abs() - uncertainty > MAX_SLEW * 1e6;
    let declared = case.trace.declared;
    // A process with a failed calibration occurs now and then in any run, so only a majority of
    // processes counts.
    let other = known.farthest.filter(|_| 2 * known.off > known.processes);
    let window = time(stable.longest_window_s.map(|s| s * 1e9));
    let most = time(stable.largest_ns);
    let often = |count: u32| times(count.into());
    let (outcome, evidence) = if stable.jumps > 0 {
        let often = often(stable.jumps);
        (
            Fail,
            format!("it jumped ahead of its reference {often}, by up to {most}"),
        )
    } else if stable.freezes > 0 {
        let often = often(stable.freezes);
        (
            Fail,
            format!("it stood still or fell behind its reference {often}, by up to {most}"),
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
    } else if declared && offset < STILL_PPM {
        (
            Fail,
            format!("it stood still or fell behind its reference over {window}"),
        )
    } else if declared && is_off {
        let rate = ppm(offset, uncertainty);
        (
            Fail,
            format!("it runs {rate} faster than its reference (over {window})"),
        )
    } else if let Some(rate) = other {
        let rate = ppm(1e6 * rate.offset, 1e6 * rate.uncertainty);
        let (off, processes) = (known.off, known.processes);
        (
            Fail,
            format!(
                "it ran at a false rate in {off} of {processes} fresh processes, up to {rate} faster than its reference"
            ),
        )
    } else {
        (Pass, steady(case, &stable, known, found))
    };
    answered(stable, outcome, evidence)
}

fn steady(case: &Case, stable: &Stable, known: &KnownRate, found: &FoundInWindows) -> String {
    let figure = |share: f64, digits| significant(1e6 * share, digits);
    let mut evidence = if case.trace.declared {
        // An offset that does not differ from 0 is reported as 0, unless the processes show a
        // range.
        let is_none = known.usual.abs() < known.half && known.between.is_none();
        let usual = if is_none { 0.0 } else { known.usual };
        let (usual, half) = (figure(usual, 2), figure(known.half, 2));
        format!("it keeps the rate of its reference to {usual} ± {half} ppm")
    } else {
        "it keeps its rate against its reference".to_owned()
    };
    evidence += &format!(" over {}", time(stable.longest_window_s.map(|s| s * 1e9)));
    // Jumps of this size would have been found anywhere in the watched time.
    if let Some(most_ns) = stable.smallest_jump_ns {
        evidence += &format!(", without jumps of more than {}", ns(most_ns));
    }
    let processes = known.processes;
    if let Some([low, high]) = known.between {
        let (low, high) = (figure(low, 3), figure(high, 3));
        evidence += &format!("; {processes} fresh processes ran at {low} to {high} ppm");
    } else if processes > 0 {
        evidence += &format!("; {processes} fresh processes agree within that");
    }
    if stable.shares_oscillator == Some(true) {
        evidence += "; both run on one oscillator, whose true frequency is unknown";
    }
    // A clock that the kernel moves by its tick is late if the machine was kept from running.
    if found.late > 0 {
        let (often, latest) = (times(found.late.into()), ns(found.latest));
        evidence += &format!("; it was updated late {often}, by up to {latest}, and caught up");
    }
    evidence
}

/// Returns whether the step is known: steps of unknown length look like jumps and freezes.
fn knows_steps(case: &Case) -> bool {
    matches!(case.profile.resolution, Resolution::Resolved { .. })
}

/// Returns the highest rate relative to wall time: 1 for the CPU time of a thread, the number of
/// CPUs for a process; `None` for other clocks. The usual rate is no limit for CPU time: a thread
/// that is often interrupted runs for half of most windows, and for all of some.
fn most_rate(case: &Case) -> Option<f64> {
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

/// Returns the time that may be counted late, in nanoseconds: each other CPU adds the time of a
/// thread to its process only once a tick (of 10 ms at most).
fn late_ns(case: &Case) -> f64 {
    /// Latest time at which another CPU charges a process, in nanoseconds.
    /// *Definition*: the longest tick (CONFIG_HZ=100).
    const TICK_NS: f64 = 1e7;
    if case.claimed() == Some(Counted::ProcessCpu) {
        most_rate(case).map_or(0.0, |cpus| TICK_NS * (cpus - 1.0))
    } else {
        0.0
    }
}

/// Judges a timer whose reference deviated from the clock of the kernel, which only slewing moves:
/// nothing can be compared with that reference, and raw counters, like the reference, fail.
fn blame_reference(case: &Case, stable: Stable) -> Stable {
    let reference = &case.trace.reference;
    let strayed = format!(
        "strayed from the clock of the kernel by {}",
        ns(reference.strayed_ns)
    );
    let stable = Stable {
        offset_ppm: None,
        offset_uncertainty_ppm: None,
        allan: Vec::new(),
        ..stable
    };
    if case.trace.declared {
        let evidence = format!(
            "it could be compared with `{}` only, which itself {strayed}",
            reference.id
        );
        return answered(stable, Outcome::NotTested, evidence);
    }
    let evidence = format!("counters of its kind {strayed} during the campaign");
    answered(stable, Outcome::Fail, evidence)
}

/// Returns the Allan deviations. The shortest windows come from the first run; the comparisons of
/// each next run are farther apart and add longer windows only.
fn allan(runs: &[&Vec<Comparison>]) -> Vec<AllanPoint> {
    let deviations = |run: &Vec<Comparison>| {
        let samples: Vec<(f64, f64)> = run
            .iter()
            .map(|c| (c.reference, c.timer - c.reference))
            .collect();
        allan_deviations(&samples)
    };
    let mut points: Vec<AllanPoint> = Vec::new();
    for (window, deviation) in runs.iter().flat_map(|run| deviations(run)) {
        let window_s = window * 1e-9;
        let is_next = points.last().is_none_or(|last| window_s > last.window_s);
        if is_next && (window_s + deviation).is_finite() {
            points.push(AllanPoint {
                window_s,
                deviation,
            });
        }
    }
    points
}

/// Returns whether timer and reference share an oscillator: `Some(true)` if the kernel builds its
/// clocks on the counter that the reference reads, or if both are raw counters; otherwise `None`.
fn shares_oscillator(case: &Case) -> Option<bool> {
    let by_tsc = case.trace.reference.family == Some(Family::CpuCounter);
    match case.yardsticks.clock_source.as_deref() {
        // The kernel's clocks are built on the counter. For other clock sources (hpet, acpi_pm),
        // the oscillator is unknown.
        Some(source) if by_tsc && clock_sources::reads_counter(source) => Some(true),
        _ if by_tsc && !case.trace.declared => Some(true),
        _ => None,
    }
}
