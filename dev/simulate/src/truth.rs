//! What is true of a simulated timer, computed from its model and from what surrounds it alone.

use simulated::{Jitter, Model, Outliers, Processes, Surroundings, Updates};
use statrs::distribution::{ContinuousCDF, Gamma, Normal};

use timermeter::statistics::bisect;

/// What is true of a simulated timer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Resolution in nanoseconds; `None` when there is none and no number may be given.
    pub resolution: Option<f64>,
    /// Median cost of a single invocation in nanoseconds at the nominal frequency of the core: its
    /// mean over processes.
    pub cost: f64,
    /// Share of invocations within ±1 resolution of the median: its mean over processes.
    pub spread: Option<f64>,
    /// Whether it never steps backwards.
    pub monotonic: bool,
}

/// Processes that a mean over processes is taken from, at equal shares of the law of their factor.
const PROCESSES: u32 = 33;

impl Truth {
    /// Of a timer in its surroundings.
    #[must_use]
    pub fn of_timer(timer: &Model, surroundings: &Surroundings) -> Self {
        // A raw counter is reported in nanoseconds of the reference, a declared unit in its own.
        let own = if timer.declared {
            1.0
        } else {
            1.0 + timer.drift * 1e-6
        };
        let resolution =
            (timer.updates == Updates::Regular).then_some(timer.step.max(timer.unit) / own);
        let processes = factors(surroundings.processes);
        let mean = |figure: &dyn Fn(&Costs) -> f64| {
            let each = processes.iter().map(|&(factor, share)| {
                share
                    * figure(&Costs {
                        timer,
                        surroundings,
                        factor,
                    })
            });
            each.sum::<f64>()
        };
        let spread = resolution.map(|reach| {
            mean(&|costs| {
                let median = costs.quantile(0.5);
                costs.cumulative(median + reach) - costs.below(median - reach)
            })
        });
        Self {
            resolution,
            cost: mean(&|costs| costs.quantile(0.5)),
            spread,
            monotonic: timer.backward.is_none(),
        }
    }
}

/// What calls of a timer take in nanoseconds, each of these as often as the others, the shortest
/// first: without interruptions, in a process whose factor is one.
pub(super) fn calls(timer: &Model) -> Vec<f64> {
    const CALLS: u32 = 500;
    let undisturbed = Model {
        outliers: None,
        ..timer.clone()
    };
    let costs = Costs {
        timer: &undisturbed,
        surroundings: &Surroundings::default(),
        factor: 1.0,
    };
    (0..CALLS)
        .map(|number| costs.quantile((f64::from(number) + 0.5) / f64::from(CALLS)))
        .collect()
}

/// Factors of the cost, with the share of processes that draw them.
pub(super) fn factors(processes: Processes) -> Vec<(f64, f64)> {
    match processes {
        Processes::Identical => vec![(1.0, 1.0)],
        Processes::Regimes { factor, share } => vec![(1.0, 1.0 - share), (factor, share)],
        Processes::Factor(deviation) => {
            let normal = Normal::standard();
            let of = |number| (f64::from(number) + 0.5) / f64::from(PROCESSES);
            let share = 1.0 / f64::from(PROCESSES);
            (0..PROCESSES)
                .map(|number| ((deviation * normal.inverse_cdf(of(number))).exp(), share))
                .collect()
        }
    }
}

/// The costs of single invocations in one process.
struct Costs<'a> {
    timer: &'a Model,
    surroundings: &'a Surroundings,
    factor: f64,
}

