//! Cores: which CPUs share one, which the scheduler leaves alone, and what moves their frequency.
//!
//! Sources: [sysfs-devices-system-cpu], [kernel parameters], [intel_pstate], [cpufreq].
//!
//! [sysfs-devices-system-cpu]: https://docs.kernel.org/admin-guide/abi-testing.html
//! [kernel parameters]: https://docs.kernel.org/admin-guide/kernel-parameters.html
//! [intel_pstate]: https://docs.kernel.org/admin-guide/pm/intel_pstate.html
//! [cpufreq]: https://docs.kernel.org/admin-guide/pm/cpufreq.html

use timers::os::Told;

use super::Root;
use super::fields::field;
use super::list::{count_of, written};

const CPUS: &str = "/sys/devices/system/cpu";

/// The core that a CPU belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Core {
    /// Whether cores of this machine run more than one thread at once.
    pub smt: Option<bool>,
    /// CPUs in this core.
    pub threads: Option<u32>,
    /// Those CPUs.
    pub list: Option<String>,
}

/// The core of `cpu`.
pub(super) fn core(root: &Root, cpu: Option<u32>, cpuinfo: &str, told: &Told) -> Core {
    // The older name of the same file is the second one.
    let list = cpu.and_then(|cpu| {
        ["core_cpus_list", "thread_siblings_list"]
            .iter()
            .find_map(|name| root.content(&format!("{CPUS}/cpu{cpu}/topology/{name}")))
            .filter(|list| count_of(list).is_some_and(|threads| threads > 0))
    });
    let list = list.or_else(|| told.core.as_deref().map(written));
    let threads = list.as_deref().and_then(count_of).or_else(|| threads_in(cpuinfo));
    let active = root.content(&format!("{CPUS}/smt/active")).as_deref().and_then(switch);
    let smt = active.or_else(|| threads.map(|threads| threads > 1));
    Core { smt, threads, list }
}

/// Threads a core, by the first record of `/proc/cpuinfo` on x86: both figures are of one package.
fn threads_in(cpuinfo: &str) -> Option<u32> {
    let number = |name| field(cpuinfo, name)?.parse::<u32>().ok().filter(|&number| number > 0);
    let (siblings, cores) = (number("siblings")?, number("cpu cores")?);
    (siblings >= cores && siblings % cores == 0).then_some(siblings / cores)
}

/// CPUs that the scheduler leaves alone.
pub(super) fn isolated(root: &Root) -> Option<String> {
    list(root, "isolated")
}

/// CPUs without a timer interrupt while one thread runs. The file is there only where the kernel can do that.
pub(super) fn nohz_full(root: &Root) -> Option<String> {
    list(root, "nohz_full")
}

fn list(root: &Root, name: &str) -> Option<String> {
    // Before Linux 6.7 a mask that was never set is printed as "(null)".
    let list = root.line(&format!("{CPUS}/{name}"))?;
    let list = if list == "(null)" { String::new() } else { list };
    count_of(&list).map(|_| list)
}

/// A file of cpufreq about a CPU.
pub(super) fn frequency_file(root: &Root, cpu: u32, name: &str) -> Option<String> {
    root.name(&format!("{CPUS}/cpu{cpu}/cpufreq/{name}"))
}

/// Whether a CPU may run above its nominal frequency, by whichever of the drivers tells.
pub(super) fn turbo(root: &Root, cpu: Option<u32>) -> Option<bool> {
    let read = |path: String| root.content(&path).as_deref().and_then(switch);
    let off = read(format!("{CPUS}/intel_pstate/no_turbo"));
    off.map(|off| !off)
        .or_else(|| read(format!("{CPUS}/cpufreq/boost")))
        .or_else(|| read(format!("{CPUS}/cpu{}/cpufreq/boost", cpu?)))
}

fn switch(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up;
    use super::*;

    #[test]
    fn threads_of_a_core() {
        let (_folder, root) = made_up(&[
            ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "3,35\n"),
            ("sys/devices/system/cpu/cpu4/topology/core_cpus_list", "rubbish"),
            ("sys/devices/system/cpu/smt/active", "1\n"),
        ]);
        let found = core(&root, Some(3), "", &Told::default());
        assert_eq!(found, Core { smt: Some(true), threads: Some(2), list: Some("3,35".into()) });
        assert_eq!(
            core(&root, Some(4), "", &Told::default()),
            Core { smt: Some(true), threads: None, list: None }
        );
        let (_folder, nothing) = made_up(&[]);
        assert_eq!(core(&nothing, Some(3), "", &Told::default()), Core::default());
        let by_cpuinfo = core(&nothing, None, "siblings\t: 8\ncpu cores\t: 4\n", &Told::default());
        assert_eq!(by_cpuinfo, Core { smt: Some(true), threads: Some(2), list: None });
        assert_eq!(core(&nothing, None, "siblings : 3\ncpu cores : 2\n", &Told::default()), Core::default());
    }

    #[test]
    fn isolated_cpus() {
        let isolated_in = |text| {
            let (_folder, root) = made_up(&[("sys/devices/system/cpu/isolated", text)]);
            isolated(&root)
        };
        assert_eq!(isolated_in("\n").as_deref(), Some(""));
        assert_eq!(isolated_in("2-3\n").as_deref(), Some("2-3"));
        assert_eq!(isolated_in("(null)\n").as_deref(), Some(""));
        assert_eq!(isolated_in("").as_deref(), None);
        assert_eq!(isolated_in("all of them\n").as_deref(), None);
    }

    #[test]
    fn turbo_by_any_driver() {
        let turbo_in = |path, text| {
            let (_folder, root) = made_up(&[(path, text)]);
            turbo(&root, Some(1))
        };
        assert_eq!(turbo_in("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"), Some(false));
        assert_eq!(turbo_in("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"), Some(true));
        assert_eq!(turbo_in("sys/devices/system/cpu/cpufreq/boost", "1\n"), Some(true));
        assert_eq!(turbo_in("sys/devices/system/cpu/cpu1/cpufreq/boost", "0\n"), Some(false));
        assert_eq!(turbo_in("sys/devices/system/cpu/cpufreq/boost", "\u{0}\n"), None);
    }
}
