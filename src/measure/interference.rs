//! Whether something disturbed a window: by the signs that a probe looks at, of this very thread.

use timers::os::Counters;
use timers::os::counters::Counts;

use crate::campaign::watch::{Disturbance, counted};

/// What is looked at before and after a window.
#[derive(Clone, Debug)]
pub struct Watch {
    counters: Option<Counters>,
    /// The CPU that it runs on, with the time that a hypervisor had taken from it.
    stolen: Option<(u32, u64)>,
}

impl Watch {
    /// Before the window.
    #[must_use]
    pub fn begin() -> Self {
        let counts = Counts::of_system();
        let counters = Counts::of_this_thread();
        let cpu = counters
            .as_ref()
            .and_then(|counters| counters.cpus.first().copied());
        Self {
            counters,
            stolen: cpu.and_then(|cpu| Some((cpu, counts.stolen(cpu)?))),
        }
    }

    /// After it: what disturbed it, if anything did. Nothing is known where the system does not
    /// tell.
    #[must_use]
    pub fn end(self) -> Option<String> {
        let counts = Counts::of_system();
        let after = Counts::of_this_thread()?;
        let taken = self
            .stolen
            .and_then(|(cpu, before)| Some(counts.stolen(cpu)? > before));
        let disturbance = counted(&self.counters?, &after, 0).or_else(|| {
            taken
                .filter(|&taken| taken)
                .map(|_| Disturbance::StolenTime)
        })?;
        Some(disturbance.name().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_disturbances_of_the_system() {
        let watch = Watch::begin();
        assert_eq!(watch.counters.is_some(), Counts::of_this_thread().is_some());
        let mut disturbed = watch.clone();
        if let Some(counters) = &mut disturbed.counters {
            counters.cpus = Vec::new();
            counters.major_faults = u64::MAX;
            counters.switches = 0;
            // Whatever else happened: fewer switches than now are a disturbance, if there was any
            // at all.
            let any = || Counts::of_this_thread().is_some_and(|now| now.switches > 0);
            let (before, found, after) = (any(), disturbed.end(), any());
            // A first one may come at this very moment.
            if before == after {
                assert_eq!(found.as_deref(), before.then_some("context-switch"));
            }
        }
    }
}
