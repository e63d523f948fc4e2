//! What the author of a sleep primitive or of a periodic timer writes, and its row in a list.

use super::{Answers, Means, WaitEntry, WaitInfo};
use crate::Unavailable;
use crate::subject::Answer;

/// A method to wait. Its row in the list says which questions it answers; the loops call only what
/// belongs to these.
pub(crate) trait Method: 'static {
    /// Makes it ready to be used by the calling thread.
    ///
    /// # Errors
    /// Says why this machine does not have it.
    fn open(label: &'static str) -> Result<Self, Unavailable>
    where
        Self: Sized;

    /// Waits for a number of nanoseconds, rounded up to its unit. A signal that interrupts the wait
    /// does not shorten it.
    fn wait(&mut self, nanoseconds: u64);

    /// Arms it to expire in a number of nanoseconds, and cancels that.
    fn arm_and_cancel(&mut self, _nanoseconds: u64) {}

    /// Begins to fire periodically; the first expiration is a period away.
    ///
    /// # Errors
    /// When the system refuses.
    fn start(&mut self, _period_ns: u64) -> Answer<()> {
        Ok(())
    }

    /// Waits for the next expiration. By default a loop of relative waits, without a look at any
    /// clock: each round takes the period and what comes on top, and what was missed is put off.
    fn tick(&mut self, period_ns: u64) {
        self.wait(period_ns);
    }

    /// For how many expirations the last return stands, as the timer itself says.
    fn expirations(&mut self) -> u64 {
        1
    }

    /// Ends the periods.
    fn stop(&mut self) {}
}

/// Opens a method that is known by its type.
pub(crate) fn open<T: Method>(label: &'static str) -> Result<Box<dyn Method>, Unavailable> {
    Ok(Box::new(T::open(label)?))
}

/// A row: a call that blocks and is asked in nanoseconds, to which the timer slack applies.
pub(crate) const fn row<T: Method>(
    id: &'static str,
    label: &'static str,
    answers: Answers,
) -> WaitEntry {
    WaitEntry {
        info: WaitInfo {
            id,
            label,
            means: Means::Blocks,
            unit_ns: 1,
            slack: true,
        },
        answers,
        method: open::<T>,
    }
}

/// The methods of one system, which are known on all of them: type, id, label, unit in nanoseconds,
/// timer slack, answers. The types are there where `$here` holds.
macro_rules! methods {
    ($where:literal, $here:meta; $($method:ty, $id:literal, $label:literal, $unit_ns:literal, $slack:literal, $answers:ident;)*) => {
        pub(crate) const ALL: &[$crate::waits::WaitEntry] = &[$($crate::waits::WaitEntry {
            info: $crate::waits::WaitInfo {
                id: $id,
                label: $label,
                means: $crate::waits::Means::Blocks,
                unit_ns: $unit_ns,
                slack: $slack,
            },
            answers: $crate::waits::Answers::$answers,
            #[cfg($here)]
            method: $crate::waits::method::open::<$method>,
            #[cfg(not($here))]
            method: |_| Err($crate::Unavailable::elsewhere(concat!($where, " only"))),
        }),*];
    };
}
pub(crate) use methods;
