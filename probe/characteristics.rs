//! The figures of a clock that one process measured, and the reasons for those that are unknown.

use std::fmt;

use estimators::figures::{Figures, figures};
use estimators::model::Estimate;
use estimators::numbers::{NOTHING, time};
use estimators::scoring::profile_quality;
use estimators::trace::Trace;

/// How far the cost in one process may be from the mean over processes, as a share. One process
/// cannot know it, so the intervals of cost and Quality include it. *Seen*: two standard deviations
/// of native programs, which differ by 0.4 to 5 %: the addresses of code, stack and pages differ.
pub const PROCESS_VARIATION: f64 = 0.1;

/// The figures of a clock with their 95 % intervals; `None` if unknown.
///
/// One process cannot know how much fresh processes differ. The intervals of cost and Quality
/// include [`PROCESS_VARIATION`] for that; the spread is that of this process. Nor does one process
/// know whether the clock is the same on all CPUs, or keeps its rate for longer: the program
/// timermeter tests that (*trust*).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Characteristics {
    /// The step in which the value of the clock moves, in nanoseconds.
    pub resolution: Option<Estimate>,
    /// The resolution or, if it is unknown, its upper limit, in nanoseconds.
    pub resolution_at_most: Option<f64>,
    /// The median time of one isolated read, in nanoseconds.
    pub cost: Option<Estimate>,
    /// The share of reads whose time is within one step of the median.
    pub spread: Option<Estimate>,
    /// Quality by Formula (1) of Kuperberg, Krogmann and Reussner (ICPE 2011), from 0 to 1. Unknown
    /// also where the frequency of the core is.
    pub quality: Option<Estimate>,
    /// Why a figure is unknown, or less certain than on a quiet machine.
    pub reason: Option<String>,
}

impl Characteristics {
    /// Computes the figures from the observations of one process. `frequency` is that of the core,
    /// in hertz, if known.
    pub fn from_trace(trace: &Trace, frequency: Option<Estimate>) -> Self {
        let mut figures = figures(trace);
        figures.cost = figures.cost.map(varied);
        let fault = fault(trace, &figures);
        let known = |figure: Option<Estimate>| figure.filter(|_| fault.is_none());
        Self {
            resolution: known(figures.resolution_ns()),
            resolution_at_most: figures.step_at_most_ns(),
            cost: figures.cost,
            spread: known(figures.spread),
            quality: known(frequency.and_then(|hertz| profile_quality(&figures, hertz))),
            reason: fault.or_else(|| figures.unresolved()),
        }
    }

    /// The figures of a thread from which others took the CPU so many times.
    pub(crate) fn beside_others(mut self, interrupted: u64) -> Self {
        /// The most interruptions on a quiet machine. *Judgement*: three a second by its services.
        const QUIET: u64 = 12;
        if interrupted > QUIET {
            self.resolution = self.resolution.map(varied);
            let why = self.reason.map_or(String::new(), |why| format!("; {why}"));
            let busy = format!("busy: other threads took the CPU {interrupted} times{why}");
            self.reason = Some(busy);
        }
        self
    }
}

/// An estimate whose interval includes [`PROCESS_VARIATION`].
fn varied(figure: Estimate) -> Estimate {
    figure
        .widened_by(PROCESS_VARIATION * figure.value)
        .within(0.0, f64::INFINITY)
}

/// What makes the figures wrong: backward steps, or a declared tick by which the clock moves much
/// faster than the reference, or hardly. A clock of CPU time may stand while its thread waits.
fn fault(trace: &Trace, figures: &Figures) -> Option<String> {
    /// The ratios of the rates that are no error. *Judgement*.
    const RATIOS: [f64; 2] = [0.2, 1.2];
    if figures.backward.steps > 0 {
        return Some("it stepped back".into());
    }
    let comparisons = &trace.evidence.sparse_comparisons;
    let (first, last) = (comparisons.first()?, comparisons.last()?);
    let time_ns = trace.reference.ns(first[0], last[2]);
    let ratio = last[1].wrapping_sub(first[1]) as f64 * figures.ns_per_tick? / time_ns;
    let beyond = ratio - ratio.clamp(RATIOS[0], RATIOS[1]);
    (beyond.abs() * time_ns > 2.0 * figures.step_at_most_ns()?)
        .then(|| format!("it moves {ratio:.2e} times as fast as its declared tick says"))
}

