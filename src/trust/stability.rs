//! Stable: does it keep its rate against the reference, without jumps and freezes?
//!
//! A comparison reads the reference, the timer, and the reference again: so the timer was read at the middle of the two, give
//! or take half their distance. From one comparison to the next both clocks have to move by as much, but for what their steps
//! cut off and for 1000 ppm: twice the most that the kernel slews a clock (adjtimex(2)), and more than any quartz is off.

mod advances;

use super::{Case, times};
use crate::analysis::allan::deviations;
use crate::analysis::resolution::Resolution;
use crate::analysis::statistics::median;
use crate::model::{AllanPoint, Counted, Family, Outcome, Stable};
use crate::text::numbers::{significant, time};
use crate::trace::Meanwhile;

/// How far a clock may be off and still be told stable, as a share.
const SLEW: f64 = 500e-6;

/// A clock that is slower than this, in ppm, did not move for most of the time.
const STILL: f64 = -900_000.0;

/// A rate that is not known better than this, in ppm, is not known.
const WORTHLESS: f64 = 200_000.0;

/// The timer was read at this time of the reference, give or take; both in nanoseconds from their beginning.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    reference: f64,
    timer: f64,
    uncertainty: f64,
}

pub(super) fn judge(case: &Case) -> Stable {
    let series = comparisons(case, &case.evidence().series);
    let close = comparisons(case, &case.evidence().close_comparisons);
    let sparse_comparisons = comparisons(case, &case.evidence().sparse_comparisons);
    let uncertainty = 2.0 * case.trace.reference.uncertainty_ns() + case.step_ns().unwrap_or(0.0);
    let mut found = Found::default();
    if knows_steps(case) {
        for run in [&series, &close, &sparse_comparisons] {
            let rate = most_rate(case).map_or_else(|| usual_rate(run, uncertainty), |rate| (rate, 0.0));
            let uncertainty = uncertainty + late_ns(case);
            run.windows(2).for_each(|pair| found.look(pair[0], pair[1], uncertainty, rate));
        }
        found.look_at_work(case);
    }
    let longest = longest(&[&series, &close, &sparse_comparisons]);
    let offset =
        longest.map(|(first, last)| rate(first, last, uncertainty, case.trace.reference.rate_uncertainty));
    let stable = Stable {
        outcome: Outcome::Pass,
        finding: String::new(),
        offset_ppm: offset.map(|(offset, _)| offset),
        offset_uncertainty_ppm: offset.map(|(_, uncertainty)| uncertainty),
        longest_window_s: longest.map(|(first, last)| (last.reference - first.reference) * 1e-9),
        allan: allan(&[&series, &close, &sparse_comparisons]),
        jumps: found.jumps,
        freezes: found.freezes,
        largest_ns: Some(found.largest()).filter(|&largest| largest > 0.0),
        shares_oscillator: shares_oscillator(case),
    };
    let (outcome, finding, stable) = match case.claimed() {
        Some(Counted::ThreadCycles) => of_cycles(case, stable, &[&series, &close, &sparse_comparisons]),
        Some(Counted::ProcessCpu | Counted::ThreadCpu) => of_cpu_time(stable),
        _ if case.trace.reference.strayed_ns > 0.0 => by_stray(case, stable),
        _ if offset.is_none() => advances::judge(case, stable),
        _ => of_wall_time(case, stable),
    };
    Stable { outcome, finding, ..stable }
}

/// CPU time stands still whenever something else runs, so freezes say nothing; but it cannot run ahead.
fn of_cpu_time(stable: Stable) -> (Outcome, String, Stable) {
    if stable.jumps > 0 {
        let ahead = time(stable.largest_ns);
        let finding = format!("it counts CPU time but ran ahead of wall time by {ahead}");
        return (Outcome::Fail, finding, stable);
    }
    let finding = "it counts CPU time, which stands still when something else runs";
    (Outcome::NotApplicable, finding.into(), without_rate(stable))
}

