//! Computes means, quantiles and confidence intervals. The interval of a result combines the
//! variation between processes and the systematic uncertainties in quadrature.

pub mod hypotheses;
pub mod phasors;
pub mod quantiles;

use std::borrow::Borrow;

use statrs::distribution::{ContinuousCDF, Normal};

use crate::model::Estimate;
use hypotheses::critical_value;

/// Numbers, or references to them.
pub trait Numbers: IntoIterator<Item: Borrow<f64>> {}

impl<T: IntoIterator<Item: Borrow<f64>>> Numbers for T {}

fn floats(values: impl Numbers) -> impl Iterator<Item = f64> {
    values.into_iter().map(|value| *value.borrow())
}

/// Returns the values in ascending order. NaN does not occur: all inputs are integers or quotients
/// of positive numbers.
pub fn sorted(values: impl Numbers) -> Vec<f64> {
    let mut sorted: Vec<f64> = floats(values).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The quantile of a sorted slice, interpolated linearly between neighbours; `None` if the slice is
/// empty.
pub fn quantile(sorted: &[f64], probability: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = probability.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = position.ceil() as usize;
    Some(sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64))
}

/// The median; `None` without values.
pub fn median(values: impl Numbers) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

/// The median with the 5th and the 95th percentile; `None` without values.
pub fn median_with_percentiles(values: &[f64]) -> Option<Estimate> {
    let sorted = sorted(values);
    let at = |share| quantile(&sorted, share);
    Some(Estimate {
        value: at(0.5)?,
        low: at(0.05)?,
        high: at(0.95)?,
    })
}

/// The interval of the median with this confidence. `ranked` are the sorted samples. The
/// ends are the samples of two ranks, found from a binomial distribution: each sample is below the
/// true median with probability 1/2, whatever the distribution of the samples is. `None` if there
/// are too few samples for this confidence.
pub fn median_interval(ranked: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let count = ranked.len();
    // For each rank: the logarithm of the probability that exactly `rank` samples are below the
    // median (the probability itself may be too small for a float), and the probability that at
    // most `rank` samples are. `lower_rank` is the last rank for which the latter is small enough.
    let (mut log_probability, mut cumulative, mut lower_rank) =
        (-(count as f64) * std::f64::consts::LN_2, 0.0_f64, None);
    for rank in 0..count / 2 {
        cumulative += log_probability.exp();
        if cumulative > (1.0 - confidence) / 2.0 {
            break;
        }
        lower_rank = Some(rank);
        log_probability += ((count - rank) as f64).ln() - ((rank + 1) as f64).ln();
    }
    lower_rank.map(|rank| (ranked[rank], ranked[count - 1 - rank]))
}

/// The arithmetic mean; `None` without values.
pub fn mean(values: impl Numbers) -> Option<f64> {
    let add = |(sum, count): (f64, f64), value| (sum + value, count + 1.0);
    let (sum, count) = floats(values).fold((0.0, 0.0), add);
    (count > 0.0).then(|| sum / count)
}

/// The midmean: the mean of the middle half. Unlike the median it averages quantisation; unlike the
/// mean it is robust to interruptions if fewer than a quarter of the values are affected.
pub fn midmean(values: impl Numbers) -> Option<f64> {
    midmean_without_highest(values, 0.0)
}

/// The midmean of all values except the highest, which are left out up to the share `highest_share`
/// of all values.
pub fn midmean_without_highest(values: impl Numbers, highest_share: f64) -> Option<f64> {
    let sorted = without_highest(values, highest_share);
    let cut = sorted.len() / 4;
    mean(&sorted[cut..sorted.len() - cut])
}

/// The values in ascending order, without the highest, whose share `highest_share` is limited to 90
/// %.
fn without_highest(values: impl Numbers, highest_share: f64) -> Vec<f64> {
    let mut sorted = sorted(values);
    let count = sorted.len();
    sorted.truncate(count - (highest_share.clamp(0.0, 0.9) * count as f64).round() as usize);
    sorted
}

/// The mean of all values except the highest, which are left out up to the share `highest_share` of
/// all values. Unlike the midmean, it averages quantisation even if the steps are as large as the
/// variation of the values.
pub fn mean_without_highest(values: impl Numbers, highest_share: f64) -> Option<f64> {
    mean(without_highest(values, highest_share))
}

/// The number of standard deviations on either side of the mean that includes the share
/// `confidence` of a normal distribution: 1.960 for 0.95. The confidence is limited to the range
/// from 0 to 1 - 1e-9.
pub fn normal_quantile(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + confidence.clamp(0.0, 1.0 - 1e-9) / 2.0)
}

/// The mean square of the distances from the mean; `None` without values.
pub fn variance(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    mean(values.iter().map(|value| (value - centre).powi(2)))
}