impl fmt::Display for Characteristics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            ("resolution", self.resolution, true),
            ("cost", self.cost, true),
            ("spread", self.spread, false),
            ("quality", self.quality, false),
        ];
        for (name, figure, is_time) in rows {
            let write = |number| match is_time {
                true => time(number),
                false => format!("{number:.3}"),
            };
            let ends = figure
                .and_then(|figure| figure.ends())
                .map_or_else(String::new, |(low, high)| {
                    format!(" [{}, {}]", write(low), write(high))
                });
            let value = figure.map_or(NOTHING.into(), |figure| write(figure.value));
            writeln!(f, "{name:12}{value}{ends}")?;
        }
        let mut reason = self.reason.iter();
        reason.try_for_each(|reason| writeln!(f, "reason      {reason}"))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::{TickClock, characterise};

    /// A clock that moves every `step_ns` nanoseconds by `per_step` ticks, and declares this tick.
    struct Coarse {
        step_ns: u64,
        per_step: u64,
        ns_per_tick: Option<f64>,
    }

    impl TickClock for Coarse {
        fn ns_per_tick(&self) -> Option<f64> {
            self.ns_per_tick
        }

        fn read(&self) -> u64 {
            timers::kernel_time().unwrap_or_default() / self.step_ns * self.per_step
        }
    }

    fn figures([step_ns, per_step]: [u64; 2], ns_per_tick: Option<f64>) -> Characteristics {
        let clock = Coarse {
            step_ns,
            per_step,
            ns_per_tick,
        };
        characterise(&clock).unwrap()
    }

    /// A busy machine may hide a step, but not in each of several attempts.
    #[test]
    fn finds_the_step_of_own_clocks() {
        for (steps, ns_per_tick) in [
            ([1_000_000, 1], Some(1e6)),
            ([1_000_000, 1_000_000], Some(1.0)),
            ([10_000, 1_000], None),
        ] {
            let found = || figures(steps, ns_per_tick);
            let resolved = (0..5).map(|_| found()).find(|one| one.resolution.is_some());
            let found = resolved.expect("it has a step");
            let step = found.resolution.expect("it was resolved");
            assert!((step.value / steps[0] as f64 - 1.0).abs() < 0.05, "{found}");
            let quality = found.quality;
            assert!(
                quality.is_none_or(|it| it.value > 0.0 && it.value < 1.0),
                "{found}"
            );
        }
    }

    /// A tick of a millisecond that is called a microsecond would make the step a thousandth.
    #[test]
    fn refuses_a_false_tick() {
        for false_ns in [1e3, 1e9] {
            let found = figures([1_000_000, 1], Some(false_ns));
            assert!(found.to_string().contains("declared tick"), "{found}");
            assert_eq!((found.resolution, found.quality), (None, None));
            assert!(found.cost.is_some(), "{found}");
        }
    }

    #[test]
    fn slow_reads_are_few() {
        struct Slow;

        impl TickClock for Slow {
            fn ns_per_tick(&self) -> Option<f64> {
                None
            }

            fn read(&self) -> u64 {
                timers::pause(Duration::from_millis(1));
                7
            }
        }

        let found = characterise(&Slow).unwrap().to_string();
        assert!(found.contains("a read takes "), "{found}");
    }

    /// Beside busy threads a step is right, or unknown for a reason.
    #[test]
    fn busy_machine_shows_no_wrong_step() {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| timers::run_chain(1, 1 << 30));
            }
            for _ in 0..5 {
                let found = figures([1_000_000, 1], Some(1e6));
                match found.resolution {
                    Some(step) => assert!((step.value / 1e6 - 1.0).abs() < 0.02, "{found}"),
                    None => assert!(found.reason.is_some(), "{found}"),
                }
            }
        });
    }

    #[test]
    fn still_clock_has_reasons() {
        let still = |tick| {
            characterise(&Coarse {
                step_ns: u64::MAX,
                per_step: 1,
                ns_per_tick: Some(tick),
            })
        };
        let figures = still(1.0).unwrap();
        let text = figures.to_string();
        assert!(text.contains("it did not move"), "{text}");
        assert!(
            figures.cost.is_some() && figures.quality.is_none(),
            "{text}"
        );
        for ns in [f64::NAN, f64::INFINITY, 0.0, -1.0, 5e-324, 1e19] {
            let fault = still(ns).unwrap_err().to_string();
            assert!(fault.contains(&format!("a tick of {ns} ns")), "{fault}");
        }
    }
}
