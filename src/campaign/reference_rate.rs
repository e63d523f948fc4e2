//! Measures the rate of a reference that declares no unit, such as the time stamp counter: compares
//! it with a kernel clock over the whole campaign, and with a second one that no time service
//! adjusts. If the reference and the first clock disagree, the second one decides which moved, or
//! where there is none, whether the kernel adjusted the first.

use timers::Answer;
use timers::os::Discipline;
use timers::os::discipline::discipline;

use crate::agents::agent::{Agent, connect};
use crate::agents::connection::SharedConnection;
use crate::agents::protocol::AgentTimer;
use crate::agents::subject::subject;
use crate::campaign::unless_refused;
use crate::plan::Plan;
use estimators::model::{Family, ReadsBy};
use estimators::rate::{Rate, rate_from_paired_readings, settle_deviation, tightest};
use estimators::trace::Reference;

/// Comparisons in a sample; the one with the shortest time between its outer reads is kept.
const COMPARISONS_PER_SAMPLE: u32 = 9;

/// The comparison of a reference with clocks of the kernel during the campaign, in a separate process.
pub(super) struct RateMeasurement {
    connection: SharedConnection,
    /// The kernel clock and, if the agent has another one, a clock that no time service adjusts.
    clocks: Vec<ComparedClock>,
    /// The corrections of the kernel clock at the samples; `None` if the kernel does not report
    /// them.
    corrections: Vec<Option<Discipline>>,
    reference_id: String,
}

/// A clock that the reference is compared with.
struct ComparedClock {
    id: String,
    ns_per_tick: f64,
    /// Readings of the reference, the clock, and the reference again, in ticks.
    samples: Vec<[i64; 3]>,
}

impl ComparedClock {
    fn new(timer: &AgentTimer) -> Self {
        Self {
            id: timer.id.clone(),
            ns_per_tick: timer.ns_per_tick.unwrap_or(1.0),
            samples: Vec::new(),
        }
    }

    fn rate(&self) -> Option<Rate> {
        rate_from_paired_readings(&self.samples, self.ns_per_tick)
    }

    /// Returns the time between the first and the last sample, in nanoseconds.
    fn length_ns(&self) -> f64 {
        let ticks = match self.samples[..] {
            [[_, first, _], .., [_, last, _]] => last.wrapping_sub(first),
            _ => 0,
        };
        ticks as f64 * self.ns_per_tick
    }

    /// Returns whether another clock is this one under another name, which is no witness for itself: from
    /// a read of the first to one of the second, only the time between them passed, in which a tick of the
    /// reference takes `reference_ns`. Clocks of which the kernel corrects one differ by all corrections
    /// since the boot.
    fn is_same(&self, other: &Self, reference_ns: f64) -> bool {
        let mut pairs = self.samples.iter().zip(&other.samples);
        pairs.all(|([before, a, after], [begin, b, end])| {
            let passed = *b as f64 * other.ns_per_tick - *a as f64 * self.ns_per_tick;
            let [least, most] = [begin - after, end - before].map(|it| it as f64 * reference_ns);
            (least..=most).contains(&passed)
        })
    }
}

/// Returns the system clock of an agent, other than `clock`, that no time service adjusts; the one
/// that is read by the system call if there are several.
fn find_unadjusted<'a>(agent: &'a Agent, clock: &AgentTimer) -> Option<&'a AgentTimer> {
    let is_unadjusted = |timer: &&AgentTimer| {
        timer.properties.family == Some(Family::SystemClock)
            && timer.properties.slewed == Some(false)
            && timer.ns_per_tick.is_some()
            && timer.id != clock.id
    };
    let found = agent.timers.iter().filter(is_unadjusted);
    found.max_by_key(|timer| timer.properties.reads_by == Some(ReadsBy::SystemCall))
}

