//! The hot loops: every question, compiled for each native timer.
//!
//! One dynamic call reaches a loop; inside it there is none. Between two reads stand only the work
//! that was asked for and the read itself; results are turned into numbers after the second read.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::affinity::{Pinned, cpus_before_pinning, current_cpu};
use crate::arch::fence;
use crate::context::Pieces;
use crate::counters::Counter;
use crate::deadline::Deadline;
use crate::os::{Common, Undistorted};
use crate::subject::{Advance, Answer, During, Fault, Subject};
use crate::{
    Context, Counted, Described, Info, Ticks, Timer, Unavailable, Visitor, arch, context, work,
};

/// The counter of the processor, held back by a fence and bare.
type Fenced = Counter<arch::Fenced>;
type Bare = Counter<arch::Bare>;

/// The timers that batches can be bracketed with, best first. Few, because the loop is compiled for
/// each pair.
pub const REFERENCES: [&str; 4] = [
    Fenced::INFO.id,
    Common::INFO.id,
    Undistorted::INFO.id,
    Bare::INFO.id,
];

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

/// A timer that batches can be bracketed with, opened.
enum Reference {
    Fenced(Fenced),
    Common(Common),
    Undistorted(Undistorted),
    Bare(Bare),
}

/// What an expression gives with a reference, whatever its type.
macro_rules! with_reference {
    ($reference:expr, |$typed:ident| $what:expr) => {
        match $reference {
            Reference::Fenced($typed) => $what,
            Reference::Common($typed) => $what,
            Reference::Undistorted($typed) => $what,
            Reference::Bare($typed) => $what,
        }
    };
}
use with_reference;

impl Reference {
    fn open(id: &str) -> Answer<Self> {
        fn opened<R: Timer>(variant: fn(R) -> Reference) -> Answer<Reference> {
            R::open().map(variant).map_err(|why| {
                Fault::Refused(format!(
                    "the reference {} cannot be read: {why}",
                    R::INFO.id
                ))
            })
        }
        match id {
            id if id == Fenced::INFO.id => opened(Self::Fenced),
            id if id == Common::INFO.id => opened(Self::Common),
            id if id == Undistorted::INFO.id => opened(Self::Undistorted),
            id if id == Bare::INFO.id => opened(Self::Bare),
            id => Err(Fault::Refused(format!(
                "`{id}` is no reference here; there are {}",
                REFERENCES.join(", ")
            ))),
        }
    }

