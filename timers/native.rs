//! The hot loops: every question, compiled for each native timer.
//!
//! One dynamic call reaches a loop; inside it there is none. Between two reads stand only the work
//! that was asked for and the read itself; results are turned into numbers after the second read.

mod handoffs;
mod reference;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::arch::fence;
use crate::context::Pieces;
use crate::deadline::Deadline;
use crate::os::{Common, Undistorted};
use crate::subject::{Advance, Answer, During, Fault, Subject};
use crate::{Context, Described, Info, Ticks, Timer, Unavailable, arch, context, work};
use handoffs::{Part, handoffs_of_pairs, handoffs_on, play_behind, two_cpus};
use reference::{Reference, with_reference};

pub(crate) use handoffs::handoffs_unfenced;
pub use reference::REFERENCES;
pub(crate) use reference::by_reference;

/// The timers that tell the rate of a raw counter, best first: what the kernel itself answers
/// cannot be distorted by a library that stands between (`LD_PRELOAD`).
pub const RATE_SOURCES: [&str; 2] = [Undistorted::INFO.id, Common::INFO.id];

/// A native timer, opened in this process, ready to be asked.
pub struct Native {
    info: Info,
    loops: Box<dyn Loops>,
}

impl Native {
    /// Opens the timer for the calling thread.
    ///
    /// # Errors
    /// Says why this machine does not let the timer be read.
    pub fn open<T: Timer>() -> Result<Self, Unavailable> {
        Ok(Self {
            info: T::INFO,
            loops: Box::new(T::open()?),
        })
    }
}

/// The loops, which are compiled for each timer. All else about a question is compiled once.
trait Loops: Pieces + Send {
    /// Reads the timer, for any caller.
    fn now(&self) -> Ticks;

    /// Reads, works, reads, keeps the difference.
    fn intervals(&self, amount: u64, deltas: &mut [i64]);

    /// Brackets `calls` reads of the timer between two reads of the reference.
    fn batches(&self, reference: &Reference, calls: u64, deltas: &mut [i64]);

    /// Reads as fast as it can and keeps everything.
    fn readings(&self, count: u32) -> Vec<Ticks>;

    /// Reads the timer between two reads of the reference, then works.
    fn comparisons(&self, reference: &Reference, work: u64, count: u32) -> Vec<[Ticks; 3]>;

    /// The part of one of the two threads that pass a baton.
    fn play(&self, part: Part) -> Vec<Ticks>;
}

impl<T: Timer> Loops for T {
    fn now(&self) -> Ticks {
        self.ticks(self.read())
    }

    fn intervals(&self, amount: u64, deltas: &mut [i64]) {
        interval_loop(self, amount, deltas);
    }

    fn batches(&self, reference: &Reference, calls: u64, deltas: &mut [i64]) {
        with_reference!(reference, |reference| batch_loop(
            self, reference, calls, deltas
        ));
    }

    fn readings(&self, count: u32) -> Vec<Ticks> {
        reading_loop(self, count)
    }

    fn comparisons(&self, reference: &Reference, work: u64, count: u32) -> Vec<[Ticks; 3]> {
        with_reference!(reference, |reference| comparison_loop(
            self, reference, work, count
        ))
    }

    fn play(&self, part: Part) -> Vec<Ticks> {
        play_behind(self, part, fence)
    }
}

/// Nanoseconds in a tick of a timer that declares no unit, watched against the system's clock for
/// some 40 ms of computing; the declared unit of one that does. `None` where it does not move with
/// that clock at all.
pub fn rate_of<T: Timer>(timer: &T) -> Option<f64> {
    T::ns_per_tick().or_else(|| rate_by_watching(&|| timer.ticks(timer.read())))
}

fn rate_by_watching(now: &dyn Fn() -> Ticks) -> Option<f64> {
    const PARTS: usize = 5;
    const PART: Duration = Duration::from_millis(8);
    let (clock, unit) = (Common::open().ok()?, Common::ns_per_tick()?);
    let mut rates = [0.0; PARTS];
    for rate in &mut rates {
        let (first, start) = (now(), clock.read());
        spin(PART);
        let (second, end) = (now(), clock.read());
        let ticks = second.since(first);
        *rate = clock.ticks(end).since(clock.ticks(start)) as f64 * unit / ticks as f64;
    }
    rates.sort_by(f64::total_cmp);
    Some(rates[PARTS / 2]).filter(|rate| rate.is_finite() && *rate > 0.0)
}

impl Subject for Native {
    fn intervals(&mut self, work: &[u64], repeat: u32) -> Answer<Vec<Vec<i64>>> {
        let row = |&amount: &u64| {
            let mut deltas = vec![0; repeat as usize];
            self.loops.intervals(amount, &mut deltas);
            deltas
        };
        Ok(work.iter().map(row).collect())
    }

    fn batches(&mut self, reference: &str, calls: u64, repeat: u32) -> Answer<Vec<i64>> {
        let mut deltas = vec![0; repeat as usize];
        self.loops
            .batches(&Reference::open(reference)?, calls, &mut deltas);
        Ok(deltas)
    }

    fn readings(&mut self, count: u32) -> Answer<Vec<i64>> {
        self.loops.readings(count).into_iter().map(signed).collect()
    }

