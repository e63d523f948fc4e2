//! What differs between the machines and settings of two reports, what matters most first.

use serde::Serialize;

use crate::report::{Frequency, ProvenanceKind, Report};

/// Something that differs between two platforms or two settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What differs.
    pub what: &'static str,
    /// As the old report has it; null where it does not say.
    pub old: Option<String>,
    /// As the new report has it.
    pub new: Option<String>,
    /// What that means, where it needs saying.
    pub remark: Option<String>,
}

/// What a clock source is worth: the first are read without leaving the process, the last are dear and coarse.
const CLOCK_SOURCES: [&[&str]; 4] = [
    &["tsc", "arch_sys_counter", "timebase", "riscv_clocksource"],
    &["kvm-clock", "xen", "hyperv_clocksource_tsc_page", "hyperv_clocksource_msr"],
    &["hpet", "acpi_pm"],
    &["pit", "jiffies", "refined-jiffies"],
];

/// Frequencies that differ by less are the same.
const SAME_FREQUENCY: f64 = 0.01;

/// All that differs, a change of the clock source first.
pub(super) fn changes(old: &Report, new: &Report) -> Vec<Change> {
    let (before, after) = (&old.platform, &new.platform);
    let text = |what, old: &Option<String>, new: &Option<String>| change(what, old.clone(), new.clone());
    let list = |sources: &[String]| (!sources.is_empty()).then(|| sources.join(", "));
    let number = |what, old: Option<u32>, new: Option<u32>| {
        change(what, old.map(|n| n.to_string()), new.map(|n| n.to_string()))
    };
    let always = |what, old: &str, new: &str| change(what, Some(old.to_owned()), Some(new.to_owned()));
    let yes_no = |yes: Option<bool>| yes.map(|yes| if yes { "yes" } else { "no" }.to_owned());
    [
        clock_source(&before.clocksource.current, &after.clocksource.current),
        text("kernel", &before.kernel.release, &after.kernel.release),
        text("kernel build", &before.kernel.version, &after.kernel.version),
        text("microcode", &before.cpu.microcode, &after.cpu.microcode),
        text("CPU", &before.cpu.model, &after.cpu.model),
        always("architecture", &before.cpu.architecture, &after.cpu.architecture),
        number("CPU family", before.cpu.family, after.cpu.family),
        number("CPU model number", before.cpu.model_number, after.cpu.model_number),
        number("CPU stepping", before.cpu.stepping, after.cpu.stepping),
        change("invariant TSC", yes_no(before.cpu.invariant_tsc), yes_no(after.cpu.invariant_tsc)),
        text("hypervisor", &before.hypervisor, &after.hypervisor),
        text("OS", &before.os.name, &after.os.name),
        change(
            "clock sources available",
            list(&before.clocksource.available),
            list(&after.clocksource.available),
        ),
        text("governor", &before.cpu.governor, &after.cpu.governor),
        number("online CPUs", before.cpu.online, after.cpu.online),
        always("cycles from", &old.frequency.cycles_from, &new.frequency.cycles_from),
        frequency(&old.frequency, &new.frequency),
        always("profile", &old.settings.profile, &new.settings.profile),
        always("timermeter", &old.tool.version, &new.tool.version),
        always("figures", provenance(old), provenance(new)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn change(what: &'static str, old: Option<String>, new: Option<String>) -> Option<Change> {
    (old != new).then_some(Change { what, old, new, remark: None })
}

fn clock_source(old: &Option<String>, new: &Option<String>) -> Option<Change> {
    let mut change = change("clock source", old.clone(), new.clone())?;
    let worth = |source: &Option<String>| {
        CLOCK_SOURCES.iter().position(|group| group.contains(&source.as_deref().unwrap_or_default()))
    };
    change.remark = match (worth(old), worth(new)) {
        (Some(old), Some(new)) if new > old => Some(
            "it fell: reads through the kernel become dearer; `dmesg | grep -i -e clocksource -e tsc` says why".into(),
        ),
        (Some(old), Some(new)) if new < old => Some("it rose".into()),
        _ => None,
    };
    Some(change)
}

fn frequency(old: &Frequency, new: &Frequency) -> Option<Change> {
    let (before, after) = (old.cycles_hz, new.cycles_hz);
    if let (Some(before), Some(after)) = (before, after)
        && (after / before - 1.0).abs() <= SAME_FREQUENCY
    {
        return None;
    }
    let shown = |hz: Option<f64>| hz.map(|hz| crate::report::figures::rate(Some(hz)));
    let mut change = change("frequency of cycles", shown(before), shown(after))?;
    change.remark = Some("Quality counts cycles: the same time is another Quality".into());
    Some(change)
}

fn provenance(report: &Report) -> &'static str {
    match report.provenance.kind {
        ProvenanceKind::Measured => "measured",
        ProvenanceKind::Published => "published",
    }
}

impl Change {
    /// Whether it is a clock source that became worse.
    #[must_use]
    pub fn is_fallen_clock_source(&self) -> bool {
        self.what == "clock source"
            && self.remark.as_deref().is_some_and(|remark| remark.starts_with("it fell"))
    }
}