    /// Reads it, for any caller.
    fn now(&self) -> Ticks {
        with_reference!(self, |reference| Loops::now(reference))
    }
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

/// Handoffs as of [`Subject::handoffs_between`], but for the fence before each reading: as programs
/// do that have none.
pub(crate) fn handoffs_unfenced<T: Timer>(
    timer: &T,
    cpus: &[[u32; 2]],
    count: u32,
) -> Answer<Vec<Vec<[i64; 2]>>> {
    handoffs_of_pairs(
        &T::INFO,
        cpus,
        &|part| play_behind(timer, part, || {}),
        count,
    )
}

/// Has a loop compiled for each reference, and run with the one of that id.
#[inline(never)]
pub(crate) fn by_reference<V: Visitor>(id: &str, visitor: V) -> Answer<V::Output> {
    Ok(with_reference!(Reference::open(id)?, |reference| visitor.visit(reference)))
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

/// What one of two threads does that pass a baton.
#[derive(Clone, Copy)]
struct Part<'a> {
    /// Counts the passes, two a handoff.
    turn: &'a AtomicU32,
    /// How many handoffs.
    count: u32,
    /// It lets go first in handoffs whose number has this parity.
    parity: u32,
    cpu: Option<u32>,
}

/// Two threads pass a baton; the one that lets go reads before, the one that takes over reads
/// after.
///
/// They run on the two CPUs if those are given, as counters of different CPUs are what may
/// disagree.
fn handoffs_on(
    info: &Info,
    play: &(dyn Fn(Part) -> Vec<Ticks> + Sync),
    [here, there]: [Option<u32>; 2],
    count: u32,
) -> Answer<Vec<[i64; 2]>> {
    if info.properties.counts.is_some_and(Counted::one_thread) {
        let only = "counts for one thread only; readings of two threads cannot be compared";
        return Err(Fault::Refused(format!("{} {only}", info.id)));
    }
    let turn = AtomicU32::new(0);
    let part = |parity, cpu| Part {
        turn: &turn,
        count,
        parity,
        cpu,
    };
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    side_by_side(&mut || theirs = play(part(1, there)), &mut || {
        mine = play(part(0, here))
    })
    .map_err(|error| Fault::Refused(format!("the second thread cannot be started: {error}")))?;
    // What was read first in one list was read second in the other.
    let pairs = mine.into_iter().zip(theirs).enumerate();
    rows(
        pairs
            .map(|(number, (mine, theirs))| {
                if number % 2 == 0 {
                    [mine, theirs]
                } else {
                    [theirs, mine]
                }
            })
            .collect(),
    )
}

/// Does the first on another thread and the second on this one.
fn side_by_side(there: &mut (dyn FnMut() + Send), here: &mut dyn FnMut()) -> std::io::Result<()> {
    thread::scope(|scope| {
        thread::Builder::new().spawn_scoped(scope, there)?;
        here();
        Ok(())
    })
}

/// Asks for the handoffs of all pairs of CPUs at once, each on a thread of its own.
fn handoffs_of_pairs(
    info: &Info,
    cpus: &[[u32; 2]],
    play: &(dyn Fn(Part) -> Vec<Ticks> + Sync),
    count: u32,
) -> Answer<Vec<Vec<[i64; 2]>>> {
    let allowed = cpus_before_pinning();
    if let Some(cpu) = cpus.iter().flatten().find(|cpu| !allowed.contains(cpu)) {
        return Err(Fault::Refused(format!(
            "a thread cannot be pinned to CPU {cpu}: it is offline or not allowed"
        )));
    }
    thread::scope(|scope| {
        let ask = |pair: &[u32; 2]| handoffs_on(info, play, pair.map(Some), count);
        let pairs: Vec<_> = cpus
            .iter()
            .map(|pair| scope.spawn(move || ask(pair)))
            .collect();
        let lost = |_| Err(Fault::Refused("a thread ended before its time".into()));
        pairs
            .into_iter()
            .map(|pair| pair.join().unwrap_or_else(lost))
            .collect()
    })
}

/// The part of one of the two threads, with a reading for each handing-over: the first of the pair
/// when the number's parity is its own, else the second. Each keeps a list of its own, so that
/// nothing but the baton is shared.
#[inline(always)]
fn play_behind<T: Timer>(
    timer: &T,
    Part {
        turn,
        count,
        parity,
        cpu,
    }: Part,
    held_back: impl Fn(),
) -> Vec<Ticks> {
    let _pinned = cpu.and_then(Pinned::to);
    let mut readings = vec![timer.ticks(timer.read()); count as usize];
    for (number, slot) in (0..count).zip(&mut readings) {
        let mine_first = number % 2 == parity;
        let awaited = number.wrapping_mul(2).wrapping_add(u32::from(!mine_first));
        wait_for(turn, awaited);
        // The one who holds the baton is alone in writing it. A bare `rdtsc` may run before the
        // load that brought the baton has completed, and then seems to go backwards by tens of
        // nanoseconds; that is the order of instructions and not the clock, so the fence keeps it
        // out of the question.
        held_back();
        let reading = timer.read();
        turn.store(awaited.wrapping_add(1), Ordering::Release);
        *slot = timer.ticks(reading);
    }
    readings
}

/// The CPU the calling thread is on and the one numbered farthest from it, which on most machines
/// belongs to another core and, where there are two, to another socket.
fn two_cpus() -> Option<(u32, u32)> {
    let cpus = cpus_before_pinning();
    let here = current_cpu()
        .filter(|cpu| cpus.contains(cpu))
        .or(cpus.first().copied())?;
    let there = cpus
        .iter()
        .copied()
        .max_by_key(|cpu| cpu.abs_diff(here))
        .filter(|&cpu| cpu != here)?;
    Some((here, there))
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
