//! Finds the differences between the machines and settings of two reports, the most important
//! first.

use std::fmt;

use serde::Serialize;
use timers::clock_sources;

use crate::fields::field;
use crate::text::numbers::NOTHING;
use estimators::model::Report;

/// A difference between two platforms or their settings.
#[derive(Debug, Serialize)]
pub struct PlatformChange {
    /// The name of the property.
    pub what: &'static str,
    /// The old value; `–` if not reported.
    pub old: String,
    /// The new value.
    pub new: String,
    /// The consequence, if the reader has to know it before reading the results.
    pub remark: Option<&'static str>,
    /// Whether it may have made clocks slower or faster.
    #[serde(skip)]
    pub(super) is_cause: bool,
}

/// The consequence of a slower clock source.
const FELL: &str = "a slower one; `dmesg | grep -i -e clocksource -e tsc` shows why";
const OTHER_CPU: &str = "another CPU";

const CLOCK_SOURCE: &str = "clock source";

/// The keys of the fields that are compared; changes of the first ones make clocks slower or faster.
const COMPARED: [&str; 13] = [
    "clock_source",
    "cpu",
    "cpu_family",
    "cpu_model",
    "preloaded",
    "kernel",
    "microcode",
    "governor",
    "cpu_quota",
    "hypervisor",
    "core_kind",
    "profile",
    "tool_version",
];
/// The number of the first ones.
const CAUSES: usize = 11;

/// All differences: a change of the clock source first.
pub fn platform_changes(old: &Report, new: &Report) -> Vec<PlatformChange> {
    let mut changes: Vec<PlatformChange> = Vec::new();
    for (at, field) in COMPARED.into_iter().filter_map(field).enumerate() {
        let column = field.as_column();
        let [old, new] = [old, new].map(|report| column.format_cell(&field.value(report)));
        let is_known = old != NOTHING && new != NOTHING;
        let remark = match field.key {
            "clock_source" if has_fallen(&old, &new) => Some(FELL),
            "cpu" | "cpu_family" | "cpu_model" if is_known => Some(OTHER_CPU),
            _ => None,
        };
        // If the model name differs, the numbers add nothing.
        let is_repeated = remark == Some(OTHER_CPU) && changes.iter().any(|it| it.remark == remark);
        let change = PlatformChange {
            what: field.heading,
            is_cause: (1..CAUSES).contains(&at),
            remark,
            old,
            new,
        };
        changes.extend(Some(change).filter(|it| it.old != it.new && !is_repeated));
    }
    changes
}

/// Whether a read through the kernel is more expensive with the new clock source, according to the
/// table of clock sources.
fn has_fallen(old: &str, new: &str) -> bool {
    let class = |source| Some(clock_sources::find(source)?.cost_class);
    class(old)
        .zip(class(new))
        .is_some_and(|(old, new)| new > old)
}

impl PlatformChange {
    /// Whether the difference is another clock source.
    pub fn is_clock_source(&self) -> bool {
        self.what == CLOCK_SOURCE
    }

    /// Whether the clock source is a slower one.
    pub(super) fn is_slower_source(&self) -> bool {
        self.remark == Some(FELL)
    }

    /// Whether the difference is another CPU model.
    pub fn is_other_cpu(&self) -> bool {
        self.remark == Some(OTHER_CPU)
    }
}

impl fmt::Display for PlatformChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → {}", self.old, self.new)?;
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
