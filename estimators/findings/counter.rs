//! Makes the findings about the counter of the processor, which a program can read without the
//! kernel. They follow from measurements and from the declarations of the processor, the kernel and
//! the hypervisor.

mod declared;
mod measured;

pub use declared::DECLARED;
pub use measured::MEASURED;

use super::apply_rules;
use super::machine::{EMULATED, TSC_CONFLICT};
use crate::model::{CounterFacts, Finding, Platform};
use crate::rate::counter::CounterFindings;

const INSTEAD: &str = "read the kernel's clock instead (clock_gettime, CLOCK_MONOTONIC)";

/// The input of the checks of the counter.
#[derive(Clone, Copy, Debug)]
pub struct CounterCase<'a> {
    /// The machine.
    pub platform: &'a Platform,
    /// The declarations of the machine about the counter.
    pub facts: &'a CounterFacts,
    /// The results of the measurements.
    pub found: &'a CounterFindings,
}

/// Returns all findings, the most severe first. Among findings of equal severity, a cause precedes
/// its effects.
pub fn judge(case: &CounterCase) -> Vec<Finding> {
    // Of a counter that stands still, the other measurements say nothing.
    let measured = if case.found.stuck { &[] } else { MEASURED };
    let mut findings = apply_rules(measured, case);
    findings.extend(apply_rules(DECLARED, case));
    findings.extend(apply_rules(EMULATED, case.platform));
    findings.extend(apply_rules(TSC_CONFLICT, case.platform));
    findings.sort_by_key(|finding| finding.severity);
    findings
}
