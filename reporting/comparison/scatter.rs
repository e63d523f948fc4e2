//! Defines how much runs of an unchanged machine differ, in addition to the scatter between the
//! processes of a run, for each way in which timers are read. These values are used if no side
//! has several reports, which measure their own scatter.

use super::Quantity;
use super::quantity::SLEW;
use crate::fields::{Scatter, Unit as FieldUnit};
use crate::model::{Family, ReadsBy, TimerRow};
use crate::quality::{COST_EXPONENT, SPREAD_EXPONENT};

/// The way in which a timer is read, as far as it affects the scatter between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// By an instruction or by system code in user mode.
    InUserMode,
    /// By a system call.
    BySystemCall,
    /// CPU time or an event counter, which the kernel accumulates.
    OfCpuTime,
    /// In another runtime, or in an unknown way.
    Elsewhere,
    /// The timer waits.
    Waiting,
}

/// Standard deviations of the logarithm of a cost in cycles between runs, for reads in user mode,
/// by a system call, of CPU time, and for all other reads. *Seen*: docs/selftest.md, what runs
/// differ by.
const COSTS: [f64; 4] = [0.025, 0.08, 0.08, 0.10];
/// The corresponding standard deviations of a spread *s*, relative to √(*s* (1 - *s*)). *Seen*: as
/// `COSTS`.
const SPREADS: [f64; 4] = [0.2, 0.4, 0.4, 0.4];
/// The standard deviations of a cost and a spread if another program shared the core in one of the
/// runs, for reads in user mode and for all other reads. *Seen*: as `COSTS`.
const SHARED_CORE: [[f64; 2]; 2] = [[0.04, 0.3], [0.15, 0.6]];
/// Standard deviation of the logarithm of a lateness between runs: it depends on how deeply the
/// host's CPU slept. *Seen*: as `COSTS`.
const WAITS: f64 = 0.3;
/// The degrees of freedom of these standard deviations: ten runs of many timers, which do not vary
/// independently. *Judgement*.
pub(super) const DEGREES: f64 = 30.0;

impl Read {
    /// The way in which a clock is read, according to its declared properties.
    pub(super) fn by(row: &TimerRow) -> Self {
        let properties = row.properties.as_ref();
        let family = properties.and_then(|properties| properties.family);
        let reads_by = properties.and_then(|properties| properties.reads_by);
        match (row.runtime.as_str(), family, reads_by) {
            ("native", _, Some(ReadsBy::Instruction | ReadsBy::Vdso)) => Self::InUserMode,
            ("native", Some(Family::CpuTime | Family::PerfEvent), _) => Self::OfCpuTime,
            ("native", _, Some(ReadsBy::SystemCall)) => Self::BySystemCall,
            _ => Self::Elsewhere,
        }
    }

    /// The variance between runs for a quantity with this `value`: of its logarithm if `relative`,
    /// else in its own unit. `spread` is the spread of the same timer.
    pub(super) fn variance(
        self,
        quantity: Quantity,
        value: f64,
        spread: f64,
        shared_core: bool,
        relative: bool,
    ) -> f64 {
        let at = (self as usize).min(COSTS.len() - 1);
        let [cost, per_spread] = if shared_core {
            SHARED_CORE[at.min(1)]
        } else {
            [COSTS[at], SPREADS[at]]
        };
        let spread = spread.clamp(0.0, 1.0);
        let of_spread = per_spread * (spread * (1.0 - spread)).sqrt();
        let share = match quantity.scatter() {
            Scatter::Cost => cost,
            Scatter::Quality => {
                (COST_EXPONENT * cost).hypot(SPREAD_EXPONENT * of_spread / spread.max(f64::EPSILON))
            }
            Scatter::Spread => return of_spread.powi(2),
            Scatter::Slew if quantity.unit() == FieldUnit::Ppm => return (1e6 * SLEW).powi(2),
            Scatter::Slew => SLEW,
            Scatter::Lateness => WAITS,
            Scatter::None => 0.0,
        };
        if relative {
            share.powi(2)
        } else {
            (share * value).powi(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Quantity, Read};

    #[test]
    fn system_calls_vary_most() {
        let variance = |read: Read, shared| read.variance(Quantity::COST, 20.0, 0.9, shared, true);
        assert!(variance(Read::BySystemCall, false) > variance(Read::InUserMode, false));
        assert!(variance(Read::OfCpuTime, true) > variance(Read::OfCpuTime, false));
        let read = Read::InUserMode;
        let [relative, absolute] =
            [true, false].map(|relative| read.variance(Quantity::COST, 20.0, 0.9, false, relative));
        assert!((absolute / relative - 400.0_f64).abs() < 1e-9);
        assert_eq!(read.variance(Quantity::SPREAD, 1.0, 1.0, true, false), 0.0);
    }
}
