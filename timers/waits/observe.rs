//! The measuring loops for waits, compiled separately for each reference clock. Between the two
//! reads of the reference there is only the call of the method.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::method::{INTERRUPTED, WaitMethod};
use super::{Start, WaitEntry};
use crate::failures::unless_failed;
use crate::native::visit_reference;
use crate::os::CommonClock;
use crate::os::linux_waits::check_call;
use crate::subject::unsupported;
use crate::{
    Answer, Available, Described, Fault, Subject, Timer, TimerQuestion, Unavailable, Values,
    Visitor, reader,
};

impl Subject for WaitEntry {
    fn answer(&mut self, question: TimerQuestion) -> Answer<Values> {
        let mut method = self.open_method().map_err(refused)?;
        let reference = question.reference().to_owned();
        let values = match question {
            TimerQuestion::Waits {
                pause_ns,
                repeat,
                request_ns,
                ..
            } => {
                let waits = WaitLoop {
                    method: &mut *method,
                    pause_ns,
                    lengths_ns: request_ns.repeat(repeat as usize),
                };
                let waits = visit_reference(&reference, waits)?;
                let values = waits.into_iter().enumerate().flat_map(|(at, wait)| {
                    [(at % request_ns.len()) as i64].into_iter().chain(wait)
                });
                values.collect::<Vec<_>>().into()
            }
            TimerQuestion::Periods { period_ns: 0, .. } => {
                return Err(Fault::Refused("a period of 0 ns never passes".into()));
            }
            TimerQuestion::Periods {
                period_ns, count, ..
            } => {
                let periods = Periods {
                    method: &mut *method,
                    period_ns,
                    count,
                };
                visit_reference(&reference, periods)?.map_err(refused)?
            }
            _ => return unsupported(),
        };
        unless_failed(&[&reference, CommonClock::INFO.id], values)
    }
}

fn refused(why: Unavailable) -> Fault {
    Fault::Refused(why.to_string())
}

/// Measures waits by a reference.
struct WaitLoop<'a> {
    method: &'a mut dyn WaitMethod,
    pause_ns: u64,
    lengths_ns: Vec<u64>,
}

impl Visitor for WaitLoop<'_> {
    /// For each wait, the values of the answer after the index of its length.
    type Output = Vec<[i64; 4]>;

    fn visit<R: Timer>(self, reference: R) -> Self::Output {
        let Self {
            method,
            pause_ns,
            lengths_ns,
        } = self;
        let cpu_time = cpu_time();
        let mut random = SmallRng::seed_from_u64(reference.ticks(reference.read()).0);
        let mut waits = Vec::with_capacity(lengths_ns.len());
        for request_ns in lengths_ns {
            pause(random.random_range(0..=pause_ns));
            let begin = cpu_time();
            let before = reference.read();
            let signals = wait_through(method, request_ns, &reference, before);
            let after = reference.read();
            let cpu_ns = since(begin, cpu_time()).unwrap_or(-1);
            let [before, after] = [before, after].map(|read| reference.ticks(read).0 as i64);
            waits.push([before, after, cpu_ns, signals.into()]);
        }
        waits
    }
}

/// What reads the CPU time of the thread in nanoseconds, if it can be read.
fn cpu_time() -> impl Fn() -> Option<u64> {
    let read = reader("thread-cputime").and_then(Result::ok);
    move || read.as_ref()?().ok()
}

fn since(begin: Option<u64>, end: Option<u64>) -> Option<i64> {
    Some(end?.wrapping_sub(begin?) as i64)
}

/// Waits for the given time from `begin` on: after each signal again, for what is left by a reference
/// of known rate. Returns the number of signals.
#[inline(always)]
fn wait_through<R: Timer>(
    method: &mut dyn WaitMethod,
    nanoseconds: u64,
    reference: &R,
    begin: R::Reading,
) -> u32 {
    let (mut left, mut signals) = (nanoseconds, 0);
    while method.wait(left) == INTERRUPTED {
        signals += 1;
        let now = reference.ticks(reference.read());
        let passed = now.since(reference.ticks(begin)) as f64 * R::ns_per_tick().unwrap_or(0.0);
        left = nanoseconds.saturating_sub(passed as u64);
    }
    signals
}

/// Pauses for the given time. The last 200 µs are a busy loop, so that the end of the pause is
/// independent of the phase of the timer that wakes threads.
fn pause(nanoseconds: u64) {
    const BUSY_LOOP: Duration = Duration::from_micros(200);
    let span = Duration::from_nanos(nanoseconds);
    let deadline = crate::Deadline::after(span);
    crate::pause(span.saturating_sub(BUSY_LOOP));
    while deadline.remaining().is_some() {
        std::hint::spin_loop();
    }
}

/// Measures periods by a reference.
struct Periods<'a> {
    method: &'a mut dyn WaitMethod,
    period_ns: u64,
    count: u32,
}

impl Visitor for Periods<'_> {
    type Output = Available<Values>;

    fn visit<R: Timer>(self, reference: R) -> Self::Output {
        /// A period that does not pass. *Definition*.
        const HOUR_NS: u64 = 3_600_000_000_000;
        let Self {
            method, period_ns, ..
        } = self;
        let cpu_time = cpu_time();
        // The first call to the system takes longer, and so would the interval of the start.
        method.start(HOUR_NS, HOUR_NS);
        method.start(0, 0);
        let before = reference.read();
        let started = method.start(period_ns, period_ns);
        let after = reference.read();
        check_call("a periodic timer", started.unwrap_or(0))?;
        let begin = cpu_time();
        let mut last = after;
        let (mut list, mut signals) = (Vec::new(), 0_u32);
        for number in 1..=u64::from(self.count) {
            if started.is_some() {
                let due_ns = number.saturating_mul(period_ns);
                while method.tick(due_ns) == INTERRUPTED {
                    signals += 1;
                }
            } else {
                signals += wait_through(method, period_ns, &reference, last);
            }
            last = reference.read();
            list.extend([reference.ticks(last).0 as i64, method.expirations() as i64]);
        }
        let cpu_ns = since(begin, cpu_time());
        method.start(0, 0);
        let start = started.map_or(Start::Relative, |_| {
            Start::Between([before, after].map(|read| reference.ticks(read).0 as i64))
        });
        Ok(Values {
            list,
            start,
            cpu_ns,
            signals: Some(signals).filter(|signals| *signals > 0),
        })
    }
}
