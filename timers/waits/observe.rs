//! The loops around a wait, compiled for each reference: between its two reads stand the call of
//! the method and nothing else.

use std::fs::File;
use std::io::Write;
use std::thread;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::method::{Armed, Countdown, Method, Periodic, Relative};
use super::{Answers, Expiration, Means, Wait, WaitInfo, WaitRequest, WaitSubject};
use crate::clocks::ThreadCputime;
use crate::native::{by_reference, rate_of, spin};
use crate::os::scheduling::{RunDelay, trace_marker};
use crate::subject::{Answer, Fault};
use crate::{Ticks, Timer, Visitor};

/// A list of methods, each with how it answers: `waits`, `arms` and `periods` by the trait of that
/// question, `relative` for periods by a loop of its waits.
macro_rules! methods {
    ($($method:ty: $($how:ident)+;)*) => {
        &[$($crate::waits::WaitEntry {
            info: <$method as $crate::waits::method::Method>::INFO,
            answers: $crate::waits::observe::Ways::<$method> {
                $($how: Some(|method| method),)+ ..$crate::waits::observe::Ways::NONE
            }.answers(),
            availability: || <$method as $crate::waits::method::Method>::open().map(drop),
            open: || Ok(Box::new($crate::waits::observe::Observed {
                method: <$method as $crate::waits::method::Method>::open()?,
                ways: $crate::waits::observe::Ways {
                    $($how: Some(|method| method),)+ ..$crate::waits::observe::Ways::NONE
                },
            })),
        }),*]
    };
}
#[allow(unused_imports, reason = "some systems have no list of their own")]
pub(crate) use methods;

/// A method that is watched.
pub(crate) struct Observed<T: 'static> {
    pub method: T,
    pub ways: Ways<T>,
}

/// By which of its traits a method answers a question.
pub(crate) struct Ways<T: 'static> {
    pub waits: Option<fn(&mut T) -> &mut dyn Countdown>,
    pub arms: Option<fn(&mut T) -> &mut dyn Armed>,
    pub periods: Option<fn(&mut T) -> &mut dyn Periodic>,
    /// By a loop of relative waits.
    pub relative: Option<fn(&mut T) -> &mut dyn Countdown>,
}

impl<T> Ways<T> {
    pub(crate) const NONE: Self = Self {
        waits: None,
        arms: None,
        periods: None,
        relative: None,
    };

    pub(crate) const fn answers(&self) -> Answers {
        Answers {
            waits: self.waits.is_some(),
            arms: self.arms.is_some(),
            periods: self.periods.is_some() || self.relative.is_some(),
        }
    }
}

impl<T: Method> WaitSubject for Observed<T> {
    fn waits(&mut self, reference: &str, request: WaitRequest) -> Answer<Vec<Vec<Wait>>> {
        let Some(way) = self.ways.waits else {
            return Err(Fault::Refused(format!("{} is periodic only", T::INFO.id)));
        };
        by_reference(
            reference,
            Waits {
                info: &T::INFO,
                countdown: way(&mut self.method),
                request,
            },
        )
    }

    fn arms(&mut self, reference: &str, repeat: u32) -> Answer<Vec<i64>> {
        let Some(way) = self.ways.arms else {
            let why = format!(
                "{} cannot be armed and cancelled without waiting",
                T::INFO.id
            );
            return Err(Fault::Refused(why));
        };
        by_reference(
            reference,
            Arms {
                armed: way(&mut self.method),
                repeat,
            },
        )
    }

    fn periods(
        &mut self,
        reference: &str,
        period_ns: u64,
        count: u32,
        stalls: &[u32],
    ) -> Answer<Vec<Expiration>> {
        if period_ns == 0 {
            return Err(Fault::Refused("a period is at least 1 ns".into()));
        }
        let mut relative;
        let periodic: &mut dyn Periodic = match (self.ways.periods, self.ways.relative) {
            (Some(way), _) => way(&mut self.method),
            (None, Some(way)) => {
                relative = Relative::of(way(&mut self.method));
                &mut relative
            }
            (None, None) => return Err(Fault::Refused(format!("{} is not periodic", T::INFO.id))),
        };
        by_reference(
            reference,
            Periods {
                periodic,
                period_ns,
                count,
                stalls,
            },
        )?
    }
}

struct Waits<'a> {
    info: &'static WaitInfo,
    countdown: &'a mut dyn Countdown,
    request: WaitRequest<'a>,
}

impl Visitor for Waits<'_> {
    type Output = Vec<Vec<Wait>>;

    fn visit<R: Timer>(self, reference: R) -> Self::Output {
        let Self {
            info,
            countdown,
            request,
        } = self;
        let meters = Meters::of_this_thread(info.means);
        let mut limit = request
            .break_ns
            .and_then(|ns| Limit::new(ns, rate_of(&reference)?));
        let mut random = StdRng::seed_from_u64(reference.ticks(reference.read()).0);
        let mut order: Vec<usize> = (0..request.lengths_ns.len()).collect();
        let mut rows = vec![Vec::new(); order.len()];
        for _ in 0..request.repeat {
            // A caller that asks for each length once has its own order, and the answer keeps it.
            if request.repeat > 1 {
                order.shuffle(&mut random);
            }
            for &row in &order {
                let asked = request.lengths_ns[row];
                pause(random.random_range(0..=request.pause_ns));
                let wait = watch(countdown, &reference, &meters, asked);
                rows[row].push(wait);
                if limit
                    .as_mut()
                    .is_some_and(|limit| limit.exceeded(info.id, &wait, asked))
                {
                    return rows;
                }
            }
        }
        rows
    }
}