/// Cycles follow the frequency of the core and claim no rate. But no core is that fast, nor does it stand still at work.
fn of_cycles(case: &Case, stable: Stable, runs: &[&Vec<Comparison>]) -> (Outcome, String, Stable) {
    /// Cycles in a nanosecond.
    const FASTEST: f64 = 20.0;
    let tick = case.profile.ns_per_tick.unwrap_or(1.0);
    let ahead = |pair: &[Comparison]| {
        let passed = pair[1].reference - pair[0].reference + pair[0].uncertainty + pair[1].uncertainty;
        Some(pair[1].timer - pair[0].timer).filter(|moved| moved / tick > FASTEST * passed.max(0.0))
    };
    let leaps = runs.iter().flat_map(|run| run.windows(2).filter_map(ahead));
    if let Some(leap) = leaps.max_by(f64::total_cmp) {
        let finding = format!("it leapt by {:.3e} cycles, more than any core runs in that time", leap / tick);
        return (Outcome::Fail, finding, Stable { jumps: 1, largest_ns: Some(leap), ..without_rate(stable) });
    }
    let mut at_work = Found::default();
    at_work.look_at_work(case);
    if at_work.freezes > 0 {
        let (freezes, most) = (at_work.freezes, at_work.largest_freeze);
        let finding = format!("it stood still while work was done, {}", times(freezes.into()));
        let stable = Stable { freezes, largest_ns: Some(most), ..without_rate(stable) };
        return (Outcome::Fail, finding, stable);
    }
    let spun = case.evidence().advances.iter().find(|moved| moved.meanwhile == Meanwhile::Spin);
    let seen = spun.map(|moved| moved.rate() / case.trace.reference.ns_per_tick).filter(|ghz| *ghz > 0.0);
    let seen = seen.map_or_else(String::new, |ghz| format!(" ({ghz:.2} GHz while it was watched)"));
    let finding = format!(
        "it counts core cycles, whose rate is the frequency of the core{seen}: no clock to keep time by"
    );
    (Outcome::NotApplicable, finding, Stable { shares_oscillator: None, ..without_rate(stable) })
}

fn without_rate(stable: Stable) -> Stable {
    Stable {
        offset_ppm: None,
        offset_uncertainty_ppm: None,
        allan: Vec::new(),
        jumps: 0,
        freezes: 0,
        largest_ns: None,
        ..stable
    }
}

fn of_wall_time(case: &Case, stable: Stable) -> (Outcome, String, Stable) {
    let (offset, uncertainty) =
        (stable.offset_ppm.unwrap_or(0.0), stable.offset_uncertainty_ppm.unwrap_or(0.0));
    let window = time(stable.longest_window_s.map(|s| s * 1e9));
    let finding = if stable.jumps > 0 {
        let most = time(stable.largest_ns);
        format!("it jumped ahead of its reference {}, by up to {most}", times(stable.jumps.into()))
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
    } else {
        return (Outcome::Pass, steady(case, &stable, &window), stable);
    };
    (Outcome::Fail, finding, stable)
}

fn steady(case: &Case, stable: &Stable, window: &str) -> String {
    let rate = match (case.trace.declared, stable.offset_ppm, stable.offset_uncertainty_ppm) {
        (true, Some(offset), Some(uncertainty)) => {
            let offset = if offset.abs() < uncertainty { 0.0 } else { offset };
            format!(
                "it keeps the rate of its reference to {} ± {} ppm",
                significant(offset, 2),
                significant(uncertainty, 2)
            )
        }
        _ => "it keeps its rate against its reference".to_owned(),
    };
    let allan = stable.allan.last().map_or_else(String::new, |point| {
        format!("; Allan deviation {:.1e} at {}", point.deviation, time(Some(point.window_s * 1e9)))
    });
    let shared = match stable.shares_oscillator {
        Some(true) => "; both run on the same oscillator, so that says nothing of its true frequency",
        _ => "",
    };
    format!("{rate} over {window}, without jumps{allan}{shared}")
}

/// Steps of unknown length look like jumps and freezes.
fn knows_steps(case: &Case) -> bool {
    matches!(case.profile.resolution, Resolution::Resolved { .. })
}

