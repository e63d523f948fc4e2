//! A timer of the campaign and its outcome.

use timers::Fault;

use crate::hosts::protocol::HostedTimer;

use crate::campaign::slow_clocks::Waited;
use crate::campaign::survived;
use crate::rate::{self, Rate};
use crate::trace::Stored;

/// A timer of the campaign and its outcome.
pub struct Subject {
    /// Index of the host of the timer.
    pub host: usize,
    /// The timer.
    pub timer: HostedTimer,
    /// The observations, or the reason why the timer failed.
    pub outcome: Result<Stored, String>,
    /// Processes that measured only this timer; undisturbed processes that searched for its step;
    /// and those among the latter that found the timer too slow.
    pub(super) alone: u32,
    pub(super) explored: u32,
    pub(super) slow: u32,
    /// The tick that each process found, in nanoseconds.
    pub(super) rates: Vec<f64>,
    /// Disturbed processes: how many found the timer too slow, and the tick that each found, in
    /// nanoseconds.
    pub(super) disturbed: (u32, Vec<f64>),
}

impl Subject {
    /// Creates a subject for a timer that was not measured yet.
    #[must_use]
    pub fn new(host: usize, timer: HostedTimer) -> Self {
        Self {
            host,
            timer,
            outcome: Ok(Stored::default()),
            alone: 0,
            explored: 0,
            slow: 0,
            rates: Vec::new(),
            disturbed: (0, Vec::new()),
        }
    }

    /// Returns whether most of its processes found its steps too long.
    pub(super) fn is_slow(&self) -> bool {
        self.outcome.is_ok() && 2 * self.slow > self.explored
    }

    /// Returns whether all processes so far found its steps too long. Further processes need not
    /// search again, because they have the same budget.
    pub(super) fn is_found_slow(&self) -> bool {
        self.slow > 0 && self.slow == self.explored
    }

    /// Adds the tick and the speed that an undisturbed process found.
    pub(super) fn explored(&mut self, ns_per_tick: Option<f64>, slow: bool) {
        self.rates.extend(ns_per_tick);
        self.explored += 1;
        self.slow += u32::from(slow);
    }

    /// Scales all times of the timer to the final rate of the reference.
    pub(super) fn rescale(&mut self, rate: Rate) {
        let Ok(Stored { reference, .. }) = &mut self.outcome else {
            return;
        };
        let by = rate.ns_per_tick / reference.ns_per_tick;
        reference.ns_per_tick = rate.ns_per_tick;
        reference.ns_per_work *= by;
        reference.rate_uncertainty = rate.uncertainty;
        reference.strayed_ns = rate.strayed_ns;
        if self.timer.ns_per_tick.is_none() {
            self.rates
                .iter_mut()
                .chain(&mut self.disturbed.1)
                .for_each(|ns| *ns *= by);
        }
    }

    /// Returns the nanoseconds per tick that its processes agree on, and their uncertainty as a
    /// share.
    pub(super) fn tick(&self) -> Option<(f64, f64)> {
        rate::tick_over_processes(&self.rates)
    }

    /// Stores the results that the processes agree on, if enough of them were undisturbed.
    pub(super) fn settle(&mut self, core_hz: Option<f64>) {
        let Ok(stored) = &mut self.outcome else {
            return;
        };
        // Brief processes are not counted: they are disturbed more easily because all their
        // questions share one window.
        if 3 * self.explored < self.alone {
            // A value from a core that is shared all the time is still useful if it is marked as
            // such.
            if !stored.count_set_aside() {
                let reason = too_much_interference(stored, self.alone - self.explored, self.alone);
                self.outcome = Err(reason);
                return;
            }
            let (slow, rates) = std::mem::take(&mut self.disturbed);
            (self.explored, self.slow) = (self.alone, self.slow + slow);
            self.rates.extend(rates);
        }
        let agreed = self.tick();
        let Ok(stored) = &mut self.outcome else {
            return;
        };
        let trace = stored;
        trace.declared = self.timer.ns_per_tick.is_some();
        trace.ns_per_tick = agreed.map(|(ns, _)| ns);
        let reference_uncertainty = if trace.declared {
            0.0
        } else {
            trace.reference.rate_uncertainty
        };
        trace.ns_per_tick_uncertainty = agreed
            .map_or(0.0, |(_, uncertainty)| uncertainty)
            .max(reference_uncertainty);
        trace.core_hz = core_hz;
    }

    /// Keeps the result of waiting for a slow timer.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn keep(&mut self, waited: Waited) -> Result<(), Fault> {
        let Ok(trace) = &mut self.outcome else {
            return Ok(());
        };
        match survived(waited)? {
            Ok((intervals, moved)) => {
                trace.slow.extend(intervals);
                trace.evidence.advances.extend(moved);
            }
            Err(fault) => self.outcome = Err(fault.to_string()),
        }
        Ok(())
    }
}

fn too_much_interference(trace: &Stored, disturbed: u32, processes: u32) -> String {
    format!(
        "too much interference: {disturbed} of {processes} processes could not measure undisturbed ({}); stop what else runs on \
         this machine or choose a quiet CPU with --cpu, and repeat with --thorough",
        trace.disturbances()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_core_marks_its_figures() {
        use crate::trace::Run;
        let mut subject = Subject {
            alone: 3,
            disturbed: (0, vec![0.4, 0.4, 0.4]),
            ..Subject::new(0, HostedTimer::native(&timers::floor()))
        };
        let mut stored = Stored::default();
        (0..3).for_each(|_| stored.set_aside(Run::default()));
        subject.outcome = Ok(stored);
        subject.settle(None);
        let trace = subject.outcome.expect("it has figures").open();
        assert_eq!((trace.shared, trace.runs.len(), trace.discarded), (3, 3, 0));
        assert!(trace.set_aside.is_empty() && trace.runs.iter().all(|run| !run.is_calm()));
        assert_eq!(trace.ns_per_tick, Some(0.4));
    }

    #[test]
    fn disturbed_brief_processes_are_tolerated() {
        let settled = |alone: u32, explored: u32, brief: u32| {
            let mut subject = Subject {
                alone,
                explored,
                ..Subject::new(0, HostedTimer::native(&timers::floor()))
            };
            let discarded = alone - explored + brief;
            subject.outcome = Ok(Stored {
                discarded,
                ..Stored::default()
            });
            subject.settle(None);
            subject.outcome.map(|stored| stored.discarded)
        };
        assert_eq!(settled(3, 3, 22), Ok(22));
        assert_eq!(settled(3, 1, 22), Ok(24));
        let reason = settled(5, 1, 22).expect_err("one process of five");
        assert!(reason.contains("4 of 5 processes"), "{reason}");
    }
}
