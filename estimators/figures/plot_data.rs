//! Computes the points and histograms that a report plots for a timer: a summary of the trace that
//! is small enough for every report. No result depends on them.
//!
//! The staircase plots intervals over the work between two reads: it shows whether intervals grow
//! in steps. The histogram of single calls shows which of them are within one resolution of the median;
//! the spread is the share of these.

use crate::cost::singles::MeasuringClock;
use crate::model::{CostHistogram, PlotData, Staircase};
use crate::statistics::{median, midmean};
use crate::trace::{Differences, Observations, Trace};

/// The largest number of bins of a histogram.
const MAX_BINS: usize = 96;
/// The largest number of steps of the timer in a plot; more steps would be too small to see.
const MAX_STEPS: f64 = 12.0;
/// The number of sections that the amounts of work of a staircase are divided into.
const WORK_SECTIONS: usize = 20;
/// The largest number of points in each section.
const POINTS_PER_SECTION: usize = 8;
/// The smallest number of points of a plot; with fewer points there is no plot.
const MIN_POINTS: usize = 8;

/// Returns the data of all plots of a trace; `step` is the step of the timer in ticks, if known.
pub fn plot_data(trace: &Trace, step: Option<f64>) -> PlotData {
    let step = step.filter(|step| step.is_finite() && *step > 0.0);
    PlotData {
        staircase: staircase(trace, step),
        singles: cost_histogram(trace, step),
    }
}

fn staircase(trace: &Trace, step: Option<f64>) -> Option<Staircase> {
    let points = |group: Differences| {
        group
            .deltas
            .into_iter()
            .map(move |delta| (group.work, delta))
    };
    let all: Vec<(u64, i64)> = trace.groups().flat_map(points).collect();
    let lengths = sorted(all.iter().map(|&(_, delta)| delta));
    let (least, most) = (*quantile(&lengths, 0.01)?, *quantile(&lengths, 0.98)?);
    // Half a step above the tenth step, so that an inexact step divides no level.
    let limit_for_few_steps = step.map(|step| least as f64 + (MAX_STEPS - 1.5) * step);
    let below = |limit: f64| -> Vec<(u64, i64)> {
        all.iter()
            .filter(|(_, delta)| *delta as f64 <= limit)
            .copied()
            .collect()
    };
    // The largest 0.5 % of the amounts of work are left out, because outliers would leave most of
    // the plot empty.
    let largest_work = |points: &[(u64, i64)]| {
        quantile(&sorted(points.iter().map(|point| point.0)), 0.995).copied()
    };
    let largest_of_all = largest_work(&all)?;
    // If the cost varies by more than a few steps, few intervals are below `limit_for_few_steps`,
    // and a plot of them would show no steps. Nearly all intervals are then plotted.
    let has_enough_work = |plotted: &Vec<(u64, i64)>| {
        plotted.len() >= 3 * WORK_SECTIONS
            && largest_work(plotted).is_some_and(|largest| largest >= largest_of_all / 5)
    };
    let mut plotted = limit_for_few_steps
        .map(below)
        .filter(has_enough_work)
        .unwrap_or_else(|| below(most as f64));
    let largest = largest_work(&plotted)?;
    plotted.retain(|&(work, _)| work <= largest);
    plotted.sort_unstable();
    let mut kept = points_per_section(&plotted, largest);
    // If most intervals are 0, the sections keep few others, and the plot would hardly show a step.
    // More of the others are added. Some may be kept twice; in the plot they coincide.
    let non_zero: Vec<(u64, i64)> = plotted
        .iter()
        .copied()
        .filter(|(_, delta)| *delta != 0)
        .collect();
    if 2 * non_zero.len() < plotted.len() {
        kept.extend(evenly_spaced(
            &non_zero,
            WORK_SECTIONS * POINTS_PER_SECTION / 4,
        ));
    }
    kept.sort_unstable();
    let ns_per_work = trace.calls_reference().ns_per_work;
    let (work, ticks) = kept.iter().copied().unzip();
    (kept.len() >= MIN_POINTS && ns_per_work.is_finite() && ns_per_work > 0.0).then_some(
        Staircase {
            ns_per_work,
            work,
            ticks,
            intervals: plotted.len() as u64,
        },
    )
}

