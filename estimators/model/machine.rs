//! Properties of a machine besides its platform: frequencies, and the counter that programs can
//! read without the kernel.

use super::Estimate;

/// A clock as the C library reads it, compared with its system call, which no library distorts.
#[apply(wire, Default)]
pub struct LibraryClock {
    /// The id of the clock, as in `monotonic`.
    pub id: String,
    /// By how much it is faster than its system call, in parts per million: above −1 000 000, which
    /// is a clock that stands still, unless it runs backwards. Null if unknown, as for `time` in a
    /// short run.
    pub rate_ppm: Option<Estimate>,
    /// By how much it is ahead of its system call at the begin of the run, in nanoseconds. Null if
    /// nothing could be compared: if there is no failure, only the C library reads the clock here.
    pub offset_ns: Option<Estimate>,
    /// The reason why the C library cannot read it, or that a read ends the process.
    #[optional]
    pub failure: Option<String>,
}

/// Frequencies of the CPU.
#[apply(wire, Default)]
pub struct Frequency {
    /// The nominal frequency that the vendor declares (CPUID leaf 0x16 or the brand string).
    pub nominal_hz: Option<f64>,
    /// The source of the nominal frequency.
    pub nominal_source: Option<String>,
    /// The rate of the time stamp counter, measured with the kernel's monotonic clock.
    pub tsc_hz: Option<f64>,
    /// The actual core frequency: dependent additions, one per cycle. The interval is from the
    /// lowest to the highest value: the 5 % and 95 % quantiles during the measurement, or the
    /// values before or after it.
    pub effective_hz: Option<Estimate>,
    /// The effective frequency before the measurement.
    pub effective_hz_before: Option<f64>,
    /// The effective frequency after the measurement.
    pub effective_hz_after: Option<f64>,
    /// The frequency that converts time to cycles: `effective` or `given`.
    pub cycles_from: String,
    /// The value of this frequency; without an interval if it was given or declared.
    pub cycles_hz: Option<Estimate>,
}

impl Frequency {
    /// Returns the frequency that converts time to cycles, in hertz; exact if it has no interval.
    pub fn cycles(&self) -> Option<Estimate> {
        let hertz = self.cycles_hz?;
        Some(match hertz.is_bounded() {
            true => hertz,
            false => Estimate::exact(hertz.value),
        })
    }
}
