//! Counters that one instruction reads. Which there are, and what each is, stands in
//! `arch/`, a table an instruction set.

use std::marker::PhantomData;
use std::time::Duration;

use crate::arch::Instruction;
use crate::deadline::{Deadline, kernel_raw_time};
use crate::os::attempt;
use crate::os::clocks::tsc_permitted;
use crate::{Described, Ticks, Timer, Unavailable, work};

/// A counter, by the instruction that reads it.
pub struct Counter<I>(PhantomData<I>);

impl<I: Instruction> Timer for Counter<I>
where
    Self: Described,
{
    type Reading = u64;

    fn open() -> Result<Self, Unavailable> {
        I::present().map_err(Unavailable::because)?;
        tsc_permitted()?;
        if I::TRAPS {
            attempt(Self::INFO.label, I::read)?;
        }
        Ok(Self(PhantomData))
    }

    fn ns_per_tick() -> Option<f64> {
        Self::open().ok()?;
        believed(I::declared_hz()?, I::read)
    }

    #[inline(always)]
    fn read(&self) -> u64 {
        I::read()
    }

    fn ticks(&self, reading: u64) -> Ticks {
        Ticks(reading)
    }
}

impl<I: Instruction> Counter<I>
where
    Self: Described,
{
    /// Ticks a second as processor or firmware declare them, whether they are right or not.
    pub(crate) fn declared_rate() -> Option<f64> {
        Self::open().ok()?;
        I::declared_hz()
    }
}

/// Nanoseconds in a tick at a declared rate, where the kernel's clock agrees: firmware is known to
/// write wrong ones, or none. Who is not believed is measured.
fn believed(hertz: f64, read: fn() -> u64) -> Option<f64> {
    /// Looks at a declared rate, of which the middle one counts.
    /// *Judgement*: an interrupted look is taken again.
    const LOOKS: usize = 5;
    /// How long a look takes.
    /// *Judgement*.
    const LOOK: Duration = Duration::from_millis(2);
    /// What a rate may be off by; wrong ones are wrong by factors.
    /// *Judgement*.
    const AGREES: f64 = 2e-3;
    // A reading lies between those of the kernel's clock before and after it.
    let bracketed = || Some((kernel_raw_time()?, read(), kernel_raw_time()?));
    let agrees = || {
        let (before_start, start, after_start) = bracketed()?;
        let over = Deadline::after(LOOK);
        while over.remaining().is_some() {
            work::units(1 << 10);
        }
        let (before_end, end, after_end) = bracketed()?;
        let expected = end.wrapping_sub(start) as f64 / hertz * 1e9;
        let possible = [
            before_end.checked_sub(after_start)?,
            after_end.checked_sub(before_start)?,
        ]
        .map(|ns| ns as f64);
        possible
            .iter()
            .all(|passed| (expected / passed - 1.0).abs() < AGREES)
            .then_some(1e9 / hertz)
    };
    // An interruption between readings spoils a look, and makes no wrong rate right.
    (hertz > 0.0)
        .then(|| (0..LOOKS).find_map(|_| agrees()))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn believes_only_true_rates() {
        let nanoseconds = || kernel_raw_time().unwrap_or(0);
        if kernel_raw_time().is_some() {
            assert_eq!(believed(1e9, nanoseconds), Some(1.0));
            for wrong in [0.0, 1e6, 0.99e9, 1.01e9, 24e9] {
                assert_eq!(believed(wrong, nanoseconds), None, "{wrong}");
            }
        }
    }
}
