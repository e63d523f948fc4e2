//! The figures of a clock that one process measured, and the reasons for those that are unknown.

use std::fmt;
use std::ops::RangeInclusive;

use estimators::model::Interval;
use estimators::numbers::{share, time};
use estimators::profile::{Profile, profile};
use estimators::resolution::Resolution;
use estimators::scoring::profile_quality;
use estimators::trace::Trace;

/// How far the cost in one process may be from the mean over processes, as a share. One process
/// cannot know it, so the intervals of cost and Quality include it. *Seen*: two standard deviations
/// of native programs, which differ by 0.4 to 5 %: the addresses of code, stack and pages differ.
pub const PROCESS_VARIATION: f64 = 0.1;

/// A figure with its 95 % interval, or why there is none.
pub type Figure = Result<Interval, Undetermined>;

/// Why a figure is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Undetermined {
    /// The reason.
    pub reason: String,
    /// The upper limit of the figure, if known.
    pub at_most: Option<f64>,
}

/// The figures of a clock.
///
/// One process cannot know how much fresh processes differ. The intervals of cost and Quality
/// include [`PROCESS_VARIATION`] for that; the spread is that of this process. Nor does one process
/// know whether the clock is the same on all CPUs, or keeps its rate for longer: the program
/// timermeter tests that (*trust*).
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// The step in which the value of the clock moves, in nanoseconds.
    pub resolution: Figure,
    /// The median time of one isolated read, in nanoseconds.
    pub cost: Figure,
    /// The share of reads whose time is within one step of the median.
    pub spread: Figure,
    /// Quality by Formula (1) of Kuperberg, Krogmann and Reussner (ICPE 2011), from 0 to 1.
    pub quality: Figure,
}

impl Figures {
    /// Computes the figures from the observations of one process. `frequency` is that of the core,
    /// in hertz, if known.
    pub fn from_trace(trace: &Trace, frequency: Option<Interval>) -> Self {
        let mut profile = profile(trace);
        let resolution = match false_rate(trace, &profile) {
            Some(false_rate) => Err(false_rate),
            None => resolution(&profile),
        };
        if let Some(cost) = &mut profile.cost {
            let costs = [1.0 - PROCESS_VARIATION, 1.0 + PROCESS_VARIATION];
            let costs = costs.map(|factor| factor * cost.value);
            if let Some(spread) = profile.spread {
                let pairs = costs.map(|cost| (cost, spread.value));
                profile.alternatives.extend(pairs);
            }
            *cost = cost.widened(costs).within(0.0, f64::INFINITY);
        }
        let because = |reason: &str| Undetermined {
            reason: reason.into(),
            at_most: None,
        };
        let no_cost = profile.no_cost_reason.unwrap_or("too few calls were timed");
        let backward = profile.backward.steps;
        let quality = match frequency {
            _ if backward > 0 => Err(because(&format!("the clock stepped back {backward} times"))),
            None => Err(because("the frequency of the core is unknown")),
            Some(frequency) => match &resolution {
                Ok(_) => profile_quality(&profile, frequency)
                    .ok_or_else(|| because("the cost or the spread is unknown")),
                Err(_) => Err(because("the resolution is unknown")),
            },
        };
        Self {
            cost: profile.cost.ok_or_else(|| because(no_cost)),
            spread: profile.spread.ok_or_else(|| match &resolution {
                Ok(_) => because(no_cost),
                Err(_) => because("the resolution is unknown"),
            }),
            quality,
            resolution,
        }
    }
}