impl RateMeasurement {
    /// Starts the comparison for the reference of an agent. `None` if the reference declares its
    /// unit, or if no kernel clock of the agent can be compared with it.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub(super) fn start(agent: &Agent, reference: &Reference, plan: &Plan) -> Answer<Option<Self>> {
        let find = |id: &str| agent.timers.iter().find(|timer| timer.id == id);
        let declares = find(&reference.id).is_none_or(|it| it.ns_per_tick.is_some());
        let clock = timers::RATE_SOURCES.into_iter().find_map(find);
        let Some(clock) = clock.filter(|_| !declares && agent.compares) else {
            return Ok(None);
        };
        let clocks = [clock].into_iter().chain(find_unadjusted(agent, clock));
        let ids: Vec<&str> = clocks.clone().map(|timer| &*timer.id).collect();
        Ok(Some(Self {
            connection: connect(agent, &ids, None, plan.time_limit())?,
            clocks: clocks.map(ComparedClock::new).collect(),
            corrections: Vec::new(),
            reference_id: reference.id.clone(),
        }))
    }

    /// Takes a sample on the next of these CPUs. The CPU changes because the rate has to hold for the
    /// counters of all CPUs.
    ///
    /// # Errors
    /// When the process is lost or the run is interrupted.
    pub(super) fn sample(&mut self, cpus: &[u32]) -> Answer<()> {
        if let Some(&cpu) = cpus.get(self.corrections.len() % cpus.len().max(1)) {
            // If the thread cannot be moved, the sample is taken on its current CPU.
            let _ = timers::move_thread(self.connection.borrow().process(), &[cpu]);
        }
        self.corrections.push(discipline().ok());
        for clock in &mut self.clocks {
            let mut timer = subject(&self.connection, &clock.id);
            let compared = timer.comparisons(&self.reference_id, 0, COMPARISONS_PER_SAMPLE);
            clock
                .samples
                .extend(unless_refused(compared)?.and_then(tightest));
        }
        Ok(())
    }

    /// Returns the rate that the samples show; `None` if they are too few.
    pub(super) fn rate(&self) -> Option<Rate> {
        let (clock, others) = self.clocks.split_first()?;
        let by_clock = clock.rate()?;
        let mut others = others.iter();
        let third = others.find(|third| !clock.is_same(third, by_clock.ns_per_tick));
        let third = third.and_then(ComparedClock::rate);
        let steady = is_steady(&self.corrections);
        Some(settle_deviation(by_clock, third, steady, clock.length_ns()))
    }
}

/// Returns whether the kernel neither changed the rate of its clock nor slewed it from the first of
/// these corrections to the last. `false` if it does not report them.
fn is_steady(corrections: &[Option<Discipline>]) -> bool {
    let is_calm = |now: &Discipline| now.offset_ns == 0 && now.adjtime_us.unwrap_or(0) == 0;
    let mut trims: Vec<_> = corrections
        .iter()
        .map(|now| Some(now.filter(is_calm)?.trim))
        .collect();
    trims.dedup();
    matches!(trims[..], [Some(_)])
}

#[cfg(test)]
mod tests {
    use timers::os::Trim;

    use super::*;

    #[test]
    fn an_alias_is_no_second_clock() {
        // The reference has ticks of 2 ns; the second clock is read 100 ticks after the first.
        let clock = |delay: i64, ahead_ns: i64| ComparedClock {
            id: "clock".into(),
            ns_per_tick: 1.0,
            samples: (1..20)
                .map(|turn| 1_000_000 * turn + delay)
                .map(|ticks| [ticks - 15, 2 * ticks + ahead_ns, ticks + 15])
                .collect(),
        };
        for (ahead_ns, same) in [(0, true), (40, true), (-300_000, false), (500, false)] {
            let found = clock(0, 0).is_same(&clock(100, ahead_ns), 2.0);
            assert_eq!(found, same, "{ahead_ns}");
        }
    }

    #[test]
    fn adjusted_clock_is_not_steady() {
        let calm = Discipline {
            synchronised: true,
            time_constant: 2,
            adjtime_us: Some(0),
            ..Discipline::default()
        };
        let trim = Trim {
            scaled_ppm: 65_536,
            ..Trim::default()
        };
        assert!(is_steady(&[Some(calm); 3]));
        for adjusted in [
            Some(Discipline { trim, ..calm }),
            Some(Discipline {
                offset_ns: -900,
                ..calm
            }),
            Some(Discipline {
                adjtime_us: Some(40),
                ..calm
            }),
            None,
        ] {
            assert!(
                !is_steady(&[Some(calm), adjusted, Some(calm)]),
                "{adjusted:?}"
            );
        }
        let trimmed = Discipline { trim, ..calm };
        assert!(is_steady(&[Some(trimmed); 2]), "a constant correction");
        assert!(!is_steady(&[None]) && !is_steady(&[]));
    }
}
