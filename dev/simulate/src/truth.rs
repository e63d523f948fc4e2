//! Computes the true figures of a simulated timer from its model and its machine.

use simulated::{Jitter, Model, Outliers, Processes, Surroundings, Updates};
use statrs::distribution::{ContinuousCDF, Gamma, Normal};

/// The true figures of a simulated timer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Resolution in nanoseconds; `None` if the timer has no fixed step, so that no resolution may
    /// be reported.
    pub resolution: Option<f64>,
    /// Median cost of a single call in nanoseconds at the nominal core frequency, averaged over
    /// processes: of an isolated call, from when all before it has completed to when its value is
    /// there. If calls overlap with the read of the reference before them, the difference of one
    /// call to none is less by the overlap; what each further call adds to a row is the cost. Turns
    /// of loops are no part of it; those of the empty loop tell them to a cycle or less precisely.
    pub cost: f64,
    /// Share of calls within ±1 resolution of the median, averaged over processes.
    pub spread: Option<f64>,
    /// Whether the timer never steps backwards.
    pub monotonic: bool,
}

/// The number of quantiles of the distribution of processes over which figures are averaged.
const PROCESS_QUANTILES: u32 = 33;

/// How much slower than alone the core of a process was, with the time for which it was.
pub type Slowdowns = Vec<(f64, f64)>;

impl Truth {
    /// Computes the true figures of a timer on a machine whose core is not shared.
    #[must_use]
    pub fn of_timer(timer: &Model, surroundings: &Surroundings) -> Self {
        Self::of_processes(timer, surroundings, &[vec![(1.0, 1.0)]])
    }