/// CPU time moves with wall time at most; that of a process on all its CPUs at once. What is usual says nothing of it: a thread
/// that is often interrupted runs for half of most windows, and for all of some.
fn most_rate(case: &Case) -> Option<f64> {
    match case.claimed()? {
        Counted::ProcessCpu => Some(case.evidence().order.map_or(1.0, |order| f64::from(order.cpus.max(1)))),
        Counted::ThreadCpu => Some(1.0),
        Counted::Wall | Counted::ThreadCycles | Counted::SomethingElse => None,
    }
}

/// How much time may be counted late: what another thread of a process uses is added to the time of that once a tick (of 10 ms at
/// most), by each other CPU.
fn late_ns(case: &Case) -> f64 {
    const TICK_NS: f64 = 1e7;
    if case.claimed() == Some(Counted::ProcessCpu) {
        most_rate(case).map_or(0.0, |cpus| TICK_NS * (cpus - 1.0))
    } else {
        0.0
    }
}

/// The reference itself left the clock of the kernel, which nothing but slewing moves: nobody can be held against it, and
/// counters like it fail with it.
fn by_stray(case: &Case, stable: Stable) -> (Outcome, String, Stable) {
    let strayed = time(Some(case.trace.reference.strayed_ns));
    let unknown = Stable { offset_ppm: None, offset_uncertainty_ppm: None, allan: Vec::new(), ..stable };
    if case.trace.declared {
        let finding = format!(
            "it could be held against `{}` only, which itself strayed from the clock of the kernel by {strayed}",
            case.trace.reference.id
        );
        return (Outcome::NotTested, finding, unknown);
    }
    let finding =
        format!("counters of its kind strayed from the clock of the kernel by {strayed} during the campaign");
    (Outcome::Fail, finding, unknown)
}

/// Windows that disagree by more than can be explained.
#[derive(Default)]
struct Found {
    jumps: u32,
    freezes: u32,
    largest_jump: f64,
    largest_freeze: f64,
}

impl Found {
    /// Of those that are told: jumps, if there are any.
    fn largest(&self) -> f64 {
        if self.jumps > 0 { self.largest_jump } else { self.largest_freeze }
    }

    /// Intervals that hardly moved though much work was done in them: interruptions only make them longer, so the clock stood
    /// still meanwhile. Some runtimes compile the work anew and do it several times as fast, but not a hundred times.
    fn look_at_work(&mut self, case: &Case) {
        /// Work is that many steps long at least.
        const STEPS: f64 = 200.0;
        /// What a clock that stands still may show all the same, in steps.
        const STILL: f64 = 2.0;
        let (Some(step), Some(ns)) = (case.step_ns(), case.profile.ns_per_tick) else { return };
        let shortest = (STEPS * step).max(1_000.0);
        for group in case.trace.runs.iter().flat_map(|run| &run.intervals) {
            let expected = group.work as f64 * case.trace.reference.ns_per_work;
            for &delta in group.deltas.iter().filter(|&&delta| delta >= 0) {
                let missing = expected - delta as f64 * ns;
                if expected >= shortest && delta as f64 * ns <= STILL * step {
                    self.freezes += 1;
                    self.largest_freeze = self.largest_freeze.max(missing);
                }
            }
        }
    }

    /// A rate that is off is told as such; here counts what differs from the usual rate.
    fn look(
        &mut self,
        first: Comparison,
        last: Comparison,
        uncertainty: f64,
        (rate, rate_uncertainty): (f64, f64),
    ) {
        let (passed, moved) = (last.reference - first.reference, last.timer - first.timer);
        let off = moved - rate * passed;
        let explained = 2.0 * (first.uncertainty + last.uncertainty + uncertainty)
            + (2.0 * SLEW + rate_uncertainty) * passed.abs();
        if off.abs() <= explained {
            return;
        }
        if off > 0.0 {
            self.jumps += 1;
            self.largest_jump = self.largest_jump.max(off);
        } else {
            self.freezes += 1;
            self.largest_freeze = self.largest_freeze.max(-off);
        }
    }
}

