//! What differs between the machines and settings of two reports, what matters most first.

use std::fmt;
use timers::clock_sources;

use serde::{Serialize, Serializer};

use crate::model::{Cpu, ProvenanceKind, Report};

/// Something that differs between two platforms or two settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlatformChange {
    /// What differs.
    pub what: &'static str,
    /// As the old report has it; null where it does not say.
    pub old: Option<String>,
    /// As the new report has it.
    pub new: Option<String>,
    /// What that means, where it needs saying.
    pub remark: Option<Remark>,
}

/// What a difference between two platforms means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The clock source became worse.
    Fell,
    /// It became better.
    Rose,
    /// The machine has another model of CPU.
    OtherCpu,
    /// Other cycles are counted.
    OtherCycles,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fell => {
                "it fell: reads through the kernel become more expensive; `dmesg | grep -i -e clocksource -e tsc` says why"
            }
            Self::Rose => "it rose",
            Self::OtherCpu => "another CPU: what differs below may be the machines, and no change of either",
            Self::OtherCycles => "no change of a clock: what takes cycles takes as many at any frequency",
        })
    }
}

impl Serialize for Remark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

const CLOCK_SOURCE: &str = "clock source";

/// Frequencies that differ by less are the same.
const SAME_FREQUENCY: f64 = 0.01;

/// All that differs, a change of the clock source first, another CPU next.
#[must_use]
pub fn changes(old: &Report, new: &Report) -> Vec<PlatformChange> {
    let (before, after) = (&old.platform, &new.platform);
    let text =
        |what, old: &Option<String>, new: &Option<String>| change(what, old.clone(), new.clone());
    let list = |sources: &[String]| (!sources.is_empty()).then(|| sources.join(", "));
    let number = |what, old: Option<u32>, new: Option<u32>| {
        change(what, old.map(|n| n.to_string()), new.map(|n| n.to_string()))
    };
    let always =
        |what, old: &str, new: &str| change(what, Some(old.to_owned()), Some(new.to_owned()));
    let yes_no = |yes: Option<bool>| yes.map(|yes| if yes { "yes" } else { "no" }.to_owned());
    let mut changes: Vec<PlatformChange> = [
        clock_source(&before.clocksource.current, &after.clocksource.current),
        text("CPU", &before.cpu.model, &after.cpu.model),
        number("CPU family", before.cpu.family, after.cpu.family),
        number(
            "CPU model number",
            before.cpu.model_number,
            after.cpu.model_number,
        ),
        text("kernel", &before.kernel.release, &after.kernel.release),
        text(
            "kernel build",
            &before.kernel.version,
            &after.kernel.version,
        ),
        text("microcode", &before.cpu.microcode, &after.cpu.microcode),
        always(
            "architecture",
            &before.cpu.architecture,
            &after.cpu.architecture,
        ),
        text("kind of core", &before.cpu.core_kind, &after.cpu.core_kind),
        number("CPU stepping", before.cpu.stepping, after.cpu.stepping),
        change(
            "invariant TSC",
            yes_no(before.cpu.invariant_tsc),
            yes_no(after.cpu.invariant_tsc),
        ),
        text("hypervisor", &before.hypervisor, &after.hypervisor),
        text("OS", &before.os.name, &after.os.name),
        change(
            "clock sources available",
            list(&before.clocksource.available),
            list(&after.clocksource.available),
        ),
        text("governor", &before.cpu.governor, &after.cpu.governor),
        text("power plan", &before.cpu.power_plan, &after.cpu.power_plan),
        number("online CPUs", before.cpu.online, after.cpu.online),
        always(
            "cycles from",
            &old.frequency.cycles_from,
            &new.frequency.cycles_from,
        ),
        frequency(
            crate::model::value_of(old.frequency.cycles_hz),
            crate::model::value_of(new.frequency.cycles_hz),
        ),
        always("profile", &old.settings.profile, &new.settings.profile),
        always("timermeter", &old.tool.version, &new.tool.version),
        always("figures", provenance(old), provenance(new)),
    ]
    .into_iter()
    .flatten()
    .collect();
    // Once: where the model has another name, its numbers say nothing more.
    let other = changes
        .iter_mut()
        .find(|change| OF_CPU.contains(&change.what) && is_told(change));
    if let Some(change) = other {
        change.remark = Some(Remark::OtherCpu);
    }
    changes
}

