//! The only code that spends time: it questions timers and keeps what they answer.

pub mod bench;
pub mod beside;
pub mod browser;
pub mod calibrate;
mod calibration;
pub mod campaign;
pub mod children;
pub mod conformance;
pub mod connection;
pub mod counter;
pub mod events;
pub mod examination;
pub mod explore;
mod host;
pub mod hosted;
mod lines;
mod outside;
pub mod process;
pub mod protocol;
pub mod runtimes;
pub mod sampling;
pub mod serve;
pub mod slow_clocks;
pub mod tool;
pub mod waits;
pub mod watch;
pub mod words;
