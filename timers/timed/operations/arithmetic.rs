//! Numbers.

use std::hint::black_box;

use crate::timed::window::Operation;

/// `length` multiplications, each of which waits for the one before: twice as many take twice as long.
pub(super) fn chain(length: u64) -> impl Operation {
    let mut state = 1_u64;
    move || {
        state = timers::links(state, black_box(length));
        state
    }
}

/// A hundred logarithms; the result of a call is where the next one starts.
pub(super) fn log_chain() -> impl Operation {
    let mut value = 123.456_f64;
    move || {
        for _ in 0..100 {
            // The logarithm of what is not positive is none; the chain goes on with the absolute value.
            value = value.abs().max(f64::MIN_POSITIVE).ln();
        }
        value
    }
}

/// Twenty multiplications in a chain, of a number that changes from call to call.
pub(super) fn multiply() -> impl Operation {
    of(|x| {
        let first = 1.1 * x;
        (0..19).fold(first, |product, _| product * first)
    })
}

/// A function of the numbers from 0 to 255, one after the other.
pub(super) fn of(function: impl Fn(f64) -> f64) -> impl Operation {
    let mut next = 0_u8;
    move || {
        next = next.wrapping_add(1);
        function(f64::from(black_box(next)))
    }
}
