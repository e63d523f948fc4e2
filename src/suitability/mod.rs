//! Whether a machine is fit to be measured: pure judgements of an identified [`Platform`], each
//! with its cause and what to do about it. Nothing is changed here, and nothing is asked of the
//! machine.
//!
//! The thresholds stand beside the judgements; docs/check.md has their reasons.

mod clock;
mod cpu;
pub mod sources;
mod system;
pub mod waiting;

pub(crate) use clock::conflict;

use serde::Serialize;

use crate::model::Platform;

pub use crate::model::Severity;

/// One judgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable name, as in `clock-source`.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, and what comes of it.
    pub message: String,
    /// What to do about it; null where nothing has to be done or nothing can be.
    pub advice: Option<String>,
}

impl Finding {
    pub(crate) fn ok(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            severity: Severity::Ok,
            message: message.into(),
            advice: None,
        }
    }

    pub(crate) fn unknown(code: &str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Unknown,
            ..Self::ok(code, message)
        }
    }

    pub(crate) fn note(code: &str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Note,
            ..Self::ok(code, message)
        }
    }

    pub(crate) fn problem(
        code: &str,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Problem,
            ..Self::ok(code, message)
        }
        .advice(advice)
    }

    pub(crate) fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// Whether remedies are those of Linux.
fn is_linux(platform: &Platform) -> bool {
    platform.os.family == "linux"
}

/// What is asked of Linux alone: other systems have none of it, or call it something else.
const OF_LINUX: [&str; 10] = [
    "ntp",
    "governor",
    "isolated",
    "core-kinds",
    "cpu-quota",
    "tick",
    "perf-event-paranoid",
    "high-resolution-timers",
    "timer-slack",
    "idle-states",
];

/// All findings about a machine, the worst first; those of one severity keep their order: clock,
/// CPU, system, waiting.
#[must_use]
pub fn judge(platform: &Platform) -> Vec<Finding> {
    let mut findings: Vec<Finding> = [
        clock::findings(platform),
        cpu::findings(platform),
        system::findings(platform),
        waiting::findings(platform),
    ]
    .concat();
    // Of what Linux alone has, another system need not say that it does not tell.
    let linux = is_linux(platform);
    findings.retain(|finding| {
        linux || finding.severity != Severity::Unknown || !OF_LINUX.contains(&finding.code.as_str())
    });
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// Whether a machine with these findings is fit to be measured: none of them is a problem.
#[must_use]
pub fn fit(findings: &[Finding]) -> bool {
    findings
        .iter()
        .all(|finding| finding.severity != Severity::Problem)
}
