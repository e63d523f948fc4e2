//! The rules about a machine: the findings of `timermeter check`. docs/check.md gives the reasons for
//! the thresholds.

mod clocks;
mod cpus;
mod waiting;

pub use clocks::{PortableRead, library_defect};
pub(super) use clocks::{distrust, slowing_library};

use super::{Facts, RUN, Rule, apply};
use crate::model::{Finding, Platform};

/// The rules about a machine, in the order of reports.
pub static MACHINE: [&[Rule]; 3] = [clocks::RULES, cpus::RULES, waiting::RULES];

/// Returns all findings about a machine and a run there, the most severe first; findings of equal
/// severity keep the order of the tables.
pub fn judge(facts: &Facts) -> Vec<Finding> {
    let tables = MACHINE.into_iter().chain([RUN]);
    let mut findings: Vec<Finding> = tables.flat_map(|rules| apply(rules, facts)).collect();
    findings.sort_by_key(|finding| finding.severity);
    findings
}

pub(super) fn is_x86(machine: &Platform) -> bool {
    machine.cpu.architecture.starts_with("x86")
}
