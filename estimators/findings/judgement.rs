//! Defines the result of a check: a severity with the values for the message of its finding.

use super::{text, values};
use crate::model::{Finding, Platform, Severity, Value, Values};

/// The severity of a finding and the values for its message.
pub(super) type Judgement = (Severity, Values);

/// Returns the judgement for a value that the machine does not report.
pub(super) fn unknown() -> Judgement {
    (Severity::Unknown, Values::new())
}

/// Returns a judgement with these values.
pub(super) fn judgement<const N: usize>(
    severity: Severity,
    named: [(&str, Value); N],
) -> Judgement {
    (severity, values(named))
}

/// Adds the optional values that are known to a judgement.
pub(super) fn with_known<const N: usize>(
    (severity, mut all): Judgement,
    optional: [(&str, Option<Value>); N],
) -> Judgement {
    for (name, value) in optional {
        all.extend(value.map(|value| (name.to_owned(), value)));
    }
    (severity, all)
}

/// Returns the value `reason`, which selects one of several texts with the same code and severity.
pub(super) fn reason(reason: &str) -> (&str, Value) {
    ("reason", text(reason))
}

/// Returns the finding for a judgement.
pub(super) fn finding(code: &str, (severity, values): Judgement) -> Finding {
    Finding {
        code: code.to_owned(),
        severity,
        values,
    }
}

pub(super) fn is_x86(platform: &Platform) -> bool {
    platform.cpu.architecture.starts_with("x86")
}
