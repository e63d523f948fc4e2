//! A timer of the campaign, and what becomes of it.

use timers::Fault;

use crate::hosts::protocol::HostedTimer;

use crate::campaign::slow_clocks::Waited;
use crate::campaign::survived;
use crate::rate::{self, Rate};
use crate::trace::Stored;

/// A timer of the campaign and what became of it.
pub struct Subject {
    /// Index of its host.
    pub host: usize,
    /// The timer.
    pub timer: HostedTimer,
    /// What was observed; with a reason where the timer failed.
    pub outcome: Result<Stored, String>,
    /// Processes that it had to itself, those that could look for its step, and those of the latter
    /// that found it too slow.
    pub(super) alone: u32,
    pub(super) explored: u32,
    pub(super) slow: u32,
    /// What each process found its tick to be, in nanoseconds.
    pub(super) rates: Vec<f64>,
    /// Processes that could not measure undisturbed: those that found it too slow, and what each
    /// found its tick to be.
    pub(super) disturbed: (u32, Vec<f64>),
}

impl Subject {
    /// A timer that was not asked anything yet.
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

    /// Whether its steps are too long for most of its processes.
    pub(super) fn is_slow(&self) -> bool {
        self.outcome.is_ok() && 2 * self.slow > self.explored
    }

    /// Whether all processes that looked for its step so far found it too slow: what one cannot
    /// afford another one cannot either.
    pub(super) fn is_found_slow(&self) -> bool {
        self.slow > 0 && self.slow == self.explored
    }

    /// Keeps what an undisturbed process found of its tick and its step.
    pub(super) fn explored(&mut self, ns_per_tick: Option<f64>, slow: bool) {
        self.rates.extend(ns_per_tick);
        self.explored += 1;
        self.slow += u32::from(slow);
    }

    /// Scales all its times to the rate of the reference that was found in the end.
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

    /// Nanoseconds in a tick that its processes agree on, and what that is known to, as a share.
    pub(super) fn tick(&self) -> Option<(f64, f64)> {
        rate::agreed(&self.rates)
    }

    /// Writes down what the processes agree on, if enough of them could measure.
    pub(super) fn settle(&mut self, core_hz: Option<f64>) {
        let Ok(stored) = &mut self.outcome else {
            return;
        };
        // Brief ones are disturbed sooner, as all that they ask is one window.
        if 3 * self.explored < self.alone {
            // A figure of a core that is shared all the time is worth more than none, if it says
            // so.
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
        let of_reference = if trace.declared {
            0.0
        } else {
            trace.reference.rate_uncertainty
        };
        trace.ns_per_tick_uncertainty = agreed
            .map_or(0.0, |(_, uncertainty)| uncertainty)
            .max(of_reference);
        trace.core_hz = core_hz;
    }

    /// Keeps what came of waiting.
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