/// Returns up to [`POINTS_PER_SECTION`] points from each section of the amounts of work, of which
/// the largest is `largest`; `points` are sorted.
fn points_per_section(points: &[(u64, i64)], largest: u64) -> Vec<(u64, i64)> {
    let section =
        |work: u64| (u128::from(work) * WORK_SECTIONS as u128 / (u128::from(largest) + 1)) as usize;
    let mut kept = Vec::new();
    for points in points.chunk_by(|a, b| section(a.0) == section(b.0)) {
        let mut by_length = points.to_vec();
        by_length.sort_unstable_by_key(|&(work, delta)| (delta, work));
        kept.extend(evenly_spaced(&by_length, POINTS_PER_SECTION));
    }
    kept
}

/// Returns at most `count` of the points, with equal numbers of points between them.
fn evenly_spaced<T: Copy>(points: &[T], count: usize) -> impl Iterator<Item = T> {
    let kept = points.len().min(count);
    (0..kept).map(move |at| points[(2 * at + 1) * points.len() / (2 * kept)])
}

/// Returns the number of values in each of `bins` bins of this width, which begin at `first`; and
/// the numbers of values below and above all bins.
fn count_in_bins(values: &[i64], first: i64, width: i64, bins: usize) -> (Vec<u64>, u64, u64) {
    let (mut counts, mut below, mut above) = (vec![0; bins], 0, 0);
    for value in values {
        let bin = (i128::from(*value) - i128::from(first)).div_euclid(i128::from(width));
        match usize::try_from(bin) {
            Err(_) => below += 1,
            Ok(bin) => *counts.get_mut(bin).unwrap_or(&mut above) += 1,
        }
    }
    (counts, below, above)
}

/// `timer_step` is the step of the timer in its ticks, if known.
fn cost_histogram(trace: &Trace, timer_step: Option<f64>) -> Option<CostHistogram> {
    // Single calls are timed by the reference, or by the successive readings of the timer itself if
    // its steps are finer. All ticks and levels below are those of this clock.
    let clock = MeasuringClock::best(trace, timer_step);
    let (step, ns) = (clock.step, clock.ns_per_tick);
    if !(step > 0.0 && step.is_finite() && ns > 0.0 && ns.is_finite()) {
        return None;
    }
    // Successive readings have no reads of the reference around them.
    let mean_bracket =
        |run: &Observations| midmean(run.bracket.deltas.iter().map(|delta| delta as f64));
    let bracket = if clock.self_measured {
        0.0
    } else {
        median(trace.runs.iter().filter_map(mean_bracket))?
    };
    let level = |ticks: i64| (ticks as f64 / step).round().clamp(-1e15, 1e15) as i64;
    let samples = |run: &Observations| {
        clock
            .samples(run)
            .into_iter()
            .map(level)
            .collect::<Vec<_>>()
    };
    let levels = sorted(trace.runs.iter().flat_map(samples));
    let at = |probability: f64| quantile(&levels, probability).copied();
    let (least, middle, high) = (at(0.002)?, at(0.5)?, at(0.95)?);
    // The histogram ends before rare interruptions, which would compress all other values into one
    // bin.
    let most = at(0.99)?.min(middle.saturating_add(6 * (high - middle) + 4));
    let levels_per_bin = (most - least + 1).div_euclid(MAX_BINS as i64) + 1;
    let bins = ((most - least) / levels_per_bin + 1) as usize;
    let nanoseconds = |level: f64| (level * step - bracket) * ns;
    let (counts, below, above) = count_in_bins(&levels, least, levels_per_bin, bins);
    (levels.len() >= MIN_POINTS).then_some(CostHistogram {
        first_ns: nanoseconds(least as f64 - 0.5),
        width_ns: levels_per_bin as f64 * step * ns,
        counts,
        below,
        above,
        own_readings: clock.self_measured,
    })
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values
}

