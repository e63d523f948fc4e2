//! Wait methods: sleep primitives, which return once a requested time has passed, and periodic
//! timers, which return once per period. One file per family.
//!
//! A campaign measures each method as a [`Subject`]: an object that can wait or fire periodically.

pub(crate) mod method;
mod observe;
mod observed;
mod portable;

use std::hint::black_box;
use std::sync::LazyLock;

use crate::os::CommonClock;
use crate::os::linux_waits::{self, check_call};
use crate::{Available, Described, Subject, names};
use method::WaitMethod;
pub use observed::{Start, Wait, WaitList, Wakeups};

/// The entry that does not wait, which measures the overhead of the measuring loop. It blocks, and its
/// requests are in nanoseconds, as those of most methods. It is not part of the [`catalogue`], so that
/// it is never selected.
pub const FLOOR: WaitEntry = WaitEntry {
    id: "nothing",
    label: "does not wait (floor of the loop)",
    activity: WaitActivity::Blocks,
    unit_ns: 1,
    method: || {
        Ok(Box::new(|nanoseconds| {
            black_box(nanoseconds);
            0
        }))
    },
};

/// Every sleep primitive and periodic timer known to this build, available on this machine or not.
/// A new one is a row in the table of its family.
pub fn catalogue() -> &'static [WaitEntry] {
    static ALL: LazyLock<Vec<WaitEntry>> =
        LazyLock::new(|| [linux_waits::ALL, portable::ALL].concat());
    &ALL
}

/// The entry with the given id, [`FLOOR`] included; `None` if there is none.
pub fn find(id: &str) -> Option<&'static WaitEntry> {
    catalogue()
        .iter()
        .chain([&FLOOR])
        .find(|entry| entry.id == id)
}

/// The default reference for waits, which a campaign uses if the host has it: the clock that runs
/// at the rate of the kernel's timers.
pub const REFERENCE_ID: &str = CommonClock::INFO.id;

names! {
    /// The activity of a thread during a wait.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "Means"))]
    pub enum WaitActivity {
        /// The thread blocks: another thread may run on the CPU.
        #[default]
        Blocks = "blocks",
        /// The thread runs a loop until the time has passed.
        Spins = "spins",
        /// The thread blocks first and runs a loop at the end.
        Hybrid = "hybrid",
    }
}

/// A catalogue entry for a wait method: its name, its declared properties, and its code.
#[derive(Clone, Copy)]
pub struct WaitEntry {
    /// The id on the command line and in the report: lower case, words joined by `-`.
    pub id: &'static str,
    /// The call itself, as its documentation writes it.
    pub label: &'static str,
    /// The activity of the calling thread during the wait.
    pub activity: WaitActivity,
    /// The unit of requests in nanoseconds: 1 for a `timespec`, 1 000 000 for milliseconds.
    pub unit_ns: u64,
    /// Prepares the method for the calling thread.
    pub(crate) method: fn() -> Available<Box<dyn WaitMethod>>,
}

impl WaitEntry {
    /// Checks that the method can be used on this machine.
    ///
    /// # Errors
    /// The reason why the method is unavailable.
    pub fn availability(&self) -> Available {
        self.open_method().map(drop)
    }

    /// Opens the method for the calling thread, and tries it once.
    fn open_method(&self) -> Available<Box<dyn WaitMethod>> {
        let mut method = (self.method)()?;
        check_call(self.label, method.wait(0))?;
        Ok(method)
    }

    /// Prepares measurements. Each opens the method again, so that what the method changes in the
    /// calling thread lasts as long as the measurement.
    ///
    /// # Errors
    /// The reason why the method is unavailable.
    pub fn open(&self) -> Available<Box<dyn Subject>> {
        self.availability().map(|()| Box::new(*self) as _)
    }
}