    /// Computes the true figures of a timer, averaged over processes whose cores were slower than
    /// alone as in `slowdowns`.
    #[must_use]
    pub fn of_processes(
        timer: &Model,
        surroundings: &Surroundings,
        slowdowns: &[Slowdowns],
    ) -> Self {
        // A raw counter is converted with the reference; a timer with a declared unit keeps its
        // own, which is off by its drift.
        let ns_per_reference_ns = if timer.declared {
            1.0
        } else {
            1.0 + timer.drift * 1e-6
        };
        let resolution = matches!(timer.updates, Updates::Regular | Updates::Moved(_))
            .then_some(timer.step.max(timer.unit * timer.multiple as f64) / ns_per_reference_ns);
        let processes = factors(surroundings.processes);
        let mean = |figure: &dyn Fn(&Costs) -> f64| {
            let each = slowdowns.iter().flat_map(|slowdowns| {
                processes.iter().map(move |&(factor, share)| {
                    let costs = Costs {
                        timer,
                        surroundings,
                        factor,
                        slowdowns,
                    };
                    share * figure(&costs)
                })
            });
            each.sum::<f64>() / slowdowns.len() as f64
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

/// Returns the factors by which processes differ in cost, each with the share of processes.
fn factors(processes: Processes) -> Vec<(f64, f64)> {
    match processes {
        Processes::Identical => vec![(1.0, 1.0)],
        Processes::Regimes { factor, share } => vec![(1.0, 1.0 - share), (factor, share)],
        Processes::Factor(deviation) => {
            let normal = Normal::standard();
            let probability = |number| (f64::from(number) + 0.5) / f64::from(PROCESS_QUANTILES);
            let share = 1.0 / f64::from(PROCESS_QUANTILES);
            (0..PROCESS_QUANTILES)
                .map(|number| {
                    (
                        (deviation * normal.inverse_cdf(probability(number))).exp(),
                        share,
                    )
                })
                .collect()
        }
    }
}

/// The distribution of the cost of single calls in one process.
struct Costs<'a> {
    timer: &'a Model,
    surroundings: &'a Surroundings,
    factor: f64,
    slowdowns: &'a [(f64, f64)],
}

impl Costs<'_> {
    /// Returns the share of calls that cost at most `cost` nanoseconds.
    fn cumulative(&self, cost: f64) -> f64 {
        let all: f64 = self.slowdowns.iter().map(|(_, ns)| ns).sum();
        let shares = self.slowdowns.iter().map(|(slowdown, ns)| {
            let factor = self.factor * slowdown;
            let above = cost / factor - self.timer.base;
            // Jitter is left out for interrupted calls, because interruptions are much longer.
            let beyond = cost - factor * self.timer.base;
            let (interrupted, late) = self.interrupted(beyond);
            ns / all * ((1.0 - interrupted) * self.cumulative_jitter(above) + late)
        });
        shares.sum()
    }

    /// Returns the share of calls that cost less than `cost` nanoseconds. It differs from
    /// [`cumulative`](Self::cumulative) only if calls cost exactly `cost`.
    fn below(&self, cost: f64) -> f64 {
        self.cumulative(cost - 1e-9 * self.timer.base.max(1.0))
    }

    /// Returns the share of calls that are interrupted, and the share of calls that are interrupted
    /// for less than `beyond` nanoseconds.
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

    /// Returns the share of uninterrupted calls whose jitter is at most `above` nanoseconds.
    fn cumulative_jitter(&self, above: f64) -> f64 {
        match self.timer.jitter {
            Jitter::Normal(deviation) => {
                Normal::new(0.0, deviation).map_or(0.0, |jitter| jitter.cdf(above))
            }
            _ if above < 0.0 => 0.0,
            Jitter::None => 1.0,
            Jitter::Exponential(mean) => 1.0 - (-above / mean).exp(),
            Jitter::Gamma { shape, scale } => {
                Gamma::new(shape, 1.0 / scale).map_or(0.0, |jitter| jitter.cdf(above))
            }
            Jitter::Bimodal { extra, share } => {
                if above < extra {
                    1.0 - share
                } else {
                    1.0
                }
            }
            Jitter::InTurn { extra, every } => {
                if above < extra {
                    1.0 - 1.0 / f64::from(every)
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
        let (mut low, mut high) = (0.0, 2.0 * self.factor * self.timer.base + 1e7);
        for _ in 0..90 {
            let middle = f64::midpoint(low, high);
            match self.cumulative(middle) < probability {
                true => low = middle,
                false => high = middle,
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_matches_hand_computation() {
        let timer = Model::regular("", 10.0, 1.0, 100.0);
        let truth_of = |jitter, processes| {
            let surroundings = Surroundings {
                processes,
                ..Surroundings::default()
            };
            let timer = Model {
                jitter,
                ..timer.clone()
            };
            let truth = Truth::of_timer(&timer, &surroundings);
            (truth.cost, truth.spread.unwrap())
        };
        let near = |(cost, spread): (f64, f64), expected: (f64, f64)| {
            let off = ((cost / expected.0 - 1.0).abs(), (spread - expected.1).abs());
            let is_near = off.0 < 1e-3 && off.1 < 1e-3;
            assert!(is_near, "{cost} and {spread}, not {expected:?}");
        };
        let (shape, scale, extra) = (1.0, 20.0, 30.0);
        let three = |share| Jitter::Trimodal {
            extra: [5.0, extra],
            share,
        };
        let pareto = Jitter::Pareto { shape: 2.0, scale };
        for (jitter, expected) in [
            (Jitter::None, (100.0, 1.0)),
            (Jitter::Exponential(scale), (113.863, 0.5211)),
            (Jitter::Gamma { shape, scale }, (113.863, 0.5211)),
            (Jitter::Normal(10.0), (100.0, 0.6827)),
            (Jitter::Bimodal { extra, share: 0.3 }, (100.0, 0.7)),
            (three([0.3, 0.15]), (100.0, 0.85)),
            (three([0.15, 0.55]), (130.0, 0.55)),
            (pareto, (108.284, 0.7271)),
        ] {
            near(truth_of(jitter, Processes::Identical), expected);
        }
        let (factor, share) = (1.2, 0.5);
        for (processes, expected) in [
            (Processes::Regimes { factor, share }, (110.0, 1.0)),
            (Processes::Factor(0.03), (100.0, 1.0)),
        ] {
            near(truth_of(Jitter::None, processes), expected);
        }
        // One process alone; one that is next to a neighbour for most of its time.
        let slowdowns = [vec![(1.0, 5.0)], vec![(1.0, 1.0), (1.3, 3.0)]];
        let next_to_neighbour = Truth::of_processes(&timer, &Surroundings::default(), &slowdowns);
        near(
            (next_to_neighbour.cost, next_to_neighbour.spread.unwrap()),
            (115.0, 0.875),
        );
    }
}
