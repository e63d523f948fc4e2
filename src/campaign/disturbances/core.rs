//! Observes the core that measures: its frequency, and whether it is currently shared with another
//! thread.
//!
//! A thread of the runner (this program) is pinned to the CPU of the measured process. It times
//! additions on request, while that process waits for its next question. Their number per second
//! gives the frequency. Their number per cycle (the width) drops if another hardware thread uses
//! the same core.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use timers::{CoreFrequency, CoreFrequencyMeter};

/// Number of latest samples that are kept, from which the width of the unshared core is found.
/// *Judgement*: 40 samples of the unshared core are then enough to find its width.
const MAX_SAMPLES: usize = 400;
/// Fewest samples before a core can count as shared.
/// *Judgement*: two of 20 samples are beyond their 90 % quantile, so a single extreme sample does
/// not decide.
const MIN_SAMPLES: usize = 20;
/// Share of the width of the unshared core (the 90 % quantile of the latest widths) below which a
/// core counts as shared. *Seen*: sharing halves the additions per cycle.
const SHARED_SHARE: f64 = 0.9;

/// A thread that samples the CPU on which timers are measured.
pub struct Core {
    requests: Sender<()>,
    samples: Receiver<Option<CoreFrequency>>,
    /// Parallel additions per cycle in the latest samples.
    widths: Vec<f64>,
    /// The index of the oldest of these samples, which is replaced next.
    oldest: usize,
}

impl Core {
    /// Starts the thread on `cpu`. `None` if it may not run on that CPU or cannot measure the
    /// frequency.
    #[must_use]
    pub fn on_cpu(cpu: u32) -> Option<Self> {
        let (requests, requested) = channel::<()>();
        let (sender, samples) = channel();
        let work = move || {
            let meter = timers::pin_to(cpu)
                .ok()
                .and_then(|()| CoreFrequencyMeter::new().ok());
            while requested.recv().is_ok() {
                if sender
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
            requests,
            samples,
            widths: Vec::new(),
            oldest: 0,
        };
        core.sample().map(|_| core)
    }

    /// Samples the core now. `None` if the frequency cannot be measured.
    pub fn sample(&mut self) -> Option<CoreFrequency> {
        self.requests.send(()).ok()?;
        let core_frequency = self.samples.recv().ok()??;
        self.add(core_frequency);
        Some(core_frequency)
    }

    /// Adds a sample that a process on this core took.
    pub fn add(&mut self, core_frequency: CoreFrequency) {
        if self.widths.len() < MAX_SAMPLES {
            self.widths.push(core_frequency.width);
        } else {
            self.widths[self.oldest] = core_frequency.width;
            self.oldest = (self.oldest + 1) % MAX_SAMPLES;
        }
    }

    /// Returns whether another thread ran on the core when this sample was taken: whether its width
    /// is markedly smaller than that of the unshared core.
    #[must_use]
    pub fn is_shared(&self, core_frequency: CoreFrequency) -> bool {
        is_shared(&self.widths, core_frequency.width)
    }
}

/// Returns whether a core with this width counts as shared, given the latest widths.
fn is_shared(widths: &[f64], width: f64) -> bool {
    use crate::statistics::{quantile, sorted};
    widths.len() >= MIN_SAMPLES
        && quantile(&sorted(widths), 0.9).is_some_and(|best| width < SHARED_SHARE * best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_core_counts_as_shared() {
        let unshared = [4.05, 4.03, 4.08];
        let mut widths: Vec<f64> = unshared.iter().cycle().take(60).copied().collect();
        assert!(!is_shared(&widths, 4.0));
        assert!(is_shared(&widths, 2.9));
        widths.extend([2.9; 200]);
        assert!(
            is_shared(&widths, 2.9),
            "a fifth of the samples at full width is enough"
        );
        assert!(!is_shared(&[2.9; 100], 2.9), "the core was never wider");
        assert!(!is_shared(&unshared, 1.0), "too few samples");
    }

    #[test]
    fn samples_existing_cpus_only() {
        assert!(Core::on_cpu(u32::MAX).is_none());
        if let Some(mut core) = Core::on_cpu(timers::allowed_cpus().expect("some CPU")[0]) {
            let core_frequency = core.sample().expect("the first sample succeeded");
            assert!(core_frequency.hertz > 0.0 && !core.is_shared(core_frequency));
        }
    }
}
