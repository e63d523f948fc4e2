//! Characterises a clock in the process that reads it, without a program and without another
//! process.
//!
//! ```
//! use std::time::UNIX_EPOCH;
//!
//! /// The time of day in milliseconds.
//! struct MyClock;
//!
//! impl probe::TickClock for MyClock {
//!     fn ns_per_tick(&self) -> Option<f64> {
//!         Some(1e6)
//!     }
//!
//!     fn read(&self) -> u64 {
//!         UNIX_EPOCH.elapsed().unwrap_or_default().as_millis() as u64
//!     }
//! }
//!
//! let figures = probe::characterise(&MyClock)?;
//! print!("{figures}");
//! if let Some(step) = figures.resolution {
//!     assert!(step.contains(1e6), "it has steps of 1 ms");
//! }
//! # Ok::<(), probe::Fault>(())
//! ```
//!
//! [`characterise`] asks the clock the questions that the program timermeter asks, and computes the
//! figures by the same estimators. What differs is that one process measures all: see [`Characteristics`].

#![forbid(unsafe_code)]

mod characterise;
mod characteristics;
pub mod prober;

pub use characterise::{TickClock, characterise, observe};
pub use characteristics::{Characteristics, PROCESS_VARIATION};
pub use estimators::model::Estimate;
pub use timers::Fault;
