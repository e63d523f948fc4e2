//! What the machine says of the counter that programs read past the kernel.

use serde::{Deserialize, Serialize};

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
