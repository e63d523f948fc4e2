//! Measures the rate of a reference that declares no unit, such as the time stamp counter: compares
//! it with a kernel clock over the whole campaign, and with a second one that no time service
//! adjusts. If the reference and the first clock disagree, the second one decides which moved, or
//! where there is none, whether the kernel adjusted the first.

use timers::os::Discipline;
use timers::os::discipline::discipline;
use timers::{Answer, Subject};

use crate::agents::agent::{Agent, connect};
use crate::agents::connection::SharedConnection;
use crate::agents::subject::subject;
use crate::campaign::sampling::CampaignSettings;

use crate::agents::protocol::AgentTimer;
use crate::campaign::unless_refused;
use estimators::model::{Family, ReadsBy};
use estimators::rate::{Rate, rate_from_paired_readings, settle_deviation, tightest};
use estimators::trace::Reference;

/// Comparisons in a sample; the one with the shortest time between its outer reads is kept.
const COMPARISONS_PER_SAMPLE: u32 = 9;

/// The comparison of a reference with a kernel clock during the campaign, in a separate process.
pub(super) struct RateMeasurement {
    connection: SharedConnection,
    /// The kernel clock.
    clock: ComparedClock,
    /// A clock that no time service adjusts, if the agent has another one.
    third: Option<ComparedClock>,
    /// The corrections of the kernel clock at the samples; `None` if the kernel does not report
    /// them.
    corrections: Vec<Option<Discipline>>,
    reference_id: String,
    /// The CPUs on which samples are taken, in turn.
    cpus: Vec<u32>,
}

/// A clock that the reference is compared with.
struct ComparedClock {
    subject: Box<dyn Subject>,
    ns_per_tick: f64,
    /// Readings of the reference, the clock, and the reference again, in ticks.
    samples: Vec<[i64; 3]>,
}

impl ComparedClock {
    fn new(connection: &SharedConnection, timer: &AgentTimer) -> Self {
        Self {
            subject: subject(connection, &timer.id),
            ns_per_tick: timer.ns_per_tick.unwrap_or(1.0),
            samples: Vec::new(),
        }
    }

    fn sample(&mut self, reference: &str) -> Answer<()> {
        let comparisons = self
            .subject
            .comparisons(reference, 0, COMPARISONS_PER_SAMPLE)?;
        self.samples.extend(tightest(comparisons));
        Ok(())
    }

    fn rate(&self) -> Option<Rate> {
        rate_from_paired_readings(&self.samples, self.ns_per_tick)
    }

    /// Returns the samples with the clock in nanoseconds.
    fn in_ns(&self) -> Vec<[f64; 3]> {
        let in_ns = |&[before, clock, after]: &[i64; 3]| {
            [before as f64, clock as f64 * self.ns_per_tick, after as f64]
        };
        self.samples.iter().map(in_ns).collect()
    }

    /// Returns the time between the first and the last sample, in nanoseconds.
    fn length_ns(&self) -> f64 {
        let (first, last) = (self.samples.first(), self.samples.last());
        let ticks = first
            .zip(last)
            .map_or(0, |(first, last)| last[1].wrapping_sub(first[1]));
        ticks as f64 * self.ns_per_tick
    }
}

/// Returns the system clock of an agent, other than `clock`, that no time service adjusts; the one
/// that is read by the system call if there are several.
fn find_unadjusted<'a>(agent: &'a Agent, clock: &AgentTimer) -> Option<&'a AgentTimer> {
    agent
        .timers
        .iter()
        .filter(|timer| {
            let properties = &timer.properties;
            properties.family == Some(Family::SystemClock)
                && properties.slewed == Some(false)
                && timer.ns_per_tick.is_some()
                && timer.id != clock.id
        })
        .max_by_key(|timer| timer.properties.reads_by == Some(ReadsBy::SystemCall))
}