    fn handoffs(&mut self, count: u32) -> Answer<Vec<[i64; 2]>> {
        let cpus = two_cpus().map_or([None; 2], |(here, there)| [Some(here), Some(there)]);
        handoffs_on(&self.info, &|part| self.loops.play(part), cpus, count)
    }

    fn handoffs_between(&mut self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<Vec<[i64; 2]>>> {
        handoffs_of_pairs(&self.info, cpus, &|part| self.loops.play(part), count)
    }

    fn comparisons(&mut self, reference: &str, work: u64, count: u32) -> Answer<Vec<[i64; 3]>> {
        rows(
            self.loops
                .comparisons(&Reference::open(reference)?, work, count),
        )
    }

    fn advance(&mut self, reference: &str, during: During, milliseconds: u32) -> Answer<Advance> {
        let (span, reference) = (
            Duration::from_millis(milliseconds.into()),
            Reference::open(reference)?,
        );
        Ok(advance(
            &|| self.loops.now(),
            &|| reference.now(),
            span,
            during,
        ))
    }

    fn adds(
        &mut self,
        reference: &str,
        contexts: &[Context],
        turns: u32,
        repeat: u32,
    ) -> Answer<Vec<Vec<[i64; 2]>>> {
        let reference = Reference::open(reference)?;
        let pairs = |&context: &Context| {
            let now = || reference.now();
            context::pairs(&*self.loops, &now, context, [turns, repeat])
        };
        contexts.iter().map(pairs).collect()
    }
}

/// How far both move in a span. The same order at both ends, so that the two windows have the same
/// length; and read once beforehand, as the first read takes longer: by a page fault, or by the
/// time that an emulator translates it in.
fn advance(
    timer: &dyn Fn() -> Ticks,
    reference: &dyn Fn() -> Ticks,
    span: Duration,
    during: During,
) -> Advance {
    let both = || [timer(), reference()];
    both();
    let first = both();
    pass(span, during);
    let last = both();
    Advance {
        timer: last[0].since(first[0]),
        reference: last[1].since(first[1]),
    }
}

/// Reads, works, reads, keeps the difference.
#[inline(never)]
fn interval_loop<T: Timer>(timer: &T, amount: u64, deltas: &mut [i64]) {
    for delta in deltas {
        let first = timer.read();
        work::units(amount);
        let second = timer.read();
        *delta = timer.ticks(second).since(timer.ticks(first));
    }
}

/// Brackets `calls` reads of the timer between two reads of the reference. No part of a call may
/// move out of the loop, and its result has to be somewhere, as if it were used.
#[inline(never)]
fn batch_loop<T: Timer, R: Timer>(timer: &T, reference: &R, calls: u64, deltas: &mut [i64]) {
    for delta in deltas {
        let mut left = arch::opaque_count(calls);
        let first = reference.read();
        while left != 0 {
            arch::keep(&arch::afresh(timer).read());
            left -= 1;
        }
        let second = reference.read();
        *delta = reference.ticks(second).since(reference.ticks(first));
    }
}

/// Reads as fast as it can and keeps everything.
#[inline(never)]
fn reading_loop<T: Timer>(timer: &T, count: u32) -> Vec<Ticks> {
    // Written once beforehand: memory that is touched for the first time costs a page fault, and
    // that would show up as a jump of the timer every few hundred readings.
    let mut readings = vec![timer.read(); count as usize];
    for reading in &mut readings {
        *reading = arch::afresh(timer).read();
    }
    let mut ticks = vec![Ticks(0); readings.len()];
    for (ticks, reading) in ticks.iter_mut().zip(readings) {
        *ticks = timer.ticks(reading);
    }
    ticks
}

/// Reads the timer between two reads of the reference, then works.
#[inline(never)]
fn comparison_loop<T: Timer, R: Timer>(
    timer: &T,
    reference: &R,
    amount: u64,
    count: u32,
) -> Vec<[Ticks; 3]> {
    let warm = (reference.read(), timer.read(), reference.read());
    let ticks = |(before, own, after)| {
        [
            reference.ticks(before),
            timer.ticks(own),
            reference.ticks(after),
        ]
    };
    let mut comparisons = vec![ticks(warm); count as usize];
    for comparison in &mut comparisons {
        let before = reference.read();
        let own = arch::afresh(timer).read();
        let after = reference.read();
        *comparison = ticks((before, own, after));
        work::units(amount);
    }
    comparisons
}

/// Lets a span of time go by in that way.
pub fn pass(span: Duration, during: During) {
    match during {
        During::Spin => spin(span),
        During::Sleep => thread::sleep(span),
        During::OtherSpin => sleep_next_to_busy_thread(span),
    }
}

fn sleep_next_to_busy_thread(span: Duration) {
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
pub(crate) fn spin(span: Duration) {
    let over = Deadline::after(span);
    while over.remaining().is_some() {
        work::units(1 << 10);
    }
}

fn signed(Ticks(ticks): Ticks) -> Answer<i64> {
    i64::try_from(ticks)
        .map_err(|_| Fault::Refused(format!("the reading {ticks} does not fit 63 bits")))
}

fn rows<const N: usize>(readings: Vec<[Ticks; N]>) -> Answer<Vec<[i64; N]>> {
    let mut rows = vec![[0; N]; readings.len()];
    for (row, readings) in rows.iter_mut().zip(readings) {
        for (number, ticks) in row.iter_mut().zip(readings) {
            *number = signed(ticks)?;
        }
    }
    Ok(rows)
}
