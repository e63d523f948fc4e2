//! Judges whether a machine is fit for measurements, from the facts about its platform: the findings
//! of `timermeter check`. docs/check.md gives the reasons for the thresholds.

mod clocks;
mod cpus;
mod library;
mod sharing;
mod timing;

pub use clocks::TSC_CONFLICT;
pub use library::{READ_COST, library_defect};
pub use timing::{DATE, DateCase};

use super::{Condition, Rule, apply_rules, values};
use crate::model::{Finding, Platform, Severity, Values};

/// The rules about a machine, in the order of reports.
pub static MACHINE: [&[Rule<Condition<Platform>>]; 5] = [
    clocks::RULES,
    library::RULES,
    cpus::RULES,
    sharing::RULES,
    timing::RULES,
];

rules! {
    /// The rule about emulators, for everything that was measured on a machine.
    pub static EMULATED: Platform;
    "emulated" {
        Note "{emulator} ran the program: costs, spreads and cycles are the emulator's"
            => "compare these figures with those of the same emulator only",
            |machine| Some(values! { emulator: machine.emulator()? });
    }
}

/// Returns all findings about a machine, the most severe first; findings of equal severity keep the
/// order of the tables.
pub fn judge(platform: &Platform) -> Vec<Finding> {
    let tables = MACHINE.into_iter().chain([TSC_CONFLICT]);
    let mut findings: Vec<Finding> = tables
        .flat_map(|rules| apply_rules(rules, platform))
        .collect();
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// Returns whether the machine is fit for a measurement: none of its findings is a problem.
pub fn is_fit(findings: &[Finding]) -> bool {
    findings
        .iter()
        .all(|finding| finding.severity != Severity::Problem)
}

/// Applies on Linux only, the only system that reports such a value.
fn on_linux(machine: &Platform) -> Option<Values> {
    (machine.os.family == "linux").then(Values::new)
}

pub(super) fn is_x86(platform: &Platform) -> bool {
    platform.cpu.architecture.starts_with("x86")
}
