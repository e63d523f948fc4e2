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
//! (`/sys/devices/cpu_core`, `cpu_atom`); elsewhere by the identification of each core (MIDR of
//! Arm) and its capacity, which the kernel scales to 1024 for the most capable core
//! (`cpu_capacity`). Frequencies do not identify kinds: the maximum frequency differs between cores
//! of the same kind.

use timers::os::{CoreClass, MachineFacts};

use super::root::{count_of, cpus_in, field, format_list};
use super::{Root, cpu_arm};
use crate::model::CoreKind;

const CPUS: &str = "/sys/devices/system/cpu";

/// The core that a CPU belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Core {
    /// Whether cores of this machine run more than one thread at the same time.
    pub smt: Option<bool>,
    /// Number of CPUs in this core.
    pub threads: Option<u32>,
    /// The CPUs in this core, as a list.
    pub list: Option<String>,
}

/// Returns the core of `cpu`.
pub(super) fn core(root: &Root, cpu: Option<u32>, cpuinfo: &str, facts: &MachineFacts) -> Core {
    // The second name is the older name of the same file.
    let list = cpu.and_then(|cpu| {
        ["core_cpus_list", "thread_siblings_list"]
            .iter()
            .find_map(|name| root.content(&format!("{CPUS}/cpu{cpu}/topology/{name}")))
            .filter(|list| count_of(list).is_some_and(|threads| threads > 0))
    });
    let list = list.or_else(|| facts.core.as_deref().map(format_list));
    let threads = list
        .as_deref()
        .and_then(count_of)
        .or_else(|| threads_in(cpuinfo));
    let active = root
        .content(&format!("{CPUS}/smt/active"))
        .as_deref()
        .and_then(switch);
    let smt = active.or_else(|| threads.map(|threads| threads > 1));
    Core { smt, threads, list }
}

/// Threads per core, from the first record of `/proc/cpuinfo` on x86, which gives the siblings and
/// the cores of the same package.
fn threads_in(cpuinfo: &str) -> Option<u32> {
    let number = |name| {
        field(cpuinfo, name)?
            .parse::<u32>()
            .ok()
            .filter(|&number| number > 0)
    };
    let (siblings, cores) = (number("siblings")?, number("cpu cores")?);
    (siblings >= cores && siblings % cores == 0).then_some(siblings / cores)
}

/// CPUs to which the scheduler moves no tasks.
pub(super) fn isolated(root: &Root) -> Option<String> {
    list(root, "isolated")
}

/// CPUs without a timer interrupt while they run only one thread. The file exists only if the
/// kernel supports this.
pub(super) fn nohz_full(root: &Root) -> Option<String> {
    list(root, "nohz_full")
}

fn list(root: &Root, name: &str) -> Option<String> {
    // Before Linux 6.7 a mask that was never set is printed as "(null)".
    let list = root.line(&format!("{CPUS}/{name}"))?;
    let list = if list == "(null)" {
        String::new()
    } else {
        list
    };
    count_of(&list).map(|_| list)
}

/// Reads a file of cpufreq for a CPU.
pub(super) fn frequency_file(root: &Root, cpu: u32, name: &str) -> Option<String> {
    root.name(&format!("{CPUS}/cpu{cpu}/cpufreq/{name}"))
}

/// Whether a CPU may run above its nominal frequency, according to the first driver that reports
/// it.
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

/// Devices that count events of one kind of core on x86, the most capable kind first, and Intel's
/// name of the kind.
const X86_KINDS: [(&str, &str); 3] = [
    ("cpu_core", "P-core"),
    ("cpu_atom", "E-core"),
    ("cpu_lowpower", "low-power E-core"),
];

/// The kinds of cores among the CPUs `online`, the most capable kind first; `None` if neither files
/// nor the system report kinds.
pub(super) fn kinds(
    root: &Root,
    online: Option<&str>,
    facts: &MachineFacts,
) -> Option<Vec<CoreKind>> {
    of_x86(root)
        .or_else(|| by_core(root, &online.and_then(cpus_in)?))
        .or_else(|| Some(facts.kinds.as_ref()?.iter().map(as_reported).collect()))
}

/// The kind of core to which `cpu` belongs.
pub(super) fn kind_of(kinds: &[CoreKind], cpu: u32) -> Option<&CoreKind> {
    kinds.iter().find(|kind| {
        kind.list
            .as_deref()
            .and_then(cpus_in)
            .is_some_and(|cpus| cpus.contains(&cpu))
    })
}

