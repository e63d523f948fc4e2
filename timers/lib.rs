//! The timer methods that timermeter characterises, one file per family, and the hot loops that
//! measure them.
//!
//! A *timer method* is any call that reads a counter ([Kuperberg, Krogmann, Reussner 2011], section
//! 2). Its author implements [`Timer`]: how it is opened, how it is read, and how a reading becomes
//! a number. A row in a table of clocks states its name and its declared properties
//! ([`Described`]), and adds it to the [`catalogue()`]. A measurement uses it as a [`Subject`],
//! which answers questions such as "how long do these reads take?".
//!
//! ```
//! let entry = timers::find("instant").expect("it is on all systems");
//! let mut clock = (entry.open)()?;
//! let readings = clock.readings(2)?;
//! assert!(readings[0] <= readings[1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate is the only part of the project that reads real clocks and the only one with `unsafe`
//! code.
//!
//! [Kuperberg, Krogmann, Reussner 2011]: https://doi.org/10.1145/1958746.1958776

#![allow(
    clippy::disallowed_methods,
    reason = "this crate is where clocks are read"
)]

/// Implements `Display`, with a text for each variant, and `Error`.
macro_rules! texts {
    ($error:ty { $($variant:pat => $text:literal,)* }) => {
        impl std::fmt::Display for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($variant => write!(f, $text),)*
                }
            }
        }

        impl std::error::Error for $error {}
    };
}

mod affinity;
pub mod agents;
mod answer;
pub mod arch;
mod chain;
pub mod clock_sources;
mod context;
mod counters;
mod deadline;
mod kernel_entry;
mod kernel_time;
mod native;
mod null;
pub mod os;
pub mod parts;
mod properties;
#[cfg(feature = "quanta")]
mod quanta_clock;
mod question;
mod std_time;
mod subject;
pub mod timed;
mod timer;
pub mod waits;
mod work;

mod catalogue;
mod entry;
mod failures;

pub use affinity::{Pinned, allowed_cpus, move_process, move_thread, pin_to, unpin};
pub use answer::{Answer, BackwardSteps, Fault, Movement};
pub use arch::fence;
pub use catalogue::{ClockReader, FLOOR_ID, catalogue, find, reader, visit};
pub use chain::{CoreFrequencyMeter, CoreSpeed, time_additions, time_multiplications};
pub use counters::{COUNTER_CLOCKS, COUNTERS, declared_counter_rate};
pub use deadline::{Deadline, pause};
pub use entry::{Entry, Visitor};
pub use failures::{failure, record_failure};
pub use kernel_entry::{KernelEntry, measure_kernel_entry};
pub use kernel_time::{kernel_raw_time, kernel_time};
pub use native::{
    CALLS_IN_TURN, Native, RATE_SOURCES, REFERENCES, find_ns_per_tick, pass, unfenced_handoffs,
};
pub use os::AffinityError;
pub use properties::{Counted, Family, Properties, ReadsBy};
pub use question::{Activity, Context, Op, StepQuestion, TimerQuestion};
pub use std_time::date;
pub use subject::{Subject, Values};
pub use timer::{Available, Described, Info, Ticks, Timer, Unavailable, is_tick};
pub use work::run_chain;

// Lets this crate use the paths `timers::…`, as a timer in another crate does.
extern crate self as timers;

/// The types of some timers. A program that uses this crate as a library names one of them as the
/// type argument of its measurement.
pub mod clocks {
    #[allow(unused_imports, reason = "the module is empty on Windows")]
    pub use crate::os::posix::by_type::*;
    pub use crate::std_time::StdInstant;
}

/// Sets an environment variable that all processes started from now on inherit, directly or
/// indirectly. The variable identifies them even if their parent ended or they left their process
/// group or session. Must be called before a second thread uses the environment.
pub fn mark_descendants(name: &str, value: &str) {
    // SAFETY: no other thread accesses the environment at the same time, because this function is
    // called before there is a second thread that does.
    unsafe { std::env::set_var(name, value) };
}
