//! Reports cores: which CPUs share a core, which CPUs the scheduler avoids, and the drivers that
//! change the frequency.
//!
//! Sources: [sysfs-devices-system-cpu], [kernel parameters], [intel_pstate], [cpufreq].
//!
//! [sysfs-devices-system-cpu]: https://docs.kernel.org/admin-guide/abi-testing.html
//! [kernel parameters]: https://docs.kernel.org/admin-guide/kernel-parameters.html
//! [intel_pstate]: https://docs.kernel.org/admin-guide/pm/intel_pstate.html
//! [cpufreq]: https://docs.kernel.org/admin-guide/pm/cpufreq.html
//!
//! Machines may have cores of different kinds, such as big and little, or performance and
//! efficiency cores. The cost of a read differs between kinds, so a report states the kind that was
//! measured.
//!
//! On x86, kinds are detected by the performance counters, which have one device per kind
//! (`/sys/devices/cpu_core`, `cpu_atom`); on Arm by the identification of each core (MIDR). The capacity,
//! which the kernel scales to 1024 for the most capable core (`cpu_capacity`), orders them. It does not
//! identify kinds, and frequencies do not: both differ between cores of the same kind.

use std::cmp::Reverse;

use super::root::{cpu_count, format_cpus, parse_cpus};
use super::{Root, cpu_arm};
use estimators::model::{CoreKind, Cpu};

const CPUS: &str = "/sys/devices/system/cpu";

/// Adds to what is known of `cpu` its core: whether cores run more than one thread at the same
/// time, the number of threads in this core, and its CPUs.
pub fn core(root: &Root, cpu: Option<u32>, known: Cpu) -> Cpu {
    // The second name is the older name of the same file.
    let list = cpu.and_then(|cpu| {
        ["core_cpus_list", "thread_siblings_list"]
            .iter()
            .find_map(|name| root.read_text(&format!("{CPUS}/cpu{cpu}/topology/{name}")))
            .filter(|list| cpu_count(list).is_some_and(|threads| threads > 0))
    });
    let threads = list.as_deref().and_then(cpu_count);
    let smt = read_switch(root, "smt/active").or_else(|| threads.map(|threads| threads > 1));
    Cpu {
        smt,
        threads_per_core: threads,
        core_list: list,
        ..known
    }
}

/// Reads a list of CPUs: `isolated`, to which the scheduler moves no tasks, or `nohz_full`, without a
/// timer interrupt while they run only one thread. `None` if the file is missing, as the latter is if
/// the kernel does not support it, or malformed.
pub fn read_cpu_list(root: &Root, name: &str) -> Option<String> {
    /// The longest list in bytes.
    const MAX_BYTES: u64 = 1 << 16;
    let text = root.read_bytes(&format!("{CPUS}/{name}"), MAX_BYTES)?;
    // An empty list is an empty line. Before Linux 6.7 the kernel prints "(null)" for a mask that was
    // never set.
    let list = str::from_utf8(&text).ok()?.strip_suffix('\n')?;
    let list = if list == "(null)" { "" } else { list };
    cpu_count(list).map(|_| list.to_owned())
}

/// Reads a file of cpufreq for a CPU.
pub fn read_frequency_file(root: &Root, cpu: u32, name: &str) -> Option<String> {
    root.read_name(&format!("{CPUS}/cpu{cpu}/cpufreq/{name}"))
}

/// Whether a CPU may run above its nominal frequency, according to the first driver that reports
/// it.
pub fn turbo(root: &Root, cpu: Option<u32>) -> Option<bool> {
    let turbo_off = read_switch(root, "intel_pstate/no_turbo");
    turbo_off
        .map(|off| !off)
        .or_else(|| read_switch(root, "cpufreq/boost"))
        .or_else(|| read_switch(root, &format!("cpu{}/cpufreq/boost", cpu?)))
}