/// The sample standard deviation; `None` with fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// The confidence of all intervals. *Definition*: convention.
pub const CONFIDENCE: f64 = 0.95;
/// Standard deviations on either side of the mean that include 95 % of a normal distribution.
/// *Chance*: the normal distribution.
pub const Z: f64 = 1.96;

/// Differences of more standard deviations than this are not attributed to chance. *Chance*: 0.3 % of
/// a normal distribution lie beyond.
pub const SIGNIFICANT_DEVIATIONS: f64 = 3.0;
/// The ratio of the standard deviation of a normal distribution to its median absolute deviation.
/// *Computed*.
pub const DEVIATION_PER_MEDIAN: f64 = 1.4826;

/// The midmean of one value for each process, with a 95 % confidence interval by Student's t. The
/// midmean is used because processes often form two or three groups, for example by the address of
/// their code, and a median jumps between groups. If a few processes are outliers, midmean and mean
/// differ, and the interval includes the interval around each of the two. The interval of a single
/// process is unbounded. `None` without values.
pub fn mean_over_processes(values: impl Numbers) -> Option<Estimate> {
    let values: Vec<f64> = floats(values).collect();
    let (value, centre, count) = (midmean(&values)?, mean(&values)?, values.len());
    let ends = standard_deviation(&values).map(|deviation| {
        let half = critical_value(1.0 - CONFIDENCE, (count - 1) as f64) * deviation
            / (count as f64).sqrt();
        (centre.min(value) - half, centre.max(value) + half)
    });
    Some(Estimate::with_ends(value, ends))
}

impl Estimate {
    /// Widens the interval by systematic errors common to all processes, in quadrature. Each of
    /// `alternatives` is the value that the result has with one of these errors.
    pub fn widened(self, alternatives: impl Numbers) -> Self {
        let shifts = floats(alternatives).map(|other| other - self.value);
        let (mut down, mut up) = (
            (self.value - self.low).powi(2),
            (self.high - self.value).powi(2),
        );
        for shift in shifts.filter(|shift| shift.is_finite()) {
            let side = if shift < 0.0 { &mut down } else { &mut up };
            *side += shift * shift;
        }
        Self {
            low: self.value - down.sqrt(),
            high: self.value + up.sqrt(),
            ..self
        }
    }

    /// Widens the interval by a systematic error in either direction, in quadrature.
    pub fn widened_by(self, error: f64) -> Self {
        self.widened([self.value - error, self.value + error])
    }

    /// Extends the interval to include an interval of the same width around each of `others`, the
    /// results of other explanations: only one explanation is true, and all are equally uncertain.
    pub fn covering_alternatives(self, others: impl Numbers) -> Self {
        let (below, above) = (self.value - self.low, self.high - self.value);
        let others = floats(others).filter(|other| other.is_finite());
        others.fold(self, |union, other| Self {
            low: union.low.min(other - below),
            high: union.high.max(other + above),
            ..union
        })
    }

    /// Widens the interval of a share by the error of counting it in `samples` samples (E. B.
    /// Wilson, JASA 22, 1927). Even if the share among the samples is 0 or 1, the true share may
    /// differ.
    pub fn with_counting_error(self, samples: f64) -> Self {
        let (share, z) = (self.value.clamp(0.0, 1.0), Z * Z / samples.max(1.0));
        let centre = (share + z / 2.0) / (1.0 + z);
        let half = (share * (1.0 - share) * z + z * z / 4.0).sqrt() / (1.0 + z);
        Self {
            low: self.low.min(centre - half),
            high: self.high.max(centre + half),
            ..self
        }
    }

    /// Replaces a negative value that is no larger than the error of a reading by 0: it is no
    /// evidence of a negative one.
    pub fn unless_chance(self, error: f64) -> Self {
        match self.value < -error {
            true => self,
            false => Self {
                value: self.value.max(0.0),
                high: self.high.max(0.0),
                ..self
            },
        }
    }

    /// Limits the value and its interval to the range from `least` to `most`; infinite ends stay.
    pub fn within(self, least: f64, most: f64) -> Self {
        let limit = |value: f64| value.clamp(least, most);
        let limit_end = |end: f64| if end.is_finite() { limit(end) } else { end };
        Self {
            value: limit(self.value),
            low: limit_end(self.low),
            high: limit_end(self.high),
        }
    }
}

/// The costs of processes that form two groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regimes {
    /// Mean of the processes with lower cost.
    pub low: f64,
    /// Mean of the processes with higher cost.
    pub high: f64,
    /// The number of processes with lower and with higher cost.
    pub processes: [usize; 2],
}

