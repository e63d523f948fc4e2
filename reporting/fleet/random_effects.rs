//! The random-effects model: each node has an effect of its own, which scatters around that of the fleet, and each is known with an
//! error of its own. METHODOLOGY.md has the formulas with their sources.

use serde::Serialize;

use crate::analysis::statistics::{CONFIDENCE, student_quantile};

/// What is known of one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// What was found.
    pub effect: f64,
    /// The variance of its error.
    pub variance: f64,
    /// The degrees of freedom that this variance is known with.
    pub degrees: f64,
}

/// What is known of the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pooled {
    /// The mean effect.
    pub effect: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// Its standard error.
    #[serde(skip)]
    pub error: f64,
    /// Standard deviation of the effects of nodes, the errors taken off.
    pub between: f64,
    /// How many nodes it rests on.
    pub nodes: usize,
}

/// The least variance of an error: no clock is known to more than nine digits, and no node outweighs all others by being certain.
/// *Numerical*: two equal figures without width would outweigh all others.
const LEAST_VARIANCE: f64 = 1e-18;
/// Steps of the iteration, which takes some six where it converges at all.
/// *Numerical*.
const STEPS: u32 = 100;
/// It has converged where it moves by less than this share of the variance.
/// *Numerical*.
const SETTLED: f64 = 1e-10;

/// What nodes have in common, with the interval of Hartung, Knapp, Sidik and Jonkman around it; nothing of less than two.
#[must_use]
pub fn pooled(observed: &[Observed]) -> Option<Pooled> {
    let nodes = observed.len();
    if nodes < 2 || observed.iter().any(|node| !(node.effect + node.variance).is_finite()) {
        return None;
    }
    let between = between_variance(observed);
    let Moments { weights, mean, squares } = Moments::of(observed, between);
    // Nodes that agree better than their errors allow do so by chance (Knapp and Hartung, 2003).
    let excess = (squares / (nodes - 1) as f64).max(1.0);
    let error = (excess / weights).sqrt();
    let half = student_quantile(CONFIDENCE, nodes - 1) * error;
    let (low, high) = (mean - half, mean + half);
    // Effects beyond all clocks have squares beyond all numbers.
    let known = (low + high + between).is_finite();
    known.then(|| Pooled { effect: mean, low, high, error, between: between.sqrt(), nodes })
}

/// The variance between nodes by restricted maximum likelihood, by Fisher's scoring from DerSimonian and Laird's estimate on; that
/// where the scoring does not settle.
fn between_variance(observed: &[Observed]) -> f64 {
    let start = dersimonian_laird(observed);
    let mut variance = start;
    for _ in 0..STEPS {
        let (score, information) = score(observed, variance);
        let next = (variance + score / information).max(0.0);
        if !next.is_finite() {
            return start;
        }
        let least = variance.max(LEAST_VARIANCE);
        if (next - variance).abs() <= SETTLED * least {
            return next;
        }
        variance = next;
    }
    start
}

/// The derivative of the restricted likelihood by the variance, and what is expected of the second one, both twice.
fn score(observed: &[Observed], variance: f64) -> (f64, f64) {
    let mean = Moments::of(observed, variance).mean;
    let (mut first, mut second, mut third, mut squares) = (0.0, 0.0, 0.0, 0.0);
    for node in observed {
        let weight = weight(node, variance);
        first += weight;
        second += weight * weight;
        third += weight * weight * weight;
        squares += (weight * (node.effect - mean)).powi(2);
    }
    let ratio = second / first;
    (squares - (first - ratio), second - 2.0 * third / first + ratio * ratio)
}

/// The moment estimate of the variance between nodes (DerSimonian and Laird, 1986).
fn dersimonian_laird(observed: &[Observed]) -> f64 {
    let Moments { weights, squares, .. } = Moments::of(observed, 0.0);
    let second: f64 = observed.iter().map(|node| weight(node, 0.0).powi(2)).sum();
    let freedom = observed.len() as f64 - 1.0;
    ((squares - freedom) / (weights - second / weights)).max(0.0)
}

fn weight(node: &Observed, between: f64) -> f64 {
    1.0 / (node.variance.max(LEAST_VARIANCE) + between)
}

/// What a variance between nodes makes of the observations.
struct Moments {
    /// The sum of all weights.
    weights: f64,
    /// The weighted mean.
    mean: f64,
    /// The weighted sum of squared deviations from it.
    squares: f64,
}

impl Moments {
    fn of(observed: &[Observed], between: f64) -> Self {
        let weights: f64 = observed.iter().map(|node| weight(node, between)).sum();
        let mean = observed.iter().map(|node| weight(node, between) * node.effect).sum::<f64>() / weights;
        let squares = observed.iter().map(|node| weight(node, between) * (node.effect - mean).powi(2)).sum();
        Self { weights, mean, squares }
    }
}

