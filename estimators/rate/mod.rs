//! Estimates the length of a tick of a timer and of a unit of work.

pub mod correction;
pub mod library;
pub mod line;
pub mod order;

use line::{Reading, Slope};

use crate::model::{Estimate, MAX_SLEW};
use crate::statistics::{mean_over_processes, median, quantile, sorted};
use crate::trace::{Differences, Trace};

/// The rate of a counter relative to a clock, from paired readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Nanoseconds in a tick of the counter.
    pub ns_per_tick: f64,
    /// Relative uncertainty of the rate.
    pub uncertainty: f64,
    /// The largest difference between the deviations of two paired readings from the fitted line, in
    /// nanoseconds, in excess of twice the uncertainties of both and of the rate; 0 if these explain all.
    pub unexplained_deviation_ns: f64,
}

/// Returns the most precise comparison `[before, timer, after]`: the one with the shortest distance
/// between its outer reads. `None` without comparisons.
pub fn tightest(comparisons: Vec<[i64; 3]>) -> Option<[i64; 3]> {
    comparisons
        .into_iter()
        .min_by_key(|[before, _, after]| after.wrapping_sub(*before))
}

/// Estimates the rate of a counter from paired readings `[counter, clock, counter]`, in ticks;
/// `clock_ns` is the length of a tick of the clock in nanoseconds. The counter at the moment of the
/// clock read is known to within half the distance of the outer reads. The result is the median of
/// the slopes between readings half the campaign apart, because a single interrupted reading then
/// has no effect. `None` unless counter and clock moved forward between two readings.
pub fn rate_from_paired_readings(readings: &[[i64; 3]], clock_ns: f64) -> Option<Rate> {
    let readings = Reading::from_ticks(readings, 1.0, clock_ns);
    let half = readings
        .len()
        .div_ceil(2)
        .min(readings.len().checked_sub(1)?);
    let slopes: Vec<Slope> = readings
        .iter()
        .zip(&readings[half..])
        .filter_map(|(first, last)| first.slope_to(last, 0.0))
        .filter(|slope| slope.rate > 0.0)
        .collect();
    let Slope { rate, uncertainty } = Slope::median(&slopes)?;
    let offset = |reading: &Reading| reading.clock - reading.time * rate;
    // A line passes all readings if no reading requires a higher offset than another allows.
    let (highest, lowest) = readings.iter().fold(
        (f64::NEG_INFINITY, f64::INFINITY),
        |(highest, lowest), reading| {
            let around = 2.0 * (reading.error * rate + uncertainty * reading.clock.abs());
            let offset = offset(reading);
            (highest.max(offset - around), lowest.min(offset + around))
        },
    );
    Some(Rate {
        ns_per_tick: rate,
        uncertainty,
        unexplained_deviation_ns: (highest - lowest).max(0.0),
    })
}

/// Decides which clock moved if a counter deviates from the kernel's clock, and returns the rate of
/// the counter. `by_clock` is its rate by the kernel's clock, `by_third` its rate by a clock that no
/// time service adjusts, and `length_ns` the time between the first and the last reading in
/// nanoseconds. `steady` says whether the kernel is known not to have adjusted its clock.
///
/// If the counter agrees with the third clock, the kernel's clock was adjusted, and the third clock
/// gives the rate. If it deviates from both, or from a steady clock, the counter moved. Otherwise
/// this is not known: the deviation makes the rate uncertain but proves nothing.
pub fn settle_deviation(
    by_clock: Rate,
    by_third: Option<Rate>,
    steady: bool,
    length_ns: f64,
) -> Rate {
    let deviation_ns = by_clock.unexplained_deviation_ns;
    match by_third {
        _ if deviation_ns == 0.0 => by_clock,
        Some(third) => Rate {
            unexplained_deviation_ns: deviation_ns.min(third.unexplained_deviation_ns),
            ..if third.unexplained_deviation_ns == 0.0 {
                third
            } else {
                by_clock
            }
        },
        None if steady => by_clock,
        None => Rate {
            uncertainty: by_clock.uncertainty + (deviation_ns / length_ns.max(1.0)).max(MAX_SLEW),
            unexplained_deviation_ns: 0.0,
            ..by_clock
        },
    }
}

