//! What is found of a machine besides its platform: frequencies and the counter that programs read
//! past the kernel.

use super::Interval;

/// Frequencies of the CPU.
#[apply(wire)]
#[derive(Default)]
pub struct Frequency {
    /// What the vendor declares (CPUID leaf 0x16 or the brand string).
    pub nominal_hz: Option<f64>,
    /// Where the nominal frequency comes from.
    pub nominal_source: Option<String>,
    /// The rate of the time stamp counter, measured against the kernel's monotonic clock.
    pub tsc_hz: Option<f64>,
    /// The rate at which the core really ran: dependent additions, one a cycle.
    /// Its ends are the lowest and the highest that were found: the 5 % and 95 % quantiles during the
    /// measurement, or those before or after it.
    pub effective_hz: Option<Interval>,
    /// The effective frequency before the measurement.
    pub effective_hz_before: Option<f64>,
    /// The effective frequency after the measurement.
    pub effective_hz_after: Option<f64>,
    /// Which of them turned time into cycles: `effective`, `nominal` or `given`.
    pub cycles_from: String,
    /// The frequency that turned time into cycles; without ends where it was given or declared.
    pub cycles_hz: Option<Interval>,
}

impl Frequency {
    /// The frequency that turned time into cycles, in hertz; exact where it has no interval.
    pub fn cycles(&self) -> Option<Interval> {
        let hertz = self.cycles_hz?;
        Some(match hertz.is_bounded() {
            true => hertz,
            false => Interval::exact(hertz.value),
        })
    }
}

/// Who trusts it, and who promises what.
#[apply(recorded)]
#[derive(Default)]
pub struct CounterFacts {
    /// What the kernel logged of it.
    pub log: KernelLog,
    /// For how long this system has run, in seconds.
    pub uptime_s: Option<f64>,
    /// What the counter shows, in seconds at its own rate: for how long the machine has run that it
    /// counts for.
    pub age_s: Option<f64>,
    /// What the hypervisor says of its rate after a move; null where it says nothing.
    pub promise: Option<CounterPromise>,
    /// Where its rate is declared, as in `CPUID leaf 0x15`.
    pub declared_by: Option<String>,
}

/// What the kernel logged of it.
#[apply(recorded)]
#[serde(rename_all = "kebab-case")]
pub enum KernelLog {
    /// It may not be read, and why.
    Unreadable(String),
    /// What it still holds.
    Read {
        /// Whether it reaches back to the start of the system.
        from_the_start: bool,
        /// Lines in which the kernel gave the counter up.
        distrust: Vec<String>,
        /// The rate that it found, in hertz.
        rate_hz: Option<f64>,
    },
}

impl Default for KernelLog {
    fn default() -> Self {
        Self::Unreadable("it was not asked for".into())
    }
}

/// What a hypervisor says.
#[apply(recorded)]
#[derive(Default)]
pub struct CounterPromise {
    /// Whether a move leaves the rate as it is.
    pub keeps_rate: bool,
    /// By what it says so.
    pub by: String,
}
