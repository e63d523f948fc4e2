//! Measures clocks on devices whose drivers allow few reads: a read at a time, with pauses, for as
//! long as the budget allows. So few reads carry the cost of a read, and no step, spread or
//! distribution.

use std::time::Duration;

use timers::{Answer, Deadline, Fault, MAX_DEVICE_READS_PER_S};

use super::choose::Purpose;
use super::clocks::{ClockSubject, MeasuredClock};
use super::rounds::Rounds;
use super::sampling::CampaignSettings;
use crate::hosts::host::TimerHost;
use crate::hosts::hosted;
use crate::hosts::protocol::HostedTimer;
use crate::model::Family;
use crate::trace::{Batches, Run};

/// Reads of the device for one value: some hosts read twice, the first time to warm up.
const READS_PER_VALUE: u32 = 2;
/// Brackets of each process, which do not read the device.
/// *Judgement*: their mean is then known better than a single read.
const BRACKETS: u32 = 200;

/// Whether the timer may be read only [`MAX_DEVICE_READS_PER_S`] times a second: a clock on a
/// device, unless its driver is known to allow more. `is_native` says whether it is a timer of this
/// program.
pub fn is_paced(timer: &HostedTimer, is_native: bool) -> bool {
    timer.properties.family == Some(Family::DeviceClock)
        && !(is_native && timers::allows_many_reads(&timer.id))
}

/// Measures the subjects one after the other, each for an equal share of the budget. Calls
/// `progress` before each process.
///
/// # Errors
/// Only [`Fault::Interrupted`]: the failure of a timer is recorded in its outcome.
pub fn run(
    hosts: &[TimerHost],
    subjects: &mut [ClockSubject],
    settings: &CampaignSettings,
    progress: &dyn Fn(&str),
) -> Result<(), Fault> {
    let processes = settings.plan.processes.max(1);
    let share = settings.plan.budget_s / subjects.len().max(1) as f64;
    let length = Duration::from_secs_f64(share / f64::from(processes));
    let empty = |subject: &ClockSubject, reference| {
        let mut measured = MeasuredClock::new(&subject.timer, reference);
        measured.stored.ns_per_tick = subject.timer.ns_per_tick;
        measured.stored.max_reads_per_s = Some(MAX_DEVICE_READS_PER_S);
        measured
    };
    let mut rounds = Rounds::begin(hosts, subjects, settings, progress, Purpose::Clocks, empty)?;
    let measure = |subject: &mut ClockSubject, _| measure(subject, hosts, settings, length);
    rounds.repeat(processes, None, |rounds, _| {
        rounds.run_round(rounds.all(), &measure)
    })?;
    Ok(())
}

/// Measures a timer in a process for this length of time.
fn measure(
    subject: &mut ClockSubject,
    hosts: &[TimerHost],
    settings: &CampaignSettings,
    length: Duration,
) -> Answer<Option<()>> {
    // Opening a clock reads it.
    pause();
    let connection = subject.connect(hosts, settings)?;
    let mut own = hosted::subject(&connection, &subject.timer.id);
    let stored = &mut subject.observed()?.stored;
    let batches = |calls, deltas| Batches {
        calls,
        deltas,
        ..Batches::default()
    };
    let id = &stored.reference.id;
    let bracket = batches(0, own.batches(id, 0, BRACKETS)?);
    let (mut lengths, deadline) = (Vec::new(), Deadline::after(length));
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
    Ok(None)
}

/// Waits until the device may be read again for one value.
fn pause() {
    timers::pause(Duration::from_secs(1) * READS_PER_VALUE / MAX_DEVICE_READS_PER_S);
}
