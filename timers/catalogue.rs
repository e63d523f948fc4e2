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
use crate::{Described, Info, Native, Subject, Timer, Unavailable, quanta_clock, std_time};

/// A native timer as the catalogue knows it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name, label, unit, and what it is.
    pub info: Info,
    /// Nanoseconds in one tick, as declared.
    pub ns_per_tick: fn() -> Option<f64>,
    /// The resolution that the system declares for it, in nanoseconds.
    pub declared_resolution: fn() -> Option<f64>,
    /// Whether it can be read on this machine, and if not, why.
    pub availability: fn() -> Result<(), Unavailable>,
    /// Opens it for the calling thread.
    pub open: fn() -> Result<Box<dyn Subject>, Unavailable>,
}

impl Entry {
    pub(crate) const fn opening<T: Timer>() -> Self {
        Self {
            info: T::INFO,
            ns_per_tick: T::ns_per_tick,
            declared_resolution: T::declared_resolution,
            availability: T::availability,
            open: || Ok(Box::new(Native::open::<T>()?)),
        }
    }
}

/// A table of clocks: type, id, label, nanoseconds in a tick, properties. The types are there where
/// `$here` holds; all others know the rows, as clocks of `$place` only. What a table does not know is
/// visited by the next.
macro_rules! clocks {
    ($place:literal, $here:meta; $($timer:ty, $id:literal, $label:expr, $ns_per_tick:expr, $properties:expr;)*) => {
        $(#[cfg($here)]
        impl $crate::Described for $timer {
            const INFO: $crate::Info = $crate::Info {
                id: $id,
                label: $label,
                ns_per_tick: $ns_per_tick,
                properties: $properties,
            };
        })*

        pub(crate) const ALL: &[$crate::Entry] = &[$(
            #[cfg($here)]
            $crate::Entry::opening::<$timer>(),
            #[cfg(not($here))]
            $crate::Entry {
                info: $crate::Info {
                    id: $id,
                    label: $label,
                    ns_per_tick: $ns_per_tick,
                    properties: $properties,
                },
                ns_per_tick: || None,
                declared_resolution: || None,
                availability: || Err($crate::Unavailable::elsewhere(concat!($place, " only"))),
                open: || Err($crate::Unavailable::elsewhere(concat!($place, " only"))),
            },
        )*];

        pub(crate) fn visit_own<V: $crate::Visitor>(
            id: &str,
            visitor: V,
        ) -> Result<Result<V::Output, $crate::Unavailable>, V> {
            match id {
                $(#[cfg($here)]
                $id => Ok(<$timer as $crate::Timer>::open().map(|timer| visitor.visit(timer))),)*
                _ => Err(visitor),
            }
        }
    };
}
pub(crate) use clocks;

/// Something to be done with a timer whose type is not known beforehand.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<T: Timer>(self, timer: T) -> Self::Output;
}

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
