//! Failed reads of open timers.
//!
//! They are kept for the process and not in the timer, so that a timed read needs no pointer to the
//! timer: if the call succeeds, it costs a compare and a branch that is not taken.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::{Answer, Available, Described, Fault, Timer, Unavailable};

/// The id of each timer of which a read has failed, with the reason of the first failure.
static FAILURES: Mutex<Vec<(&str, Unavailable)>> = Mutex::new(Vec::new());

/// The reason why a read of the timer with this id has failed in this process, after which its
/// readings are worthless; `None` if none has.
pub fn failure(id: &str) -> Option<Unavailable> {
    let failures = FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
    let found = failures.iter().find(|(failed, _)| *failed == id);
    found.map(|(_, why)| why.clone())
}

/// Records why a read of a timer has failed. The read returns the latest time that it can, so that
/// a loop that waits for a time ends.
#[cold]
pub fn record_failure<T: Described>(why: Unavailable) {
    let mut failures = FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
    if failures.iter().all(|(id, _)| *id != T::INFO.id) {
        failures.push((T::INFO.id, why));
    }
}

/// Records that a call returned `value`, with which it reports a failure or which is no time. Not
/// part of the loops that read clocks, because these are compiled for each timer.
#[cold]
#[inline(never)]
pub(crate) fn record_value<T: Described>(value: impl fmt::Display) {
    record_failure::<T>(wrong_value(T::INFO.label, value));
}

/// The failure of the call `label` that returned `value`.
pub(crate) fn wrong_value(label: &str, value: impl fmt::Display) -> Unavailable {
    Unavailable::because(format!("{label} returned {value}")).remedy(
        "find what intercepts the call: a preloaded library (LD_PRELOAD), a sandbox, an emulator",
    )
}

/// Returns an open timer after a first read.
///
/// # Errors
/// When a read has failed.
pub(crate) fn checked<T: Timer>(timer: T) -> Available<T> {
    timer.ticks(timer.read());
    failure(T::INFO.id).map_or(Ok(timer), Err)
}

/// The answer to a question about timers, unless a read of one of them has failed.
pub(crate) fn unless_failed<A>(ids: &[&str], answer: A) -> Answer<A> {
    let failed = ids.iter().find_map(|id| failure(id));
    failed.map_or(Ok(answer), |why| Err(Fault::Refused(why.to_string())))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::{Info, Native, Properties, Subject, Ticks};

    /// A clock that fails after `READS` reads.
    struct Failing<const READS: u32>(AtomicU32);

    impl<const READS: u32> Described for Failing<READS> {
        const INFO: Info = Info {
            id: if READS == 0 { "failed" } else { "failing" },
            label: "a clock that fails",
            ns_per_tick: Some(1.0),
            properties: Properties::UNKNOWN,
        };
    }

    impl<const READS: u32> Timer for Failing<READS> {
        type Reading = u32;

        fn open() -> Available<Self> {
            checked(Self(AtomicU32::new(0)))
        }

        #[inline(always)]
        fn read(&self) -> u32 {
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            if number >= READS {
                record_failure::<Self>(Unavailable::because(format!("read {number} failed")));
            }
            number
        }

        fn ticks(&self, reading: u32) -> Ticks {
            Ticks(reading.into())
        }
    }

    #[test]
    fn answers_fail_after_failed_read() {
        let failed = Failing::<0>::open().err();
        assert_eq!(failed, Some(Unavailable::because("read 0 failed")));
        let mut clock =
            Native::from_timer(Failing::<100>::open().expect("the first read succeeds"));
        assert_eq!(clock.readings(9).map(|all| all.len()), Ok(9));
        let refused = Err(Fault::Refused("read 100 failed".into()));
        assert_eq!(clock.readings(99).map(drop), refused);
        // The first failure stays the reason.
        assert_eq!(clock.intervals(&[0], 2).map(drop), refused);
        assert_eq!(failure("null"), None);
    }
}
