//! Measures the rate of a reference that declares no unit, such as the time stamp counter: compares
//! it with a kernel clock over the whole campaign.

use std::cell::RefCell;
use std::rc::Rc;

use timers::{Answer, Subject};

use crate::campaign::choose::Settings;
use crate::hosts::connection::Connection;
use crate::hosts::host::{Host, connect};
use crate::hosts::hosted::subject;

use crate::rate::{Rate, rate_from_paired_readings, tightest};
use crate::trace::Reference;

/// Comparisons in a sample; the one with the shortest time between its outer reads is kept.
const COMPARISONS_PER_SAMPLE: u32 = 9;

/// The comparison of a reference with a kernel clock during the campaign, in a separate process.
pub(super) struct RateMeasurement {
    connection: Rc<RefCell<Connection>>,
    /// The kernel clock.
    clock: Box<dyn Subject>,
    clock_ns_per_tick: f64,
    reference_id: String,
    /// The CPUs on which samples are taken, in turn.
    cpus: Vec<u32>,
    /// Readings of the reference, the clock, and the reference again, in ticks.
    samples: Vec<[i64; 3]>,
}

impl RateMeasurement {
    /// Starts the comparison for the reference of a host. `None` if the reference declares its
    /// unit, or if no kernel clock of the host can be compared with it.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub(super) fn start(
        host: &Host,
        reference: &Reference,
        settings: &Settings,
        cpus: &[u32],
    ) -> Answer<Option<Self>> {
        let find_timer = |id: &str| host.timers.iter().find(|timer| timer.id == id);
        let has_no_unit =
            find_timer(&reference.id).is_some_and(|counter| counter.ns_per_tick.is_none());
        let Some(clock) = timers::RATE_SOURCES
            .iter()
            .find_map(|id| find_timer(id))
            .filter(|_| has_no_unit && host.compares)
        else {
            return Ok(None);
        };
        let connection = connect(host, &[&clock.id], None, settings.timeout)?;
        Ok(Some(Self {
            clock: subject(&connection, &clock.id),
            connection,
            clock_ns_per_tick: clock.ns_per_tick.unwrap_or(1.0),
            reference_id: reference.id.clone(),
            cpus: cpus.to_vec(),
            samples: Vec::new(),
        }))
    }

    /// Takes a sample on the next CPU. The CPU changes because the rate has to hold for the
    /// counters of all CPUs.
    ///
    /// # Errors
    /// The errors of the subject.
    pub(super) fn sample(&mut self) -> Answer<()> {
        if let Some(&cpu) = self.cpus.get(self.samples.len() % self.cpus.len().max(1)) {
            // If the thread cannot be moved, the sample is taken on its current CPU.
            let _ = timers::move_thread(self.connection.borrow().process(), &[cpu]);
        }
        let comparisons = self
            .clock
            .comparisons(&self.reference_id, 0, COMPARISONS_PER_SAMPLE)?;
        self.samples.extend(tightest(comparisons));
        Ok(())
    }

    /// Returns the rate that the samples show; `None` if they are too few.
    pub(super) fn rate(&self) -> Option<Rate> {
        rate_from_paired_readings(&self.samples, self.clock_ns_per_tick)
    }
}
