//! The hot loops: every question, compiled for each native timer.
//!
//! One dynamic call reaches a loop; inside it there is none. Between two reads stand only the work that was asked
//! for and the read itself; results are turned into numbers after the second read.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::posix::{Monotonic, MonotonicRaw};
use crate::subject::{Advance, Answer, During, Fault, Subject};
use crate::x86::{Rdtsc, RdtscLfence};
use crate::{Ticks, Timer, Unavailable, work};

/// The timers that batches can be bracketed with, best first. Few, because the loop is compiled for each pair.
pub const REFERENCES: [&str; 4] =
    [RdtscLfence::INFO.id, Monotonic::INFO.id, MonotonicRaw::INFO.id, Rdtsc::INFO.id];

/// A native timer, opened in this process, ready to be asked.
pub struct Native<T> {
    timer: T,
}

impl<T: Timer> Native<T> {
    /// Opens the timer for the calling thread.
    ///
    /// # Errors
    /// Says why this machine does not let the timer be read.
    pub fn open() -> Result<Self, Unavailable> {
        T::open().map(|timer| Self { timer })
    }
}

/// Calls the generic method named first with the reference of that id as its type.
macro_rules! with_reference {
    ($id:expr, $self:ident . $method:ident ( $($argument:expr),* )) => {
        match $id {
            id if id == RdtscLfence::INFO.id => $self.$method::<RdtscLfence>($($argument),*),
            id if id == Monotonic::INFO.id => $self.$method::<Monotonic>($($argument),*),
            id if id == MonotonicRaw::INFO.id => $self.$method::<MonotonicRaw>($($argument),*),
            id if id == Rdtsc::INFO.id => $self.$method::<Rdtsc>($($argument),*),
            id => Err(Fault::Refused(format!(
                "`{id}` is no reference here; there are {}",
                REFERENCES.join(", ")
            ))),
        }
    };
}

fn open_reference<R: Timer>() -> Answer<R> {
    R::open().map_err(|why| Fault::Refused(format!("the reference {} cannot be read: {why}", R::INFO.id)))
}

impl<T: Timer> Subject for Native<T> {
    fn intervals(&mut self, work: &[u64], repeat: u32) -> Answer<Vec<Vec<i64>>> {
        Ok(work.iter().map(|&amount| interval_loop(&self.timer, amount, repeat)).collect())
    }

    fn batches(&mut self, reference: &str, calls: u64, repeat: u32) -> Answer<Vec<i64>> {
        with_reference!(reference, self.batches_by(calls, repeat))
    }

    fn readings(&mut self, count: u32) -> Answer<Vec<i64>> {
        reading_loop(&self.timer, count)
            .into_iter()
            .map(|reading| signed(self.timer.ticks(reading)))
            .collect()
    }

    fn handoffs(&mut self, count: u32) -> Answer<Vec<[i64; 2]>> {
        handoff_loop(&self.timer, count)
            .into_iter()
            .map(|[a, b]| Ok([signed(self.timer.ticks(a))?, signed(self.timer.ticks(b))?]))
            .collect()
    }

    fn advance(&mut self, reference: &str, during: During, milliseconds: u32) -> Answer<Advance> {
        with_reference!(reference, self.advance_by(during, milliseconds))
    }
}

impl<T: Timer> Native<T> {
    fn batches_by<R: Timer>(&self, calls: u64, repeat: u32) -> Answer<Vec<i64>> {
        let reference = open_reference::<R>()?;
        Ok(batch_loop(&self.timer, &reference, calls, repeat))
    }

    fn advance_by<R: Timer>(&self, during: During, milliseconds: u32) -> Answer<Advance> {
        let reference = open_reference::<R>()?;
        let span = Duration::from_millis(milliseconds.into());
        // The same order at both ends, so that the two windows have the same length.
        let (timer_first, reference_first) = (self.timer.read(), reference.read());
        match during {
            During::Spin => spin(span),
            During::Sleep => thread::sleep(span),
            During::OtherSpin => sleep_beside_a_busy_thread(span),
        }
        let (timer_last, reference_last) = (self.timer.read(), reference.read());
        Ok(Advance {
            timer: self.timer.ticks(timer_last).since(self.timer.ticks(timer_first)),
            reference: reference.ticks(reference_last).since(reference.ticks(reference_first)),
        })
    }
}

/// Reads, works, reads, keeps the difference.
#[inline(never)]
fn interval_loop<T: Timer>(timer: &T, amount: u64, repeat: u32) -> Vec<i64> {
    let mut deltas = Vec::with_capacity(repeat as usize);
    for _ in 0..repeat {
        let first = timer.read();
        work::units(amount);
        let second = timer.read();
        deltas.push(timer.ticks(second).since(timer.ticks(first)));
    }
    deltas
}

/// Brackets `calls` reads of the timer between two reads of the reference.
#[inline(never)]
fn batch_loop<T: Timer, R: Timer>(timer: &T, reference: &R, calls: u64, repeat: u32) -> Vec<i64> {
    let mut deltas = Vec::with_capacity(repeat as usize);
    for _ in 0..repeat {
        let mut left = black_box(calls);
        let first = reference.read();
        while left != 0 {
            black_box(timer.read());
            left -= 1;
        }
        let second = reference.read();
        deltas.push(reference.ticks(second).since(reference.ticks(first)));
    }
    deltas
}

/// Reads as fast as it can and keeps everything.
#[inline(never)]
fn reading_loop<T: Timer>(timer: &T, count: u32) -> Vec<T::Reading> {
    let mut readings = Vec::with_capacity(count as usize);
    for _ in 0..count {
        readings.push(timer.read());
    }
    readings
}

/// Two threads pass a baton; the one that lets go reads before, the one that takes over reads after.
fn handoff_loop<T: Timer>(timer: &T, count: u32) -> Vec<[T::Reading; 2]> {
    let turn = AtomicU32::new(0);
    let first_half = std::sync::Mutex::new(None);
    let pairs = std::sync::Mutex::new(Vec::with_capacity(count as usize));
    // Thread `parity` reads `a` in its own turns and `b` in the turns after the other's.
    let play = |parity: u32| {
        for number in 0..count {
            if number % 2 == parity {
                wait_for(&turn, 2 * number);
                *first_half.lock().expect("no panic while held") = Some(timer.read());
                turn.store(2 * number + 1, Ordering::Release);
            } else {
                wait_for(&turn, 2 * number + 1);
                let b = timer.read();
                let a = first_half.lock().expect("no panic while held").take().expect("just written");
                pairs.lock().expect("no panic while held").push([a, b]);
                turn.store(2 * number + 2, Ordering::Release);
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| play(1));
        play(0);
    });
    pairs.into_inner().expect("both threads are done")
}

fn wait_for(turn: &AtomicU32, value: u32) {
    let mut spins = 0_u32;
    while turn.load(Ordering::Acquire) != value {
        spins += 1;
        // On one CPU the other thread needs it to get on.
        if spins.is_multiple_of(1 << 10) {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

fn sleep_beside_a_busy_thread(span: Duration) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                work::units(1 << 10);
            }
        });
        thread::sleep(span);
        done.store(true, Ordering::Relaxed);
    });
}

/// Computes for a span of real time.
#[allow(clippy::disallowed_methods, reason = "this crate is where clocks are read")]
fn spin(span: Duration) {
    let start = std::time::Instant::now();
    while start.elapsed() < span {
        work::units(1 << 10);
    }
}

fn signed(ticks: Ticks) -> Answer<i64> {
    i64::try_from(ticks.0)
        .map_err(|_| Fault::Refused(format!("the reading {} does not fit 63 bits", ticks.0)))
}
