//! Finds the differences between the machines and settings of two reports, the most important
//! first.

use std::fmt;

use serde::Serialize;
use timers::clock_sources;

use crate::fields::field;
use crate::model::Report;
use crate::table::CellValue;

/// A difference between two platforms or their settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlatformChange {
    /// The name of the property.
    pub what: &'static str,
    /// The old value; null if not reported.
    pub old: Option<String>,
    /// The new value; null if not reported.
    pub new: Option<String>,
    /// The consequence, if the reader has to know it before reading the results.
    pub remark: Option<&'static str>,
}

/// The remark on a change to a clock source whose reads are more expensive.
pub const FELL: &str = "reads through the kernel become more expensive; `dmesg | grep -i -e clocksource -e tsc` shows the reason";
const OTHER_CPU: &str = "another CPU: differences may be due to the machines";

const CLOCK_SOURCE: &str = "clock source";

/// The keys of the fields that are compared.
const COMPARED: [&str; 22] = [
    "clock_source",
    "cpu",
    "cpu_family",
    "cpu_model",
    "kernel",
    "kernel_build",
    "microcode",
    "architecture",
    "core_kind",
    "cpu_stepping",
    "invariant_tsc",
    "hypervisor",
    "os",
    "clock_sources",
    "governor",
    "cpus_online",
    "cycles_from",
    "cycles_hz",
    "profile",
    "tool_version",
    "provenance",
    "node",
];

/// The keys of the fields that identify a CPU model.
const OF_CPU: [&str; 3] = ["cpu", "cpu_family", "cpu_model"];

/// Numbers, such as frequencies, that differ by at most this share count as equal.
const SAME_FREQUENCY: f64 = 0.01;

/// All differences: a change of the clock source first, then a change of the CPU.
pub fn platform_changes(old: &Report, new: &Report) -> Vec<PlatformChange> {
    let mut changes: Vec<PlatformChange> = Vec::new();
    for key in COMPARED {
        let Some(field) = field(key) else {
            continue;
        };
        let [before, after] = [old, new].map(|report| field.value(report));
        let is_same = match (&before, &after) {
            (CellValue::Figure(a), CellValue::Figure(b)) => {
                (b.value / a.value - 1.0).abs() <= SAME_FREQUENCY
            }
            (before, after) => before == after,
        };
        if is_same {
            continue;
        }
        let column = field.as_column();
        let written = |value: &CellValue| {
            Some(column.format_cell(value)).filter(|_| *value != CellValue::Nothing)
        };
        let [old, new] = [&before, &after].map(written);
        let remark = match (old.as_deref().zip(new.as_deref()), key) {
            (Some((old, new)), "clock_source") if has_fallen(old, new) => Some(FELL),
            // Reported once: if the model name differs, the model numbers add no information.
            (Some(_), key) if OF_CPU.contains(&key) && !cpu_differs(&changes) => Some(OTHER_CPU),
            _ => None,
        };
        changes.push(PlatformChange {
            what: field.heading,
            old,
            new,
            remark,
        });
    }
    changes
}

/// Explains why the CPUs of two reports differ or may differ; `None` if both reports name the same
/// model.
pub fn unlike_cpu(old: &Report, new: &Report) -> Option<String> {
    for (report, what) in [(old, "baseline"), (new, "new report")] {
        if report.platform.cpu.name().is_none() {
            return Some(format!("the {what} does not name its CPU"));
        }
    }
    let changes = platform_changes(old, new);
    let change = changes.iter().find(|change| change.is_other_cpu())?;
    Some(format!("the baseline is of another CPU: {change}"))
}

/// Whether a read through the kernel is more expensive with the new clock source, according to the
/// table of clock sources.
fn has_fallen(old: &str, new: &str) -> bool {
    let class = |source| Some(clock_sources::find(source)?.cost_class);
    class(old)
        .zip(class(new))
        .is_some_and(|(old, new)| new > old)
}

/// Whether one of the differences is another CPU model.
pub fn cpu_differs(changes: &[PlatformChange]) -> bool {
    changes.iter().any(PlatformChange::is_other_cpu)
}

impl PlatformChange {
    /// Whether the difference affects all results: another clock source, or another CPU.
    pub fn is_loud(&self) -> bool {
        self.what == CLOCK_SOURCE || self.remark.is_some()
    }

    /// Whether the difference is another CPU model.
    pub fn is_other_cpu(&self) -> bool {
        self.remark == Some(OTHER_CPU)
    }
}

impl fmt::Display for PlatformChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [old, new] =
            [&self.old, &self.new].map(|value| value.as_deref().unwrap_or("not reported"));
        write!(f, "{old} → {new}")?;
        self.remark
            .iter()
            .try_for_each(|remark| write!(f, " ({remark})"))
    }
}

#[cfg(test)]
mod tests {
    use super::has_fallen;

    #[test]
    fn clock_sources_fall_and_rise() {
        for (old, new) in [
            ("tsc", "hpet"),
            ("tsc", "kvm-clock"),
            ("hyperv_clocksource_tsc_page", "hyperv_clocksource_msr"),
            ("hpet", "acpi_pm"),
            ("acpi_pm", "pit"),
            ("hpet", "jiffies"),
            ("pit", "refined-jiffies"),
            ("arch_sys_counter", "arm_global_timer"),
        ] {
            assert!(has_fallen(old, new) && !has_fallen(new, old), "{old} {new}");
        }
        assert!(!has_fallen("tsc-early", "tsc") && !has_fallen("tsc", "tsc-early"));
        assert!(!has_fallen("tsc", "unheard-of"));
    }
}
