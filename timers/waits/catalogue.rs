//! The list of timers that wait. A new one is a file of its own and one line here.

use super::observe::Observed;
use super::standard::StdSleep;
use super::{Countdown, WaitInfo, WaitSubject};
use crate::Unavailable;

/// A timer that waits as the catalogue knows it.
#[derive(Clone, Copy)]
pub struct WaitEntry {
    /// Name, label, and what it is.
    pub info: WaitInfo,
    /// Which questions it answers.
    pub answers: Answers,
    /// Whether it can be used on this machine, and if not, why.
    pub availability: fn() -> Result<(), Unavailable>,
    /// Opens it for the calling thread.
    pub open: fn() -> Result<Box<dyn WaitSubject>, Unavailable>,
}

/// Which questions a timer answers that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// [`WaitSubject::waits`].
    pub waits: bool,
    /// [`WaitSubject::arms`].
    pub arms: bool,
    /// [`WaitSubject::periods`].
    pub periods: bool,
}

impl WaitEntry {
    const fn countdown<T: Countdown>() -> Self {
        Self {
            info: T::INFO,
            answers: Answers { waits: true, arms: false, periods: false },
            availability: || T::open().map(drop),
            open: || Ok(Box::new(Observed(T::open()?))),
        }
    }
}

/// Every timer that waits which this build knows, usable here or not.
#[must_use]
pub fn catalogue() -> &'static [WaitEntry] {
    const ALL: &[WaitEntry] = &[WaitEntry::countdown::<StdSleep>()];
    ALL
}

/// The timer of that id.
#[must_use]
pub fn find(id: &str) -> Option<WaitEntry> {
    catalogue().iter().copied().find(|entry| entry.info.id == id)
}
