//! How stable one clock was against another, over a whole watch.

use serde::{Deserialize, Serialize};

use crate::rate;

/// Samples that are kept; more are thinned out.
/// *Judgement*: windows from a second up in an hour, from half a minute up in a day.
const MOST: usize = 4096;

/// The Allan deviation at windows of one length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// How long the windows are, in seconds.
    pub window_s: f64,
    /// By how much the rate differs from one to the next, as a share of it.
    pub deviation: f64,
}

/// Offsets of a clock from another one.
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
    /// Adds one: the time, and by how much the clock is ahead, both in seconds.
    pub fn add(&mut self, time: f64, ahead: f64) {
        if self.added.is_multiple_of(self.every) {
            self.kept.push((time, ahead));
        }
        self.added += 1;
        if self.kept.len() >= MOST {
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// Forgets them: the clock was interrupted.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// The deviation at windows of 1, 2, 4, … usual distances.
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
