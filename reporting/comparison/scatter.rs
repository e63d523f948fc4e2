//! How much runs of an unchanged machine differ beyond the processes of one run, by the kind of
//! read. It decides where a side has one report only; several reports measure it.

use super::Quantity;
use super::quantity::SLEW;
use crate::fields::{Scatter, Unit as FieldUnit};
use crate::model::{Family, ReadsBy, TimerRow};
use crate::quality::{COST_EXPONENT, SPREAD_EXPONENT};

/// How a timer is read, as far as it matters for how much runs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// By an instruction, or by code of the system that runs in user mode.
    InUserMode,
    /// By a system call.
    BySystemCall,
    /// CPU time or an event counter, which the kernel adds up.
    OfCpuTime,
    /// In another runtime, or in an unknown way.
    Elsewhere,
    /// It waits.
    Waiting,
}

/// Standard deviations of the logarithm of a cost in cycles between runs, of reads in user mode, by
/// a system call and of CPU time, and of others. *Seen*: docs/selftest.md, what runs differ by.
const COSTS: [f64; 4] = [0.025, 0.08, 0.08, 0.10];
/// The same of a spread *s*, in √(*s* (1 - *s*)).
/// *Seen*: as `COSTS`.
const SPREADS: [f64; 4] = [0.2, 0.4, 0.4, 0.4];
/// Of a cost and a spread where the core was shared in one of the runs, in user mode and of all
/// others. *Seen*: as `COSTS`.
const SHARED_CORE: [[f64; 2]; 2] = [[0.04, 0.3], [0.15, 0.6]];
/// Standard deviation of the logarithm of a lateness between runs: how deeply the host's CPU slept.
/// *Seen*: as `COSTS`.
const WAITS: f64 = 0.3;
/// Degrees of freedom that these are known with: of ten runs of many timers, which do not vary
/// alone. *Judgement*.
pub(super) const DEGREES: f64 = 30.0;

impl Read {
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

    /// The variance between runs of a figure of this value, on the scale that it is compared on: of
    /// a logarithm where that is `relative`. `spread` goes with the figure.
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
