//! The hot loops: the code that answers each question of [`Subject`], compiled for each native
//! timer.
//!
//! A loop is reached by one dynamic call and makes none itself. Between two reads there is only the
//! requested work; readings are converted to ticks after the second read.

mod handoffs;
mod reference;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::arch::fence;
use crate::context::Pieces;
use crate::deadline::{pause, spin};
use crate::failures::unless_failed;
use crate::kernel_time::open_with_unit;
use crate::os::{CommonClock, UndistortedClock};
use crate::subject::unsupported;
use crate::{
    Activity, Answer, BackwardSteps, Described, Fault, Info, Subject, Ticks, Timer, TimerQuestion,
    Values, arch, context, work,
};
use handoffs::{Side, distant_cpus, handoffs_on_pair, handoffs_on_pairs, read_at_handoffs};
use reference::{OpenReference, with_reference};

pub use handoffs::unfenced_handoffs;
pub use reference::REFERENCES;
pub(crate) use reference::visit_reference;

/// The ids of the clocks used to find the rate of a raw counter, best first: a library preloaded by
/// `LD_PRELOAD` cannot distort the first, which is read by a system call if there is one.
pub const RATE_SOURCES: [&str; 2] = [UndistortedClock::INFO.id, CommonClock::INFO.id];

/// A native timer that is open in this process.
pub struct Native<'a> {
    info: Info,
    loops: Box<dyn Loops + 'a>,
}

impl<'a> Native<'a> {
    /// Takes a timer that is open.
    pub fn from_timer<T: Timer + 'a>(timer: T) -> Self {
        Self {
            info: T::INFO,
            loops: Box::new(timer),
        }
    }
}

/// The code of the questions that is compiled for each timer; all other code is compiled once.
trait Loops: Pieces + Send {
    /// Reads the timer once, in ticks.
    fn now(&self) -> Ticks;

    /// For each element of `deltas`: reads the timer, does `work_units` units of work, reads the
    /// timer again, and stores the difference in ticks.
    fn intervals(&self, work_units: u64, deltas: &mut [i64]);

    /// For each element of `deltas`: reads the reference, reads the timer `calls` times, reads the
    /// reference again, and stores the difference in ticks of the reference.
    fn batches(&self, reference: &OpenReference, calls: u64, deltas: &mut [i64]);

    /// Returns `count` successive readings without work between them.
    fn readings(&self, count: u32) -> Vec<Ticks>;

    /// `count` times: reads the reference, the timer and the reference, then does `work_units`
    /// units of work. Returns the three readings of each round.
    fn comparisons(
        &self,
        reference: &OpenReference,
        work_units: u64,
        count: u32,
    ) -> Vec<[Ticks; 3]>;

    /// Does the reads of one of the two threads of [`Subject::handoffs`], with a fence before each.
    fn run_side(&self, side: Side) -> Vec<Ticks>;
}

impl<T: Timer> Loops for T {
    fn now(&self) -> Ticks {
        self.ticks(self.read())
    }

    fn intervals(&self, work_units: u64, deltas: &mut [i64]) {
        interval_loop(self, work_units, deltas);
    }

    fn batches(&self, reference: &OpenReference, calls: u64, deltas: &mut [i64]) {
        with_reference!(reference, |reference| batch_loop(
            self, reference, calls, deltas
        ));
    }

    fn readings(&self, count: u32) -> Vec<Ticks> {
        reading_loop(self, count)
    }

    fn comparisons(
        &self,
        reference: &OpenReference,
        work_units: u64,
        count: u32,
    ) -> Vec<[Ticks; 3]> {
        with_reference!(reference, |reference| comparison_loop(
            self, reference, work_units, count
        ))
    }

    fn run_side(&self, side: Side) -> Vec<Ticks> {
        read_at_handoffs(self, side, fence)
    }
}

/// The nanoseconds per tick of a timer: the declared value, otherwise a value measured in about
/// 40 ms by comparison with the system's clock. `None` if the timer does not move with that clock.
pub fn find_ns_per_tick<T: Timer>(timer: &T) -> Option<f64> {
    T::ns_per_tick().or_else(|| {
        let measured = measure_ns_per_tick(&|| timer.ticks(timer.read()))?;
        unless_failed(&[T::INFO.id, CommonClock::INFO.id], measured).ok()
    })
}

