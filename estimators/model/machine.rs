//! What is found of a machine besides its platform: frequencies, the counter that programs read past the kernel, and a common time.

use serde::{Deserialize, Serialize};

use super::Estimate;

/// Frequencies of the CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frequency {
    /// What the vendor declares (CPUID leaf 0x16 or the brand string).
    pub nominal_hz: Option<f64>,
    /// Where the nominal frequency comes from.
    pub nominal_source: Option<String>,
    /// The rate of the time stamp counter, measured against the kernel's monotonic clock.
    pub tsc_hz: Option<f64>,
    /// The rate at which the core really ran: dependent additions, one a cycle.
    pub effective_hz: Option<f64>,
    /// Lowest of the effective frequencies: the 5 % quantile of what was seen during the measurement, or what was seen before or after it.
    pub effective_hz_low: Option<f64>,
    /// Highest of the effective frequencies: the 95 % quantile of what was seen during the measurement, or what was seen before or after it.
    pub effective_hz_high: Option<f64>,
    /// The effective frequency before the measurement.
    pub effective_hz_before: Option<f64>,
    /// The effective frequency after the measurement.
    pub effective_hz_after: Option<f64>,
    /// Which of them turned time into cycles: `effective`, `nominal` or `given`.
    pub cycles_from: String,
    /// The frequency that turned time into cycles.
    pub cycles_hz: Option<f64>,
    /// Lower end of the 95 % interval of that frequency; null where it was given or declared.
    #[serde(default)]
    pub cycles_hz_low: Option<f64>,
    /// Upper end of the 95 % interval of that frequency; null where it was given or declared.
    #[serde(default)]
    pub cycles_hz_high: Option<f64>,
}

impl Frequency {
    /// The frequency that turned time into cycles, in hertz, with its interval.
    #[must_use]
    pub fn cycles(&self) -> Option<Estimate> {
        let value = self.cycles_hz?;
        let (low, high) = (self.cycles_hz_low.unwrap_or(value), self.cycles_hz_high.unwrap_or(value));
        Some(Estimate { value, low, high, samples: 0 })
    }
}

/// Who trusts it, and who promises what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CounterFacts {
    /// What the kernel logged of it.
    pub log: KernelLog,
    /// For how long this system has run, in seconds.
    pub uptime_s: Option<f64>,
    /// What the counter shows, in seconds at its own rate: for how long the machine has run that it counts for.
    pub age_s: Option<f64>,
    /// What the hypervisor says of its rate after a move; null where it says nothing.
    pub promise: Option<CounterPromise>,
    /// Where its rate is declared, as in `CPUID leaf 0x15`.
    pub declared_by: Option<String>,
}

/// What the kernel logged of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterPromise {
    /// Whether a move leaves the rate as it is.
    pub keeps_rate: bool,
    /// By what it says so.
    pub by: String,
}

/// What one source says of how far a clock of this machine is from a common time, as it said it at one moment.
///
/// All differences are *this machine's clock less the common time*: positive where the clock is ahead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CommonTime {
    /// Who says so: `chrony`, `ptp4l`, a device as `ptp0`, both as `ptp4l+ptp0`, or the kernel: `adjtimex`.
    pub source: String,
    /// Whose time it is: the server or reference clock that chrony has chosen, the grandmaster of PTP, the name of the device.
    pub reference: Option<String>,
    /// The same as NTP identifies it, in hexadecimal digits.
    pub reference_id: Option<String>,
    /// NTP's distance from a reference clock: 1 for a machine that has one.
    pub stratum: Option<u32>,
    /// Which clock of this machine is compared.
    pub clock: ComparedClock,
    /// That clock less the common time, in nanoseconds.
    pub offset_ns: Option<f64>,
    /// What the offset itself may be off by, in nanoseconds, as the source claims.
    pub uncertainty_ns: Option<f64>,
    /// The clock is no farther from the common time than this, in nanoseconds, as the source claims: the offset, whatever its sign,
    /// and its uncertainty; of `adjtimex` the maximum error that the kernel was told.
    pub bound_ns: Option<f64>,
    /// The error that is likely, in nanoseconds, as the time service estimates it (adjtimex(2)).
    pub estimated_error_ns: Option<f64>,
    /// When it was asked, by the system clock.
    pub asked: String,
    /// Why something is not told, or what it is not.
    pub reason: Option<String>,
}

/// A clock of this machine that is compared with a common time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ComparedClock {
    /// The system clock, CLOCK_REALTIME.
    System,
    /// The clock of a network card, which ptp4l steers; the system clock follows it where phc2sys runs.
    Device,
    /// The source does not say which.
    #[default]
    #[serde(other)]
    Unknown,
}

impl ComparedClock {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Device => "device",
            Self::Unknown => "unknown",
        }
    }
}

impl CommonTime {
    /// Whether it limits how far the system clock is from a common time.
    #[must_use]
    pub fn bounds_system_clock(&self) -> bool {
        self.clock == ComparedClock::System && self.bound_ns.is_some()
    }

    /// The source and whose time it has, in a few words.
    #[must_use]
    pub fn origin(&self) -> String {
        let reference = self.reference.as_deref().or(self.reference_id.as_deref());
        let from = reference.map(|reference| format!(" from {reference}")).unwrap_or_default();
        let stratum = self.stratum.map(|stratum| format!(" (stratum {stratum})")).unwrap_or_default();
        format!("{}{from}{stratum}", self.source)
    }
}
