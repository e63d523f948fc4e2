//! Chooses and calibrates the reference of a host, and says how a campaign is run.

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

/// How a campaign is run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How thoroughly.
    pub plan: Plan,
    /// The seed of all random choices.
    pub seed: u64,
    /// The CPU that the processes run on.
    pub cpu: Option<u32>,
    /// How long a process may take.
    pub timeout: Duration,
}

/// Finds a reference among the timers of a host: the one it recommends, else the first that serves.
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

/// References that are tried before a host is given up.
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
    // Only wall time passes here as it does there.
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

/// The rate of a raw counter, by the first timer of its host that declares a unit and can be
/// watched beside it; those that nothing can distort come first.
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
