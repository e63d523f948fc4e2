//! The list of native timers, and access to a timer by its id. A new timer is a type and a row of
//! the table in the file of its family.

use std::sync::LazyLock;

use crate::arch::{arm_counters as arm, riscv_counters as riscv, x86_counters as x86};
#[cfg(feature = "perf-event")]
use crate::os::perf_clocks;
use crate::os::posix::{accounts, clocks as posix_clocks, seconds};
use crate::os::{apple_timers, windows_timers};
#[cfg(feature = "quanta")]
use crate::quanta_clock;
use crate::{Available, Entry, Ticks, Timer, Visitor, failure, std_time};

/// The id of a timer that reads nothing, whose cost is that of the loop of an agent.
pub const FLOOR_ID: &str = "null";

/// Defines the functions that search the given tables, in the order in which timers are listed.
macro_rules! tables {
    ($($(#[$built:meta])? $table:ident),*) => {
        /// All native timers known to this build, including those that this machine does not have.
        pub fn catalogue() -> &'static [Entry] {
            static ALL: LazyLock<Vec<Entry>> = LazyLock::new(|| [$($(#[$built])? $table::ALL),*].concat());
            &ALL
        }

        /// Opens the native timer with the given id for the calling thread and passes it to the
        /// visitor, which is compiled for each timer and so makes no dynamic calls. `None` if there
        /// is no timer with this id.
        ///
        /// # Errors
        /// When the timer cannot be read on this machine.
        pub fn visit<V: Visitor>(id: &str, visitor: V) -> Option<Available<V::Output>> {
            $($(#[$built])?
            let visitor = match $table::visit_own(id, visitor) {
                Ok(visited) => return Some(visited),
                Err(visitor) => visitor,
            };)*
            drop(visitor);
            (find(id)?.availability)().err().map(Err)
        }
    };
}

tables![
    x86,
    arm,
    riscv,
    posix_clocks,
    seconds,
    accounts,
    std_time,
    #[cfg(feature = "quanta")]
    quanta_clock,
    #[cfg(feature = "perf-event")]
    perf_clocks,
    windows_timers,
    apple_timers
];

/// The timer with the given id; `None` if there is none.
pub fn find(id: &str) -> Option<Entry> {
    catalogue()
        .iter()
        .copied()
        .find(|entry| entry.info.id == id)
}

/// A function that reads a clock, in ticks, or returns the reason why a read has failed. Each read
/// costs a dynamic call in addition.
pub type ClockReader = Box<dyn Fn() -> Available<u64>>;

/// Opens the clock with the given id for occasional reads; `None` if there is no clock with this
/// id.
///
/// # Errors
/// When the clock cannot be read on this machine.
pub fn reader(id: &str) -> Option<Available<ClockReader>> {
    visit(id, MakeReader)
}

struct MakeReader;

impl Visitor for MakeReader {
    type Output = ClockReader;

    fn visit<T: Timer + 'static>(self, timer: T) -> ClockReader {
        Box::new(move || {
            let Ticks(ticks) = timer.ticks(timer.read());
            failure(T::INFO.id).map_or(Ok(ticks), Err)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::reader;

    #[test]
    fn reader_never_steps_back() {
        let read = reader("monotonic").expect("the clock exists").unwrap();
        let before = read().unwrap();
        assert!(read().unwrap() >= before);
        assert!(reader("sundial").is_none());
    }
}
