//! Ranks the rows of a report: clocks by Quality, sleep primitives by lateness and CPU time.
//!
//! The rank of a clock is one more than the number of clocks that are clearly better, judged pair by
//! pair. A sleep primitive is Pareto-optimal if no other sleep primitive is better in both lateness
//! and CPU time.

use crate::fields::{Kind, Row, rows};
use crate::model::{
    Cycles, Hertz, Interval, Lateness, Nanos, Report, State, Status, TimerRow, USUAL_WAIT_NS,
    is_better_wait, value_of,
};
use crate::quality::quality;
use crate::statistics::mean_over_processes;
use crate::text::numbers::NOTHING;

/// Formats a rank for people; `–` if there is none.
#[must_use]
pub fn written_rank(rank: Option<usize>) -> String {
    rank.map_or_else(|| NOTHING.to_owned(), |rank| rank.to_string())
}

/// The rank of each row among those of its processor, the CPU or a device: one more than the number of
/// rows that are clearly better, and at least the rank of the row above it in the order of Quality.
/// `hertz` is the frequency of the CPU, from which the
/// Quality of single processes follows. A Quality of 0 is a verdict, and shares its rank only with
/// other Qualities of 0. Rows that are not `ok` or have no Quality have no rank.
#[must_use]
pub fn ranks(rows: &[&TimerRow], hertz: Option<f64>) -> Vec<Option<usize>> {
    let mut ranked: Vec<(usize, Ranked)> = rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| Some((at, Ranked::new(row, hertz)?)))
        .collect();
    ranked.sort_by(|(_, a), (_, b)| b.quality.total_cmp(&a.quality));
    let mut ranks = vec![None; rows.len()];
    for (place, (at, row)) in ranked.iter().enumerate() {
        let above = ranked[..place].iter();
        let above = above.filter(|(_, other)| other.row.device_name() == row.row.device_name());
        let least = above.clone().filter_map(|(at, _)| ranks[*at]).max();
        let better = above.filter(|(_, other)| other.is_clearly_better_than(row));
        ranks[*at] = Some((better.count() + 1).max(least.unwrap_or(1)));
    }
    ranks
}

/// The Quality of a row while it is compared with others.
struct Ranked<'a> {
    row: &'a TimerRow,
    quality: f64,
    /// The Qualities of its processes in each [`State`], by which it is compared; that of the row
    /// where they are not known.
    compared: [Interval; 3],
}

impl<'a> Ranked<'a> {
    fn new(row: &'a TimerRow, hertz: Option<f64>) -> Option<Self> {
        let quality = row.quality.filter(|quality| quality.value.is_finite());
        let quality = quality.filter(|_| row.status == Status::Ok)?;
        Some(Self {
            row,
            quality: quality.value,
            compared: State::ALL
                .map(|state| between_processes(row, state, hertz).unwrap_or(quality)),
        })
    }

    /// Whether the difference exceeds the uncertainties, added in quadrature, of processes whose cores
    /// were in the same state. That of `other` counts at most as much as the own one, so that an
    /// uncertain row ranks by its value. Without intervals the values decide.
    fn is_clearly_better_than(&self, other: &Self) -> bool {
        let state = State::common([&[self.row], &[other.row]]).unwrap_or(State::Undisturbed);
        let [own, others] = [self, other].map(|ranked| ranked.compared[state as usize]);
        let difference = own.value - others.value;
        let below = |it: Interval| it.ends().map_or(f64::INFINITY, |(low, _)| it.value - low);
        let above = |it: Interval| it.ends().map_or(f64::INFINITY, |(_, high)| high - it.value);
        let (own, others) = (below(own), above(others));
        let uncertainty = match own.min(others).is_finite() {
            true => own.hypot(own.min(others)),
            false => 0.0,
        };
        let is_better = self.quality > other.quality;
        is_better && (other.quality == 0.0 || difference > uncertainty)
    }
}

