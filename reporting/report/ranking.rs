//! Ranks the rows of a report: clocks by Quality, sleep primitives by lateness and CPU time.
//!
//! Clocks whose interval of Quality overlaps the interval of the best clock of their group share
//! its rank, because the results do not show which clock is better. A sleep primitive is
//! Pareto-optimal if no other sleep primitive is better in both lateness and CPU time.

use crate::fields::{Kind, Row, rows};
use crate::model::{
    Interval, Lateness, Report, Status, TimerRow, USUAL_WAIT_NS, is_better_wait, value_of,
};
use crate::text::numbers::NOTHING;

/// Formats a rank for people; `–` if there is none.
#[must_use]
pub fn written_rank(rank: Option<usize>) -> String {
    rank.map_or_else(|| NOTHING.to_owned(), |rank| rank.to_string())
}

/// The rank of each row, from 1. A row whose interval overlaps the interval of the leader of its
/// group has the rank of the leader; otherwise it leads the next group, and its rank is its
/// position by Quality (1, 1, 1, 4). A row without an interval shares its rank only with equal
/// rows. A Quality of 0 is a verdict, and shares its rank only with other Qualities of 0. Rows that
/// are not `ok` or have no Quality have no rank.
#[must_use]
pub fn ranks(rows: &[&TimerRow]) -> Vec<Option<usize>> {
    let quality = |at: &usize| {
        let quality = rows[*at]
            .quality
            .filter(|quality| quality.value.is_finite());
        quality.filter(|_| rows[*at].status == Status::Ok)
    };
    let mut ranked: Vec<(usize, Interval)> = (0..rows.len())
        .filter_map(|at| Some((at, quality(&at)?)))
        .collect();
    ranked.sort_by(|(_, a), (_, b)| b.value.total_cmp(&a.value));
    let mut ranks = vec![None; rows.len()];
    let mut leader: Option<(usize, Interval)> = None;
    for (place, (at, quality)) in ranked.into_iter().enumerate() {
        let (rank, best) = match leader {
            Some((rank, best)) if intervals_overlap(best, quality) => (rank, best),
            _ => (place + 1, quality),
        };
        leader = Some((rank, best));
        ranks[at] = Some(rank);
    }
    ranks
}

/// Whether the intervals of two Qualities overlap, so that neither is known to be better.
fn intervals_overlap(one: Interval, other: Interval) -> bool {
    let ends = one.ends().zip(other.ends());
    (one.value > 0.0) == (other.value > 0.0)
        && (one.value == other.value
            || ends.is_some_and(|(one, other)| one.0 <= other.1 && other.0 <= one.1))
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
        // Waits next to a busy thread do not compete with waits on an idle CPU.
        let load_and_cpu = |row: &Row| {
            row.conditions()
                .map(|conditions| (conditions.load, conditions.cpu))
        };
        let is_optimal = |row: &Row| {
            let rivals = measured
                .iter()
                .filter(|other| load_and_cpu(other) == load_and_cpu(row));
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
    use crate::model::{Interval, Status, TimerRow, value_of};

    fn timer(quality: f64, half: Option<f64>) -> TimerRow {
        let mut row = TimerRow::unmeasured("t", "", "native", Status::Ok);
        let ends = half.map(|half| (quality - half, quality + half));
        row.quality = Some(Interval::with_ends(quality, ends));
        row
    }

    fn ranks_of(rows: &[TimerRow]) -> Vec<Option<usize>> {
        ranks(&rows.iter().collect::<Vec<_>>())
    }

    #[test]
    fn overlapping_intervals_share_a_rank() {
        let close = [0.484, 0.4839, 0.4838].map(|quality| timer(quality, Some(0.0001)));
        let far = timer(0.46, Some(0.0001));
        let rows = [close.as_slice(), &[far]].concat();
        assert_eq!(ranks_of(&rows), [Some(1), Some(1), Some(1), Some(4)]);
        // The second overlaps the first; the third overlaps only the second, so it leads a group.
        let chain = [0.50, 0.49, 0.48].map(|quality| timer(quality, Some(0.006)));
        assert_eq!(ranks_of(&chain), [Some(1), Some(1), Some(3)]);
    }

    #[test]
    fn values_count_without_intervals() {
        let bare = [0.5, 0.5, 0.4999].map(|quality| timer(quality, None));
        assert_eq!(ranks_of(&bare), [Some(1), Some(1), Some(3)]);
        assert_eq!(
            ranks_of(&[
                timer(0.5, Some(0.1)),
                timer(0.49, None),
                timer(0.48, Some(0.1))
            ]),
            [Some(1), Some(2), Some(3)]
        );
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
