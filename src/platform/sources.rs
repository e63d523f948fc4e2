//! Describes the clock sources of the kernel, and recommends one of them after all were measured.

use timers::clock_sources::{self, Reader};

/// Describes a clock source by its name.
pub fn describe_source(source: &str) -> String {
    match clock_sources::find(source).map(|source| source.reader) {
        Some(Reader::Instruction) => {
            "a counter of the processor: one instruction, by the vDSO".into()
        }
        Some(Reader::SharedPage) => {
            "the counter of the processor and a page of the hypervisor, by the vDSO".into()
        }
        Some(Reader::Conditional) => {
            "the hypervisor's clock, by the vDSO if the hypervisor declares its counter stable"
                .into()
        }
        Some(Reader::Kernel(what)) => format!("{what}; a system call per read"),
        None => "unknown to timermeter".into(),
    }
}

/// The last lines of the kernel's log that explain the selection or rejection of a clock source.
pub fn log_of_sources(log: &str) -> Vec<String> {
    /// Maximum number of lines, which fit on a screen.
    const MAX_LINES: usize = 8;
    const SELECTION_WORDS: [&str; 5] = [
        "witched to clocksource",
        "clocksource:",
        "nstable",
        "watchdog",
        "verride clocksource",
    ];
    let is_about_selection = |line: &&str| {
        let names_a_source =
            line.contains("clocksource") || line.contains("TSC") || line.contains("tsc:");
        // The message at the registration of a clock source, which states its maximum idle time,
        // does not affect the selection.
        names_a_source
            && SELECTION_WORDS.iter().any(|word| line.contains(word))
            && !line.contains("max_idle_ns")
    };
    let lines: Vec<&str> = log.lines().filter(is_about_selection).collect();
    let last = &lines[lines.len().saturating_sub(MAX_LINES)..];
    last.iter().map(|line| (*line).to_owned()).collect()
}

/// Measured properties of a clock source; `None` if a property could not be measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceFigures {
    /// The name of the clock source.
    pub name: String,
    /// Cost of a read of CLOCK_MONOTONIC with this source, in nanoseconds.
    pub cost_ns: Option<f64>,
    /// Step of the clock source, in nanoseconds.
    pub step_ns: Option<f64>,
}

/// Advice for the user: to keep `current`, or to use the cheapest source that is more than a tenth
/// cheaper to read and no coarser.
pub fn advice(current: &str, all: &[SourceFigures]) -> String {
    /// Maximum cost of a recommended source, relative to the present source. *Judgement*: a smaller
    /// saving does not justify changing the clock of a machine.
    const MAX_COST_RATIO: f64 = 0.9;
    let measured_source = |name: &str| all.iter().find(|measured| measured.name == name);
    let Some((cost, step)) =
        measured_source(current).and_then(|measured| Some((measured.cost_ns?, measured.step_ns?)))
    else {
        return format!(
            "keep {current}: it could not be measured, so no other source is known to be better"
        );
    };
    let better = all.iter().filter_map(|measured| {
        let other = measured
            .cost_ns
            .filter(|other| *other < cost * MAX_COST_RATIO)?;
        let is_fine = measured.step_ns? <= step * 1.01;
        is_fine.then_some((other, &measured.name))
    });
    match better.min_by(|one, other| one.0.total_cmp(&other.0)) {
        None => format!(
            "keep {current}: no available source is at least a tenth cheaper to read and as fine"
        ),
        Some((_, name)) => format!(
            "{name} is cheaper to read: as root, `echo {name} > /sys/devices/system/clocksource/clocksource0/current_clocksource`, if the \
             kernel's log gives no reason against it; permanently with clocksource={name} on the kernel's command line"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_reasons_in_the_log() {
        let log = "[0.1] tsc: Fast TSC calibration using PIT\n[0.2] clocksource: hpet: mask: 0xffffffff max_cycles: 0xffffffff, max_idle_ns: 19112604467 ns\n\
                   [1.0] clocksource: Switched to clocksource tsc-early\n[2.0] usb 1-1: reset\n\
                   [9.0] clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is too large:\n\
                   [9.1] tsc: Marking TSC unstable due to clocksource watchdog\n";
        let found = log_of_sources(log);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[2].contains("due to clocksource watchdog"));
        assert!(log_of_sources("").is_empty());
    }

    #[test]
    fn advises_cheaper_source() {
        let measured = |name: &str, cost: f64, step: f64| SourceFigures {
            name: name.into(),
            cost_ns: Some(cost),
            step_ns: Some(step),
        };
        let all = [
            measured("hpet", 900.0, 10.0),
            measured("tsc", 25.0, 10.0),
            measured("jiffies", 9.0, 4e6),
        ];
        assert!(advice("hpet", &all).starts_with("tsc is cheaper"));
        assert!(advice("tsc", &all).starts_with("keep tsc"));
        assert!(advice("acpi_pm", &all).contains("could not be measured"));
    }
}