impl Costs<'_> {
    /// The share of costs up to this one.
    fn cumulative(&self, cost: f64) -> f64 {
        let above = cost / self.factor - self.timer.base;
        // The length of an interruption dwarfs the jitter, which is left out of the sum.
        let beyond = cost - self.factor * self.timer.base;
        let (interrupted, late) = self.interrupted(beyond);
        (1.0 - interrupted) * self.core(above) + late
    }

    /// The share of costs strictly below, which differs from the cumulative share at the atoms
    /// only.
    fn below(&self, cost: f64) -> f64 {
        self.cumulative(cost - 1e-9 * self.timer.base.max(1.0))
    }

    /// The share of invocations that are interrupted, and of those that are so for less than this
    /// many nanoseconds.
    fn interrupted(&self, beyond: f64) -> (f64, f64) {
        let shorter = |from: f64, longest: f64| {
            ((beyond.max(1.0) / from).ln() / (longest / from).ln()).clamp(0.0, 1.0)
        };
        let by_call = self
            .timer
            .outliers
            .map_or((0.0, 0.0), |Outliers { share, longest }| {
                (share, share * shorter(1e3, longest))
            });
        let by_time = self.surroundings.interruptions.map_or((0.0, 0.0), |which| {
            let share = 1.0 - (-self.factor * self.timer.base / which.every).exp();
            (share, share * shorter(500.0, which.longest))
        });
        (by_call.0 + by_time.0, by_call.1 + by_time.1)
    }

    fn core(&self, above: f64) -> f64 {
        match self.timer.jitter {
            Jitter::Normal(deviation) => {
                Normal::new(0.0, deviation).map_or(0.0, |law| law.cdf(above))
            }
            _ if above < 0.0 => 0.0,
            Jitter::None => 1.0,
            Jitter::Exponential(mean) => 1.0 - (-above / mean).exp(),
            Jitter::Gamma { shape, scale } => {
                Gamma::new(shape, 1.0 / scale).map_or(0.0, |law| law.cdf(above))
            }
            Jitter::Bimodal { extra, share } => {
                if above < extra {
                    1.0 - share
                } else {
                    1.0
                }
            }
            Jitter::Trimodal { extra, share } => {
                let paths = extra.into_iter().zip(share);
                1.0 - paths
                    .filter(|(extra, _)| above < *extra)
                    .map(|(_, share)| share)
                    .sum::<f64>()
            }
            Jitter::Pareto { shape, scale } => 1.0 - (1.0 + above / scale).powf(-shape),
        }
    }

    fn quantile(&self, probability: f64) -> f64 {
        let all = (0.0, self.factor * self.timer.base + 1e7);
        bisect(all, 90, |cost| self.cumulative(cost) < probability).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_matches_hand_computation() {
        let timer = Model::regular("", 10.0, 1.0, 100.0);
        let of = |jitter, processes| {
            let surroundings = Surroundings {
                processes,
                ..Surroundings::default()
            };
            let truth = Truth::of_timer(
                &Model {
                    jitter,
                    ..timer.clone()
                },
                &surroundings,
            );
            (truth.cost, truth.spread.unwrap())
        };
        let near = |(cost, spread): (f64, f64), expected: (f64, f64)| {
            assert!(
                (cost - expected.0).abs() < 1e-3 * expected.0,
                "{cost}, not {}",
                expected.0
            );
            assert!(
                (spread - expected.1).abs() < 1e-3,
                "{spread}, not {}",
                expected.1
            );
        };
        near(of(Jitter::None, Processes::Identical), (100.0, 1.0));
        near(
            of(Jitter::Exponential(20.0), Processes::Identical),
            (100.0 + 20.0 * 2.0_f64.ln(), 0.5211),
        );
        near(
            of(
                Jitter::Gamma {
                    shape: 1.0,
                    scale: 20.0,
                },
                Processes::Identical,
            ),
            (113.863, 0.5211),
        );
        near(
            of(Jitter::Normal(10.0), Processes::Identical),
            (100.0, 0.6827),
        );
        near(
            of(
                Jitter::Bimodal {
                    extra: 30.0,
                    share: 0.3,
                },
                Processes::Identical,
            ),
            (100.0, 0.7),
        );
        let three = |share| {
            of(
                Jitter::Trimodal {
                    extra: [5.0, 30.0],
                    share,
                },
                Processes::Identical,
            )
        };
        near(three([0.3, 0.15]), (100.0, 0.85));
        near(three([0.15, 0.55]), (130.0, 0.55));
        let scale = 20.0;
        near(
            of(Jitter::Pareto { shape: 2.0, scale }, Processes::Identical),
            (108.284, 0.7271),
        );
        near(
            of(
                Jitter::None,
                Processes::Regimes {
                    factor: 1.2,
                    share: 0.5,
                },
            ),
            (110.0, 1.0),
        );
        near(of(Jitter::None, Processes::Factor(0.03)), (100.0, 1.0));
    }
}