/// Returns the length of a tick of a timer in nanoseconds, and its relative uncertainty. A timer
/// that declares no unit is compared with the reference over the whole campaign, because the rate
/// from a few milliseconds of one process is sensitive to a late reading. `None` if the length is
/// unknown.
pub fn tick(trace: &Trace) -> Option<(f64, f64)> {
    /// The largest relative difference between the rate over the campaign and the rate within
    /// processes. A larger difference means that the timer stopped or jumped between paired
    /// readings. *Judgement*: a late reading changes the rate by some thousand ppm, a counter that
    /// stops with its thread by half.
    const MAX_RATE_DIFFERENCE: f64 = 0.02;
    let process_rate = trace.ns_per_tick?;
    let over_campaign = || {
        // Ticks of the timer in a tick of the reference.
        let rate = rate_from_paired_readings(&trace.evidence.sparse_comparisons, 1.0)?;
        let ns = trace.reference.ns_per_tick / rate.ns_per_tick;
        let steady = rate.unexplained_deviation_ns == 0.0
            && (ns / process_rate - 1.0).abs() < MAX_RATE_DIFFERENCE;
        steady.then_some((ns, rate.uncertainty + trace.reference.rate_uncertainty))
    };
    let tick_and_uncertainty = if trace.declared {
        None
    } else {
        over_campaign()
    };
    Some(tick_and_uncertainty.unwrap_or((process_rate, trace.ns_per_tick_uncertainty)))
}

/// Returns the length of a unit of work in ticks: the slope between the groups with the least and
/// the most work. `None` unless the intervals grow with the work.
pub fn ticks_per_work(groups: &[Differences]) -> Option<f64> {
    let least = groups.iter().min_by_key(|group| group.work)?;
    let most = groups.iter().max_by_key(|group| group.work)?;
    let growth = lower_quartile(most)? - lower_quartile(least)?;
    let work = (most.work - least.work) as f64;
    (growth > 0.0 && work > 0.0).then(|| growth / work)
}

/// Returns the lower quartile of the intervals, because on a busy machine most long intervals are
/// interrupted, and an interruption only lengthens them. `None` without intervals.
fn lower_quartile(group: &Differences) -> Option<f64> {
    quantile(
        &sorted(group.deltas.iter().map(|&delta| delta as f64)),
        0.25,
    )
}

/// Nanoseconds in a tick of a timer that moved by `timer` ticks while a clock with `clock_ns`
/// nanoseconds per tick moved by `clock` ticks. `None` unless both moved forward.
pub fn ns_per_tick(timer: i64, clock: i64, clock_ns: f64) -> Option<f64> {
    /// The shortest possible tick in nanoseconds: no readable counter has 1000 ticks in a
    /// nanosecond, so a smaller value is due to a jump. *Default*: moves no figure.
    const MIN_TICK_NS: f64 = 1e-3;
    let ns = clock as f64 * clock_ns / timer as f64;
    (timer > 0 && clock > 0 && ns >= MIN_TICK_NS).then_some(ns)
}