/// The Quality over the processes whose core was in this state. It lacks the uncertainties that
/// all processes share, because the compared clocks share most of them too. `None` if the figures of
/// fewer than two processes are known.
fn between_processes(row: &TimerRow, state: State, hertz: Option<f64>) -> Option<Interval> {
    let hertz = row.cycles_hz(hertz);
    let cycles = |ns: f64| Some(Nanos(ns).cycles(Hertz(hertz?)));
    let resolution: Cycles = cycles(value_of(row.resolution_ns)?)?;
    let processes = row.processes_in(state);
    let qualities: Vec<f64> = processes
        .iter()
        .filter_map(|one| quality(resolution, cycles(one.cost_ns?)?, one.spread?))
        .collect();
    mean_over_processes(qualities).filter(Interval::is_bounded)
}

/// Reads a quantile of lateness.
type Quantile = fn(&Lateness) -> Option<Interval>;

/// The quantiles of lateness by which waits are ranked, the highest first.
const QUANTILES: [Quantile; 3] = [|late| late.p99_ns, |late| late.p90_ns, |late| late.p50_ns];

/// The sleep primitives of a report at one length, ranked by lateness.
pub(super) struct RankedWaits<'a> {
    /// The length in nanoseconds.
    pub request_ns: u64,
    /// Pareto-optimal rows first, then the others, each sorted by lateness; the flag marks
    /// Pareto-optimal rows.
    pub rows: Vec<(Row<'a>, bool)>,
}

impl<'a> RankedWaits<'a> {
    /// Ranks all rows with results, at the usual length or the length nearest to it. `None` if
    /// there are no such rows.
    pub fn rank(report: &'a Report) -> Option<Self> {
        let measured = usual_waits(report);
        let request_ns = measured.iter().find_map(Row::request_ns)?;
        let count = |quantile: &Quantile| {
            let late = measured.iter().filter_map(|row| quantile(row.lateness()?));
            late.count()
        };
        // The highest quantile that most rows have.
        let [.., median] = QUANTILES;
        let quantile = QUANTILES
            .into_iter()
            .find(|quantile| 2 * count(quantile) > count(&median));
        let quantile = quantile.unwrap_or(median);
        let late = |row: &Row| value_of(row.lateness().and_then(quantile));
        // The two values of a comparison. Returning early is as inaccurate as returning late.
        let lateness_and_cpu = |row: &Row| Some([late(row)?.abs(), row.lateness()?.cpu_ns?.value]);
        let cpu = |row: &Row| row.conditions().map(|conditions| conditions.cpu);
        let is_optimal = |row: &Row| {
            let rivals = measured.iter().filter(|other| cpu(other) == cpu(row));
            lateness_and_cpu(row).is_some_and(|own| {
                !rivals
                    .filter_map(lateness_and_cpu)
                    .any(|other| is_better_wait(other, own))
            })
        };
        let mut rows: Vec<(Row, bool)> =
            measured.iter().map(|row| (*row, is_optimal(row))).collect();
        let key = |row: &Row| late(row).unwrap_or(f64::INFINITY);
        rows.sort_by(|(a, a_optimal), (b, b_optimal)| {
            b_optimal.cmp(a_optimal).then(key(a).total_cmp(&key(b)))
        });
        Some(Self { request_ns, rows })
    }
}

