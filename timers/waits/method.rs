//! What the author of a timer that waits writes.

use super::WaitInfo;
use crate::Unavailable;
use crate::subject::Answer;

/// What every timer that waits has. What it can be asked is told by the traits below, and by its
/// line in a list.
pub(crate) trait Method: Sized + 'static {
    /// Name, label, and what it is.
    const INFO: WaitInfo;

    /// Makes it ready to be used by the calling thread.
    ///
    /// # Errors
    /// Says why this machine does not have it.
    fn open() -> Result<Self, Unavailable>;
}

/// It returns once a requested time has passed.
pub(crate) trait Countdown {
    /// Waits for a number of nanoseconds, rounded up to its unit. A signal that interrupts the wait
    /// does not shorten it.
    fn wait(&mut self, nanoseconds: u64);
}

/// It can be armed without waiting.
pub(crate) trait Armed {
    /// Arms it to expire in a number of nanoseconds, and cancels that.
    fn arm_and_cancel(&mut self, nanoseconds: u64);
}

/// It returns again and again.
pub(crate) trait Periodic {
    /// Begins; the first expiration is a period away.
    ///
    /// # Errors
    /// When the system refuses.
    fn start(&mut self, period_ns: u64) -> Answer<()>;

    /// Waits for the next expiration.
    fn tick(&mut self);

    /// For how many expirations the last return stands, as the timer itself says.
    fn expirations(&mut self) -> u64 {
        1
    }

    /// Ends.
    fn stop(&mut self) {}
}

/// A countdown that a loop makes periodic, without a look at any clock: each round takes the period
/// and what comes on top, and what was missed is put off.
pub(crate) struct Relative<'a> {
    countdown: &'a mut dyn Countdown,
    period_ns: u64,
}

impl<'a> Relative<'a> {
    pub(crate) fn of(countdown: &'a mut dyn Countdown) -> Self {
        Self {
            countdown,
            period_ns: 0,
        }
    }
}

impl Periodic for Relative<'_> {
    fn start(&mut self, period_ns: u64) -> Answer<()> {
        self.period_ns = period_ns;
        Ok(())
    }

    fn tick(&mut self) {
        self.countdown.wait(self.period_ns);
    }
}

/// What one system has to wait with, as it is known on all of them: name, id, label, unit in
/// nanoseconds, timer slack, answers.
macro_rules! known {
    ($($name:ident, $id:literal, $label:literal, $unit_ns:expr, $slack:ident, $answers:ident;)*) => {
        $(#[allow(dead_code, reason = "other systems than its own know it by the list")]
        pub(crate) const $name: $crate::waits::WaitInfo = $crate::waits::WaitInfo {
            id: $id, label: $label, means: $crate::waits::Means::Blocks, unit_ns: $unit_ns, slack: $slack,
        };)*

        /// All of them, with what they answer.
        pub(crate) const ALL: &[($crate::waits::WaitInfo, $crate::waits::Answers)] =
            &[$(($name, $crate::waits::Answers::$answers)),*];
    };
}
pub(crate) use known;
