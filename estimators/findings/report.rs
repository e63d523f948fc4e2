//! Defines the findings about a whole report: conditions of the machine that affect all results.

use super::clocks::SHARED_CORE;
use super::{Rule, Subject, Wording, count, ns, text, values};
use crate::model::Severity::Note;
use crate::model::{Platform, TimerRow};

/// The facts about a report from which the rules decide.
pub struct ReportCase<'a> {
    /// The machine.
    pub platform: &'a Platform,
    /// All rows of clocks.
    pub timers: &'a [TimerRow],
}

/// The rules about a whole report.
pub struct Reports;

impl Subject for Reports {
    type Case<'a> = ReportCase<'a>;
}

/// The rules in the order of reports.
pub static REPORTS: &[Rule<Reports>] = &[
    Rule::new(
        "emulated",
        Note,
        "{emulator} ran the program: costs, spreads and cycles are the emulator's",
        "compare these figures with those of the same emulator only",
        |case| Some(values([("emulator", text(case.platform.emulator()?))])),
    ),
    Rule::new(
        "time-namespace",
        Note,
        "a time namespace shifts CLOCK_MONOTONIC by {monotonic} and CLOCK_BOOTTIME by {boottime}",
        "compare readings within this time namespace only; durations are not affected",
        |case| {
            let namespace = case.platform.limits.time_namespace?;
            Some(values([
                ("monotonic", ns(namespace.monotonic_ns as f64)),
                ("boottime", ns(namespace.boottime_ns as f64)),
            ]))
        },
    ),
    Rule::new(
        "machine-moved",
        Note,
        "the machine was moved to another host, or restored from a snapshot, during the measurement (its VMClock device says so): some figures are of the one host, some of the other",
        "repeat",
        |case| (case.platform.vmclock?.disrupted == Some(true)).then(|| values([])),
    ),
    Rule::new(
        "move-expected",
        Note,
        "the VMClock device announces that the machine will be moved, or otherwise disturbed, within {within}",
        "take rates and costs as those of this host only",
        |case| {
            let expected = case.platform.vmclock?.expected?;
            Some(values([("within", text(expected.in_words()))]))
        },
    ),
    Rule::new(
        "shared-machine",
        Note,
        "something else used the core of {shared} of {all} timers all the time: their intervals are wide, and their order is no ranking",
        "stop what else runs on this machine, and repeat",
        |case| {
            let measured = case.timers.iter().filter(|row| row.observations.is_some());
            let has_code = |row: &&TimerRow| row.findings.iter().any(|it| it.code == SHARED_CORE);
            let shared = case.timers.iter().filter(has_code).count();
            (shared > 0)
                .then(|| values([("shared", count(shared)), ("all", count(measured.count()))]))
        },
    ),
];

const FIX_FREQUENCY: &str =
    "fix the frequency (governor `performance`, turbo off), keep the machine idle, and repeat";

/// The finding that the core ran at several frequencies during the measurement.
pub const FREQUENCY_CHANGED: Wording = Wording {
    code: "frequency-changed",
    severity: Note,
    reason: "",
    message: "<the core ran at {low} to {high}; costs are reported as they are at {median}, the median><the core ran at \
              {before} before the measurement and at {after} after it ({change}); figures in cycles are uncertain by as much>",
    advice: FIX_FREQUENCY,
};

/// The finding that the measured core frequency is doubtful, because an addition may take more than
/// one cycle.
pub const EFFECTIVE_FREQUENCY_DOUBTFUL: Wording = Wording {
    code: "effective-frequency-doubtful",
    severity: Note,
    reason: "",
    message: "a multiplication took {ratio} times as long as an addition, not 2 to 5 times: an addition may not take one \
              cycle here",
    advice: "give the frequency, as in `--cycles 2.8GHz`, or trust nanoseconds only",
};

/// The finding that the core frequency is unknown, so that there are no results in cycles.
pub const EFFECTIVE_FREQUENCY_UNKNOWN: Wording = Wording {
    code: "effective-frequency-unknown",
    severity: Note,
    reason: "",
    message: "the frequency of the core could not be measured: there are no figures in cycles",
    advice: "use `--cycles nominal` or give a value like `--cycles 2.8GHz`",
};

/// The findings about the core frequency, which the summary of frequencies makes.
pub static FREQUENCY: [&Wording; 3] = [
    &FREQUENCY_CHANGED,
    &EFFECTIVE_FREQUENCY_DOUBTFUL,
    &EFFECTIVE_FREQUENCY_UNKNOWN,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::apply_rules;
    use crate::model::{ExpectedDisruption, VmClock};

    #[test]
    fn reports_what_vmclock_announces() {
        let codes = |disrupted, expected| {
            let page = VmClock {
                disrupted,
                expected,
                ..VmClock::default()
            };
            let platform = Platform {
                vmclock: Some(page),
                ..Platform::default()
            };
            let case = ReportCase {
                platform: &platform,
                timers: &[],
            };
            let findings = apply_rules(REPORTS, &case);
            findings
                .iter()
                .map(|finding| finding.code.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(codes(Some(true), None), ["machine-moved"]);
        let soon = Some(ExpectedDisruption::WithinDay);
        assert_eq!(codes(Some(false), soon), ["move-expected"]);
        assert!(codes(Some(false), None).is_empty() && codes(None, None).is_empty());
    }
}
