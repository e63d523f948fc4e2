//! The list of native timers. A new one is a type and a row of the table in the file of its family.
//!
//! A clock that is read now and then, by its id: what is read is a number, and each read costs a
//! dynamic call more than the clock.

use std::sync::LazyLock;

use crate::arch::arm_counters::wide as arm64;
use crate::arch::{arm_counters as arm, riscv_counters as riscv, x86_counters as x86};
use crate::null::Null;
use crate::os::posix::{accounts, clocks as posix_clocks, seconds};
use crate::os::{apple_timers, linux_ptp, perf_clocks, windows_timers};
use crate::{Described, Entry, Timer, Unavailable, Visitor, quanta_clock, std_time};

/// The id of the timer that reads nothing.
pub const FLOOR_ID: &str = Null::INFO.id;

/// The tables, in the order in which their clocks are listed.
macro_rules! tables {
    ($($table:ident),*) => {
        /// Every native timer this build knows, readable here or not.
        #[must_use]
        pub fn catalogue() -> &'static [Entry] {
            static ALL: LazyLock<Vec<Entry>> = LazyLock::new(|| [$($table::ALL),*].concat());
            &ALL
        }

        /// Hands the native timer of that id, opened for the calling thread, to a visitor, which is
        /// compiled for each timer: no call it makes is dynamic. `None` when no timer is called so.
        ///
        /// # Errors
        /// Says why this machine does not let the timer be read.
        pub fn visit<V: Visitor>(id: &str, visitor: V) -> Option<Result<V::Output, Unavailable>> {
            $(let visitor = match $table::visit_own(id, visitor) {
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
    arm64,
    riscv,
    posix_clocks,
    seconds,
    accounts,
    std_time,
    quanta_clock,
    perf_clocks,
    linux_ptp,
    windows_timers,
    apple_timers
];

/// The timer that reads nothing. It is not in the [`catalogue`]: it is never picked as a clock.
#[must_use]
pub fn floor() -> Entry {
    Entry::opening::<Null>()
}

/// The timer of that id, the floor included.
#[must_use]
pub fn find(id: &str) -> Option<Entry> {
    catalogue()
        .iter()
        .copied()
        .chain([floor()])
        .find(|entry| entry.info.id == id)
}

/// What reads a clock: the ticks that it is at.
pub type Reader = Box<dyn Fn() -> u64>;

/// What reads the clock of that id; `None` when no clock is called so.
///
/// # Errors
/// Says why this machine does not let it be read.
pub fn reader(id: &str) -> Option<Result<Reader, Unavailable>> {
    visit(id, Opening)
}

struct Opening;

impl Visitor for Opening {
    type Output = Reader;

    fn visit<T: Timer>(self, timer: T) -> Reader {
        Box::new(move || timer.ticks(timer.read()).0)
    }
}

#[cfg(test)]
mod tests {
    use super::reader;

    #[test]
    fn reader_never_steps_back() {
        let read = reader("monotonic")
            .expect("it is one")
            .expect("it can be read");
        let before = read();
        assert!(read() >= before);
        assert!(reader("sundial").is_none());
    }
}