/// Returns the median of `rates`, the lengths of a tick in nanoseconds that the processes found,
/// and its relative uncertainty: the distance to the farther end of the 95 % interval, or 0 for a
/// single process. `None` without rates.
pub fn tick_over_processes(rates: &[f64]) -> Option<(f64, f64)> {
    let ns = median(rates)?;
    let interval = mean_over_processes(rates).filter(Estimate::is_bounded);
    Some((
        ns,
        interval.map_or(0.0, |interval| {
            (interval.high - ns).max(ns - interval.low) / ns
        }),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Evidence, Reference};

    /// Paired readings of a counter with ticks of 0.5 ns, 0.7 s apart; the clock is read at a
    /// random time between the two reads of the counter.
    fn readings() -> Vec<[i64; 3]> {
        (0..9_i64)
            .map(|turn| {
                let (before, wide) = (1_400_000_000 * turn + 17, 300 + 40 * (turn % 3));
                [
                    before,
                    (before + wide * (1 + turn % 4) / 5) / 2,
                    before + wide,
                ]
            })
            .collect()
    }

    #[test]
    fn rate_lies_within_its_uncertainty() {
        let rate = rate_from_paired_readings(&readings(), 1.0).unwrap();
        let off = (rate.ns_per_tick / 0.5 - 1.0).abs();
        assert!(
            off <= rate.uncertainty && rate.uncertainty < 1e-7,
            "{rate:?}"
        );
        assert_eq!(rate.unexplained_deviation_ns, 0.0);
        let with_coarser_ticks = rate_from_paired_readings(&readings(), 10.0).unwrap();
        assert!((with_coarser_ticks.ns_per_tick / rate.ns_per_tick - 10.0).abs() < 1e-9);
    }

    /// Of one reading the end is late, of all but two the beginning early.
    #[test]
    fn interrupted_readings_change_nothing() {
        let (mut one, mut most) = (readings(), readings());
        one[3][2] += 6_000_000;
        for reading in &mut most[2..] {
            reading[0] -= 4_000;
        }
        for all in [one, most] {
            let rate = rate_from_paired_readings(&all, 1.0).unwrap();
            assert!((rate.ns_per_tick / 0.5 - 1.0).abs() < 1e-6, "{rate:?}");
            assert_eq!(rate.unexplained_deviation_ns, 0.0);
        }
    }

    #[test]
    fn halted_counter_exceeds_uncertainty() {
        let mut all = readings();
        for reading in &mut all[5..] {
            reading[0] -= 40_000_000;
            reading[2] -= 40_000_000;
        }
        let rate = rate_from_paired_readings(&all, 1.0).unwrap();
        assert!(rate.unexplained_deviation_ns > 1e6, "{rate:?}");
    }

    /// One of two clocks moved by 40 ms halfway. The clocks are a counter, the kernel's clock, and a
    /// third clock, if there is one.
    #[test]
    fn third_clock_decides_which_moved() {
        let rate = |counter_moved: bool, clock_moved: bool| {
            let mut all = readings();
            for reading in &mut all[5..] {
                reading[0] -= if counter_moved { 80_000_000 } else { 0 };
                reading[2] -= if counter_moved { 80_000_000 } else { 0 };
                reading[1] += if clock_moved { 40_000_000 } else { 0 };
            }
            rate_from_paired_readings(&all, 1.0).expect("the clocks move")
        };
        let (steady, moved) = (rate(false, false), rate(false, true));
        let settled = |found, third, is_steady| settle_deviation(found, third, is_steady, 1e9);
        // The kernel's clock moved; the third; the kernel's, which is known to be steady.
        assert_eq!(settled(moved, Some(steady), false), steady);
        assert_eq!(settled(steady, Some(moved), false), steady);
        assert_eq!(settled(moved, None, true), moved);
        let counter = rate(true, false);
        let found = settled(counter, Some(counter), false);
        assert!(found.unexplained_deviation_ns > 1e6, "the counter moved");
        let unknown = settled(moved, None, false);
        assert_eq!(unknown.unexplained_deviation_ns, 0.0, "nothing is proven");
        assert!(unknown.uncertainty > moved.uncertainty, "{unknown:?}");
    }

    #[test]
    fn one_reading_has_no_rate() {
        assert_eq!(rate_from_paired_readings(&[], 1.0), None);
        assert_eq!(rate_from_paired_readings(&readings()[..1], 1.0), None);
        assert!(rate_from_paired_readings(&readings()[..2], 1.0).is_some());
    }

    /// A counter with ticks of 0.5 ns and a reference with ticks of 2 ns; the processes found
    /// 0.5005 ns.
    fn trace(sparse_comparisons: Vec<[i64; 3]>) -> Trace {
        let evidence = Evidence {
            sparse_comparisons,
            ..Evidence::default()
        };
        let reference = Reference {
            ns_per_tick: 2.0,
            rate_uncertainty: 1e-9,
            ..Reference::default()
        };
        let (ns_per_tick, ns_per_tick_uncertainty) = (Some(0.5005), 1e-4);
        Trace {
            ns_per_tick,
            ns_per_tick_uncertainty,
            reference,
            evidence,
            ..Trace::default()
        }
    }

    /// Comparisons of that counter with that reference, 0.7 s apart.
    fn comparisons() -> Vec<[i64; 3]> {
        (0..9_i64)
            .map(|turn| 350_000_000 * turn)
            .map(|at| [at, 4 * (at + 20), at + 40])
            .collect()
    }

    #[test]
    fn tick_uses_the_whole_campaign() {
        let (ns, uncertainty) = tick(&trace(comparisons())).expect("the tick is known");
        assert!(
            (ns / 0.5 - 1.0).abs() <= uncertainty && uncertainty < 1e-6,
            "{ns} {uncertainty}"
        );
        // The declared unit is used.
        let declared = Trace {
            declared: true,
            ..trace(comparisons())
        };
        assert_eq!(tick(&declared), Some((0.5005, 1e-4)));
    }

    #[test]
    fn jumping_counter_uses_process_rates() {
        let mut jumped = comparisons();
        jumped[5..]
            .iter_mut()
            .for_each(|reading| reading[1] += 10_000_000);
        let mut stopped = comparisons();
        stopped.iter_mut().for_each(|reading| reading[1] /= 2);
        for changed in [jumped, stopped, Vec::new()] {
            assert_eq!(tick(&trace(changed)), Some((0.5005, 1e-4)));
        }
    }
}
