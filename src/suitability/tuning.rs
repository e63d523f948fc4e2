//! What would make a machine quieter, as `pyperf system tune` does it: which settings would be changed, and to what. Only what can
//! be undone at once is changed; what takes another start of the machine is advised by the [judgements](super::judge).

use serde::Serialize;

use crate::platform::settings::{Knob, Setting};
use crate::platform::{cpus_in, written};

/// A setting that would be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingChange {
    /// Stable name; where a finding is about it, that of the finding.
    pub code: String,
    /// Its path.
    pub path: String,
    /// What it says.
    pub from: String,
    /// What it would say.
    pub to: String,
    /// Whether the kernel may refuse that, as interrupts of some devices stay where they are.
    #[serde(skip)]
    pub may_be_refused: bool,
}

/// The changes that would make `cpu` quieter, in their order.
#[must_use]
pub fn plan(settings: &[Setting], cpu: Option<u32>, online: &[u32]) -> Vec<SettingChange> {
    settings.iter().filter_map(|setting| change(setting, cpu, online)).collect()
}

fn change(setting: &Setting, cpu: Option<u32>, online: &[u32]) -> Option<SettingChange> {
    let offers =
        |choice: &str| setting.choices.is_empty() || setting.choices.iter().any(|other| other == choice);
    let (code, to) = match (setting.knob, setting.value.as_str()) {
        (Knob::Governor, governor) if governor != "performance" && offers("performance") => {
            ("governor", "performance".to_owned())
        }
        (Knob::NoTurbo, "0") => ("turbo", "1".to_owned()),
        (Knob::Boost, "1") => ("turbo", "0".to_owned()),
        (Knob::SampleRate, rate) if rate != "1" => ("sample-rate", "1".to_owned()),
        (Knob::Interrupt, cpus) => ("interrupts", elsewhere(cpus, cpu?, online)?),
        _ => return None,
    };
    Some(SettingChange {
        code: code.to_owned(),
        path: setting.path.clone(),
        from: setting.value.clone(),
        to,
        may_be_refused: setting.knob == Knob::Interrupt,
    })
}

/// The CPUs that may serve an interrupt instead of `cpu`: the others that may now, or else all others.
fn elsewhere(cpus: &str, cpu: u32, online: &[u32]) -> Option<String> {
    let now = cpus_in(cpus).filter(|now| now.contains(&cpu))?;
    let others =
        |list: &[u32]| list.iter().copied().filter(|other| *other != cpu && online.contains(other)).collect();
    let mut elsewhere: Vec<u32> = others(&now);
    if elsewhere.is_empty() {
        elsewhere = others(online);
    }
    (!elsewhere.is_empty()).then(|| written(&elsewhere))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(knob: Knob, value: &str, choices: &[&str]) -> Option<String> {
        let choices = choices.iter().map(|&choice| choice.to_owned()).collect();
        let setting = Setting { knob, path: "/p".into(), value: value.into(), choices };
        plan(&[setting], Some(2), &[0, 1, 2, 3]).pop().map(|change| change.to)
    }

    #[test]
    fn what_is_loud_is_changed_and_what_is_quiet_is_not() {
        for (knob, value, choices, to) in [
            (Knob::Governor, "powersave", &["performance", "powersave"][..], Some("performance")),
            (Knob::Governor, "schedutil", &[], Some("performance")),
            (Knob::Governor, "userspace", &["userspace"], None),
            (Knob::Governor, "performance", &[], None),
            (Knob::NoTurbo, "0", &[], Some("1")),
            (Knob::NoTurbo, "1", &[], None),
            (Knob::Boost, "1", &[], Some("0")),
            (Knob::Boost, "0", &[], None),
            (Knob::Boost, "rubbish", &[], None),
            (Knob::SampleRate, "100000", &[], Some("1")),
            (Knob::SampleRate, "1", &[], None),
            (Knob::Interrupt, "0-3", &[], Some("0-1,3")),
            (Knob::Interrupt, "2", &[], Some("0-1,3")),
            (Knob::Interrupt, "2,7", &[], Some("0-1,3")),
            (Knob::Interrupt, "0-1", &[], None),
            (Knob::Interrupt, "rubbish", &[], None),
        ] {
            assert_eq!(changed(knob, value, choices).as_deref(), to, "{knob:?} {value}");
        }
    }

    #[test]
    fn an_only_cpu_keeps_its_interrupts() {
        let setting =
            Setting { knob: Knob::Interrupt, path: "/p".into(), value: "0".into(), choices: Vec::new() };
        assert_eq!(plan(std::slice::from_ref(&setting), Some(0), &[0]), []);
        assert_eq!(plan(&[setting], None, &[0, 1]), []);
    }
}
