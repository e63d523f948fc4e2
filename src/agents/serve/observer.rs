//! Records the state of the measuring thread and its core before and after a measurement.

use timers::os::Counters;
use timers::os::counters::CounterSource;
use timers::{Answer, CoreFrequencyMeter};

use crate::agents::protocol::ThreadState;

/// Runs a measurement. Also returns the state of this thread and its core before and after the
/// measurement; `None` if the system does not report the state.
pub(super) fn around<T>(
    meter: Option<CoreFrequencyMeter>,
    work: impl FnOnce() -> Answer<T>,
) -> Answer<(T, Option<[ThreadState; 2]>)> {
    let measure_core = || {
        let core = meter?.measure()?;
        Some([core.hertz, core.width])
    };
    // The frequency meter runs outside the two reads of the counters, so that their differences
    // cover only the measurement.
    let core_before = measure_core();
    let before = CounterSource::of_this_thread();
    let result = work()?;
    let after = CounterSource::of_this_thread();
    let around = [
        thread_state(before, core_before),
        thread_state(after, measure_core()),
    ];
    let [Some(before), Some(after)] = around else {
        return Ok((result, None));
    };
    Ok((result, Some([before, after])))
}

fn thread_state(counters: Option<Counters>, core: Option<[f64; 2]>) -> Option<ThreadState> {
    let counters = counters?;
    let [cpu] = counters.cpus[..] else {
        return None;
    };
    Some(ThreadState {
        switches: counters.switches,
        major_faults: counters.major_faults,
        cpu,
        core,
    })
}
