//! Chooses and calibrates the reference of a host, and defines the settings of a campaign.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rand::rngs::StdRng;
use timers::Fault;

use crate::campaign::calibrate::{REFERENCE_WATCH_MS, calibrate};
use crate::campaign::sampling::Plan;
use crate::campaign::unit_check::check_unit;
use crate::campaign::unless_interrupted;
use crate::hosts::connection::Connection;
use crate::hosts::host::{Host, connect};
use crate::hosts::hosted::subject;
use crate::hosts::protocol::HostedTimer;
use crate::model::{Counted, Family};
use crate::prober::measure_rate;
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

/// Chooses the reference from the timers of a host and calibrates it. Tries the timers that the
/// host recommends, then those with a declared unit, and takes the first that can be calibrated.
///
/// # Errors
/// The reason why the last candidate failed, or [`Fault::Interrupted`].
pub(super) fn choose_reference(
    host: &Host,
    settings: &Settings,
    random: &mut StdRng,
) -> Result<Reference, Fault> {
    let candidates = || {
        host.timers
            .iter()
            .filter(|timer| timer.ops.is_empty() && !is_device_clock(timer))
    };
    let recommended = candidates().filter(|timer| timer.reference);
    let declared = candidates().filter(|timer| !timer.reference && timer.ns_per_tick.is_some());
    let mut last_fault =
        Fault::Refused("the host has no timer that could serve as a reference".into());
    for timer in recommended.chain(declared).take(MAX_CANDIDATES) {
        let calibrated = connect(host, &[&timer.id], settings.cpu, settings.timeout)
            .and_then(|connection| calibrate_candidate(host, timer, &connection, random));
        match unless_interrupted(calibrated)? {
            Ok(reference) => return Ok(reference),
            Err(fault) => last_fault = fault,
        }
    }
    Err(last_fault)
}

/// Whether the timer is a clock on a device, whose driver may allow few reads: it serves neither as
/// a reference nor to find the rate of one.
fn is_device_clock(timer: &HostedTimer) -> bool {
    timer.properties.family == Some(Family::DeviceClock)
}

/// Largest number of timers of a host that are tried as its reference.
const MAX_CANDIDATES: usize = 4;

/// Calibrates a timer as the reference of its host. If the timer may count wall time, checks its
/// unit with the clocks of the kernel.
///
/// # Errors
/// [`Fault::Refused`] if the timer cannot serve as a reference; the errors of the connection
/// otherwise.
fn calibrate_candidate(
    host: &Host,
    timer: &HostedTimer,
    connection: &Rc<RefCell<Connection>>,
    random: &mut StdRng,
) -> Result<Reference, Fault> {
    let mut candidate = subject(connection, &timer.id);
    let ns_per_tick = match timer.ns_per_tick {
        Some(ns) => ns,
        None => estimate_rate(host, candidate.as_mut())?.ok_or_else(|| {
            Fault::Refused(format!(
                "{} cannot serve as a reference: it declares no unit, and it can be compared with no other timer of its host",
                timer.id
            ))
        })?,
    };
    let calibrated = calibrate(&timer.id, candidate.as_mut(), ns_per_tick, random)?;
    let reference = Reference {
        family: timer.properties.family,
        ..calibrated
    };
    // Timers that do not count wall time cannot be compared with the clocks of the runner.
    if !matches!(timer.properties.counts, None | Some(Counted::Wall)) {
        return Ok(reference);
    }
    let declared = timer.ns_per_tick.is_some();
    let useless = |why| Fault::Refused(format!("{} cannot serve as a reference: {why}", timer.id));
    Ok(Reference {
        keeps_time: check_unit(candidate.as_mut(), &reference, declared)?.map_err(useless)?,
        ..reference
    })
}

/// Returns the rate of a counter without a declared unit, in nanoseconds per tick: compares it with
/// the first timer of its host that declares a unit and can be watched together with the counter.
/// It tries the timers of `RATE_SOURCES` first, because nothing distorts their rate. `None` if
/// there is no such timer.
fn estimate_rate(host: &Host, counter: &mut dyn timers::Subject) -> Result<Option<f64>, Fault> {
    let preference =
        |clock: &HostedTimer| timers::RATE_SOURCES.iter().position(|id| *id == clock.id);
    let mut clocks: Vec<&HostedTimer> = host.timers.iter().collect();
    clocks.retain(|clock| clock.ops.is_empty() && !is_device_clock(clock));
    clocks.sort_by_key(|clock| preference(clock).unwrap_or(usize::MAX));
    for clock in clocks {
        if let Some(ns) = clock.ns_per_tick
            && let Some(rate) = measure_rate(counter, &clock.id, ns, REFERENCE_WATCH_MS)?
        {
            return Ok(Some(rate));
        }
    }
    Ok(None)
}