/// The CPUs among `allowed` that belong to the most capable kind; all of `allowed` if no kinds are
/// known.
pub(super) fn most_capable(root: &Root, allowed: &[u32], facts: &MachineFacts) -> Vec<u32> {
    let kinds = kinds(root, Some(&format_list(allowed)), facts).unwrap_or_default();
    let of = |kind: &CoreKind| -> Vec<u32> {
        let cpus = kind.list.as_deref().and_then(cpus_in).unwrap_or_default();
        allowed
            .iter()
            .copied()
            .filter(|cpu| cpus.contains(cpu))
            .collect()
    };
    kinds
        .iter()
        .map(of)
        .find(|cpus| !cpus.is_empty())
        .unwrap_or_else(|| allowed.to_vec())
}

fn of_x86(root: &Root) -> Option<Vec<CoreKind>> {
    let kinds: Vec<CoreKind> = X86_KINDS
        .iter()
        .filter_map(|&(device, name)| {
            let list = root.content(&format!("/sys/devices/{device}/cpus"))?;
            let cpus = count_of(&list).filter(|&cpus| cpus > 0)?;
            Some(CoreKind {
                name: name.into(),
                cpus,
                list: Some(list),
                capacity: None,
            })
        })
        .collect();
    (!kinds.is_empty()).then_some(kinds)
}

/// The identification of a core and its capacity; cores of the same kind agree in both.
type Mark = (Option<String>, Option<u32>);

fn by_core(root: &Root, online: &[u32]) -> Option<Vec<CoreKind>> {
    let mut found: Vec<(Mark, Vec<u32>)> = Vec::new();
    for &cpu in online {
        let mark = mark(root, cpu);
        match found.iter_mut().find(|(known, _)| *known == mark) {
            Some((_, cpus)) => cpus.push(cpu),
            None => found.push((mark, vec![cpu])),
        }
    }
    // If any core has no identification, the number of kinds is unknown.
    if found.is_empty()
        || found
            .iter()
            .any(|((name, capacity), _)| name.is_none() && capacity.is_none())
    {
        return None;
    }
    // Kinds without a capacity keep the order of their first CPU.
    found.sort_by_key(|((_, capacity), _)| std::cmp::Reverse(*capacity));
    let cpus_with_equal_names =
        |name: &Option<String>| found.iter().filter(|((other, _), _)| other == name).count() > 1;
    Some(
        found
            .iter()
            .map(|((name, capacity), cpus)| CoreKind {
                name: match (name, capacity) {
                    (Some(part), Some(capacity)) if cpus_with_equal_names(name) => {
                        format!("{part}, capacity {capacity}")
                    }
                    (Some(part), _) => part.clone(),
                    (None, capacity) => format!("capacity {}", capacity.unwrap_or_default()),
                },
                cpus: cpus.len() as u32,
                list: Some(format_list(cpus)),
                capacity: *capacity,
            })
            .collect(),
    )
}

fn mark(root: &Root, cpu: u32) -> Mark {
    let capacity = root.content(&format!("/sys/devices/system/cpu/cpu{cpu}/cpu_capacity"));
    (
        cpu_arm::part(root, cpu),
        capacity.and_then(|capacity| capacity.parse().ok()),
    )
}

