//! Decides what each clock, sleep primitive and periodic timer is asked, and keeps the answers.

pub mod beside;
pub mod calibrate;
mod calibration;
mod choose;
pub mod clocks;
pub mod counter;
pub mod examination;
pub mod explore;
mod outside;
pub mod sampling;
pub mod slow_clocks;
pub mod waits;
pub mod watch;
