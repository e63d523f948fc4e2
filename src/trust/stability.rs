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
    Comparison, Expected, FoundInWindows, Hidden, comparisons, length, longest, usual_rate,
};
use super::{Case, reference, times};
use crate::model::{AllanPoint, Counted, Family, Outcome, Stable};
use crate::rate::allan_deviations;
use crate::resolution::Resolution;
use crate::text::numbers::{significant, time};
use crate::trace::Meanwhile;
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
    let mut hidden: Vec<Hidden> = Vec::new();
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
            hidden.extend(length(run).map(|over_ns| Hidden { most_ns, over_ns }));
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
        smallest_jump_ns: hidden
            .iter()
            .max_by(|a, b| a.over_ns.total_cmp(&b.over_ns))
            .map(|hidden| hidden.most_ns),
        rate_processes: known
            .map(|known| known.processes)
            .filter(|&processes| processes > 0),
        shares_oscillator: shares_oscillator(case),
    };
    if let Some((outcome, finding)) = reference::objection(case) {
        return Stable {
            outcome,
            finding,
            ..unwatched(stable)
        };
    }
    let (outcome, finding, stable) = match (case.claimed(), known) {
        (Some(Counted::ThreadCycles), _) => of_cycles(case, stable, &runs),
        (Some(Counted::ProcessCpu | Counted::ThreadCpu), _) => of_cpu_time(stable),
        _ if case.trace.reference.strayed_ns > 0.0 => by_inconsistent_reference(case, stable),
        (_, None) => advances::judge(case, stable),
        (_, Some(known)) => of_wall_time(case, stable, &known, &hidden, &found),
    };
    Stable {
        outcome,
        finding,
        ..stable
    }
}

/// CPU time stands still whenever something else runs, so freezes say nothing; but it cannot run
/// ahead.
fn of_cpu_time(stable: Stable) -> (Outcome, String, Stable) {
    if stable.jumps > 0 {
        let ahead = time(stable.largest_ns);
        let finding = format!("it counts CPU time but ran ahead of wall time by {ahead}");
        return (Outcome::Fail, finding, stable);
    }
    let finding = "it counts CPU time, which stands still when something else runs";
    (Outcome::NotApplicable, finding.into(), without_rate(stable))
}

/// Cycles follow the frequency of the core and claim no rate. But no core is that fast, nor does it
/// stand still at work.
fn of_cycles(case: &Case, stable: Stable, runs: &[&Vec<Comparison>]) -> (Outcome, String, Stable) {
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
    if let Some(leap) = leaps.max_by(f64::total_cmp) {
        let finding = format!(
            "it leapt by {:.3e} cycles, more than any core runs in that time",
            leap / tick
        );
        return (
            Outcome::Fail,
            finding,
            Stable {
                jumps: 1,
                largest_ns: Some(leap),
                ..without_rate(stable)
            },
        );
    }
    let mut at_work = FoundInWindows::default();
    at_work.look_at_work(case);
    if at_work.freezes > 0 {
        let (freezes, most) = (at_work.freezes, at_work.largest_freeze);
        let finding = format!(
            "it stood still while work was done, {}",
            times(freezes.into())
        );
        let stable = Stable {
            freezes,
            largest_ns: Some(most),
            ..without_rate(stable)
        };
        return (Outcome::Fail, finding, stable);
    }
    let spun = case
        .evidence()
        .advances
        .iter()
        .find(|moved| moved.meanwhile == Meanwhile::Spin);
    let seen = spun
        .map(|moved| moved.rate() / case.trace.reference.ns_per_tick)
        .filter(|ghz| *ghz > 0.0);
    let seen = seen.map_or_else(String::new, |ghz| {
        format!(" ({ghz:.2} GHz while it was watched)")
    });
    let finding = format!(
        "it counts core cycles, whose rate is the frequency of the core{seen}: no clock to keep time by"
    );
    (
        Outcome::NotApplicable,
        finding,
        Stable {
            shares_oscillator: None,
            ..without_rate(stable)
        },
    )
}

