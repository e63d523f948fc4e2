//! A timer that waits on the bench: in a process, with its reference and what is around a wait.

use std::cell::RefCell;
use std::rc::Rc;

use timers::{Answer, Fault};

use super::explore::WaitBench;
use super::settings::WaitSettings;
use super::subject::Subject;
use super::waiter;
use crate::prober::children::Placement;
use crate::prober::connection::Connection;
use crate::prober::host::Host;
use crate::trace::WaitTrace;

/// Starts a process for it.
pub(super) fn bench(
    host: &Host,
    subject: &Subject<WaitTrace>,
    placement: Placement,
    settings: &WaitSettings,
) -> Answer<WaitBench> {
    let reference = subject.outcome.as_ref().map(|trace| trace.reference.clone());
    let reference = reference.map_err(|why| Fault::Refused(why.clone()))?;
    let connection = connect(host, &subject.waiter.id, placement, settings)?;
    let has_floor =
        connection.borrow().hello().waiters.iter().any(|hosted| hosted.id == timers::waits::FLOOR_ID);
    Ok(WaitBench {
        timer: waiter(&connection, &subject.waiter.id),
        floor: has_floor.then(|| waiter(&connection, timers::waits::FLOOR_ID)),
        reference,
        arms: subject.answers("arms"),
        break_ns: settings.break_ns,
    })
}

/// Starts a process that hosts the timer.
pub(super) fn connect(
    host: &Host,
    id: &str,
    placement: Placement,
    settings: &WaitSettings,
) -> Answer<Rc<RefCell<Connection>>> {
    let mut command = host.command.clone();
    if host.takes_ids {
        command.args.push(id.into());
    }
    Connection::start(&command, placement, settings.timeout)
        .map(|connection| Rc::new(RefCell::new(connection)))
}
