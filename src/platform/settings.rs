//! Settings of the kernel that make a machine quieter or louder. They are looked at here, and written only on request.
//!
//! Sources: [cpufreq], [intel_pstate], [irq affinity], [sysctl].
//!
//! [cpufreq]: https://docs.kernel.org/admin-guide/pm/cpufreq.html
//! [intel_pstate]: https://docs.kernel.org/admin-guide/pm/intel_pstate.html
//! [irq affinity]: https://docs.kernel.org/core-api/irq/irq-affinity.html
//! [sysctl]: https://docs.kernel.org/admin-guide/sysctl/kernel.html

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use super::Root;
use super::root::cpus_in;

const CPUS: &str = "/sys/devices/system/cpu";
const INTERRUPTS: &str = "/proc/irq";
/// Interrupts of one machine at most.
const MOST_INTERRUPTS: usize = 10_000;

/// What a setting decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knob {
    /// The governor of a CPU: a word.
    Governor,
    /// Whether turbo is off: 1 or 0.
    NoTurbo,
    /// Whether turbo is on: 1 or 0.
    Boost,
    /// How often a second performance counters may interrupt.
    SampleRate,
    /// On which CPUs an interrupt may be served: a list.
    Interrupt,
}

/// A file of the kernel that can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// What it decides.
    pub knob: Knob,
    /// Its path on the machine.
    pub path: String,
    /// What it says.
    pub value: String,
    /// What it may be set to, where the kernel tells; else empty.
    pub choices: Vec<String>,
}

/// The CPUs that are online; none where that is not shown.
#[must_use]
pub fn online(root: &Root) -> Vec<u32> {
    root.content(&format!("{CPUS}/online")).as_deref().and_then(cpus_in).unwrap_or_default()
}

/// All of them that this machine has; of interrupts those that are served by `cpu`.
#[must_use]
pub fn settings(root: &Root, cpu: Option<u32>) -> Vec<Setting> {
    let setting =
        |knob, path: String| Some(Setting { knob, value: root.name(&path)?, path, choices: Vec::new() });
    let governor = |cpu| {
        let folder = format!("{CPUS}/cpu{cpu}/cpufreq");
        let governor = setting(Knob::Governor, format!("{folder}/scaling_governor"))?;
        let choices = root.content(&format!("{folder}/scaling_available_governors")).unwrap_or_default();
        Some(Setting { choices: choices.split_whitespace().map(str::to_owned).collect(), ..governor })
    };
    let turbo = setting(Knob::NoTurbo, format!("{CPUS}/intel_pstate/no_turbo"))
        .or_else(|| setting(Knob::Boost, format!("{CPUS}/cpufreq/boost")));
    // Some drivers have one a CPU instead.
    let each = turbo.is_none().then(|| online(root)).into_iter().flatten();
    let boosts = each.filter_map(|cpu| setting(Knob::Boost, format!("{CPUS}/cpu{cpu}/cpufreq/boost")));
    let rate = setting(Knob::SampleRate, "/proc/sys/kernel/perf_event_max_sample_rate".into());
    let interrupts = interrupts(root).into_iter().filter_map(|number| {
        let folder = format!("{INTERRUPTS}/{number}");
        // Where the kernel really has it served, which is one of those that may serve it.
        let served = root.content(&format!("{folder}/effective_affinity_list"));
        let here =
            served.as_deref().and_then(cpus_in).is_none_or(|cpus| cpu.is_some_and(|cpu| cpus.contains(&cpu)));
        here.then(|| setting(Knob::Interrupt, format!("{folder}/smp_affinity_list"))).flatten()
    });
    let governors = online(root).into_iter().filter_map(governor);
    governors.chain(boosts).chain(turbo).chain(rate).chain(interrupts).collect()
}

fn interrupts(root: &Root) -> Vec<u32> {
    let entries = root.file(INTERRUPTS).and_then(|folder| fs::read_dir(folder).ok());
    let names = entries.into_iter().flatten().flatten().take(MOST_INTERRUPTS);
    let mut numbers: Vec<u32> = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// What a setting says now; none where it cannot be read.
#[must_use]
pub fn value(root: &Root, path: &str) -> Option<String> {
    root.name(path)
}

/// Whether a setting could be written; nothing is.
///
/// # Errors
/// What the system said.
pub fn writable(root: &Root, path: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(file(root, path)?).map(drop)
}

/// Writes a setting, and looks whether the kernel took it.
///
/// # Errors
/// What the system said, or what the setting says instead.
pub fn set(root: &Root, path: &str, to: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).truncate(true).open(file(root, path)?)?;
    file.write_all(format!("{to}\n").as_bytes())?;
    drop(file);
    match value(root, path) {
        Some(now) if now == to || (cpus_in(&now).is_some() && cpus_in(&now) == cpus_in(to)) => Ok(()),
        now => {
            Err(io::Error::other(format!("the kernel keeps it at {}", now.as_deref().unwrap_or("nothing"))))
        }
    }
}

fn file(root: &Root, path: &str) -> io::Result<PathBuf> {
    root.file(path).ok_or_else(|| io::Error::other("this system has no such file"))
}

#[cfg(test)]
mod tests {
    use super::super::made_up;
    use super::*;

    #[test]
    fn settings_of_a_machine() {
        let (_folder, root) = made_up(&[
            ("sys/devices/system/cpu/online", "0-1\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_available_governors", "performance powersave\n"),
            ("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
            ("proc/irq/9/smp_affinity_list", "0-1\n"),
            ("proc/irq/10/smp_affinity_list", "0-1\n"),
            ("proc/irq/10/effective_affinity_list", "0\n"),
            ("proc/irq/default_smp_affinity", "3\n"),
        ]);
        let found = settings(&root, Some(1));
        let knobs: Vec<Knob> = found.iter().map(|setting| setting.knob).collect();
        assert_eq!(knobs, [Knob::Governor, Knob::Boost, Knob::Interrupt], "{found:?}");
        assert_eq!((found[0].value.as_str(), found[0].choices.len()), ("powersave", 2));
        assert_eq!(found[2].path, "/proc/irq/9/smp_affinity_list", "the other is served elsewhere");
        assert_eq!(settings(&made_up(&[]).1, None), []);
        let (_folder, root) = made_up(&[
            ("sys/devices/system/cpu/online", "0-1\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/boost", "1\n"),
        ]);
        assert_eq!(settings(&root, None).pop().unwrap().path, "/sys/devices/system/cpu/cpu1/cpufreq/boost");
    }

    #[test]
    fn what_is_written_is_read_back() {
        let (folder, root) = made_up(&[("proc/a", "performance\n"), ("proc/b", "0-1\n")]);
        set(&root, "/proc/a", "on").unwrap();
        assert_eq!(fs::read(folder.path().join("proc/a")).unwrap(), b"on\n");
        set(&root, "/proc/b", "0,1").unwrap();
        assert!(writable(&root, "/proc/a").is_ok() && writable(&root, "/proc/none").is_err());
        assert_eq!(set(&root, "/proc/none", "1").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(!root.has("/proc/none"), "nothing is made");
        assert!(set(&root, "/dev/full", "1").is_err());
    }
}