/// One wait between two reads of the reference.
#[inline(never)]
fn watch<R: Timer>(
    countdown: &mut dyn Countdown,
    reference: &R,
    meters: &Meters,
    asked: u64,
) -> Wait {
    let (delay, cpu) = (meters.run_delay_ns(), meters.cpu());
    let before = reference.read();
    countdown.wait(asked);
    let after = reference.read();
    let (cpu_later, delay_later) = (meters.cpu(), meters.run_delay_ns());
    Wait {
        before: reference.ticks(before).0 as i64,
        after: reference.ticks(after).0 as i64,
        cpu_ns: meters.nanoseconds(cpu, cpu_later),
        run_delay_ns: delay
            .zip(delay_later)
            .map(|(before, after)| after.wrapping_sub(before) as i64),
    }
}

/// What the kernel counts of the calling thread.
struct Meters {
    cpu: Option<(ThreadCputime, f64)>,
    /// Of one that blocks. Where it computes, a delay before the time has come does not make the
    /// wait longer.
    delay: Option<RunDelay>,
}

impl Meters {
    fn of_this_thread(means: Means) -> Self {
        Self {
            cpu: ThreadCputime::open().ok().zip(ThreadCputime::ns_per_tick()),
            delay: if means == Means::Blocks {
                RunDelay::of_this_thread()
            } else {
                None
            },
        }
    }

    fn cpu(&self) -> Option<Ticks> {
        let (clock, _) = self.cpu.as_ref()?;
        Some(clock.ticks(clock.read()))
    }

    fn nanoseconds(&self, before: Option<Ticks>, after: Option<Ticks>) -> Option<i64> {
        let (_, unit) = self.cpu.as_ref()?;
        Some((after?.since(before?) as f64 * unit) as i64)
    }

    fn run_delay_ns(&self) -> Option<u64> {
        self.delay.as_ref()?.ns()
    }
}

/// How late a wait may be before it ends the question.
struct Limit {
    late_ns: u64,
    ns_per_tick: f64,
    /// Opened beforehand, so that the mark stands close to what it marks.
    marks: Option<File>,
}

impl Limit {
    fn new(late_ns: u64, ns_per_tick: f64) -> Option<Self> {
        Some(Self {
            late_ns,
            ns_per_tick,
            marks: trace_marker(),
        })
    }

    /// Marks a wait that was later than that.
    fn exceeded(&mut self, id: &str, wait: &Wait, asked: u64) -> bool {
        let waited = (wait.after.wrapping_sub(wait.before) as f64 * self.ns_per_tick) as u64;
        let exceeded = waited > asked.saturating_add(self.late_ns);
        if exceeded && let Some(marks) = &mut self.marks {
            // The trace may have been taken away meanwhile; the answer ends all the same.
            let _ = marks.write_all(
                format!("timermeter: {id} waited {waited} ns, asked for {asked}").as_bytes(),
            );
        }
        exceeded
    }
}

/// Lets some time pass and ends it computing, so that it ends at any phase of whatever wakes
/// threads.
fn pause(nanoseconds: u64) {
    const SPUN: Duration = Duration::from_micros(200);
    let span = Duration::from_nanos(nanoseconds);
    let over = crate::Deadline::after(span);
    if let Some(slept) = span.checked_sub(SPUN).filter(|slept| !slept.is_zero()) {
        thread::sleep(slept);
    }
    while over.remaining().is_some() {
        std::hint::spin_loop();
    }
}

struct Arms<'a> {
    armed: &'a mut dyn Armed,
    repeat: u32,
}

impl Visitor for Arms<'_> {
    type Output = Vec<i64>;

    fn visit<R: Timer>(self, reference: R) -> Vec<i64> {
        const HOUR_NS: u64 = 3_600_000_000_000;
        let mut pairs = Vec::new();
        for _ in 0..self.repeat {
            let first = reference.read();
            self.armed.arm_and_cancel(HOUR_NS);
            let second = reference.read();
            pairs.push(reference.ticks(second).since(reference.ticks(first)));
        }
        pairs
    }
}

struct Periods<'a> {
    periodic: &'a mut dyn Periodic,
    period_ns: u64,
    count: u32,
    stalls: &'a [u32],
}

impl Visitor for Periods<'_> {
    type Output = Answer<Vec<Expiration>>;

    fn visit<R: Timer>(self, reference: R) -> Self::Output {
        /// What a stall takes, in halves of a period: long enough for three expirations to be
        /// missed, and to see when the next one comes.
        const STALL_HALVES: u64 = 7;
        let stall = Duration::from_nanos((self.period_ns / 2).saturating_mul(STALL_HALVES));
        let mut expirations = Vec::new();
        self.periodic.start(self.period_ns)?;
        for number in 0..self.count {
            self.periodic.tick();
            let at = reference.read();
            expirations.push(Expiration {
                at: reference.ticks(at).0 as i64,
                expirations: self.periodic.expirations(),
            });
            if self.stalls.contains(&number) {
                spin(stall);
            }
        }
        self.periodic.stop();
        Ok(expirations)
    }
}