/// Why the CPU of `new` is not known to be the one of `old`; nothing where both have the same
/// model.
#[must_use]
pub fn unlike_cpu(old: &Report, new: &Report) -> Option<String> {
    let (before, after) = (&old.platform.cpu, &new.platform.cpu);
    let names = [before, after].map(Cpu::name);
    let told = match &names {
        [Some(before), Some(after)] => [before, after],
        [None, _] => return Some("the baseline does not say of which CPU it is".to_owned()),
        [_, None] => return Some("the new report does not say of which CPU it is".to_owned()),
    };
    let model = |cpu: &Cpu| (cpu.model.clone(), cpu.family, cpu.model_number);
    (model(before) != model(after)).then(|| {
        let numbers = |cpu: &Cpu| match (cpu.family, cpu.model_number) {
            // The names do not tell them apart.
            (Some(family), Some(number)) if told[0] == told[1] => {
                format!(", family {family} model {number}")
            }
            _ => String::new(),
        };
        let [old, new] = [(told[0], before), (told[1], after)]
            .map(|(name, cpu)| format!("{name}{}", numbers(cpu)));
        format!("the baseline is of another CPU: {old}, here {new}")
    })
}

/// What tells one model of CPU from another.
const OF_CPU: [&str; 3] = ["CPU", "CPU family", "CPU model number"];

/// Whether both reports say it.
fn is_told(change: &PlatformChange) -> bool {
    change.old.is_some() && change.new.is_some()
}

fn change(what: &'static str, old: Option<String>, new: Option<String>) -> Option<PlatformChange> {
    (old != new).then_some(PlatformChange {
        what,
        old,
        new,
        remark: None,
    })
}

fn clock_source(old: &Option<String>, new: &Option<String>) -> Option<PlatformChange> {
    let mut change = change(CLOCK_SOURCE, old.clone(), new.clone())?;
    let worth = |source: &Option<String>| {
        let source = clock_sources::find(source.as_deref()?)?;
        Some(source.cost_class)
    };
    change.remark = match (worth(old), worth(new)) {
        (Some(old), Some(new)) if new > old => Some(Remark::Fell),
        (Some(old), Some(new)) if new < old => Some(Remark::Rose),
        _ => None,
    };
    Some(change)
}

/// Another frequency that turned time into cycles.
fn frequency(before: Option<f64>, after: Option<f64>) -> Option<PlatformChange> {
    if let (Some(before), Some(after)) = (before, after)
        && (after / before - 1.0).abs() <= SAME_FREQUENCY
    {
        return None;
    }
    let shown = |hz: Option<f64>| hz.map(|hz| crate::text::numbers::rate(Some(hz)));
    let mut change = change("frequency of cycles", shown(before), shown(after))?;
    change.remark = Some(Remark::OtherCycles);
    Some(change)
}

fn provenance(report: &Report) -> &'static str {
    match report.provenance.kind {
        ProvenanceKind::Measured => "measured",
        ProvenanceKind::Published => "published",
    }
}

impl PlatformChange {
    /// Whether it is about the clock source.
    #[must_use]
    pub fn is_of_clock_source(&self) -> bool {
        self.what == CLOCK_SOURCE
    }

    /// Whether all else has to be read in its light: another clock source, or another CPU.
    #[must_use]
    pub fn is_loud(&self) -> bool {
        self.is_of_clock_source() || self.is_other_cpu()
    }

    /// Whether it is another model of CPU.
    #[must_use]
    pub fn is_other_cpu(&self) -> bool {
        self.remark == Some(Remark::OtherCpu)
    }

    /// Whether it is a clock source that became worse.
    #[must_use]
    pub fn is_fallen_clock_source(&self) -> bool {
        self.remark == Some(Remark::Fell)
    }
}

#[cfg(test)]
mod tests {
    use super::clock_source;

    #[test]
    fn clock_sources_fall_and_rise() {
        let remark = |old: &str, new: &str| {
            let change = clock_source(&Some(old.into()), &Some(new.into())).expect("they differ");
            (change.is_fallen_clock_source(), change.remark.is_some())
        };
        let (fell, rose, neither) = ((true, true), (false, true), (false, false));
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
            assert_eq!(
                (remark(old, new), remark(new, old)),
                (fell, rose),
                "{old} {new}"
            );
        }
        assert_eq!(remark("tsc-early", "tsc"), neither);
        assert_eq!(remark("tsc", "unheard-of"), neither);
        assert_eq!(clock_source(&None, &None), None);
    }
}
