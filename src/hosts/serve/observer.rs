//! Records the state of the measuring thread and its core before and after a measurement.

use timers::os::Counters;
use timers::os::counters::Counts;
use timers::{Answer, CoreFrequencyMeter};

use crate::hosts::protocol::Around;

/// Runs a measurement and returns the state before and after it, if the system reports the state.
pub(super) fn around<T>(
    meter: Option<CoreFrequencyMeter>,
    work: impl FnOnce() -> Answer<T>,
) -> Answer<(T, Option<[Around; 2]>)> {
    let core = || {
        let core = meter?.look()?;
        Some([core.hertz, core.width])
    };
    // The chains of additions run before the first and after the second count, so that the counts
    // cover only the measurement.
    let core_before = core();
    let before = Counts::of_this_thread();
    let done = work()?;
    let after = Counts::of_this_thread();
    let around = [observation(before, core_before), observation(after, core())];
    let [Some(before), Some(after)] = around else {
        return Ok((done, None));
    };
    Ok((done, Some([before, after])))
}

fn observation(counters: Option<Counters>, core: Option<[f64; 2]>) -> Option<Around> {
    let counters = counters?;
    let [cpu] = counters.cpus[..] else {
        return None;
    };
    Some(Around {
        switches: counters.switches,
        major_faults: counters.major_faults,
        cpu,
        core,
    })
}