/// The median of several measurements, during which the thread computes.
fn measure_ns_per_tick(now: &dyn Fn() -> Ticks) -> Option<f64> {
    const MEASUREMENTS: usize = 5;
    const MEASUREMENT_LENGTH: Duration = Duration::from_millis(8);
    let (clock, unit) = open_with_unit::<CommonClock>().ok()?;
    let mut rates = [0.0; MEASUREMENTS];
    for rate in &mut rates {
        let (first, start) = (now(), clock.read());
        spin(MEASUREMENT_LENGTH);
        let (second, end) = (now(), clock.read());
        let ticks = second.since(first);
        *rate = clock.ticks(end).since(clock.ticks(start)) as f64 * unit / ticks as f64;
    }
    rates.sort_by(f64::total_cmp);
    Some(rates[MEASUREMENTS / 2]).filter(|rate| rate.is_finite() && *rate > 0.0)
}

impl Subject for Native<'_> {
    fn answer(&mut self, question: TimerQuestion) -> Answer<Values> {
        let reference = question.reference().to_owned();
        let open = || OpenReference::open(&reference);
        let values = match question {
            TimerQuestion::Intervals { repeat, work, .. } => {
                let mut deltas = vec![0; work.len() * repeat as usize];
                let rows = deltas.chunks_mut(repeat.max(1) as usize);
                work.iter()
                    .zip(rows)
                    .for_each(|(&amount, row)| self.loops.intervals(amount, row));
                deltas
            }
            TimerQuestion::Batches { calls, repeat, .. } => {
                let mut deltas = vec![0; repeat as usize];
                self.loops.batches(&open()?, calls, &mut deltas);
                deltas
            }
            TimerQuestion::Readings { count, .. } => self.read(count),
            TimerQuestion::Order { count, .. } => {
                let found = BackwardSteps::from_readings(&self.read(count));
                let [first, last] = found.ends.ok_or_else(|| {
                    Fault::Refused("the order of no readings is undefined".into())
                })?;
                vec![found.backward as i64, found.largest as i64, first, last]
            }
            TimerQuestion::Handoffs { cpus, count, .. } => self.hand_over(&cpus, count)?,
            TimerQuestion::Comparisons { work, count, .. } => {
                let rows = self.loops.comparisons(&open()?, work, count);
                signed_rows(rows).concat()
            }
            TimerQuestion::Advance { during, ms, .. } => {
                let (opened, span) = (open()?, Duration::from_millis(ms.into()));
                measure_advance(&|| [self.loops.now(), opened.now()], span, during)?.into()
            }
            TimerQuestion::Adds {
                contexts,
                turns,
                repeat,
                ..
            } => {
                let opened = open()?;
                let now = || opened.now();
                let pairs =
                    |context| context::time_pairs(&*self.loops, &now, context, [turns, repeat]);
                let rows = contexts
                    .into_iter()
                    .map(pairs)
                    .collect::<Answer<Vec<_>>>()?;
                rows.concat().concat()
            }
            _ => return unsupported(),
        };
        unless_failed(&[self.info.id, &reference], values.into())
    }
}

impl Native<'_> {
    fn read(&self, count: u32) -> Vec<i64> {
        self.loops.readings(count).into_iter().map(signed).collect()
    }

    fn hand_over(&self, cpus: &[[u32; 2]], count: u32) -> Answer<Vec<i64>> {
        let run = |side: Side<'_>| self.loops.run_side(side);
        let rows = if cpus.is_empty() {
            let cpus = distant_cpus().map_or([None; 2], |cpus| cpus.map(Some));
            vec![handoffs_on_pair(&self.info, &run, cpus, count)?]
        } else {
            handoffs_on_pairs(&self.info, cpus, &run, count)?
        };
        Ok(rows.concat().concat())
    }
}

/// Measures how far the timer and the reference move in a time span. At both ends the timer is read
/// first, so that both windows have the same length. Both are read once before, because a first
/// read can take longer: by a page fault, or because an emulator translates the code.
fn measure_advance(
    both: &dyn Fn() -> [Ticks; 2],
    span: Duration,
    during: Activity,
) -> Answer<[i64; 2]> {
    both();
    let first = both();
    pass(span, during)?;
    let last = both();
    Ok([0, 1].map(|of| last[of].since(first[of])))
}

/// See [`Loops::intervals`].
#[inline(never)]
fn interval_loop<T: Timer>(timer: &T, work_units: u64, deltas: &mut [i64]) {
    for delta in deltas {
        let first = timer.read();
        work::units(work_units);
        let second = timer.read();
        *delta = timer.ticks(second).since(timer.ticks(first));
    }
}

/// Calls in a turn of the loop of a batch: the loop adds an eighth of a turn to a call, a fraction of a cycle, which
/// needs not be known.
pub const CALLS_IN_TURN: u64 = 8;

