//! Systems without perf events, and processors for which it is not written down how the kernel takes them.

#![allow(missing_docs, clippy::missing_errors_doc, reason = "as where there are some")]

use crate::Unavailable;

pub enum Event {}
pub enum Page {}

impl Event {
    pub fn task_clock() -> Result<Self, Unavailable> {
        unavailable()
    }

    pub fn cycles() -> Result<Self, Unavailable> {
        unavailable()
    }

    pub fn read(&self) -> u64 {
        match *self {}
    }
}

impl Page {
    pub fn open() -> Result<Self, Unavailable> {
        unavailable()
    }

    pub fn read(&self) -> u64 {
        match *self {}
    }
}

/// By what the kernel converts the counter is shown by perf events alone.
pub fn counter_scale() -> Option<f64> {
    None
}

pub fn clock_calls(_: std::time::Duration) -> Result<f64, Unavailable> {
    unavailable()
}

fn unavailable<T>() -> Result<T, Unavailable> {
    Err(Unavailable::elsewhere(
        "perf_event_open: not on this system or processor, or not known to this build",
    ))
}
