//! Stable: does it keep its rate against the reference, without jumps and freezes?
//!
//! A comparison reads the reference, the timer, and the reference again: so the timer was read at
//! the middle of the two, give or take half their distance. From one comparison to the next both
//! clocks have to move by as much, but for what their steps cut off and for 1000 ppm: twice the
//! most that the kernel slews a clock (adjtimex(2)), and more than any quartz is off.

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

/// How far a clock may be off and still be called stable, as a share.
/// *Definition*: the most that the kernel slews a clock (adjtimex(2)).
const SLEW: f64 = 500e-6;

/// A clock that is slower than this, in ppm, did not move for most of the time.
/// *Judgement*.
const STILL: f64 = -900_000.0;

/// A rate that is not known better than this, in ppm, is not known.
/// *Judgement*: a step of a fifth of the time watched.
const WORTHLESS: f64 = 200_000.0;

/// A clock may be updated late by this many of its steps. The kernel updates those that it moves by
/// its tick once the CPU that keeps the tick runs again; nothing is lost then. *Judgement*: ten
/// ticks of 4 ms are as long as hypervisors that share CPUs keep one of them from running.
const LATE: f64 = 10.0;

pub(super) fn judge(case: &Case) -> Stable {
    let series = comparisons(case, &case.evidence().series);
    let close = comparisons(case, &case.evidence().close_comparisons);
    let sparse_comparisons = comparisons(case, &case.evidence().sparse_comparisons);
    let uncertainty = 2.0 * case.trace.reference.uncertainty_ns() + case.step_ns().unwrap_or(0.0);
    let runs = [&series, &close, &sparse_comparisons];
    let mut found = FoundInWindows::default();
    // Of the run that was watched for longest.
    let (mut watched_ns, mut smallest_jump_ns) = (0.0, None);
    if knows_steps(case) {
        for run in runs {
            let rate =
                most_rate(case).map_or_else(|| usual_rate(run, uncertainty), |rate| (rate, 0.0));
            let uncertainty = uncertainty + late_ns(case);
            let expected = Expected {
                rate,
                uncertainty,
                latest: LATE * case.step_ns().unwrap_or(0.0),
            };
            let most_ns = found.look(run, &expected);
            if let Some(over_ns) = length(run).filter(|over_ns| *over_ns >= watched_ns) {
                (watched_ns, smallest_jump_ns) = (over_ns, Some(most_ns));
            }
        }
        found.look_at_work(case);
    }
    let known = rates::known(case, &runs, uncertainty);
    let stable = Stable {
        outcome: Outcome::Pass,
        finding: String::new(),
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
    if let Some((outcome, finding)) = reference::objection(case) {
        let unwatched = Stable {
            longest_window_s: None,
            shares_oscillator: None,
            ..without_rate(stable)
        };
        return answered(unwatched, outcome, finding);
    }
    match (case.claimed(), known) {
        (Some(Counted::ThreadCycles), _) => judge_cycles(case, stable, &runs),
        (Some(Counted::ProcessCpu | Counted::ThreadCpu), _) => judge_cpu_time(stable),
        _ if case.trace.reference.strayed_ns > 0.0 => blame_reference(case, stable),
        (_, None) => advances::judge(case, stable),
        (_, Some(known)) => judge_wall_time(case, stable, &known, &found),
    }
}

fn answered(stable: Stable, outcome: Outcome, finding: impl Into<String>) -> Stable {
    Stable {
        outcome,
        finding: finding.into(),
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

/// CPU time stands still whenever something else runs, so freezes say nothing; but it cannot run
/// ahead.
fn judge_cpu_time(stable: Stable) -> Stable {
    if stable.jumps > 0 {
        let ahead = time(stable.largest_ns);
        let finding = format!("it counts CPU time but ran ahead of wall time by {ahead}");
        return answered(stable, Outcome::Fail, finding);
    }
    let finding = "it counts CPU time, which stands still when something else runs";
    answered(without_rate(stable), Outcome::NotApplicable, finding)
}

/// Cycles follow the frequency of the core and claim no rate. But no core is that fast, nor does it
/// stand still at work.
fn judge_cycles(case: &Case, stable: Stable, runs: &[&Vec<Comparison>]) -> Stable {
    /// Cycles in a nanosecond.
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
    at_work.look_at_work(case);
    let stable = without_rate(stable);
    if let Some(leap) = leap {
        let cycles = leap / tick;
        let finding =
            format!("it leapt by {cycles:.3e} cycles, more than any core runs in that time");
        let stable = Stable {
            jumps: 1,
            largest_ns: Some(leap),
            ..stable
        };
        return answered(stable, Outcome::Fail, finding);
    }
    if at_work.freezes > 0 {
        let often = times(at_work.freezes.into());
        let stable = Stable {
            freezes: at_work.freezes,
            largest_ns: Some(at_work.largest_freeze),
            ..stable
        };
        let finding = format!("it stood still while work was done, {often}");
        return answered(stable, Outcome::Fail, finding);
    }
    let stable = Stable {
        shares_oscillator: None,
        ..stable
    };
    let finding = "it counts core cycles, whose rate is the frequency of the core";
    answered(stable, Outcome::NotApplicable, finding)
}

fn judge_wall_time(
    case: &Case,
    stable: Stable,
    known: &KnownRate,
    found: &FoundInWindows,
) -> Stable {
    use Outcome::{Fail, NotTested, Pass};
    // By its ends alone, which are certain, however unsteady it was in between.
    let (offset, uncertainty) = (1e6 * known.long.offset, 1e6 * known.long.uncertainty);
    let is_off = offset.abs() - uncertainty > SLEW * 1e6;
    let declared = case.trace.declared;
    // A process in which a calibration went wrong is met now and then, whatever the run; what is
    // usual tells what the clock is.
    let other = known.farthest.filter(|_| 2 * known.off > known.processes);
    let window = time(stable.longest_window_s.map(|s| s * 1e9));
    let most = time(stable.largest_ns);
    let often = |count: u32| times(count.into());
    let (outcome, finding) = if stable.jumps > 0 {
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
    } else if uncertainty > WORTHLESS {
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
    } else if declared && offset < STILL {
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
    answered(stable, outcome, finding)
}

fn steady(case: &Case, stable: &Stable, known: &KnownRate, found: &FoundInWindows) -> String {
    let figure = |share: f64, digits| significant(1e6 * share, digits);
    let mut finding = if case.trace.declared {
        // What does not differ from 0 is reported as 0, but for a range that lies on one side.
        let is_none = known.usual.abs() < known.half && known.between.is_none();
        let usual = if is_none { 0.0 } else { known.usual };
        let (usual, half) = (figure(usual, 2), figure(known.half, 2));
        format!("it keeps the rate of its reference to {usual} ± {half} ppm")
    } else {
        "it keeps its rate against its reference".to_owned()
    };
    finding += &format!(" over {}", time(stable.longest_window_s.map(|s| s * 1e9)));
    // Jumps that would have been found, wherever in the time that was watched they fell.
    if let Some(most_ns) = stable.smallest_jump_ns {
        finding += &format!(", without jumps of more than {}", ns(most_ns));
    }
    let processes = known.processes;
    if let Some([low, high]) = known.between {
        let (low, high) = (figure(low, 3), figure(high, 3));
        finding += &format!("; {processes} fresh processes ran at {low} to {high} ppm");
    } else if processes > 0 {
        finding += &format!("; {processes} fresh processes agree within that");
    }
    if stable.shares_oscillator == Some(true) {
        finding += "; both run on one oscillator, whose true frequency is unknown";
    }
    // As a clock does that is moved by a tick, where the machine is kept from running.
    if found.late > 0 {
        let (often, latest) = (times(found.late.into()), ns(found.latest));
        finding += &format!("; it was updated late {often}, by up to {latest}, and caught up");
    }
    finding
}

/// Steps of unknown length look like jumps and freezes.
fn knows_steps(case: &Case) -> bool {
    matches!(case.profile.resolution, Resolution::Resolved { .. })
}

/// CPU time moves with wall time at most; that of a process on all its CPUs at once. What is usual
/// says nothing of it: a thread that is often interrupted runs for half of most windows, and for
/// all of some.
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

/// How much time may be counted late: what another thread of a process uses is added to the time of
/// that once a tick (of 10 ms at most), by each other CPU.
fn late_ns(case: &Case) -> f64 {
    /// How late another CPU may charge a process, in nanoseconds.
    /// *Definition*: the longest tick (CONFIG_HZ=100).
    const TICK_NS: f64 = 1e7;
    if case.claimed() == Some(Counted::ProcessCpu) {
        most_rate(case).map_or(0.0, |cpus| TICK_NS * (cpus - 1.0))
    } else {
        0.0
    }
}

/// The reference itself left the clock of the kernel, which nothing but slewing moves: nothing can
/// be held against it, and counters like it fail with it.
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
        let finding = format!(
            "it could be compared with `{}` only, which itself {strayed}",
            reference.id
        );
        return answered(stable, Outcome::NotTested, finding);
    }
    let finding = format!("counters of its kind {strayed} during the campaign");
    answered(stable, Outcome::Fail, finding)
}

/// The shortest windows come from the first of the runs, which lie ever further apart; each next
/// one tells longer windows only.
fn allan(runs: &[&Vec<Comparison>]) -> Vec<AllanPoint> {
    let of = |run: &Vec<Comparison>| {
        let samples: Vec<(f64, f64)> = run
            .iter()
            .map(|c| (c.reference, c.timer - c.reference))
            .collect();
        allan_deviations(&samples)
    };
    let mut points: Vec<AllanPoint> = Vec::new();
    for (window, deviation) in runs.iter().flat_map(|run| of(run)) {
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

/// Known where the kernel builds its clocks on the counter that the reference reads; a raw counter
/// beside another raw one too.
fn shares_oscillator(case: &Case) -> Option<bool> {
    let by_tsc = case.trace.reference.family == Some(Family::CpuCounter);
    match case.yardsticks.clock_source.as_deref() {
        // All of them are made of the counter; of others (hpet, acpi_pm) it is not known what they
        // run on.
        Some(source) if by_tsc && clock_sources::reads_counter(source) => Some(true),
        _ if by_tsc && !case.trace.declared => Some(true),
        _ => None,
    }
}