/// See [`Loops::batches`]. No loop is around a single call. `opaque_reference` keeps the compiler from moving a part
/// of a read out of the loop, and `keep` from dropping the result.
#[inline(never)]
fn batch_loop<T: Timer, R: Timer>(timer: &T, reference: &R, calls: u64, deltas: &mut [i64]) {
    let call = || arch::keep(&arch::opaque_reference(timer).read());
    match calls {
        0 => time_each(reference, deltas, || ()),
        1 => time_each(reference, deltas, call),
        _ => time_each(reference, deltas, || {
            work::repeat(calls / CALLS_IN_TURN, |_| {
                for _ in 0..CALLS_IN_TURN {
                    call();
                }
            });
            work::repeat(calls % CALLS_IN_TURN, |_| call());
        }),
    }
}

/// For each element of `deltas`: stores the ticks of the reference that `code` takes.
#[inline(always)]
fn time_each<R: Timer>(reference: &R, deltas: &mut [i64], code: impl Fn()) {
    for delta in deltas {
        let first = reference.read();
        code();
        let second = reference.read();
        *delta = reference.ticks(second).since(reference.ticks(first));
    }
}

/// See [`Loops::readings`].
#[inline(never)]
fn reading_loop<T: Timer>(timer: &T, count: u32) -> Vec<Ticks> {
    // All elements are written before the loop, because the first access to a page of memory costs
    // a page fault, which would appear as a jump of the timer every few hundred readings.
    let mut readings = vec![timer.read(); count as usize];
    for reading in &mut readings {
        *reading = arch::opaque_reference(timer).read();
    }
    let mut ticks = vec![Ticks(0); readings.len()];
    for (ticks, reading) in ticks.iter_mut().zip(readings) {
        *ticks = timer.ticks(reading);
    }
    ticks
}

/// See [`Loops::comparisons`].
#[inline(never)]
fn comparison_loop<T: Timer, R: Timer>(
    timer: &T,
    reference: &R,
    work_units: u64,
    count: u32,
) -> Vec<[Ticks; 3]> {
    let warm_up = (reference.read(), timer.read(), reference.read());
    let ticks = |(before, own, after)| {
        [
            reference.ticks(before),
            timer.ticks(own),
            reference.ticks(after),
        ]
    };
    let mut comparisons = vec![ticks(warm_up); count as usize];
    for comparison in &mut comparisons {
        let before = reference.read();
        let own = arch::opaque_reference(timer).read();
        let after = reference.read();
        *comparison = ticks((before, own, after));
        work::units(work_units);
    }
    comparisons
}

/// Lets a time span pass while the calling thread does what `during` says.
///
/// # Errors
/// When another thread has to compute and cannot be started.
pub fn pass(span: Duration, during: Activity) -> Answer<()> {
    match during {
        Activity::Spin => spin(span),
        Activity::Sleep => pause(span),
        Activity::OtherSpin => return sleep_next_to_busy_thread(span),
    }
    Ok(())
}

/// Sleeps for a time span while another thread computes.
fn sleep_next_to_busy_thread(span: Duration) -> Answer<()> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let compute = || {
            while !done.load(Ordering::Relaxed) {
                work::units(1 << 10);
            }
        };
        thread::Builder::new()
            .spawn_scoped(scope, compute)
            .map_err(no_second_thread)?;
        pause(span);
        done.store(true, Ordering::Relaxed);
        Ok(())
    })
}

fn no_second_thread(error: std::io::Error) -> Fault {
    Fault::Refused(format!("the second thread cannot be started: {error}"))
}

/// The reading as a signed number, which a clock before its zero returns. A counter of more than 63
/// bits becomes negative; differences stay right.
fn signed(Ticks(ticks): Ticks) -> i64 {
    ticks as i64
}

/// The readings as signed numbers.
fn signed_rows<const N: usize>(readings: Vec<[Ticks; N]>) -> Vec<[i64; N]> {
    readings.into_iter().map(|row| row.map(signed)).collect()
}

#[cfg(test)]
mod tests {
    use super::batch_loop;
    use crate::arch::LOOPS_ARE_ALIGNED;
    use crate::null::Null;
    use crate::os::{CommonClock, UndistortedClock};

    /// The code of a function that contains an aligned loop is aligned as a whole.
    #[test]
    fn loops_start_at_a_cache_line() {
        let loops = [
            batch_loop::<Null, CommonClock> as *const (),
            batch_loop::<Null, UndistortedClock> as *const (),
            batch_loop::<CommonClock, UndistortedClock> as *const (),
            batch_loop::<UndistortedClock, CommonClock> as *const (),
        ];
        assert!(
            !LOOPS_ARE_ALIGNED || loops.iter().all(|code| code.addr().is_multiple_of(64)),
            "{loops:?}"
        );
    }
}
