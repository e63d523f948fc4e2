//! Properties of a machine besides its platform: frequencies, and the counter that programs can
//! read without the kernel.

use super::Interval;

/// Clocks as the C library reads them, compared with their system calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LibraryClocks {
    /// The number of nanoseconds by which the worst reading lies outside those of the system call
    /// around it, at most 0 if none does, and the id of the clock. `None` if none was compared.
    pub worst: Option<(i64, String)>,
    /// The reasons why the C library cannot read clocks.
    pub failures: Vec<String>,
    /// The ids of the clocks that only the C library can read, because their system calls fail.
    pub by_library_only: Vec<String>,
    /// The costs of a read of the monotonic clock and of the counter with a fence, in nanoseconds.
    pub costs_ns: Option<[f64; 2]>,
}

impl LibraryClocks {
    /// How many times as long as a read of the counter a read by the C library takes.
    pub fn read_ratio(&self) -> Option<f64> {
        self.costs_ns.map(|[read, counter]| read / counter)
    }
}

/// Frequencies of the CPU.
#[apply(wire)]
#[derive(Default)]
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
    pub effective_hz: Option<Interval>,
    /// The effective frequency before the measurement.
    pub effective_hz_before: Option<f64>,
    /// The effective frequency after the measurement.
    pub effective_hz_after: Option<f64>,
    /// The frequency that converts time to cycles: `effective`, `nominal` or `given`.
    pub cycles_from: String,
    /// The value of this frequency; without an interval if it was given or declared.
    pub cycles_hz: Option<Interval>,
}

impl Frequency {
    /// Returns the frequency that converts time to cycles, in hertz; exact if it has no interval.
    pub fn cycles(&self) -> Option<Interval> {
        let hertz = self.cycles_hz?;
        Some(match hertz.is_bounded() {
            true => hertz,
            false => Interval::exact(hertz.value),
        })
    }
}
