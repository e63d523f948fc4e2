//! The measuring loops for waits, compiled separately for each reference clock. Between the two
//! reads of the reference there is only the call of the method.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::method::WaitMethod;
use super::{Expiration, Start, Wait, WaitEntry, WaitList, Wakeups};
use crate::failures::unless_failed;
use crate::native::visit_reference;
use crate::os::CommonClock;
use crate::subject::{Answer, Fault};
use crate::{ClockReader, Described, Subject, Timer, Visitor, reader};

/// A wait method with its measuring loops.
pub(crate) struct MeasuredMethod {
    pub entry: WaitEntry,
    pub method: Box<dyn WaitMethod>,
}

impl MeasuredMethod {
    /// Returns an error if the method does not support a measurement.
    fn require(&self, supported: bool, reason: &str) -> Answer<()> {
        let refusal = || Fault::Refused(format!("{} {reason}", self.entry.info.id));
        supported.then_some(()).ok_or_else(refusal)
    }
}

impl Subject for MeasuredMethod {
    fn waits(&mut self, reference: &str, list: WaitList) -> Answer<Vec<Wait>> {
        self.require(self.entry.supports.waits, "is periodic only")?;
        let waits = Waits {
            method: &mut *self.method,
            list,
        };
        unless_failed(
            &[reference, CommonClock::INFO.id],
            visit_reference(reference, waits)?,
        )
    }

    fn periods(&mut self, reference: &str, period_ns: u64, count: u32) -> Answer<Wakeups> {
        if period_ns == 0 {
            return Err(Fault::Refused(
                "a period of 0 ns is not possible; use at least 1 ns".into(),
            ));
        }
        self.require(self.entry.supports.periods, "is not periodic")?;
        let periods = Periods {
            method: &mut *self.method,
            period_ns,
            count,
        };
        let wakeups = visit_reference(reference, periods)??;
        unless_failed(&[reference, CommonClock::INFO.id], wakeups)
    }
}

/// Measures waits by a reference.
struct Waits<'a> {
    method: &'a mut dyn WaitMethod,
    list: WaitList<'a>,
}

impl Visitor for Waits<'_> {
    type Output = Vec<Wait>;

    fn visit<R: Timer>(self, reference: R) -> Self::Output {
        let Self { method, list } = self;
        let cpu_time = reader("thread-cputime").and_then(Result::ok);
        let mut random = SmallRng::seed_from_u64(reference.ticks(reference.read()).0);
        let mut waits = Vec::with_capacity(list.lengths_ns.len());
        for &request_ns in list.lengths_ns {
            pause(random.random_range(0..=list.pause_ns));
            waits.push(measure_wait(
                method,
                &reference,
                cpu_time.as_ref(),
                request_ns,
            ));
        }
        waits
    }
}

/// Measures one wait between two reads of the reference clock.
#[inline(never)]
fn measure_wait<R: Timer>(
    method: &mut dyn WaitMethod,
    reference: &R,
    cpu_time: Option<&ClockReader>,
    request_ns: u64,
) -> Wait {
    let cpu_ns = || cpu_time?().ok();
    let cpu = cpu_ns();
    let before = reference.read();
    method.wait(request_ns);
    let after = reference.read();
    let cpu_later = cpu_ns();
    Wait {
        request_ns,
        before: reference.ticks(before).0 as i64,
        after: reference.ticks(after).0 as i64,
        cpu_ns: cpu
            .zip(cpu_later)
            .map(|(from, to)| to.wrapping_sub(from) as i64),
    }
}

/// Pauses for the given time. The last 200 µs are a busy loop, so that the end of the pause is
/// independent of the phase of the timer that wakes threads.
fn pause(nanoseconds: u64) {
    const BUSY_LOOP: Duration = Duration::from_micros(200);
    let span = Duration::from_nanos(nanoseconds);
    let deadline = crate::Deadline::after(span);
    if let Some(slept) = span.checked_sub(BUSY_LOOP).filter(|slept| !slept.is_zero()) {
        crate::pause(slept);
    }
    while deadline.remaining().is_some() {
        std::hint::spin_loop();
    }
}

/// The time for which a timer is armed that is then cancelled, in nanoseconds. *Definition*: it does not
/// expire.
const HOUR_NS: u64 = 3_600_000_000_000;

/// Measures periods by a reference.
struct Periods<'a> {
    method: &'a mut dyn WaitMethod,
    period_ns: u64,
    count: u32,
}

impl Visitor for Periods<'_> {
    type Output = Answer<Wakeups>;

    fn visit<R: Timer>(self, reference: R) -> Self::Output {
        let mut list = Vec::new();
        // The first call to the system takes longer, and so would the interval of the start.
        self.method.arm_and_cancel(HOUR_NS);
        let before = reference.read();
        let has_due_times = self.method.start(self.period_ns)?;
        let after = reference.read();
        for _ in 0..self.count {
            self.method.tick(self.period_ns);
            let at = reference.read();
            list.push(Expiration {
                at: reference.ticks(at).0 as i64,
                expirations: self.method.expirations(),
            });
        }
        self.method.stop();
        let start = match has_due_times {
            true => Start::Between([before, after].map(|read| reference.ticks(read).0 as i64)),
            false => Start::Relative,
        };
        Ok(Wakeups { start, list })
    }
}