/// The usual rate, and what it is known to: that from the first comparison to the last, unless it is not what the middle window
/// has, because something leapt in between. A short window knows its rate to within its uncertainty over its length.
fn usual_rate(run: &[Comparison], uncertainty: f64) -> (f64, f64) {
    let of = |first: &Comparison, last: &Comparison| {
        let passed = last.reference - first.reference;
        let uncertain = (first.uncertainty + last.uncertainty + uncertainty) / passed;
        (passed > 0.0).then(|| ((last.timer - first.timer) / passed, uncertain))
    };
    let windows: Vec<(f64, f64)> = run.windows(2).filter_map(|pair| of(&pair[0], &pair[1])).collect();
    let middle = |figure: fn(&(f64, f64)) -> f64| median(&windows.iter().map(figure).collect::<Vec<_>>());
    let Some(usual) = middle(|window| window.0).zip(middle(|window| window.1)) else { return (1.0, 0.0) };
    let whole = run.first().zip(run.last()).and_then(|(first, last)| of(first, last));
    whole.filter(|whole| (whole.0 - usual.0).abs() <= usual.1).unwrap_or(usual)
}

fn comparisons(case: &Case, raw: &[[i64; 3]]) -> Vec<Comparison> {
    let (Some(ns), reference_ns) = (case.profile.ns_per_tick, case.trace.reference.ns_per_tick) else {
        return Vec::new();
    };
    let Some(&[start, zero, _]) = raw.first() else { return Vec::new() };
    let of = |&[before, timer, after]: &[i64; 3]| {
        let since = |ticks: i64| ticks.wrapping_sub(start) as f64 * reference_ns;
        Comparison {
            reference: f64::midpoint(since(before), since(after)),
            timer: timer.wrapping_sub(zero) as f64 * ns,
            uncertainty: (since(after) - since(before)).max(0.0) / 2.0,
        }
    };
    raw.iter().map(of).collect()
}

/// The ends of the longest window.
fn longest(runs: &[&Vec<Comparison>]) -> Option<(Comparison, Comparison)> {
    let ends = |run: &&Vec<Comparison>| Some((*run.first()?, *run.last()?));
    let length = |(first, last): &(Comparison, Comparison)| last.reference - first.reference;
    let all = runs.iter().filter_map(ends).filter(|ends| length(ends) > 0.0);
    all.max_by(|a, b| length(a).total_cmp(&length(b)))
}

/// How much faster than the reference, and give or take how much, in ppm.
fn rate(first: Comparison, last: Comparison, uncertainty: f64, rate_uncertainty: f64) -> (f64, f64) {
    let passed = last.reference - first.reference;
    let offset = (last.timer - first.timer) / passed - 1.0;
    (offset * 1e6, ((first.uncertainty + last.uncertainty + uncertainty) / passed + rate_uncertainty) * 1e6)
}

/// The shortest windows come from the first of the runs, which lie ever further apart; each next one tells longer windows only.
fn allan(runs: &[&Vec<Comparison>]) -> Vec<AllanPoint> {
    let of = |run: &Vec<Comparison>| {
        let samples: Vec<(f64, f64)> = run.iter().map(|c| (c.reference, c.timer - c.reference)).collect();
        deviations(&samples)
    };
    let mut points: Vec<AllanPoint> = Vec::new();
    for (window, deviation) in runs.iter().flat_map(|run| of(run)) {
        let window_s = window * 1e-9;
        if points.last().is_none_or(|last| window_s > last.window_s) {
            points.push(AllanPoint { window_s, deviation });
        }
    }
    points
}

/// Known where the kernel builds its clocks on the counter that the reference reads; a raw counter beside another raw one too.
fn shares_oscillator(case: &Case) -> Option<bool> {
    let by_tsc = case.trace.reference.family == Some(Family::CpuCounter);
    match case.yardsticks.clock_source.as_deref() {
        // All of them are made of the counter; of others (hpet, acpi_pm) it is not known what they run on.
        Some("tsc" | "kvm-clock" | "xen" | "hyperv_clocksource_tsc_page") if by_tsc => Some(true),
        _ if by_tsc && !case.trace.declared => Some(true),
        _ => None,
    }
}
