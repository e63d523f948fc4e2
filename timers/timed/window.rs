//! The timed region: the calls of an operation between two reads of a clock.

use std::hint::black_box;

use timers::{Timer, work};

use super::clock::{ClockError, Registered, Stopwatch};

/// An operation whose duration is measured, such as a closure.
pub trait Operation {
    /// The result, which the compiler is kept from optimising away.
    type Output;

    /// Whether each call needs [`set_up`](Self::set_up) before it.
    const SET_UP: bool = false;

    /// Prepares the data for the next call. Never timed.
    fn set_up(&mut self) {}

    /// Runs the operation once.
    fn call(&mut self) -> Self::Output;
}

impl<F: FnMut() -> T, T> Operation for F {
    type Output = T;

    #[inline(always)]
    fn call(&mut self) -> T {
        self()
    }
}

/// An operation whose data must be prepared before each call: a sort needs an unsorted array.
#[derive(Debug)]
pub struct WithSetUp<S, F, D> {
    /// The data.
    pub data: D,
    /// Prepares the data.
    pub set_up: S,
    /// The timed function.
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

/// An operation that is called in batches. A batch costs one dynamic call (`dyn BatchedOperation`),
/// so that the code compiled for each clock is not compiled for each operation too. An empty batch
/// costs the same dynamic call, so that its cost can be subtracted.
pub trait BatchedOperation {
    /// Calls the operation `calls` times.
    fn call_repeatedly(&mut self, calls: u64);

    /// Whether each call needs a set-up, so that only one call fits between two reads.
    fn needs_set_up(&self) -> bool;

    /// Prepares the data for the next call.
    fn prepare(&mut self);
}

impl<O: Operation> BatchedOperation for O {
    #[inline(always)]
    fn call_repeatedly(&mut self, calls: u64) {
        work::repeat(calls, |_| {
            black_box(self.call());
        });
    }

    fn needs_set_up(&self) -> bool {
        O::SET_UP
    }

    fn prepare(&mut self) {
        self.set_up();
    }
}

/// A clock and an operation to measure. The methods are compiled for each clock; the dynamic call
/// that reaches them is outside the timed region.
pub trait TimedOperation {
    /// The nanoseconds between two reads around `calls` calls. With 0 calls this is the cost of the
    /// same code without a call.
    fn window(&mut self, calls: u64) -> f64;

    /// Whether each call needs a set-up, so that only one call fits between two reads.
    fn needs_set_up(&self) -> bool;

    /// Prepares the data for the next call.
    fn set_up(&mut self);

    /// Runs the code of the next window without measuring it. Otherwise caches and branch
    /// prediction are cold, and the first reads through the kernel take up to 1 µs longer than
    /// usual. The operation itself is called at most `calls` times, and not at all if it needs a
    /// set-up.
    fn warm_up(&mut self, calls: u64) {
        const MAX_CALLS: u64 = 8;
        const EMPTY_WINDOWS: u32 = 16;
        if !self.needs_set_up() && calls > 0 {
            self.window(calls.min(MAX_CALLS));
        }
        for _ in 0..EMPTY_WINDOWS {
            self.window(0);
        }
    }
}

/// A clock and an operation.
pub struct ClockAndOperation<'a, C, O: ?Sized> {
    /// The clock.
    pub clock: C,
    /// The operation.
    pub operation: &'a mut O,
}

impl<C: Stopwatch, O: BatchedOperation + ?Sized> TimedOperation for ClockAndOperation<'_, C, O> {
    fn window(&mut self, calls: u64) -> f64 {
        timed_region(&self.clock, calls, |calls| {
            self.operation.call_repeatedly(calls)
        })
    }

    fn needs_set_up(&self) -> bool {
        self.operation.needs_set_up()
    }

    fn set_up(&mut self) {
        self.operation.prepare();
    }
}

/// Opens the timer with the given id to time an operation; `None` if there is no such timer. The
/// callers of the result are compiled once and not for each timer and operation.
///
/// # Errors
/// When the timer cannot be read or its rate cannot be found.
pub fn open_timed<'a>(
    id: &str,
    operation: &'a mut dyn BatchedOperation,
) -> Option<Result<Box<dyn TimedOperation + 'a>, ClockError>> {
    let entry = timers::find(id)?;
    let unavailable = |why| {
        Err(ClockError::Unavailable {
            id: entry.info.id,
            why,
        })
    };
    Some(timers::visit(id, MakeTimedOperation(operation))?.unwrap_or_else(unavailable))
}

struct MakeTimedOperation<'a>(&'a mut dyn BatchedOperation);

impl<'a> timers::Visitor for MakeTimedOperation<'a> {
    type Output = Result<Box<dyn TimedOperation + 'a>, ClockError>;

    fn visit<T: Timer + 'static>(self, timer: T) -> Self::Output {
        Ok(Box::new(ClockAndOperation {
            clock: Registered::from_timer(timer)?,
            operation: self.0,
        }))
    }
}

/// Reads the clock, runs the calls, reads the clock; returns the difference in nanoseconds. Fences
/// keep the operation from beginning before the first read and from ending after the second. With 0
/// calls the fences cost the same.
#[inline(never)]
fn timed_region<C: Stopwatch>(clock: &C, calls: u64, run: impl FnOnce(u64)) -> f64 {
    let calls = black_box(calls);
    timers::fence();
    let first = clock.read();
    timers::fence();
    run(calls);
    timers::fence();
    let second = clock.read();
    clock.elapsed_ns(first, second)
}
