//! Detects disturbances of a measured window, such as a context switch, from the counters of the
//! current thread and its CPU.

use timers::os::Counters;
use timers::os::counters::CounterSource;

use crate::campaign::disturbances::{Disturbance, counted_disturbance};

/// The counters at the start of a window.
#[derive(Clone, Debug)]
pub struct WindowWatch {
    counters: Option<Counters>,
    /// The CPU that the thread runs on, with the steal time of that CPU (the time that a hypervisor
    /// used it for something else) in ticks of 10 ms; `None` if unknown.
    steal_ticks: Option<(u32, u64)>,
}

impl WindowWatch {
    /// Reads the counters at the start of a window.
    pub fn begin() -> Self {
        let counts = CounterSource::of_system();
        let counters = CounterSource::of_this_thread();
        let cpu = counters
            .as_ref()
            .and_then(|counters| counters.cpus.first().copied());
        Self {
            counters,
            steal_ticks: cpu.and_then(|cpu| Some((cpu, counts.steal_ticks(cpu)?))),
        }
    }

    /// Reads the counters at the end of a window. Returns the cause of a disturbance; `None` if
    /// there was none or the system has no such counters.
    pub fn end(self) -> Option<String> {
        let counts = CounterSource::of_system();
        let after = CounterSource::of_this_thread()?;
        let was_stolen = self
            .steal_ticks
            .is_some_and(|(cpu, before)| counts.steal_ticks(cpu) > Some(before));
        let disturbance = counted_disturbance(&self.counters?, &after, 0)
            .or(was_stolen.then_some(Disturbance::StolenTime))?;
        Some(disturbance.name().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_disturbances_of_this_thread() {
        let watch = WindowWatch::begin();
        assert_eq!(
            watch.counters.is_some(),
            CounterSource::of_this_thread().is_some()
        );
        let mut disturbed = watch.clone();
        if let Some(counters) = &mut disturbed.counters {
            counters.cpus = Vec::new();
            counters.major_faults = u64::MAX;
            counters.switches = 0;
            // `switches` was set to 0, so a disturbance must be found if the thread has had any
            // switch.
            let has_switched =
                || CounterSource::of_this_thread().is_some_and(|now| now.switches > 0);
            let (before, found, after) = (has_switched(), disturbed.end(), has_switched());
            // The first switch of the thread may happen during this check.
            if before == after {
                assert_eq!(found.as_deref(), before.then_some("context-switch"));
            }
        }
    }
}