/// Reads a switch of the kernel, `0` or `1`.
fn read_switch(root: &Root, file: &str) -> Option<bool> {
    match &*root.read_text(&format!("{CPUS}/{file}"))? {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// Devices of the performance counters on x86, one for each kind of core, the most capable kind
/// first; and Intel's name of the kind.
const X86_KINDS: [(&str, &str); 3] = [
    ("cpu_core", "P-core"),
    ("cpu_atom", "E-core"),
    ("cpu_lowpower", "low-power E-core"),
];

/// The kinds of cores among the CPUs `online`, the most capable kind first; `None` if neither files
/// nor the processor report kinds.
pub fn kinds(root: &Root, online: &[u32]) -> Option<Vec<CoreKind>> {
    let hybrid = X86_KINDS.iter().filter_map(|&(device, name)| {
        let list = root.read_text(&format!("/sys/devices/{device}/cpus"))?;
        let cpus = parse_cpus(&list).filter(|cpus| !cpus.is_empty())?;
        Some((name.to_owned(), cpus, None))
    });
    let mut kinds: Vec<(String, Vec<u32>, Option<u32>)> = hybrid.collect();
    if kinds.is_empty() {
        for &cpu in online {
            // If any core has no name, the number of kinds is unknown.
            let name = cpu_arm::core(root, Some(cpu), "").model?;
            let capacity = root.read_text(&format!("{CPUS}/cpu{cpu}/cpu_capacity"));
            let capacity = capacity.and_then(|capacity| capacity.parse().ok());
            match kinds.iter_mut().find(|(known, ..)| *known == name) {
                Some((_, cpus, largest)) => {
                    cpus.push(cpu);
                    *largest = capacity.max(*largest);
                }
                None => kinds.push((name, vec![cpu], capacity)),
            }
        }
        // Kinds without a capacity keep the order of their first CPU.
        kinds.sort_by_key(|(.., capacity)| Reverse(*capacity));
    }
    let kind = |(name, cpus, capacity): (String, Vec<u32>, _)| CoreKind {
        name,
        cpus: cpus.len() as u32,
        list: Some(format_cpus(&cpus)),
        capacity,
    };
    (!kinds.is_empty()).then(|| kinds.into_iter().map(kind).collect())
}

/// The CPUs of a kind.
fn cpus_of(kind: &CoreKind) -> Vec<u32> {
    let cpus = kind.list.as_deref().and_then(parse_cpus);
    cpus.unwrap_or_default()
}

/// The kind of core to which `cpu` belongs.
pub fn kind_of_cpu(kinds: &[CoreKind], cpu: u32) -> Option<&CoreKind> {
    kinds.iter().find(|kind| cpus_of(kind).contains(&cpu))
}

/// The CPUs among `allowed` whose cores are of the most capable kind; all of `allowed` if no kinds are
/// known.
pub fn capable_cpus(root: &Root, allowed: &[u32]) -> Vec<u32> {
    let kinds = kinds(root, allowed).unwrap_or_default();
    let mut kinds = kinds.iter().map(|kind| {
        let mut cpus = cpus_of(kind);
        cpus.retain(|cpu| allowed.contains(cpu));
        cpus
    });
    let capable = kinds.find(|cpus| !cpus.is_empty());
    capable.unwrap_or_else(|| allowed.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::tests::test_root;

    #[test]
    fn reads_threads_of_a_core() {
        let (_folder, root) = test_root(&[
            (
                "sys/devices/system/cpu/cpu3/topology/thread_siblings_list",
                "3,35\n",
            ),
            (
                "sys/devices/system/cpu/cpu4/topology/core_cpus_list",
                "rubbish",
            ),
            ("sys/devices/system/cpu/smt/active", "1\n"),
        ]);
        let unknown = Cpu {
            smt: Some(true),
            ..Cpu::default()
        };
        let known = Cpu {
            threads_per_core: Some(2),
            core_list: Some("3,35".into()),
            ..unknown.clone()
        };
        assert_eq!(core(&root, Some(3), Cpu::default()), known);
        assert_eq!(core(&root, Some(4), Cpu::default()), unknown);
        let (_folder, nothing) = test_root(&[]);
        assert_eq!(core(&nothing, Some(3), Cpu::default()), Cpu::default());
    }

    #[test]
    fn turbo_by_any_driver() {
        for (file, text, expected) in [
            ("intel_pstate/no_turbo", "1\n", Some(false)),
            ("intel_pstate/no_turbo", "0\n", Some(true)),
            ("cpufreq/boost", "1\n", Some(true)),
            ("cpu1/cpufreq/boost", "0\n", Some(false)),
            ("cpufreq/boost", "\u{0}\n", None),
        ] {
            let path = format!("sys/devices/system/cpu/{file}");
            let (_folder, root) = test_root(&[(&path, text)]);
            assert_eq!(turbo(&root, Some(1)), expected, "{file}: {text}");
        }
    }

    fn names(kinds: &[CoreKind]) -> Vec<(&str, &str)> {
        kinds
            .iter()
            .map(|kind| (kind.name.as_str(), kind.list.as_deref().unwrap_or_default()))
            .collect()
    }

    #[test]
    fn performance_cores_precede_efficiency_cores() {
        let (_folder, root) = test_root(&[
            ("sys/devices/cpu_core/cpus", "0-7\n"),
            ("sys/devices/cpu_atom/cpus", "8-15\n"),
            // Favoured cores have a higher capacity than other cores of their kind, which does not
            // make them another kind.
            ("sys/devices/system/cpu/cpu0/cpu_capacity", "1009\n"),
            ("sys/devices/system/cpu/cpu4/cpu_capacity", "1024\n"),
        ]);
        let found = kinds(&root, &[0, 15]).expect("the kinds are known");
        assert_eq!(names(&found), [("P-core", "0-7"), ("E-core", "8-15")]);
        assert_eq!(kind_of_cpu(&found, 9), Some(&found[1]));
        assert_eq!(kind_of_cpu(&found, 16), None);
        assert_eq!(capable_cpus(&root, &[3, 7, 8, 12]), [3, 7]);
        assert_eq!(capable_cpus(&root, &[8, 12]), [8, 12]);
    }

    #[test]
    fn kinds_by_part() {
        const MIDR: &str = "regs/identification/midr_el1";
        let file = |cpu, name: &str| format!("sys/devices/system/cpu/cpu{cpu}/{name}");
        let mut files = Vec::new();
        for (cpu, midr, capacity) in [
            (0, "0x00000000411fd050\n", "290\n"),
            (1, "0x00000000411fd050\n", "290\n"),
            (2, "0x00000000411fd0d0\n", "870\n"),
            (3, "0x00000000411fd0d0\n", "1024\n"),
        ] {
            files.extend([
                (file(cpu, MIDR), midr),
                (file(cpu, "cpu_capacity"), capacity),
            ]);
        }
        let files: Vec<_> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        let (_folder, root) = test_root(&files);
        let found = kinds(&root, &[0, 1, 2, 3]).expect("the kinds are known");
        assert_eq!(
            names(&found),
            [("Cortex-A77", "2-3"), ("Cortex-A55", "0-1")]
        );
        assert_eq!(capable_cpus(&root, &[0, 1, 2]), [2]);
        // A CPU without any information may belong to any kind.
        assert_eq!(kinds(&root, &[0, 1, 2, 3, 4]), None);
    }
}