/// The sleep primitives with results, at the usual length or the length nearest to it.
fn usual_waits(report: &Report) -> Vec<Row<'_>> {
    let all: Vec<Row> = rows(report, Kind::Waits)
        .into_iter()
        .filter(Row::has_figures)
        .collect();
    let lengths: Vec<Row> = all.iter().flat_map(|row| row.by_length()).collect();
    let latenesses = lengths.iter().filter_map(|row| row.lateness());
    let Some(usual) = Lateness::nearest(latenesses, USUAL_WAIT_NS) else {
        return Vec::new();
    };
    let has_usual_length = |row: Row<'_>| row.request_ns() == Some(usual.request_ns);
    all.into_iter()
        .map(|row| {
            row.by_length()
                .into_iter()
                .find(|row| has_usual_length(*row))
                .unwrap_or(row)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ranks;
    use crate::model::{Interval, ProcessFigures, Status, TimerRow, value_of};

    fn timer(quality: f64, half: Option<f64>) -> TimerRow {
        let mut row = TimerRow::unmeasured("t", "", "native", Status::Ok);
        let ends = half.map(|half| (quality - half, quality + half));
        row.quality = Some(Interval::with_ends(quality, ends));
        row
    }

    fn ranks_of(rows: &[TimerRow]) -> Vec<Option<usize>> {
        ranks(&rows.iter().collect::<Vec<_>>(), Some(3e9))
    }

    #[test]
    fn rank_counts_clearly_better_clocks() {
        let close = [0.484, 0.4839, 0.4838].map(|quality| timer(quality, Some(0.0002)));
        let far = timer(0.46, Some(0.0001));
        let rows = [close.as_slice(), &[far]].concat();
        assert_eq!(ranks_of(&rows), [Some(1), Some(1), Some(1), Some(4)]);
        // The third is clearly worse than the first only.
        let chain = [0.50, 0.49, 0.48].map(|quality| timer(quality, Some(0.01)));
        assert_eq!(ranks_of(&chain), [Some(1), Some(1), Some(2)]);
    }

    #[test]
    fn uncertain_clock_lifts_no_others() {
        let certain = [0.5, 0.4, 0.3].map(|quality| timer(quality, Some(0.01)));
        for quality in [0.6, 0.45, 0.35, 0.2] {
            let rows = [certain.as_slice(), &[timer(quality, Some(quality))]].concat();
            let mut expected = [Some(1), Some(2), Some(3), Some(1)];
            let above = certain
                .iter()
                .filter(|row| value_of(row.quality) > Some(quality));
            expected[3] = Some(above.count() + 1);
            assert_eq!(ranks_of(&rows), expected, "{quality}");
        }
    }

    #[test]
    fn processes_count_in_place_of_interval() {
        let processes = |cost_ns: f64| {
            let spreads = [0.95, 0.96, 0.97, 0.98].into_iter();
            let figures = spreads.map(|spread| ProcessFigures {
                cost_ns: Some(cost_ns),
                spread: Some(spread),
                ..ProcessFigures::default()
            });
            TimerRow {
                resolution_ns: Some(Interval::unbounded(1.0)),
                processes: figures.collect(),
                ..timer(0.5 - cost_ns / 1e4, Some(0.4))
            }
        };
        let rows = [processes(20.0), processes(21.0), processes(40.0)];
        assert_eq!(ranks_of(&rows), [Some(1), Some(1), Some(3)]);
        assert_eq!(ranks(&rows.each_ref(), None), [Some(1); 3]);
    }

    #[test]
    fn values_count_without_intervals() {
        let bare = [0.5, 0.5, 0.4999].map(|quality| timer(quality, None));
        assert_eq!(ranks_of(&bare), [Some(1), Some(1), Some(3)]);
        let mixed = [(0.5, Some(0.1)), (0.49, None), (0.3, Some(0.1))];
        let mixed = mixed.map(|(quality, half)| timer(quality, half));
        assert_eq!(ranks_of(&mixed), [Some(1), Some(1), Some(2)]);
    }

    #[test]
    fn disqualified_timers_rank_apart() {
        let wide = timer(0.1, Some(0.1));
        let disqualified = [timer(0.0, Some(0.0)), timer(0.0, None)];
        let mut unresolved = timer(0.3, Some(0.1));
        unresolved.status = Status::Unresolved;
        let bare = TimerRow::unmeasured("t", "", "native", Status::Ok);
        let rows = [&[unresolved, wide], disqualified.as_slice(), &[bare]].concat();
        assert_eq!(ranks_of(&rows), [None, Some(1), Some(2), Some(2), None]);
        assert_eq!(ranks_of(&[timer(f64::NAN, None)]), [None]);
        assert_eq!(ranks_of(&[]), []);
    }

    proptest! {
        #[test]
        fn better_timer_never_ranks_behind(
            timers in prop::collection::vec((0.0..1.0_f64, prop::option::of(0.0..0.2_f64)), 0..20),
        ) {
            let rows: Vec<TimerRow> = timers.iter().map(|&(quality, half)| timer(quality, half)).collect();
            let ranks = ranks_of(&rows);
            for (one, rank) in rows.iter().zip(&ranks) {
                let better = rows.iter().zip(&ranks).filter(|(other, _)| value_of(other.quality) > value_of(one.quality));
                let better: Vec<Option<usize>> = better.map(|(_, rank)| *rank).collect();
                prop_assert!(better.iter().all(|other| other <= rank));
                prop_assert!(rank.is_some_and(|rank| rank <= better.len() + 1));
            }
        }
    }
}