/// What was held against no clock.
fn unwatched(stable: Stable) -> Stable {
    Stable {
        longest_window_s: None,
        shares_oscillator: None,
        ..without_rate(stable)
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

fn of_wall_time(
    case: &Case,
    stable: Stable,
    known: &KnownRate,
    hidden: &[Hidden],
    found: &FoundInWindows,
) -> (Outcome, String, Stable) {
    // By its ends alone, which are certain, however unsteady it was in between.
    let (offset, uncertainty) = (1e6 * known.long.offset, 1e6 * known.long.uncertainty);
    // A process in which a calibration went wrong is met now and then, whatever the run; what is
    // usual tells what the clock is.
    let other = known.farthest.filter(|_| 2 * known.off > known.processes);
    let window = time(stable.longest_window_s.map(|s| s * 1e9));
    let finding = if stable.jumps > 0 {
        let most = time(stable.largest_ns);
        format!(
            "it jumped ahead of its reference {}, by up to {most}",
            times(stable.jumps.into())
        )
    } else if stable.freezes > 0 {
        let most = time(stable.largest_ns);
        format!(
            "it stood still or fell behind its reference {}, by up to {most}",
            times(stable.freezes.into())
        )
    } else if uncertainty > WORTHLESS {
        let finding = format!("its steps are too long for the {window} that it was watched");
        return (Outcome::NotTested, finding, stable);
    } else if !knows_steps(case) && offset.abs() - uncertainty <= SLEW * 1e6 {
        let finding = format!(
            "it keeps its rate over {window}, but jumps cannot be distinguished from its steps, whose length was not found"
        );
        return (Outcome::NotTested, finding, stable);
    } else if case.trace.declared && offset < STILL {
        format!("it stood still or fell behind its reference over {window}")
    } else if case.trace.declared && offset.abs() - uncertainty > SLEW * 1e6 {
        let (offset, uncertainty) = (significant(offset, 3), significant(uncertainty, 2));
        format!("it runs {offset} ± {uncertainty} ppm faster than its reference (over {window})")
    } else if let Some(rate) = other {
        let (offset, uncertainty) = (
            significant(1e6 * rate.offset, 3),
            significant(1e6 * rate.uncertainty, 2),
        );
        let (off, processes) = (known.off, known.processes);
        format!(
            "it ran at a false rate in {off} of {processes} fresh processes, up to {offset} ± {uncertainty} ppm faster than its reference"
        )
    } else {
        let finding = format!(
            "{}{}",
            steady(case, &stable, known, hidden),
            lateness(found)
        );
        return (Outcome::Pass, finding, stable);
    };
    (Outcome::Fail, finding, stable)
}

fn steady(case: &Case, stable: &Stable, known: &KnownRate, hidden: &[Hidden]) -> String {
    let window = time(stable.longest_window_s.map(|s| s * 1e9));
    let ppm = |share: f64, digits| significant(1e6 * share, digits);
    let rate = if case.trace.declared {
        // What does not differ from 0 is reported as 0, but for a range that lies on one side.
        let is_none = known.usual.abs() < known.half && known.between.is_none();
        let usual = if is_none { 0.0 } else { known.usual };
        format!(
            "it keeps the rate of its reference to {} ± {} ppm",
            ppm(usual, 2),
            ppm(known.half, 2)
        )
    } else {
        "it keeps its rate against its reference".to_owned()
    };
    let processes = match known.between {
        Some([low, high]) => {
            format!(
                "; {} fresh processes ran at {} to {} ppm",
                known.processes,
                ppm(low, 3),
                ppm(high, 3)
            )
        }
        None if known.processes > 0 => {
            format!("; {} fresh processes agree within that", known.processes)
        }
        None if case.trace.declared && !case.properties.is_kept_for_all() => {
            "; that is of one process, and each may find a rate for itself".to_owned()
        }
        None => String::new(),
    };
    let allan = stable.allan.last().map_or_else(String::new, |point| {
        format!(
            "; Allan deviation {:.1e} at {}",
            point.deviation,
            time(Some(point.window_s * 1e9))
        )
    });
    let shared = match stable.shares_oscillator {
        Some(true) => {
            "; both run on the same oscillator, so that says nothing of its true frequency"
        }
        _ => "",
    };
    format!(
        "{rate} over {window}, {}{processes}{allan}{shared}",
        unseen(hidden)
    )
}

/// Of updates that came late, as those of a clock that is moved by a tick do where the machine is
/// kept from running.
fn lateness(found: &FoundInWindows) -> String {
    match found.late {
        0 => String::new(),
        late => format!(
            "; it was updated late {}, by up to {}, and caught up",
            times(late.into()),
            time(Some(found.latest))
        ),
    }
}

/// What can be said of jumps: those that would have been seen, wherever in the time that was
/// watched they fell.
fn unseen(hidden: &[Hidden]) -> String {
    let said = |hidden: &Hidden| time(Some(hidden.most_ns));
    let longest = hidden.iter().max_by(|a, b| a.over_ns.total_cmp(&b.over_ns));
    let finest = hidden.iter().min_by(|a, b| a.most_ns.total_cmp(&b.most_ns));
    match (longest, finest) {
        (Some(longest), Some(finest)) if 2.0 * finest.most_ns < longest.most_ns => {
            let over = time(Some(finest.over_ns));
            format!(
                "without jumps of more than {} ({} in {over} of it)",
                said(longest),
                said(finest)
            )
        }
        (Some(longest), _) => format!("without jumps of more than {}", said(longest)),
        (None, _) => "with nothing known of jumps".to_owned(),
    }
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
fn by_inconsistent_reference(case: &Case, stable: Stable) -> (Outcome, String, Stable) {
    let strayed = time(Some(case.trace.reference.strayed_ns));
    let unknown = Stable {
        offset_ppm: None,
        offset_uncertainty_ppm: None,
        allan: Vec::new(),
        ..stable
    };
    if case.trace.declared {
        let finding = format!(
            "it could be held against `{}` only, which itself strayed from the clock of the kernel by {strayed}",
            case.trace.reference.id
        );
        return (Outcome::NotTested, finding, unknown);
    }
    let finding = format!(
        "counters of its kind strayed from the clock of the kernel by {strayed} during the campaign"
    );
    (Outcome::Fail, finding, unknown)
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