fn quantile<T>(sorted: &[T], probability: f64) -> Option<&T> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((probability * last as f64).round() as usize)
}

#[cfg(test)]
mod tests {
    use super::{MAX_BINS, plot_data};
    use crate::model::PlotData;
    use crate::trace::{Batches, Differences, Observations, Reference, Trace};
    use proptest::prelude::*;

    /// A counter with steps of 25 ticks, a read cost of 40 ticks, and 3 ticks per unit of work.
    fn trace() -> Trace {
        let interval = |work: u64, phase: i64| 25 * ((phase + 40 + 3 * work as i64) / 25);
        let group = |work, deltas: Vec<i64>| Differences {
            work,
            deltas: deltas.into(),
        };
        let varied_work = (0..400_u64).map(|at| {
            let work = at * 7 % 80;
            group(work, vec![interval(work, at as i64 * 11 % 25)])
        });
        let batches = |calls, deltas| Batches {
            calls,
            deltas: Vec::into(deltas),
            ..Batches::default()
        };
        let singles = [[60; 90].as_slice(), &[85; 8], &[9000; 2]].concat();
        let run = Observations {
            intervals: varied_work.chain([group(0, vec![50; 900])]).collect(),
            bracket: batches(0, vec![20; 100]),
            singles: batches(1, singles),
            batches: batches(100, vec![4_020; 50]),
            ..Observations::default()
        };
        let reference = Reference {
            id: "r".into(),
            ns_per_tick: 0.5,
            step: 5.0,
            ns_per_work: 1.5,
            ..Reference::default()
        };
        Trace {
            ns_per_tick: Some(1.0),
            declared: true,
            reference,
            runs: vec![run; 3],
            ..Trace::default()
        }
    }

    #[test]
    fn staircase_climbs_in_steps() {
        let data = plot_data(&trace(), Some(25.0));
        let figure = data.staircase.expect("it was observed");
        let mut ticks = figure.ticks.iter();
        assert!(ticks.all(|ticks| ticks % 25 == 0), "{figure:?}");
        let count = figure.work.len();
        assert!(figure.work.is_sorted() && count == figure.ticks.len());
        assert!((60..=200).contains(&count), "{count}");
        assert!(figure.ticks.last() > figure.ticks.first(), "{figure:?}");
    }

    #[test]
    fn single_costs_exclude_the_bracket() {
        let data = plot_data(&trace(), Some(25.0));
        let histogram = data.singles.expect("it was observed");
        // 60 ticks with a bracket of 20 ticks of 0.5 ns, centred in a bin of 2.5 ns.
        assert_eq!((histogram.first_ns, histogram.width_ns), (18.75, 2.5));
        assert_eq!(
            (histogram.counts[0], histogram.above, histogram.own_readings),
            (270, 6, false)
        );
        assert_eq!(histogram.counts.iter().sum::<u64>(), 294);
    }

    #[test]
    fn empty_trace_has_no_plots() {
        for step in [None, Some(f64::NAN)] {
            assert_eq!(plot_data(&Trace::default(), step), PlotData::default());
        }
    }

    proptest! {
        #[test]
        fn arbitrary_input_never_panics(
            deltas in prop::collection::vec((any::<u64>(), prop_oneof![any::<i64>(), 0..90_i64]), 0..200),
            step in prop_oneof![Just(None), (1e-3..1e18_f64).prop_map(Some)],
        ) {
            let mut trace = trace();
            trace.runs.truncate(1);
            trace.runs[0].singles.deltas = deltas.iter().map(|&(_, delta)| delta).collect();
            trace.runs[0].intervals =
                deltas.into_iter().map(|(work, delta)| Differences { work, deltas: vec![delta].into() }).collect();
            let PlotData { staircase, singles } = plot_data(&trace, step);
            prop_assert!(staircase.is_none_or(|figure| figure.work.len() <= 200));
            prop_assert!(singles.is_none_or(|figure| figure.counts.len() <= MAX_BINS && figure.first_ns.is_finite()));
        }
    }
}
