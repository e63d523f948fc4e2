//! Observes the thread that measures, and its core, right before and right after what it does.

use timers::os::Counters;
use timers::os::counters::Counts;
use timers::{Answer, CoreFrequencyMeter};

use crate::hosts::protocol::Around;

/// Does some work; with what was observed around it, where the system reports that.
pub(super) fn around<T>(
    meter: Option<CoreFrequencyMeter>,
    work: impl FnOnce() -> Answer<T>,
) -> Answer<(T, Option<[Around; 2]>)> {
    let core = || {
        let core = meter?.look()?;
        Some([core.hertz, core.width])
    };
    // The chains of additions stand outside, so that the counts hold nothing but what lies between.
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
