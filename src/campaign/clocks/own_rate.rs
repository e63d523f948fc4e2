//! Clocks whose rate a process finds for itself, as one that calibrates a counter when it is first
//! used: one process tells its own rate only. So fresh ones that are there anyway compare such a
//! clock with its reference, at their beginning and at their end.

use std::cell::RefCell;
use std::rc::Rc;

use timers::{Fault, Subject};

use crate::hosts::connection::Connection;
use crate::hosts::host::Host;
use crate::hosts::hosted::subject;
use crate::hosts::protocol::HostedTimer;
use crate::model::Counted;

use crate::rate::tightest;

/// Comparisons of which the tightest counts.
/// *Judgement*: as `SPARSE_COMPARISON`.
const COMPARISONS: u32 = 7;

/// Whether processes may differ in the rate of this timer: it declares a unit, claims wall time,
/// and no kernel or device keeps it, which are the same for all.
pub(super) fn may_differ(host: &Host, timer: &HostedTimer) -> bool {
    let wall = matches!(timer.properties.counts, None | Some(Counted::Wall));
    host.compares && timer.ns_per_tick.is_some() && wall && !timer.properties.is_kept_for_all()
}

/// A clock that is compared in one process.
pub(super) struct OwnRate {
    timer: Box<dyn Subject>,
    reference: String,
    begun: [i64; 3],
}

impl OwnRate {
    /// The comparison at the beginning; `None` where there is none to be had: a question that is
    /// refused disqualifies no timer.
    ///
    /// # Errors
    /// As the process, when it is lost.
    pub(super) fn begin(
        connection: &Rc<RefCell<Connection>>,
        timer: &HostedTimer,
        reference: &str,
    ) -> Result<Option<Self>, Fault> {
        let mut timer = subject(connection, &timer.id);
        let begun = compared(timer.as_mut(), reference)?;
        Ok(begun.map(|begun| Self {
            timer,
            reference: reference.into(),
            begun,
        }))
    }

    /// With the one at the end.
    ///
    /// # Errors
    /// As the process, when it is lost.
    pub(super) fn end(mut self) -> Result<Option<[[i64; 3]; 2]>, Fault> {
        Ok(compared(self.timer.as_mut(), &self.reference)?.map(|ended| [self.begun, ended]))
    }
}

fn compared(timer: &mut dyn Subject, reference: &str) -> Result<Option<[i64; 3]>, Fault> {
    match timer.comparisons(reference, 0, COMPARISONS) {
        Ok(comparisons) => Ok(tightest(comparisons)),
        Err(Fault::Refused(_)) => Ok(None),
        Err(fault) => Err(fault),
    }
}
