//! How far the system clock is from a time that other machines keep too, and who says so.

use serde::{Deserialize, Serialize};

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
