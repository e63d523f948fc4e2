//! Frequencies of the CPU.

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
