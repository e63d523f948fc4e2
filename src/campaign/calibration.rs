//! The rate of a raw counter that times the others, against a clock of the kernel, over the whole
//! campaign.

use std::cell::RefCell;
use std::rc::Rc;

use timers::{Answer, Subject};

use crate::campaign::choose::Settings;
use crate::hosts::connection::Connection;
use crate::hosts::host::{Host, connect};
use crate::hosts::hosted::subject;

use crate::rate::{Rate, by_looks, tightest};
use crate::trace::Reference;

/// Comparisons in a look, of which the tightest counts.
const LOOK: u32 = 9;

/// A process that looks at both now and then.
pub(super) struct Calibration {
    connection: Rc<RefCell<Connection>>,
    clock: Box<dyn Subject>,
    clock_ns: f64,
    counter: String,
    cpus: Vec<u32>,
    looks: Vec<[i64; 3]>,
}

impl Calibration {
    /// For the reference of a host. `None` where it declares its unit, or where nothing can tell
    /// its rate.
    ///
    /// # Errors
    /// As the start of a process.
    pub(super) fn start(
        host: &Host,
        reference: &Reference,
        settings: &Settings,
        cpus: &[u32],
    ) -> Answer<Option<Self>> {
        let of = |id: &str| host.timers.iter().find(|timer| timer.id == id);
        let raw = of(&reference.id).is_some_and(|counter| counter.ns_per_tick.is_none());
        let Some(clock) = timers::RATE_SOURCES
            .iter()
            .find_map(|id| of(id))
            .filter(|_| raw && host.compares)
        else {
            return Ok(None);
        };
        let connection = connect(host, &[&clock.id], None, settings.timeout)?;
        Ok(Some(Self {
            clock: subject(&connection, &clock.id),
            connection,
            clock_ns: clock.ns_per_tick.unwrap_or(1.0),
            counter: reference.id.clone(),
            cpus: cpus.to_vec(),
            looks: Vec::new(),
        }))
    }

    /// One look at both, on another CPU than the last one: the counters of all of them have to
    /// agree.
    ///
    /// # Errors
    /// As the subject.
    pub(super) fn look(&mut self) -> Answer<()> {
        if let Some(&cpu) = self.cpus.get(self.looks.len() % self.cpus.len().max(1)) {
            // Where it cannot be moved it looks from where it is.
            let _ = timers::move_thread(self.connection.borrow().process(), &[cpu]);
        }
        let comparisons = self.clock.comparisons(&self.counter, 0, LOOK)?;
        self.looks.extend(tightest(comparisons));
        Ok(())
    }

    /// What the looks say.
    pub(super) fn rate(&self) -> Option<Rate> {
        by_looks(&self.looks, self.clock_ns)
    }
}
