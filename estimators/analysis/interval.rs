//! The interval of a figure: what processes differ by, and what no process can tell, in quadrature.

use crate::analysis::statistics::{mean, midmean, standard_deviation, student_quantile};
use crate::model::Estimate;

/// The confidence of all intervals.
/// *Definition*: convention.
pub const CONFIDENCE: f64 = 0.95;
/// Standard deviations on either side that hold so much of a normal law.
/// *Chance*: the normal law.
pub const Z: f64 = 1.96;

/// The 95 % interval for what fresh processes agree on: Student's t around the mean of one figure a process. The
/// value is the mean of their middle half: processes tend to come in two or three kinds, as where their code came to lie, and a
/// median jumps from one kind to the other. Where few processes are far from the rest the two means differ, and the interval holds
/// what lies around either. A single process has no interval: its ends are infinite.
#[must_use]
pub fn over_processes(figures: &[f64]) -> Option<Estimate> {
    let value = midmean(figures)?;
    let centre = mean(figures)?;
    let count = figures.len();
    let Some(deviation) = standard_deviation(figures) else {
        return Some(Estimate { value, low: f64::NEG_INFINITY, high: f64::INFINITY, samples: count });
    };
    let half = student_quantile(CONFIDENCE, count - 1) * deviation / (count as f64).sqrt();
    Some(Estimate { value, low: centre.min(value) - half, high: centre.max(value) + half, samples: count })
}

impl Estimate {
    /// Whether it has an interval.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// With uncertainties that all processes share, in quadrature: each says where the figure may lie instead.
    #[must_use]
    pub fn widened(self, instead: &[f64]) -> Self {
        let shifts = || instead.iter().map(|other| other - self.value).filter(|shift| shift.is_finite());
        let down: f64 = shifts().filter(|shift| *shift < 0.0).map(|shift| shift * shift).sum();
        let up: f64 = shifts().filter(|shift| *shift > 0.0).map(|shift| shift * shift).sum();
        Self {
            low: self.value - ((self.value - self.low).powi(2) + down).sqrt(),
            high: self.value + ((self.high - self.value).powi(2) + up).sqrt(),
            ..self
        }
    }

    /// Around any of `others` as around its own value: of several explanations only one is true, and each is as uncertain.
    #[must_use]
    pub fn or_around(self, others: &[f64]) -> Self {
        let (below, above) = (self.value - self.low, self.high - self.value);
        let others = others.iter().filter(|other| other.is_finite());
        others.fold(self, |whole, other| Self {
            low: whole.low.min(other - below),
            high: whole.high.max(other + above),
            ..whole
        })
    }

    /// With what is known of a share counted in `samples`: Wilson, JASA 22, 1927. Where all that was counted lay within, what
    /// was not seen may still be there.
    #[must_use]
    pub fn counted(self, samples: f64) -> Self {
        let (share, z) = (self.value.clamp(0.0, 1.0), Z * Z / samples.max(1.0));
        let centre = (share + z / 2.0) / (1.0 + z);
        let half = (share * (1.0 - share) * z + z * z / 4.0).sqrt() / (1.0 + z);
        Self { low: self.low.min(centre - half), high: self.high.max(centre + half), ..self }
    }

    /// Kept between `least` and `most`.
    #[must_use]
    pub fn within(self, least: f64, most: f64) -> Self {
        let keep = |figure: f64| figure.clamp(least, most);
        let end = |end: f64| if end.is_finite() { keep(end) } else { end };
        Self { value: keep(self.value), low: end(self.low), high: end(self.high), ..self }
    }
}

/// Two groups of processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regimes {
    /// What those that cost less cost, on average.
    pub low: f64,
    /// What the others cost.
    pub high: f64,
    /// How many processes are in the group that costs less, and in the one that costs more.
    pub processes: [usize; 2],
}

/// Whether figures of processes lie in two groups with nothing between: a gap that is wider than either group.
#[must_use]
pub fn regimes(figures: &[f64]) -> Option<Regimes> {
    /// The gap is at least this many times as wide as the wider group.
    /// *Judgement*.
    const WIDER: f64 = 1.5;
    /// And this share of the figure: less is what processes differ by.
    /// *Seen*.
    const LEAST: f64 = 0.02;
    /// Processes in the smaller group: one alone was disturbed.
    /// *Judgement*.
    const FEWEST: usize = 2;
    let sorted = crate::analysis::statistics::sorted(figures);
    let gap = |at: &usize| sorted[*at] - sorted[*at - 1];
    let at = (FEWEST..(sorted.len() + 1).saturating_sub(FEWEST)).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let (below, above) = sorted.split_at(at);
    let width = |group: &[f64]| group[group.len() - 1] - group[0];
    let (low, high) = (mean(below)?, mean(above)?);
    let wide = gap(&at) > WIDER * width(below).max(width(above)) && gap(&at) > LEAST * low.abs();
    wide.then_some(Regimes { low, high, processes: [below.len(), above.len()] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_has_no_interval() {
        let one = over_processes(&[5.0]).unwrap();
        assert!(one.value == 5.0 && !one.is_bounded());
        assert!(!one.widened(&[4.0]).is_bounded() && !one.within(0.0, 9.0).is_bounded());
        assert_eq!(over_processes(&[]), None);
    }

    #[test]
    fn uncertainties_widen_in_quadrature_towards_where_they_point() {
        let known = Estimate { value: 10.0, low: 7.0, high: 13.0, samples: 5 };
        assert_eq!(known.widened(&[6.0]), Estimate { low: 5.0, ..known });
        assert_eq!(known.widened(&[10.0, 14.0]), Estimate { high: 15.0, ..known });
    }

    #[test]
    fn other_explanations_are_as_uncertain() {
        let known = Estimate { value: 10.0, low: 9.0, high: 12.0, samples: 5 };
        assert_eq!(known.or_around(&[6.0, 10.5, f64::NAN]), Estimate { low: 5.0, high: 12.5, ..known });
        assert_eq!(known.or_around(&[]), known);
    }

    #[test]
    fn what_was_not_seen_may_be_there() {
        let all = Estimate::exact(1.0).counted(10_000.0).within(0.0, 1.0);
        assert!(all.high == 1.0 && all.low > 0.999 && all.low < 0.9998, "{all:?}");
    }

    #[test]
    fn two_groups_are_told_from_one() {
        assert_eq!(regimes(&[100.0, 115.2, 100.4, 114.8, 100.2]).map(|two| two.processes), Some([3, 2]));
        assert_eq!(regimes(&[100.0, 100.3, 100.4, 114.8, 100.2]), None, "one alone was disturbed");
        assert_eq!(regimes(&[100.0, 101.0, 102.5, 103.0, 104.1]), None);
        assert_eq!(regimes(&[1.0]), None);
        assert_eq!(regimes(&[]), None);
    }
}