/// Why the declared length of a tick is false, if it is: the clock would otherwise have moved much
/// further, or less, than the reference.
fn false_rate(trace: &Trace, profile: &Profile) -> Option<Undetermined> {
    /// The ratios that are no error: a clock of CPU time stops while its thread waits. *Judgement*.
    const RATIOS: RangeInclusive<f64> = 0.2..=1.2;
    let comparisons = &trace.evidence.sparse_comparisons;
    let (first, last) = (comparisons.first()?, comparisons.last()?);
    let time_ns = trace.reference.ns(first[0], last[2]);
    let moved_ns = last[1].wrapping_sub(first[1]) as f64 * profile.ns_per_tick?;
    let ratio = moved_ns / time_ns;
    let nearest = ratio.clamp(*RATIOS.start(), *RATIOS.end());
    let is_false = (ratio - nearest).abs() * time_ns > 2.0 * profile.step_at_most_ns()?;
    is_false.then(|| Undetermined {
        reason: format!("it moves {ratio:.2e} times as fast as a clock with the declared tick"),
        at_most: None,
    })
}

fn resolution(profile: &Profile) -> Figure {
    profile.resolution_ns().ok_or_else(|| Undetermined {
        reason: match &profile.resolution {
            Resolution::AtMost { reason, .. } => reason.to_string(),
            Resolution::Unmoved => "the clock did not move".into(),
            Resolution::Resolved { .. } => "the length of its tick could not be found".into(),
        },
        at_most: profile.step_at_most_ns(),
    })
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            ("resolution", &self.resolution, true),
            ("cost", &self.cost, true),
            ("spread", &self.spread, false),
            ("quality", &self.quality, false),
        ];
        for (name, figure, is_time) in rows {
            let write = |number: f64| match is_time {
                true => time(number),
                false => share(Some(number)),
            };
            match figure {
                Ok(Interval { value, low, high }) => {
                    let [value, low, high] = [value, low, high].map(|number| write(*number));
                    writeln!(f, "{name:10}  {value} [{low}, {high}]")?;
                }
                Err(Undetermined { reason, at_most }) => {
                    let limit =
                        at_most.map_or_else(String::new, |most| format!("≤ {}, ", write(most)));
                    writeln!(f, "{name:10}  {limit}unknown: {reason}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::{TickClock, characterise};

    /// A clock that moves in steps of a millisecond, counts `per_step` ticks in each, and declares
    /// this tick.
    struct Coarse {
        origin: Instant,
        per_step: u64,
        ns_per_tick: Option<f64>,
    }

    impl TickClock for Coarse {
        fn ns_per_tick(&self) -> Option<f64> {
            self.ns_per_tick
        }

        fn read(&self) -> u64 {
            self.origin.elapsed().as_millis() as u64 * self.per_step
        }
    }

    fn figures(per_step: u64, ns_per_tick: Option<f64>) -> Figures {
        let origin = Instant::now();
        let clock = Coarse {
            origin,
            per_step,
            ns_per_tick,
        };
        characterise(&clock).expect("the reference is sound")
    }

    #[test]
    fn finds_the_step_of_own_clocks() {
        for (per_step, ns_per_tick) in [(1, Some(1e6)), (1_000_000, Some(1.0)), (1_000, None)] {
            let figures = figures(per_step, ns_per_tick);
            let step = figures.resolution.expect("it has one");
            assert!((step.value / 1e6 - 1.0).abs() < 0.02, "{step:?}");
            let quality = figures.quality.expect("all is known");
            assert!(quality.low > 0.0 && quality.high < 1.0, "{quality:?}");
        }
    }

    /// A tick of a microsecond that is called a nanosecond would make the step a thousandth.
    #[test]
    fn refuses_a_false_tick() {
        for false_ns in [1e3, 1e9] {
            let found = figures(1, Some(false_ns));
            let why = found.resolution.expect_err("the tick is false").reason;
            assert!(why.contains("declared tick"), "{why}");
            assert!(found.quality.is_err() && found.cost.is_ok());
        }
    }

    #[test]
    fn still_clock_has_reasons() {
        struct Still;

        impl TickClock for Still {
            fn ns_per_tick(&self) -> Option<f64> {
                Some(1.0)
            }

            fn read(&self) -> u64 {
                67
            }
        }

        let figures = characterise(&Still).expect("the reference is sound");
        let text = figures.to_string();
        assert!(text.contains("unknown: the clock did not move"), "{text}");
        assert!(figures.cost.is_ok() && figures.quality.is_err(), "{text}");
    }
}
