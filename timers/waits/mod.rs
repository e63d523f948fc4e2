//! Timers that wait: countdown timers, which return once a requested time has passed, and periodic
//! ones, which return again and again. One file a family.
//!
//! The prober sees each as a [`WaitSubject`]: something that can be asked to wait, to arm and
//! cancel, and to tick.

mod catalogue;
pub(crate) mod method;
mod observe;
mod spinning;
mod standard;
mod tokio_time;

use crate::os::Common;
use crate::subject::{Answer, unanswered};
use crate::{Described, Unavailable};
pub use catalogue::{catalogue, find, floor};
use method::Method;

/// The id of the timer that waits for nothing: what is around a wait.
pub const FLOOR_ID: &str = "nothing";

/// The clock that times waits: at the rate by which the kernel's timers count.
pub const REFERENCE_ID: &str = Common::INFO.id;

/// What a method to wait is called and what it declares about itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitInfo {
    /// The id by which the command line and the report know it: lower case, words joined by `-`.
    pub id: &'static str,
    /// The call itself, as its documentation writes it.
    pub label: &'static str,
    /// What the calling thread does while it waits.
    pub means: Means,
    /// Nanoseconds of the unit that a request is told in: 1 for a `timespec`, 1 000 000 for
    /// milliseconds.
    pub unit_ns: u64,
    /// Whether the kernel's timer slack (`PR_SET_TIMERSLACK`) applies to it, by its documentation.
    pub slack: bool,
}

/// What a thread does while it waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Means {
    /// It blocks: another thread may have the CPU.
    #[default]
    Blocks,
    /// It computes until the time has come.
    Spins,
    /// It blocks first and computes at the end.
    Hybrid,
}

/// A timer that waits as the catalogue knows it.
#[derive(Clone, Copy)]
pub struct WaitEntry {
    /// Name, label, and what it is.
    pub info: WaitInfo,
    /// Which questions it answers.
    pub answers: Answers,
    /// Opens the method; errors call it by the label.
    pub(crate) method: fn(&'static str) -> Result<Box<dyn Method>, Unavailable>,
}

impl WaitEntry {
    /// Whether it can be used on this machine.
    ///
    /// # Errors
    /// Says why not.
    pub fn availability(&self) -> Result<(), Unavailable> {
        (self.method)(self.info.label).map(drop)
    }

    /// Opens it for the calling thread.
    ///
    /// # Errors
    /// Says why this machine does not have it.
    pub fn open(&self) -> Result<Box<dyn WaitSubject>, Unavailable> {
        let (entry, method) = (*self, (self.method)(self.info.label)?);
        Ok(Box::new(observe::Observed { entry, method }))
    }
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

impl Answers {
    pub(crate) const PERIODS: Self = Self {
        waits: false,
        arms: false,
        periods: true,
    };
    pub(crate) const LOOP: Self = Self {
        waits: true,
        ..Self::PERIODS
    };
    pub(crate) const ALL: Self = Self {
        arms: true,
        ..Self::LOOP
    };
    pub(crate) const ARMED: Self = Self {
        periods: false,
        ..Self::ALL
    };
    pub(crate) const WAITS: Self = Self {
        arms: false,
        ..Self::ARMED
    };
}

/// What is asked of a method to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitRequest<'a> {
    /// How long to wait, in nanoseconds; a row of the answer for each.
    pub lengths_ns: &'a [u64],
    /// How often: once each length in the order given, or several times, in another random order
    /// each time.
    pub repeat: u32,
    /// Before each wait a random time of at most this many nanoseconds passes, so that waits begin
    /// at random phases of whatever ticks.
    pub pause_ns: u64,
    /// A wait that is later than this, in nanoseconds, is the last one: the mark `timermeter: …` is
    /// written into the kernel's trace, where that may be done, and the answer ends there.
    pub break_ns: Option<u64>,
}

/// One wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// The reference before the call, in its ticks.
    pub before: i64,
    /// The reference after the call, in its ticks.
    pub after: i64,
    /// CPU time of the calling thread from before to after, in nanoseconds, what reading it costs
    /// included.
    pub cpu_ns: Option<i64>,
    /// How long the thread was ready to run meanwhile and did not get a CPU, in nanoseconds; of one
    /// that only blocks.
    pub run_delay_ns: Option<i64>,
}

/// One wake-up of a periodic timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expiration {
    /// The reference at the wake-up, in its ticks.
    pub at: i64,
    /// How many expirations the timer says that it stands for; 1 where it cannot say.
    pub expirations: u64,
}

/// A timer that waits as the prober sees it: a black box that answers three questions.
pub trait WaitSubject {
    /// Waits. Answers a row for each length, a wait for each repetition; fewer where a wait was so
    /// late that it ended the question.
    ///
    /// # Errors
    /// Refused by those that only tick, and where the reference is not known.
    fn waits(&mut self, _reference: &str, _request: WaitRequest) -> Answer<Vec<Vec<Wait>>> {
        unanswered()
    }

    /// `repeat` times: read the reference, arm the timer for an hour, cancel it, read the
    /// reference. Answers second − first.
    ///
    /// # Errors
    /// Refused by those that cannot be armed without waiting.
    fn arms(&mut self, _reference: &str, _repeat: u32) -> Answer<Vec<i64>> {
        unanswered()
    }

    /// Ticks with the given period until it has woken up `count` times. After each wake-up whose
    /// number (from 0) is among `stalls` the thread computes for 3.5 periods before it waits again.
    ///
    /// # Errors
    /// Refused by those that do not tick, and where the reference is not known.
    fn periods(
        &mut self,
        _reference: &str,
        _period_ns: u64,
        _count: u32,
        _stalls: &[u32],
    ) -> Answer<Vec<Expiration>> {
        unanswered()
    }
}
