//! The ranking. Timers whose intervals of Quality overlap with that of the best among them share a rank: the figures do not
//! tell which is better.

use crate::model::{Status, TimerRow};

/// A Quality, as far as a ranking needs it.
#[derive(Clone, Copy)]
struct Ranked {
    /// Where it stands in the list that was given.
    at: usize,
    quality: f64,
    interval: Option<(f64, f64)>,
}

/// The rank of each row, from 1: that of the leader of its group where the intervals of both overlap, else its own place by
/// Quality, which leads the next group (1, 1, 1, 4). What has no interval shares its rank with equals only; a Quality of 0,
/// which is a verdict, with others of 0. Rows that are not `ok` or have no Quality have no rank.
#[must_use]
pub fn ranks(rows: &[&TimerRow]) -> Vec<Option<usize>> {
    let mut ranked: Vec<Ranked> =
        rows.iter().enumerate().filter_map(|(at, row)| Ranked::of(at, row)).collect();
    ranked.sort_by(|a, b| b.quality.total_cmp(&a.quality));
    let mut ranks = vec![None; rows.len()];
    let mut leader: Option<(usize, Ranked)> = None;
    for (place, timer) in ranked.into_iter().enumerate() {
        let (rank, best) = match leader {
            Some((rank, best)) if best.shares_with(&timer) => (rank, best),
            _ => (place + 1, timer),
        };
        leader = Some((rank, best));
        ranks[timer.at] = Some(rank);
    }
    ranks
}

impl Ranked {
    fn of(at: usize, row: &TimerRow) -> Option<Self> {
        let quality = row.quality.filter(|quality| quality.is_finite() && row.status == Status::Ok)?;
        let interval = row.quality_low.zip(row.quality_high).filter(|(low, high)| (low + high).is_finite());
        Some(Self { at, quality, interval })
    }

    /// Whether the figures leave open which of the two is better.
    fn shares_with(&self, other: &Self) -> bool {
        if (self.quality > 0.0) != (other.quality > 0.0) {
            return false;
        }
        let overlap = |one: (f64, f64), two: (f64, f64)| one.0 <= two.1 && two.0 <= one.1;
        let both = self.interval.zip(other.interval);
        self.quality == other.quality || both.is_some_and(|(one, two)| overlap(one, two))
    }
}

#[cfg(test)]
mod tests {
    use super::ranks;
    use crate::model::{Status, TimerRow};
    use proptest::prelude::*;

    fn timer(quality: f64, half: Option<f64>) -> TimerRow {
        let mut row = TimerRow::unmeasured("t", "", "native", Status::Ok);
        row.quality = Some(quality);
        (row.quality_low, row.quality_high) =
            (half.map(|half| quality - half), half.map(|half| quality + half));
        row
    }

    fn of(rows: &[TimerRow]) -> Vec<Option<usize>> {
        ranks(&rows.iter().collect::<Vec<_>>())
    }

    #[test]
    fn overlapping_intervals_share_the_rank_of_the_leader() {
        let near = [0.484, 0.4839, 0.4838].map(|quality| timer(quality, Some(0.0001)));
        let far = timer(0.46, Some(0.0001));
        let rows = [near.as_slice(), &[far]].concat();
        assert_eq!(of(&rows), [Some(1), Some(1), Some(1), Some(4)]);
        // The second overlaps with the first, the third with the second only: it leads.
        let chain = [0.50, 0.49, 0.48].map(|quality| timer(quality, Some(0.006)));
        assert_eq!(of(&chain), [Some(1), Some(1), Some(3)]);
    }

    #[test]
    fn without_an_interval_the_value_alone_counts() {
        let bare = [0.5, 0.5, 0.4999].map(|quality| timer(quality, None));
        assert_eq!(of(&bare), [Some(1), Some(1), Some(3)]);
        assert_eq!(
            of(&[timer(0.5, Some(0.1)), timer(0.49, None), timer(0.48, Some(0.1))]),
            [Some(1), Some(2), Some(3)]
        );
    }

    #[test]
    fn what_is_disqualified_or_not_ranked_is_apart() {
        let vague = timer(0.1, Some(0.1));
        let disqualified = [timer(0.0, Some(0.0)), timer(0.0, None)];
        let mut unresolved = timer(0.3, Some(0.1));
        unresolved.status = Status::Unresolved;
        let bare = TimerRow::unmeasured("t", "", "native", Status::Ok);
        let rows = [&[unresolved, vague], disqualified.as_slice(), &[bare]].concat();
        assert_eq!(of(&rows), [None, Some(1), Some(2), Some(2), None]);
        assert_eq!(of(&[timer(f64::NAN, None)]), [None]);
        assert_eq!(of(&[]), []);
    }

    proptest! {
        #[test]
        fn a_better_timer_never_ranks_behind(
            timers in prop::collection::vec((0.0..1.0_f64, prop::option::of(0.0..0.2_f64)), 0..20),
        ) {
            let rows: Vec<TimerRow> = timers.iter().map(|&(quality, half)| timer(quality, half)).collect();
            let ranks = of(&rows);
            for (one, rank) in rows.iter().zip(&ranks) {
                let better = rows.iter().zip(&ranks).filter(|(other, _)| other.quality > one.quality);
                let better: Vec<Option<usize>> = better.map(|(_, rank)| *rank).collect();
                prop_assert!(better.iter().all(|other| other <= rank));
                prop_assert!(rank.is_some_and(|rank| rank <= better.len() + 1));
            }
        }
    }
}
