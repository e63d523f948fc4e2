//! Chooses and calibrates the reference of a host, and defines the settings of a campaign.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rand::rngs::StdRng;
use timers::Fault;

use crate::campaign::calibrate::{WATCH_MS, calibrate, watched_rate};
use crate::campaign::outside::keeps_time;
use crate::campaign::sampling::Plan;
use crate::campaign::survived;
use crate::hosts::connection::Connection;
use crate::hosts::host::{Host, connect};
use crate::hosts::hosted::subject;
use crate::hosts::protocol::HostedTimer;
use crate::model::Counted;
use crate::trace::Reference;

/// Settings of a campaign.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The number of processes and reads.
    pub plan: Plan,
    /// The seed of all random choices.
    pub seed: u64,
    /// The CPU that the processes are pinned to.
    pub cpu: Option<u32>,
    /// The longest time that a process may take.
    pub timeout: Duration,
}

/// Chooses a reference from the timers of a host: the recommended one, otherwise the first one that
/// can be calibrated.
pub(super) fn choose_reference(
    host: &Host,
    settings: &Settings,
    random: &mut StdRng,
) -> Result<Reference, Fault> {
    let usable = || {
        host.timers
            .iter()
            .filter(|timer| timer.id != timers::FLOOR_ID)
    };
    let recommended = usable().filter(|timer| timer.reference);
    let declared = usable().filter(|timer| !timer.reference && timer.ns_per_tick.is_some());
    let mut last = Fault::Refused("the host has no timer that could serve as a reference".into());
    for timer in recommended.chain(declared).take(MOST_CANDIDATES) {
        let found = connect(host, &[&timer.id], settings.cpu, settings.timeout)
            .and_then(|connection| calibrate_as(host, timer, &connection, random));
        match survived(found)? {
            Ok(reference) => return Ok(reference),
            Err(fault) => last = fault,
        }
    }
    Err(last)
}

/// Timers that are tried as references before the host is given up.
const MOST_CANDIDATES: usize = 4;

fn calibrate_as(
    host: &Host,
    timer: &HostedTimer,
    connection: &Rc<RefCell<Connection>>,
    random: &mut StdRng,
) -> Result<Reference, Fault> {
    let mut candidate = subject(connection, &timer.id);
    let ns_per_tick = match timer.ns_per_tick {
        Some(ns) => ns,
        None => found_rate(host, candidate.as_mut())?.ok_or_else(|| {
            Fault::Refused(format!(
                "{} declares no unit, and no other timer of its host tells its rate",
                timer.id
            ))
        })?,
    };
    let found = calibrate(&timer.id, candidate.as_mut(), ns_per_tick, random)?;
    let reference = Reference {
        family: timer.properties.family,
        ..found
    };
    // Other timers do not advance with the wall time that passes for the runner.
    if !matches!(timer.properties.counts, None | Some(Counted::Wall)) {
        return Ok(reference);
    }
    let declared = timer.ns_per_tick.is_some();
    let useless = |why| Fault::Refused(format!("{} cannot serve as a reference: {why}", timer.id));
    Ok(Reference {
        keeps_time: keeps_time(candidate.as_mut(), &reference, declared)?.map_err(useless)?,
        ..reference
    })
}

/// Returns the rate of a raw counter, in nanoseconds per tick, from the first timer of its host
/// that declares a unit and can be watched with the counter. The timers of `RATE_SOURCES` come
/// first because nothing distorts their rate.
fn found_rate(host: &Host, counter: &mut dyn timers::Subject) -> Result<Option<f64>, Fault> {
    let place = |clock: &HostedTimer| timers::RATE_SOURCES.iter().position(|id| *id == clock.id);
    let mut clocks: Vec<&HostedTimer> = host.timers.iter().collect();
    clocks.sort_by_key(|clock| place(clock).unwrap_or(usize::MAX));
    for clock in clocks {
        if let Some(ns) = clock.ns_per_tick
            && let Some(rate) = watched_rate(counter, &clock.id, ns, WATCH_MS)?
        {
            return Ok(Some(rate));
        }
    }
    Ok(None)
}
