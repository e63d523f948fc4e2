//! The figures of a clock that one process measured, and the reasons for those that are unknown.

use std::fmt;

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
        let resolution = resolution(&profile);
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
            Some(frequency) => profile_quality(&profile, frequency)
                .ok_or_else(|| because("resolution, cost or spread is unknown")),
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
