//! What differs between the machines and settings of two reports, what matters most first.

use std::fmt;

use serde::{Serialize, Serializer};
use timers::clock_sources;

use crate::fields::fields;
use crate::model::Report;
use crate::table::Value;

/// Something that differs between two platforms or two settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlatformChange {
    /// What differs.
    pub what: &'static str,
    /// As the old report has it; null where it is not reported.
    pub old: Option<String>,
    /// As the new report has it.
    pub new: Option<String>,
    /// What follows, where it has to be known before any figure is read.
    pub remark: Option<Remark>,
}

/// What follows from a difference between two platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The clock source is a more expensive one.
    Fell,
    /// The machine has another model of CPU.
    OtherCpu,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fell => {
                "it fell: reads through the kernel become more expensive; `dmesg | grep -i -e clocksource -e tsc` says why"
            }
            Self::OtherCpu => "another CPU: differences may be those of the machines",
        })
    }
}

impl Serialize for Remark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

const CLOCK_SOURCE: &str = "clock source";

/// The fields that are compared, by their keys.
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
    "power_plan",
    "cpus_online",
    "cycles_from",
    "cycles_hz",
    "profile",
    "tool_version",
    "provenance",
];

/// Fields that identify a model of CPU.
const OF_CPU: [&str; 3] = ["cpu", "cpu_family", "cpu_model"];

/// Frequencies that differ by less are the same.
const SAME_FREQUENCY: f64 = 0.01;

/// All that differs, a change of the clock source first, another CPU next.
#[must_use]
pub fn platform_changes(old: &Report, new: &Report) -> Vec<PlatformChange> {
    let mut changes: Vec<PlatformChange> = Vec::new();
    for key in COMPARED {
        let same_key = fields().iter().find(|field| field.key == key);
        let Some((field, [before, after])) = same_key.and_then(|field| {
            let value = |report| field.of_report(report);
            Some((field, [value(old)?, value(new)?]))
        }) else {
            continue;
        };
        let is_same = match (&before, &after) {
            (Value::Figure(a), Value::Figure(b)) => (b / a - 1.0).abs() <= SAME_FREQUENCY,
            (before, after) => before == after,
        };
        if is_same {
            continue;
        }
        let column = field.as_column();
        let written =
            |value: &Value| Some(column.format_cell(value)).filter(|_| *value != Value::Nothing);
        let [old, new] = [&before, &after].map(written);
        let remark = match (old.as_deref().zip(new.as_deref()), key) {
            (Some((old, new)), "clock_source") if has_fallen(old, new) => Some(Remark::Fell),
            // Once: where the model has another name, its numbers add nothing.
            (Some(_), key)
                if OF_CPU.contains(&key) && !changes.iter().any(PlatformChange::is_other_cpu) =>
            {
                Some(Remark::OtherCpu)
            }
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

/// Why the CPU of `new` is not known to be the one of `old`; nothing where both have the same
/// model.
#[must_use]
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

/// Whether a read through the kernel takes longer with the new clock source.
fn has_fallen(old: &str, new: &str) -> bool {
    let class = |source| Some(clock_sources::find(source)?.cost_class);
    class(old)
        .zip(class(new))
        .is_some_and(|(old, new)| new > old)
}

impl PlatformChange {
    /// Whether all else has to be read in its light: another clock source, or another CPU.
    #[must_use]
    pub fn is_loud(&self) -> bool {
        self.what == CLOCK_SOURCE || self.remark.is_some()
    }

    /// Whether it is another model of CPU.
    #[must_use]
    pub fn is_other_cpu(&self) -> bool {
        self.remark == Some(Remark::OtherCpu)
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
