//! Simulated work around a read: a core of known shape, and reads that are chains of multiplications.

use crate::Context;

/// What a multiplication takes that another one waits for, in nanoseconds.
const LINK: f64 = 1.0;
/// How many the core begins in that time.
const WIDTH: f64 = 3.0;
/// Multiplications in a chain of work.
const CHAIN: f64 = 16.0;
/// What a miss takes.
const MISS: f64 = 130.0;
/// What a row of calls, loads and branches takes where nothing holds it up; and how much of it is under way at any moment.
const AHEAD: [f64; 2] = [25.0, 8.0];

/// How long a piece of work takes on a simulated core without a read, and with one that is a chain of so many nanoseconds, all in
/// nanoseconds. In code that the core runs far ahead in the read waits for all before it, and all behind it waits for the read. `None`
/// for what is not simulated.
#[must_use]
pub fn piece(context: Context, read_ns: f64) -> Option<[f64; 2]> {
    // What is not waited for takes no more than its share of the units.
    let share = read_ns / WIDTH;
    Some(match context {
        Context::Latency => [CHAIN * LINK, (CHAIN * LINK).max(CHAIN * LINK / WIDTH + share)],
        Context::Throughput => {
            let busy = 4.0 * CHAIN * LINK / WIDTH;
            [busy, busy + share]
        }
        Context::Memory => [MISS, MISS.max(share)],
        Context::Ahead => [AHEAD[0], AHEAD[0] + AHEAD[1] + read_ns],
        Context::Cold | Context::Contended => return None,
    })
}
