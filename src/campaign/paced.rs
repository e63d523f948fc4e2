//! Measures clocks on devices whose drivers allow few reads: a read at a time, with pauses, for as
//! long as the budget allows. So few reads carry the cost of a read, and no step, spread or
//! distribution.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use timers::{Answer, Deadline, Fault, MAX_DEVICE_READS_PER_S};

use super::choose::{Settings, choose_reference};
use super::clocks::CampaignTimer;
use super::unless_interrupted;
use crate::hosts::host::{Host, connect};
use crate::hosts::hosted;
use crate::model::Family;
use crate::trace::{Batches, Run, StoredTrace};

/// Reads of the device for one value: some hosts read twice, the first time to warm up.
const READS_PER_VALUE: u32 = 2;
/// Brackets of each process, which do not read the device.
/// *Judgement*: their mean is then known better than a single read.
const BRACKETS: u32 = 200;

/// Whether the timer may be read only [`MAX_DEVICE_READS_PER_S`] times a second: a clock on a
/// device, unless its driver is known to allow more. `is_native` says whether it is a timer of this
/// program.
#[must_use]
pub fn is_paced(timer: &CampaignTimer, is_native: bool) -> bool {
    timer.timer.properties.family == Some(Family::DeviceClock)
        && !(is_native && timers::allows_many_reads(&timer.timer.id))
}

/// Measures the subjects one after the other, each for an equal share of the budget. Calls
/// `progress` before each process.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn run(
    hosts: &[Host],
    subjects: &mut [CampaignTimer],
    settings: &Settings,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let share = settings.plan.budget_s / subjects.len().max(1) as f64;
    let length = share / f64::from(settings.plan.processes.max(1));
    for subject in subjects {
        let host = &hosts[subject.host];
        let measured = measure(host, subject, settings, length, progress);
        subject.outcome = unless_interrupted(measured)?.map_err(|fault| fault.to_string());
    }
    Ok(())
}

/// Measures a timer in several processes of `length` seconds each.
fn measure(
    host: &Host,
    subject: &CampaignTimer,
    settings: &Settings,
    length: f64,
    progress: &dyn Fn(&str),
) -> Answer<StoredTrace> {
    let timer = &subject.timer;
    let mut random = StdRng::seed_from_u64(settings.seed);
    let mut stored = StoredTrace {
        ns_per_tick: timer.ns_per_tick,
        declared: timer.ns_per_tick.is_some(),
        max_reads_per_s: Some(MAX_DEVICE_READS_PER_S),
        reference: choose_reference(host, settings, &mut random)?,
        ..StoredTrace::default()
    };
    for _ in 0..settings.plan.processes {
        progress(&timer.id);
        // Opening a clock reads it.
        pause();
        let connection = connect(host, &[&timer.id], settings.cpu, settings.timeout)?;
        let mut own = hosted::subject(&connection, &timer.id);
        let batches = |calls, deltas| Batches {
            calls,
            deltas,
            ..Batches::default()
        };
        let id = &stored.reference.id;
        let bracket = batches(0, own.batches(id, 0, BRACKETS)?);
        let (mut lengths, deadline) =
            (Vec::new(), Deadline::after(Duration::from_secs_f64(length)));
        while lengths.is_empty() || deadline.remaining().is_some() {
            pause();
            lengths.extend(own.batches(id, 1, 1)?);
        }
        stored.add(Run {
            bracket,
            singles: batches(1, lengths.clone()),
            batches: batches(1, lengths),
            ..Run::default()
        });
    }
    Ok(stored)
}

/// Waits until the device may be read again for one value.
fn pause() {
    timers::pause(Duration::from_secs(1) * READS_PER_VALUE / MAX_DEVICE_READS_PER_S);
}
