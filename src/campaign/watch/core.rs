//! Observes the core that measures: its frequency, and whether it is currently shared with another
//! thread.
//!
//! A separate thread is pinned to that CPU and samples it on request, while the agent waits for its
//! next question.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use timers::{CoreFrequency, CoreFrequencyMeter};

/// Samples that are kept to know the speed of the unshared core.
/// *Judgement*.
const MAX_SAMPLES: usize = 400;
/// Fewest samples for a decision about sharing.
/// *Judgement*.
const MIN_SAMPLES: usize = 20;
/// Share of the best additions per cycle below which a core counts as shared. *Seen*: sharing
/// halves the additions a cycle.
const SHARED_SHARE: f64 = 0.9;

/// A sampling thread on the CPU that measures.
pub struct Core {
    ask: Sender<()>,
    answers: Receiver<Option<CoreFrequency>>,
    widths: Vec<f64>,
    oldest: usize,
}

impl Core {
    /// Starts a thread on `cpu`. `None` if it may not run there or cannot measure the frequency.
    #[must_use]
    pub fn on_cpu(cpu: u32) -> Option<Self> {
        let (ask, questions) = channel::<()>();
        let (answer, answers) = channel();
        let work = move || {
            let meter = timers::pin_to(cpu)
                .ok()
                .and_then(|()| CoreFrequencyMeter::new().ok());
            while questions.recv().is_ok() {
                if answer
                    .send(meter.and_then(|meter| meter.measure()))
                    .is_err()
                {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("core".into())
            .spawn(work)
            .ok()?;
        let mut core = Self {
            ask,
            answers,
            widths: Vec::new(),
            oldest: 0,
        };
        core.look().map(|_| core)
    }

    /// Samples the current state of the core.
    pub fn look(&mut self) -> Option<CoreFrequency> {
        self.ask.send(()).ok()?;
        let core_frequency = self.answers.recv().ok()??;
        self.remember(core_frequency);
        Some(core_frequency)
    }

    /// Adds a sample that a process on this core took.
    pub fn remember(&mut self, core_frequency: CoreFrequency) {
        if self.widths.len() < MAX_SAMPLES {
            self.widths.push(core_frequency.width);
        } else {
            self.widths[self.oldest] = core_frequency.width;
            self.oldest = (self.oldest + 1) % MAX_SAMPLES;
        }
    }

    /// Returns whether the sample shows markedly fewer additions per cycle than the unshared core
    /// achieves.
    #[must_use]
    pub fn is_shared(&self, core_frequency: CoreFrequency) -> bool {
        is_shared(&self.widths, core_frequency.width)
    }
}

fn is_shared(widths: &[f64], width: f64) -> bool {
    use crate::statistics::{quantile, sorted};
    widths.len() >= MIN_SAMPLES
        && quantile(&sorted(widths), 0.9).is_some_and(|best| width < SHARED_SHARE * best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_core_counts_as_shared() {
        let alone = [4.05, 4.03, 4.08];
        let mut widths: Vec<f64> = alone.iter().cycle().take(60).copied().collect();
        assert!(!is_shared(&widths, 4.0));
        assert!(is_shared(&widths, 2.9));
        widths.extend([2.9; 200]);
        assert!(
            is_shared(&widths, 2.9),
            "a fifth of the looks at its best is enough"
        );
        assert!(!is_shared(&[2.9; 100], 2.9), "it was never seen otherwise");
        assert!(!is_shared(&alone, 1.0), "too few looks");
    }

    #[test]
    fn a_look_or_none() {
        assert!(Core::on_cpu(u32::MAX).is_none());
        if let Some(mut core) = Core::on_cpu(timers::allowed_cpus().expect("some CPU")[0]) {
            let core_frequency = core.look().expect("it looked before");
            assert!(core_frequency.hertz > 0.0 && !core.is_shared(core_frequency));
        }
    }
}