/// Separates the values of processes into two groups. `None` unless the gap between the groups is
/// clearly wider than either group.
pub fn find_regimes(values: &[f64]) -> Option<Regimes> {
    /// The least ratio of the gap to the wider group. *Judgement*: halved or doubled, it changes
    /// only the widths of intervals.
    const MIN_GAP_RATIO: f64 = 1.5;
    /// The least width of the gap, relative to the value; smaller gaps are within the usual
    /// variation between processes. *Seen*.
    const MIN_RELATIVE_GAP: f64 = 0.02;
    /// The least number of processes in the smaller group: a single process may have been
    /// disturbed. *Judgement*.
    const MIN_GROUP_PROCESSES: usize = 2;
    let sorted = sorted(values);
    let gap = |at: &usize| sorted[*at] - sorted[*at - 1];
    let at = (MIN_GROUP_PROCESSES..(sorted.len() + 1).saturating_sub(MIN_GROUP_PROCESSES))
        .max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let (below, above) = sorted.split_at(at);
    let width = |group: &[f64]| group[group.len() - 1] - group[0];
    let (low, high) = (mean(below)?, mean(above)?);
    let are_separate = gap(&at) > MIN_GAP_RATIO * width(below).max(width(above))
        && gap(&at) > MIN_RELATIVE_GAP * low.abs();
    are_separate.then_some(Regimes {
        low,
        high,
        processes: [below.len(), above.len()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_tables() {
        for (confidence, quantile) in [
            (0.5, 0.674_490),
            (0.95, 1.959_964),
            (0.99, 2.575_829),
            (0.999, 3.290_527),
        ] {
            let found = normal_quantile(confidence);
            assert!(
                (found - quantile).abs() < 1e-5,
                "{confidence}: {found}, not {quantile}"
            );
        }
        assert!(normal_quantile(2.0).is_finite() && normal_quantile(-1.0) < 1e-6);
    }

    #[test]
    fn deviations_need_two_values() {
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(standard_deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
    }

    #[test]
    fn one_process_has_no_interval() {
        let one = mean_over_processes([5.0]).unwrap();
        assert!(one.value == 5.0 && !one.is_bounded());
        assert!(!one.widened([4.0]).is_bounded() && !one.within(0.0, 9.0).is_bounded());
    }

    #[test]
    fn uncertainties_widen_in_quadrature() {
        let known = Estimate {
            value: 10.0,
            low: 7.0,
            high: 13.0,
        };
        assert_eq!(known.widened([6.0]), Estimate { low: 5.0, ..known });
        assert_eq!(
            known.widened([10.0, 14.0]),
            Estimate {
                high: 15.0,
                ..known
            }
        );
    }

    #[test]
    fn other_explanations_are_as_uncertain() {
        let known = Estimate {
            value: 10.0,
            low: 9.0,
            high: 12.0,
        };
        assert_eq!(
            known.covering_alternatives([6.0, 10.5, f64::NAN]),
            Estimate {
                low: 5.0,
                high: 12.5,
                ..known
            }
        );
        assert_eq!(known.covering_alternatives([0.0; 0]), known);
    }

    #[test]
    fn unobserved_share_stays_possible() {
        let all = Estimate::exact(1.0)
            .with_counting_error(10_000.0)
            .within(0.0, 1.0);
        assert!(
            all.high == 1.0 && all.low > 0.999 && all.low < 0.9998,
            "{all:?}"
        );
    }

    #[test]
    fn separates_two_groups_from_one() {
        assert_eq!(
            find_regimes(&[100.0, 115.2, 100.4, 114.8, 100.2]).map(|found| found.processes),
            Some([3, 2])
        );
        assert_eq!(
            find_regimes(&[100.0, 100.3, 100.4, 114.8, 100.2]),
            None,
            "only one process was disturbed"
        );
        assert_eq!(find_regimes(&[100.0, 101.0, 102.5, 103.0, 104.1]), None);
        assert_eq!(find_regimes(&[1.0]), None);
        assert_eq!(find_regimes(&[]), None);
    }

    #[test]
    fn median_intervals_match_tables() {
        let ranks =
            |count: u32| median_interval(&(1..=count).map(f64::from).collect::<Vec<_>>(), 0.95);
        assert_eq!((ranks(0), ranks(5)), (None, None));
        // Source: Conover, Practical Nonparametric Statistics, table of the binomial distribution.
        assert_eq!(
            [6, 10, 20, 100].map(|count| ranks(count).unwrap()),
            [(1.0, 6.0), (2.0, 9.0), (6.0, 15.0), (40.0, 61.0)]
        );
        let many = ranks(100_000).unwrap();
        assert!(
            (many.0 - (50_000.0 - 1.96 * 316.2 / 2.0)).abs() < 3.0,
            "{many:?}"
        );
    }
}
