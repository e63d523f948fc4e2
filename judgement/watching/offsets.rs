//! Measures how stable the rate of one clock relative to another is during a watch. The measure is
//! the Allan deviation: the typical change of the rate from one window to the next, by length of
//! the windows.

use crate::model::AllanPoint;
use crate::rate;

/// Number of stored offsets at which every second one is dropped.
/// *Judgement*: the shortest window is then about 1 s for a watch of an hour, and 30 s for one of a
/// day.
const MAX_OFFSETS: usize = 4096;

/// Offsets of one clock from another over time, at equal distances, since the last event that changed
/// the offset or the rate.
#[derive(Clone, Debug)]
pub struct Offsets {
    /// Times and offsets in seconds.
    stored: Vec<(f64, f64)>,
    /// One in this many added offsets is stored.
    stride: u64,
    /// Number of offsets added since the last event.
    added: u64,
}

impl Default for Offsets {
    fn default() -> Self {
        Self {
            stored: Vec::new(),
            stride: 1,
            added: 0,
        }
    }
}

impl Offsets {
    /// Adds the offset of the clock at a time, both in seconds.
    pub fn add(&mut self, time: f64, offset: f64) {
        if self.added.is_multiple_of(self.stride) {
            self.stored.push((time, offset));
        }
        self.added += 1;
        if self.stored.len() >= MAX_OFFSETS {
            let mut count = 0;
            self.stored.retain(|_| {
                count += 1;
                count % 2 == 1
            });
            self.stride *= 2;
        }
    }

    /// Returns the Allan deviation for windows of 1, 2, 4, … times the distance of stored offsets.
    pub fn stability(&self) -> Vec<AllanPoint> {
        rate::allan_deviations(&self.stored)
            .into_iter()
            .map(|(window_s, deviation)| AllanPoint {
                window_s,
                deviation,
            })
            .collect()
    }
}