fn as_reported(kind: &CoreClass) -> CoreKind {
    CoreKind {
        name: kind.name.clone(),
        cpus: kind.cpus.len() as u32,
        list: Some(format_list(&kind.cpus)),
        capacity: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::test_root;

    #[test]
    fn threads_of_a_core() {
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
        let found = core(&root, Some(3), "", &MachineFacts::default());
        assert_eq!(
            found,
            Core {
                smt: Some(true),
                threads: Some(2),
                list: Some("3,35".into())
            }
        );
        assert_eq!(
            core(&root, Some(4), "", &MachineFacts::default()),
            Core {
                smt: Some(true),
                threads: None,
                list: None
            }
        );
        let (_folder, nothing) = test_root(&[]);
        assert_eq!(
            core(&nothing, Some(3), "", &MachineFacts::default()),
            Core::default()
        );
        let by_cpuinfo = core(
            &nothing,
            None,
            "siblings\t: 8\ncpu cores\t: 4\n",
            &MachineFacts::default(),
        );
        assert_eq!(
            by_cpuinfo,
            Core {
                smt: Some(true),
                threads: Some(2),
                list: None
            }
        );
        assert_eq!(
            core(
                &nothing,
                None,
                "siblings : 3\ncpu cores : 2\n",
                &MachineFacts::default()
            ),
            Core::default()
        );
    }

    #[test]
    fn parses_isolated_cpus() {
        let isolated_in = |text| {
            let (_folder, root) = test_root(&[("sys/devices/system/cpu/isolated", text)]);
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
            let (_folder, root) = test_root(&[(path, text)]);
            turbo(&root, Some(1))
        };
        assert_eq!(
            turbo_in("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            Some(false)
        );
        assert_eq!(
            turbo_in("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
            Some(true)
        );
        assert_eq!(
            turbo_in("sys/devices/system/cpu/cpufreq/boost", "1\n"),
            Some(true)
        );
        assert_eq!(
            turbo_in("sys/devices/system/cpu/cpu1/cpufreq/boost", "0\n"),
            Some(false)
        );
        assert_eq!(
            turbo_in("sys/devices/system/cpu/cpufreq/boost", "\u{0}\n"),
            None
        );
    }

    fn names(kinds: &[CoreKind]) -> Vec<(&str, &str)> {
        kinds
            .iter()
            .map(|kind| (kind.name.as_str(), kind.list.as_deref().unwrap_or_default()))
            .collect()
    }

    #[test]
    fn cores_for_performance_and_for_efficiency() {
        let (_folder, root) = test_root(&[
            ("sys/devices/cpu_core/cpus", "0-7\n"),
            ("sys/devices/cpu_atom/cpus", "8-15\n"),
            // Favoured cores have a higher capacity than other cores of their kind, which does not
            // make them another kind.
            ("sys/devices/system/cpu/cpu0/cpu_capacity", "1009\n"),
            ("sys/devices/system/cpu/cpu4/cpu_capacity", "1024\n"),
        ]);
        let found =
            kinds(&root, Some("0-15"), &MachineFacts::default()).expect("the kinds are known");
        assert_eq!(names(&found), [("P-core", "0-7"), ("E-core", "8-15")]);
        assert_eq!(
            kind_of(&found, 9).map(|kind| kind.name.as_str()),
            Some("E-core")
        );
        assert_eq!(kind_of(&found, 16), None);
        assert_eq!(
            most_capable(&root, &[3, 7, 8, 12], &MachineFacts::default()),
            [3, 7]
        );
        assert_eq!(
            most_capable(&root, &[8, 12], &MachineFacts::default()),
            [8, 12]
        );
    }

    #[test]
    fn big_and_little_cores() {
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
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.as_str(), *text))
            .collect();
        let (_folder, root) = test_root(&files);
        let found =
            kinds(&root, Some("0-3"), &MachineFacts::default()).expect("the kinds are known");
        assert_eq!(
            names(&found),
            [
                ("Cortex-A77, capacity 1024", "3"),
                ("Cortex-A77, capacity 870", "2"),
                ("Cortex-A55", "0-1")
            ]
        );
        assert_eq!(
            most_capable(&root, &[0, 1, 2], &MachineFacts::default()),
            [2]
        );
        // A CPU without any information may belong to any kind.
        assert_eq!(kinds(&root, Some("0-4"), &MachineFacts::default()), None);
    }

    #[test]
    fn capacities_alone_and_nothing_at_all() {
        let (_folder, root) = test_root(&[
            ("sys/devices/system/cpu/cpu0/cpu_capacity", "1024\n"),
            ("sys/devices/system/cpu/cpu1/cpu_capacity", "1024\n"),
        ]);
        let found =
            kinds(&root, Some("0-1"), &MachineFacts::default()).expect("the kinds are known");
        assert_eq!(names(&found), [("capacity 1024", "0-1")]);
        let (_folder, nothing) = test_root(&[]);
        assert_eq!(kinds(&nothing, Some("0-1"), &MachineFacts::default()), None);
        assert_eq!(kinds(&nothing, None, &MachineFacts::default()), None);
        assert_eq!(
            most_capable(&nothing, &[1, 5], &MachineFacts::default()),
            [1, 5]
        );
    }

    #[test]
    fn system_calls_report_cores() {
        let facts = MachineFacts {
            kinds: Some(vec![
                CoreClass {
                    name: "Performance".into(),
                    cpus: vec![0, 1, 2, 3],
                },
                CoreClass {
                    name: "Efficiency".into(),
                    cpus: vec![4, 5],
                },
            ]),
            ..MachineFacts::default()
        };
        let (_folder, nothing) = test_root(&[]);
        let found = kinds(&nothing, None, &facts).expect("the kinds are known");
        assert_eq!(
            names(&found),
            [("Performance", "0-3"), ("Efficiency", "4-5")]
        );
        assert_eq!(found[0].cpus, 4);
        assert_eq!(most_capable(&nothing, &[3, 4], &facts), [3]);
    }
}
