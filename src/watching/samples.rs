//! Measures the stability of one clock relative to another over a whole watch.

use serde::{Deserialize, Serialize};

use crate::rate;

/// Most samples that are kept; beyond this, every second one is dropped.
/// *Judgement*: windows from a second up in an hour, from half a minute up in a day.
const MAX_SAMPLES: usize = 4096;

/// The Allan deviation for one window length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// The length of the windows, in seconds.
    pub window_s: f64,
    /// The deviation of the rate between successive windows, as a share.
    pub deviation: f64,
}

/// Offsets of one clock from another over time.
#[derive(Clone, Debug)]
pub struct Samples {
    kept: Vec<(f64, f64)>,
    every: u64,
    added: u64,
}

impl Default for Samples {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            every: 1,
            added: 0,
        }
    }
}

impl Samples {
    /// Adds a sample: the time, and how far the clock is ahead, both in seconds.
    pub fn add(&mut self, time: f64, ahead: f64) {
        if self.added.is_multiple_of(self.every) {
            self.kept.push((time, ahead));
        }
        self.added += 1;
        if self.kept.len() >= MAX_SAMPLES {
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// Discards all samples, because the clock was interrupted.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns the deviation for windows of 1, 2, 4, … times the usual distance of samples.
    pub fn stability(&self) -> Vec<Stability> {
        let found = rate::allan_deviations(&self.kept).into_iter();
        found
            .map(|(window_s, deviation)| Stability {
                window_s,
                deviation,
            })
            .collect()
    }
}
