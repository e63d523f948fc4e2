//! A timer that waits on the bench: in a process, with its reference and what is around a wait.

use timers::{Answer, Fault};

use super::explore::WaitBench;
use super::plan::WaitSettings;
use super::subject::Subject;
use crate::hosts::children::Placement;
use crate::hosts::host::{Host, connect};
use crate::hosts::hosted::waiter;
use crate::hosts::protocol::Op;
use crate::trace::WaitTrace;

/// Starts a process for it.
pub(super) fn bench(
    host: &Host,
    subject: &Subject<WaitTrace>,
    placement: Placement,
    settings: &WaitSettings,
) -> Answer<WaitBench> {
    let reference = subject
        .outcome
        .as_ref()
        .map(|trace| trace.reference.clone());
    let reference = reference.map_err(|why| Fault::Refused(why.clone()))?;
    let connection = connect(host, &[&subject.waiter.id], placement, settings.timeout)?;
    let has_floor = connection
        .borrow()
        .hello()
        .waiters
        .iter()
        .any(|hosted| hosted.id == timers::waits::FLOOR_ID);
    Ok(WaitBench {
        timer: waiter(&connection, &subject.waiter.id),
        floor: has_floor.then(|| waiter(&connection, timers::waits::FLOOR_ID)),
        reference,
        arms: subject.answers(Op::Arms),
        break_ns: settings.break_ns,
    })
}