impl RateMeasurement {
    /// Starts the comparison for the reference of an agent. `None` if the reference declares its
    /// unit, or if no kernel clock of the agent can be compared with it.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub(super) fn start(
        agent: &Agent,
        reference: &Reference,
        settings: &CampaignSettings,
        cpus: &[u32],
    ) -> Answer<Option<Self>> {
        let find_timer = |id: &str| agent.timers.iter().find(|timer| timer.id == id);
        let has_no_unit =
            find_timer(&reference.id).is_some_and(|counter| counter.ns_per_tick.is_none());
        let Some(clock) = timers::RATE_SOURCES
            .iter()
            .find_map(|id| find_timer(id))
            .filter(|_| has_no_unit && agent.compares)
        else {
            return Ok(None);
        };
        let third = find_unadjusted(agent, clock);
        let ids: Vec<&str> = [clock]
            .into_iter()
            .chain(third)
            .map(|timer| timer.id.as_str())
            .collect();
        let connection = connect(agent, &ids, None, settings.timeout)?;
        Ok(Some(Self {
            clock: ComparedClock::new(&connection, clock),
            third: third.map(|third| ComparedClock::new(&connection, third)),
            corrections: Vec::new(),
            connection,
            reference_id: reference.id.clone(),
            cpus: cpus.to_vec(),
        }))
    }

    /// Takes a sample on the next CPU. The CPU changes because the rate has to hold for the
    /// counters of all CPUs.
    ///
    /// # Errors
    /// The errors of the subject.
    pub(super) fn sample(&mut self) -> Answer<()> {
        let turn = self.clock.samples.len() % self.cpus.len().max(1);
        if let Some(&cpu) = self.cpus.get(turn) {
            // If the thread cannot be moved, the sample is taken on its current CPU.
            let _ = timers::move_thread(self.connection.borrow().process(), &[cpu]);
        }
        self.corrections.push(discipline().ok());
        self.clock.sample(&self.reference_id)?;
        if let Some(third) = &mut self.third {
            unless_refused(third.sample(&self.reference_id))?;
        }
        Ok(())
    }

    /// Returns the rate that the samples show; `None` if they are too few.
    pub(super) fn rate(&self) -> Option<Rate> {
        let by_clock = self.clock.rate()?;
        let is_other = |third: &&ComparedClock| {
            let [clock, third] = [&self.clock, *third].map(ComparedClock::in_ns);
            !is_same_clock(by_clock.ns_per_tick, &clock, &third)
        };
        let third = self
            .third
            .as_ref()
            .filter(is_other)
            .and_then(ComparedClock::rate);
        let length_ns = self.clock.length_ns();
        let steady = is_steady(&self.corrections);
        Some(settle_deviation(by_clock, third, steady, length_ns))
    }
}

/// Returns whether two clocks, each read in nanoseconds between readings of the reference in ticks,
/// are one clock under two names, which is no witness for itself: from a read of the first to one of
/// the second, only the time between them passed. Clocks of which the kernel corrects one differ by
/// all corrections since the boot.
fn is_same_clock(ns_per_tick: f64, first: &[[f64; 3]], second: &[[f64; 3]]) -> bool {
    first
        .iter()
        .zip(second)
        .all(|([before, a, after], [begin, b, end])| {
            (ns_per_tick * (begin - after)..=ns_per_tick * (end - before)).contains(&(b - a))
        })
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
        let samples = |ahead_ns: f64| {
            let sample = |turn: u32| {
                let ticks = 1e6 * f64::from(turn);
                let [first, second] =
                    [ticks, ticks + 100.0].map(|ticks| [ticks - 15.0, 2.0 * ticks, ticks + 15.0]);
                (first, [second[0], second[1] + ahead_ns, second[2]])
            };
            (1..20).map(sample).unzip::<_, _, Vec<_>, Vec<_>>()
        };
        for (ahead_ns, same) in [(0.0, true), (40.0, true), (-3e5, false), (500.0, false)] {
            let (first, second) = samples(ahead_ns);
            assert_eq!(is_same_clock(2.0, &first, &second), same, "{ahead_ns}");
        }
    }

    #[test]
    fn adjusted_clock_is_not_steady() {
        let calm = Discipline {
            synchronised: true,
            offset_ns: 0,
            time_constant: 2,
            adjtime_us: Some(0),
            trim: Trim::default(),
            estimated_error_us: 0,
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
