//! Judges whether a machine is fit for measurements, from the facts about its platform: the findings
//! of `timermeter check`. docs/check.md gives the reasons for the thresholds.

mod clocks;
mod cpus;
mod sharing;
mod timing;

pub use clocks::TSC_CONFLICT;
pub use timing::{DATE, DateCase};

use super::{Condition, Rule, apply_rules, ns, number, values};
use crate::model::{Finding, LibraryClocks, Platform, Severity, Unit, Values};

/// The rules about a machine, in the order of reports.
pub static MACHINE: [&[Rule<Condition<Platform>>]; 4] =
    [clocks::RULES, cpus::RULES, sharing::RULES, timing::RULES];

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

rules! {
    /// The rule about libraries that are loaded before the C library.
    pub static PRELOAD: Vec<String>;
    "preload" {
        Note "programs load {libraries} before the C library: it may replace the functions that read clocks"
            => "compare without it (LD_PRELOAD, /etc/ld.so.preload)",
            |found| (!found.is_empty()).then(|| values! { libraries: found.join(", ") });
    }
}

/// The largest ratio of a read by the C library to a fenced read of the counter.
/// *Judgement*: 1.2 on Zen 4, up to 2 where the vDSO reads a page of the hypervisor.
const MAX_READ_RATIO: f64 = 3.0;

rules! {
    /// The rules about the clocks as the C library reads them.
    pub static LIBRARY_CLOCKS: LibraryClocks;
    "libc-clock" {
        Problem "<{clock} as the C library reads it differs from its system call by up to {by}><a program that reads clocks by the C library fails: {why}>"
            => "find what intercepts or forbids the reads: a preloaded library (LD_PRELOAD, /etc/ld.so.preload, faketime), a sandbox, or prctl(PR_SET_TSC)",
            |clocks| {
                if !clocks.failures.is_empty() {
                    return Some(values! { why: clocks.failures.join("; ").as_str() });
                }
                let (by, clock) = clocks.worst.as_ref().filter(|(by, _)| *by > 0)?;
                Some(values! { clock: clock.as_str(), by: ns(*by as f64) })
            };
        Note "{clocks} could be compared with nothing, because a sandbox forbids their system calls: they work only while the kernel keeps the vDSO; if the clock source changes, every program here fails to read them"
            => "allow clock_gettime in the sandbox (its seccomp filter), or make sure that the clock source stays",
            |clocks| {
                let alone = &clocks.by_library_only;
                (!alone.is_empty()).then(|| values! { clocks: alone.join(", ").as_str() })
            };
        Ok "clocks as the C library reads them agree with their system calls",
            |clocks| clocks.worst.is_some().then(Values::new);
    }
    "read-cost" {
        Problem "a read of CLOCK_MONOTONIC takes {read}, {ratio} times as long as a fenced read of the counter ({counter})"
            => "find what slows the vDSO: the clock source, a preloaded library, a sandbox, a tracer, an emulator",
            |clocks| read_cost(clocks).filter(|_| clocks.read_ratio() > Some(MAX_READ_RATIO));
        Ok "a read of CLOCK_MONOTONIC takes {read}, {ratio} times as long as a fenced read of the counter ({counter})",
            read_cost;
    }
}

fn read_cost(clocks: &LibraryClocks) -> Option<Values> {
    let [read, counter] = clocks.costs_ns?.map(ns);
    let ratio = number(clocks.read_ratio()?, Unit::Ratio);
    Some(values! { read, ratio, counter })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expensive_vdso_is_a_problem() {
        let severity = |costs_ns| {
            let clocks = LibraryClocks {
                costs_ns,
                ..LibraryClocks::default()
            };
            let found = apply_rules(LIBRARY_CLOCKS, &clocks);
            let mut found = found.iter().filter(|finding| finding.code == "read-cost");
            found.next().map(|finding| finding.severity)
        };
        assert_eq!(severity(Some([22.0, 18.0])), Some(Severity::Ok));
        assert_eq!(severity(Some([170.0, 18.0])), Some(Severity::Problem));
        assert_eq!(severity(None), None);
    }
}
