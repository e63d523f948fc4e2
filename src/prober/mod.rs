//! The only code that spends time: it questions timers and keeps what they answer.

pub mod beside;
pub mod calibrate;
mod calibration;
pub mod campaign;
mod choose;
pub mod counter;
pub mod examination;
pub mod explore;
mod outside;
pub mod sampling;
pub mod slow_clocks;
pub mod waits;
pub mod watch;
