//! Deadlines.
//!
//! What ticks: the kernel's monotonic clock, read by the system call and not by libc, because a
//! library preloaded by `LD_PRELOAD` can stop, hasten or set back the clock of libc, and a thread
//! that waited for that clock would wait forever, or not at all.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Duration;

use crate::arch::{BareInstruction, Instruction};
use crate::counters::{InstructionCounter, declared_counter_rate};
use crate::kernel_time::read_ns;
use crate::os::{CommonClock, UndistortedClock, rest};
use crate::{Available, Described, Timer, Unavailable, work};

/// How much later than its time a deadline without a clock passes, so that it never passes early.
/// *Judgement*: covers the rates of counters, whose true one need not be known.
const MAX_SLOWDOWN: u64 = 3;
/// How long a pause is, the only thing that ends without any clock.
const PAUSE: Duration = Duration::from_millis(1);

/// A point in time, in nanoseconds of what deadlines count.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(u64);

impl Deadline {
    /// The deadline `span` from now.
    pub fn after(span: Duration) -> Self {
        let span = i64::try_from(span.as_nanos()).unwrap_or(i64::MAX);
        Self(Passing::by_system().now().wrapping_add_signed(span))
    }

    /// The time until the deadline; `None` if it has passed.
    pub fn remaining(&self) -> Option<Duration> {
        // Signed, because a clock may be before its zero.
        let left = self.0.wrapping_sub(Passing::by_system().now()) as i64;
        (left > 0).then(|| Duration::from_nanos(left.unsigned_abs()))
    }
}

/// What deadlines count.
#[derive(Clone, Copy, Debug)]
enum Passing {
    /// The kernel's clock.
    Call,
    /// The counter of the processor, with the nanoseconds per tick.
    Ticks(f64),
    /// Pauses, which the reading itself takes.
    Pauses,
}

impl Passing {
    /// The first that moves.
    fn by_system() -> Self {
        static FIRST: OnceLock<Passing> = OnceLock::new();
        *FIRST.get_or_init(|| {
            // The fastest usual counter, where the rate is not declared, so that none counts too fast.
            const MAX_HZ: f64 = 6e9;
            // Opened only if it is needed: that takes CPUID, or on some processors a fork.
            if Self::Call.moves() {
                return Self::Call;
            }
            let opened = InstructionCounter::<BareInstruction>::open().ok();
            let hz = || declared_counter_rate().map_or(MAX_HZ, |(hz, _)| hz);
            let counter = opened.map(|_| Self::Ticks(1e9 / hz()));
            counter.filter(Self::moves).unwrap_or(Self::Pauses)
        })
    }

    /// Whether it moves, within 100 ms.
    fn moves(&self) -> bool {
        let start = self.now();
        (0..100).any(|_| self.now() != start)
            || (0..100).any(|_| {
                rest::wait(PAUSE);
                self.now() != start
            })
    }

    /// The time in nanoseconds; 0 if there is no clock.
    fn now(self) -> u64 {
        thread_local! { static PAUSES: Cell<u64> = const { Cell::new(0) }; }
        match self {
            Self::Call => read_ns::<UndistortedClock>().unwrap_or(0),
            Self::Ticks(ns) => (BareInstruction::read() as f64 * ns) as u64 / MAX_SLOWDOWN,
            Self::Pauses => {
                rest::wait(PAUSE);
                PAUSES.set(PAUSES.get() + 1);
                PAUSES.get() * PAUSE.as_nanos() as u64 / MAX_SLOWDOWN
            }
        }
    }
}

/// Pauses the calling thread for `span`. Unlike `std::thread::sleep`, it does not panic if a sandbox
/// refuses `clock_nanosleep`.
pub fn pause(span: Duration) {
    let deadline = Deadline::after(span);
    while let Some(left) = deadline.remaining() {
        rest::wait(left);
    }
}

/// Computes for a time span.
pub(crate) fn spin(span: Duration) {
    let deadline = Deadline::after(span);
    while deadline.remaining().is_some() {
        work::units(1 << 10);
    }
}

/// Checks that the system's clock can be read and moves, for code that loops until it has moved.
pub(crate) fn check_common_clock() -> Available {
    /// The longest step that is waited for. *Judgement*: the longest usual one takes 16 ms.
    const MAX_STEP: Duration = Duration::from_millis(250);
    CommonClock::availability()?;
    let clock = CommonClock::open()?;
    let now = || clock.ticks(clock.read());
    let (start, deadline) = (now(), Deadline::after(MAX_STEP));
    while now() == start {
        if deadline.remaining().is_none() {
            let name = CommonClock::INFO.label;
            return Err(Unavailable::because(format!(
                "it would not end: {name}, by which it waits, stands still"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadline_passes_for_good() {
        assert_eq!(Deadline::after(Duration::ZERO).remaining(), None);
        let left = Deadline::after(Duration::from_secs(3_600))
            .remaining()
            .expect("an hour is left");
        assert!(left <= Duration::from_secs(3_600));
        assert!(Deadline::after(Duration::MAX).remaining().is_some());
    }

    /// What a deadline counts where the system call fails or stands still.
    #[test]
    fn time_passes_without_clock() {
        let others = [Passing::Pauses, Passing::Ticks(1.0)];
        let counts = InstructionCounter::<BareInstruction>::open().is_ok();
        for counted in &others[..1 + usize::from(counts)] {
            assert!(counted.moves(), "{counted:?}");
        }
    }
}