/// `new` less `old` where these are other nodes: the difference of two fleets, with Welch's degrees of freedom.
#[must_use]
pub fn difference(old: &Pooled, new: &Pooled) -> Option<Pooled> {
    let part = |pooled: &Pooled| (pooled.error.powi(2), (pooled.nodes - 1) as f64);
    let ((old_square, old_degrees), (new_square, new_degrees)) = (part(old), part(new));
    let variance = old_square + new_square;
    let degrees = variance.powi(2) / (old_square.powi(2) / old_degrees + new_square.powi(2) / new_degrees);
    let error = variance.sqrt();
    // Whole ones below, which is wider.
    let half = student_quantile(CONFIDENCE, degrees.max(1.0) as usize) * error;
    let effect = new.effect - old.effect;
    let (low, high) = (effect - half, effect + half);
    let between = old.between.hypot(new.between);
    let known = (effect + half).is_finite();
    known.then_some(Pooled { effect, low, high, error, between, nodes: old.nodes + new.nodes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thirteen trials of the BCG vaccine: with tuberculosis and without, of the vaccinated and of the others (Colditz et al., JAMA 271,
    /// 1994, 698-702; `dat.bcg` of the R package metafor).
    const BCG: [[f64; 4]; 13] = [
        [4.0, 119.0, 11.0, 128.0],
        [6.0, 300.0, 29.0, 274.0],
        [3.0, 228.0, 11.0, 209.0],
        [62.0, 13536.0, 248.0, 12619.0],
        [33.0, 5036.0, 47.0, 5761.0],
        [180.0, 1361.0, 372.0, 1079.0],
        [8.0, 2537.0, 10.0, 619.0],
        [505.0, 87886.0, 499.0, 87892.0],
        [29.0, 7470.0, 45.0, 7232.0],
        [17.0, 1699.0, 65.0, 1600.0],
        [186.0, 50448.0, 141.0, 27197.0],
        [5.0, 2493.0, 3.0, 2338.0],
        [27.0, 16886.0, 29.0, 17825.0],
    ];

    /// Logarithms of relative risks, and their variances.
    fn bcg() -> Vec<Observed> {
        let of = |[a, b, c, d]: [f64; 4]| Observed {
            effect: (a / (a + b) / (c / (c + d))).ln(),
            variance: 1.0 / a - 1.0 / (a + b) + 1.0 / c - 1.0 / (c + d),
            degrees: f64::INFINITY,
        };
        BCG.into_iter().map(of).collect()
    }

    fn close(found: f64, published: f64) {
        assert!((found - published).abs() < 5.1e-5, "{found}, not {published}");
    }

    /// As Viechtbauer, Journal of Statistical Software 36(3), 2010, and the manual of metafor print them.
    #[test]
    fn published_results_of_the_bcg_trials() {
        let trials = bcg();
        let equal = Moments::of(&trials, 0.0);
        close(equal.mean, -0.4303);
        close(equal.squares, 152.2330);
        let start = dersimonian_laird(&trials);
        close(start, 0.3088);
        close(Moments::of(&trials, start).mean, -0.7141);
        close(between_variance(&trials), 0.3132);
        let pooled = pooled(&trials).unwrap();
        close(pooled.effect, -0.7145);
        close(pooled.between, 0.5597);
        // With test="knha".
        close(pooled.error, 0.1808);
        close(pooled.low, -1.1084);
        close(pooled.high, -0.3206);
    }

    #[test]
    fn nodes_of_equal_errors_are_averaged() {
        // Then REML is exact: the variance of the effects less that of the errors.
        let effects = [1.0, 2.0, 4.0, 5.0];
        let nodes = effects.map(|effect| Observed { effect, variance: 0.5, degrees: 8.0 });
        let pooled = pooled(&nodes).unwrap();
        assert!((pooled.effect - 3.0).abs() < 1e-12);
        assert!((pooled.between.powi(2) - (10.0 / 3.0 - 0.5)).abs() < 1e-9, "{pooled:?}");
        // Student's interval of the plain mean.
        let half = 3.182_446_305 * (10.0_f64 / 3.0 / 4.0).sqrt();
        assert!((pooled.high - 3.0 - half).abs() < 1e-6, "{pooled:?}");
    }

    #[test]
    fn nodes_that_agree_by_chance_are_known_to_their_errors() {
        let nodes = [0.0; 5].map(|effect| Observed { effect, variance: 1.0, degrees: 8.0 });
        let pooled = pooled(&nodes).unwrap();
        assert_eq!(pooled.between, 0.0);
        assert!((pooled.error - 0.2_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn what_is_nothing_is_told_so() {
        let of = |effect: f64, variance: f64| Observed { effect, variance, degrees: 8.0 };
        assert_eq!(pooled(&[]), None);
        assert_eq!(pooled(&[of(1.0, 1.0)]), None);
        assert_eq!(pooled(&[of(1.0, f64::INFINITY), of(1.0, 1.0)]), None);
        assert_eq!(pooled(&[of(f64::NAN, 1.0), of(1.0, 1.0)]), None);
        let certain = pooled(&[of(1.0, 0.0), of(1.0, 0.0), of(1.0, 4.0)]).unwrap();
        assert!((certain.effect - 1.0).abs() < 1e-9 && certain.high.is_finite(), "{certain:?}");
        let apart = pooled(&[of(-1e300, 0.0), of(1e300, 0.0)]);
        assert!(apart.is_none_or(|apart| apart.effect.is_finite()), "{apart:?}");
    }

    #[test]
    fn a_difference_of_two_fleets_has_both_errors() {
        let fleet = |effect: f64| Pooled { effect, low: 0.0, high: 0.0, error: 0.3, between: 0.0, nodes: 11 };
        let found = difference(&fleet(1.0), &fleet(3.0)).unwrap();
        // Equal errors: twice as many degrees of freedom, 2.086 for 20.
        assert!((found.high - 2.0 - 2.085_963 * 0.3 * 2_f64.sqrt()).abs() < 1e-5, "{found:?}");
        assert_eq!((found.effect, found.nodes), (2.0, 22));
    }
}
