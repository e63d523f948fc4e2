//! The timed region: a clock, an operation, and nothing between them.

use std::hint::black_box;

use timers::Timer;

use super::clock::{Clock, ClockError, Registered};

/// Something whose duration is measured. Any closure is one.
pub trait Operation {
    /// What it returns; kept from being optimised away.
    type Output;

    /// Whether each call needs [`set_up`](Self::set_up) before it.
    const SET_UP: bool = false;

    /// Puts things back before a call. Never timed.
    fn set_up(&mut self) {}

    /// The operation.
    fn call(&mut self) -> Self::Output;
}

impl<F: FnMut() -> T, T> Operation for F {
    type Output = T;

    #[inline(always)]
    fn call(&mut self) -> T {
        self()
    }
}

/// An operation that needs something put back before each call, as a sort needs an array that is
/// not sorted.
#[derive(Debug)]
pub struct WithSetUp<S, F, D> {
    /// What both work on.
    pub data: D,
    /// Puts it back.
    pub set_up: S,
    /// Works on it.
    pub call: F,
}

impl<S: FnMut(&mut D), F: FnMut(&mut D) -> T, D, T> Operation for WithSetUp<S, F, D> {
    type Output = T;
    const SET_UP: bool = true;

    fn set_up(&mut self) {
        (self.set_up)(&mut self.data);
    }

    #[inline(always)]
    fn call(&mut self) -> T {
        (self.call)(&mut self.data)
    }
}

/// Calls of an operation, as a clock sees them. A batch of calls is one call of this, so that what
/// is compiled for a clock need not be compiled for each operation too (`dyn Calls`); it is in the
/// floor as well.
pub trait Calls {
    /// A number of calls.
    fn in_a_row(&mut self, calls: u64);

    /// A number of calls, with fences that keep each apart from what stands around it.
    fn apart(&mut self, calls: u64);

    /// The fences of as many calls that are kept apart, without the calls.
    fn fences(&self, calls: u64);

    /// Whether each call needs a set-up, so that no two calls fit between two reads.
    fn needs_set_up(&self) -> bool;

    /// Puts things back.
    fn put_back(&mut self);
}

impl<O: Operation> Calls for O {
    #[inline(always)]
    fn in_a_row(&mut self, calls: u64) {
        let mut left = calls;
        while left != 0 {
            black_box(self.call());
            left -= 1;
        }
    }

    #[inline(always)]
    fn apart(&mut self, calls: u64) {
        let mut left = calls;
        while left != 0 {
            timers::fence();
            black_box(self.call());
            timers::fence();
            left -= 1;
        }
    }

    #[inline(always)]
    fn fences(&self, calls: u64) {
        let mut left = calls;
        while left != 0 {
            timers::fence();
            timers::fence();
            left -= 1;
        }
    }

    fn needs_set_up(&self) -> bool {
        O::SET_UP
    }

    fn put_back(&mut self) {
        self.set_up();
    }
}

/// A clock and an operation that were put together. What instruments ask; each question is compiled
/// for the clock, and the one dynamic call that asks it lies outside the timed region.
pub trait Timed {
    /// Nanoseconds between two reads around that many calls. With none it is the floor: the same
    /// path without a call.
    fn window(&mut self, calls: u64) -> f64;

    /// Nanoseconds that a number of calls takes when fences keep each apart from what stands around
    /// it, as two reads keep a single one; the fences themselves are taken off.
    fn apart(&mut self, calls: u64) -> f64;

    /// Whether each call needs a set-up, so that no two calls fit between two reads.
    fn needs_set_up(&self) -> bool;

    /// Puts things back.
    fn set_up(&mut self);

    /// Walks the path of the next window, unmeasured: what ran before left it cold, and the first
    /// reads through the kernel then take up to a microsecond longer than those whose cost is
    /// known, until its branches are predicted again. An operation that needs a set-up is left
    /// alone, as is one of which no `calls` are wanted.
    fn warm_up(&mut self, calls: u64) {
        const FEW: u64 = 8;
        const EMPTY: u32 = 16;
        if !self.needs_set_up() && calls > 0 {
            self.window(calls.min(FEW));
        }
        for _ in 0..EMPTY {
            self.window(0);
        }
    }
}

/// The pair.
pub struct Pair<'a, C, O: ?Sized> {
    /// The clock.
    pub clock: C,
    /// The operation.
    pub operation: &'a mut O,
}

impl<C: Clock, O: Calls + ?Sized> Timed for Pair<'_, C, O> {
    fn window(&mut self, calls: u64) -> f64 {
        timed_region(&self.clock, calls, |calls| self.operation.in_a_row(calls))
    }

    fn apart(&mut self, calls: u64) -> f64 {
        let with_calls = timed_region(&self.clock, calls, |calls| self.operation.apart(calls));
        with_calls - timed_region(&self.clock, calls, |calls| self.operation.fences(calls))
    }

    fn needs_set_up(&self) -> bool {
        self.operation.needs_set_up()
    }

    fn set_up(&mut self) {
        self.operation.put_back();
    }
}

/// The timer of that id, opened and put together with an operation; `None` when no timer is called
/// so. What is done with them is compiled once, and not for each timer and operation.
///
/// # Errors
/// When the timer cannot be read, or has no rate.
pub fn timed_by<'a>(
    id: &str,
    operation: &'a mut dyn Calls,
) -> Option<Result<Box<dyn Timed + 'a>, ClockError>> {
    let entry = timers::find(id)?;
    let unavailable = |why| {
        Err(ClockError::Unavailable {
            id: entry.info.id,
            why,
        })
    };
    Some(timers::visit(id, Together(operation))?.unwrap_or_else(unavailable))
}

struct Together<'a>(&'a mut dyn Calls);

impl<'a> timers::Visitor for Together<'a> {
    type Output = Result<Box<dyn Timed + 'a>, ClockError>;

    fn visit<T: Timer>(self, timer: T) -> Self::Output {
        Ok(Box::new(Pair {
            clock: Registered::from_timer(timer)?,
            operation: self.0,
        }))
    }
}

/// Read, call, read. Fences keep the operation from beginning before the first read and from ending
/// after the second, whatever the clock waits for; they are in the floor as well.
#[inline(never)]
fn timed_region<C: Clock>(clock: &C, calls: u64, run: impl FnOnce(u64)) -> f64 {
    let calls = black_box(calls);
    timers::fence();
    let first = clock.read();
    timers::fence();
    run(calls);
    timers::fence();
    let second = clock.read();
    clock.elapsed_ns(first, second)
}
