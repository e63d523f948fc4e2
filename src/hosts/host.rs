//! Describes a host of timers, which is a program that can read them; starts its processes and
//! builds the bench for a measurement in a process.

use std::time::Duration;

use timers::Answer;

use crate::hosts::children::Placement;
use crate::hosts::connection::{Connection, SharedConnection};
use crate::hosts::hosted::{prober, subject};
use crate::hosts::process::AgentCommand;
use crate::hosts::protocol::HostedTimer;
use crate::prober::Bench;

/// A program that hosts timers.
#[derive(Clone, Debug)]
pub struct TimerHost {
    /// The command that starts the host. The ids of the timers are appended if the command takes
    /// ids.
    pub command: AgentCommand,
    /// Whether the command takes ids of timers as arguments and then opens only those timers.
    pub takes_ids: bool,
    /// All timers that the host introduced.
    pub timers: Vec<HostedTimer>,
    /// Whether the host answers the question `comparisons`.
    pub compares: bool,
    /// Whether the host accepts questions about several timers.
    pub answers_for_many: bool,
}

/// Builds the bench with a timer of a process and its reference.
pub fn bench(
    connection: &SharedConnection,
    timer: &HostedTimer,
    reference: &str,
) -> Bench<'static> {
    let has_floor = connection
        .borrow()
        .hello()
        .timers
        .iter()
        .any(|hosted| hosted.id == timers::FLOOR_ID);
    Bench {
        timer: subject(connection, &timer.id),
        ns_per_tick: timer.ns_per_tick,
        reference_id: reference.into(),
        floor: has_floor.then(|| subject(connection, timers::FLOOR_ID)),
        prober: prober(connection, &timer.id),
    }
}

/// Starts a process of a host that opens these timers, or all timers if the host takes no ids.
pub fn connect(
    host: &TimerHost,
    ids: &[&str],
    placement: impl Into<Placement>,
    timeout: Duration,
) -> Answer<SharedConnection> {
    let mut command = host.command.clone();
    let is_built_in = command.declarations.is_some();
    if host.takes_ids && !is_built_in {
        command.args.extend(ids.iter().map(Into::into));
    }
    let mut connection = Connection::start(&command, placement, timeout)?;
    if is_built_in {
        connection.warm_up(ids)?;
    }
    Ok(connection.share())
}
