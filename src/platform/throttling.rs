//! Reports for how long the control groups of this process kept it from running: CPU quotas, whose
//! time the kernel counts, and freezers and quotas of groups that are not visible.
//!
//! Sources: [control groups version 2], [CFS bandwidth control] (version 1), cgroup_namespaces(7).
//!
//! [control groups version 2]: https://docs.kernel.org/admin-guide/cgroup-v2.html
//! [CFS bandwidth control]: https://docs.kernel.org/scheduler/sched-bwc.html

use std::fs::File;

use timers::os::files;

use super::Root;
use super::cgroup::VisibleGroups;

/// The first namespace of control groups, in which the paths of groups are complete.
/// *Definition*: `PROC_CGROUP_INIT_INO` in the kernel's `proc_ns.h`.
const FIRST_NAMESPACE: &str = "cgroup:[4026531835]";

/// The CPU quotas of the control groups of this process.
#[derive(Debug, Default)]
pub struct Throttling {
    /// The groups of this process.
    groups: String,
    /// The visible groups with a quota.
    folders: Vec<String>,
    /// Their `cpu.stat`. The files stay open, because opening them
    /// takes longer than reading them.
    stats: Vec<File>,
    /// The sum of the counts of `stats` when they were read last.
    last_ns: u64,
    total_ns: u64,
    /// Whether a freezer or a quota may stop this process although nothing here shows it: the
    /// groups of a container are not all visible, and since Linux 6.1 the freezer of version 1
    /// freezes a thread that sleeps without waking it.
    pub may_be_hidden: bool,
}

impl Throttling {
    /// Reads the groups of this process. Returns whether it was moved since the last call.
    pub fn refresh(&mut self, root: &Root) -> bool {
        let visible = VisibleGroups::read(root);
        let cpu = visible.find_hierarchy("cpu");
        let folders = cpu.iter().flat_map(|cpu| cpu.folders_with_quota(root));
        let folders: Vec<String> = folders.collect();
        // Between the last count of old files and the first of new ones, a quota may stop this thread
        // unnoticed.
        if self.folders != folders {
            let open = |folder: &String| File::open(root.file(&format!("{folder}/cpu.stat"))?).ok();
            let stats = folders.iter().filter_map(open).collect();
            self.count();
            (self.stats, self.folders) = (stats, folders);
            self.last_ns = self.sum_ns();
        }
        let namespace = root
            .file("/proc/self/ns/cgroup")
            .and_then(|path| std::fs::read_link(path).ok());
        let is_first = namespace.is_some_and(|name| name.as_os_str() == FIRST_NAMESPACE);
        // A kernel without control groups, and other systems, have neither quotas nor freezers.
        let has_groups =
            !visible.groups.is_empty() || (root.file("/").is_some() && !root.exists("/proc/self"));
        self.may_be_hidden =
            has_groups && !(is_first && visible.has_all_quotas() && !visible.has_old_freezer());
        let is_moved = self.groups != visible.groups;
        self.groups = visible.groups;
        is_moved
    }

    /// The time, in nanoseconds since the first call of `refresh`, for which quotas kept the groups from
    /// running, summed over CPUs and groups.
    pub fn count(&mut self) -> u64 {
        let now_ns = self.sum_ns();
        let passed_ns = now_ns.saturating_sub(std::mem::replace(&mut self.last_ns, now_ns));
        self.total_ns = self.total_ns.saturating_add(passed_ns);
        self.total_ns
    }

    fn sum_ns(&self) -> u64 {
        let read = |file: &File| {
            // The kernel writes some lines of one number each, less than a third of this.
            let mut bytes = [0; 1024];
            let length = files::read_from_start(file, &mut bytes).ok()?;
            parse_throttled_ns(std::str::from_utf8(&bytes[..length]).ok()?)
        };
        self.stats
            .iter()
            .filter_map(read)
            .fold(0, u64::saturating_add)
    }
}

/// Parses `throttled_usec` (version 2) or `throttled_time` in nanoseconds (version 1).
fn parse_throttled_ns(stat: &str) -> Option<u64> {
    [("throttled_usec ", 1_000), ("throttled_time ", 1)]
        .iter()
        .find_map(|(name, unit_ns)| {
            stat.lines()
                .find_map(|line| line.strip_prefix(name))?
                .trim()
                .parse::<u64>()
                .ok()?
                .checked_mul(*unit_ns)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::tests::test_root;

    #[test]
    fn counts_quotas_of_all_groups() {
        let mounts = [
            "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            "31 23 0:28 / /sys/fs/cgroup rw - cgroup cgroup rw,cpu\n",
        ];
        let quotas = [
            ["cpu.max", "150000 100000\n", "max 100000\n"],
            ["cpu.cfs_quota_us", "150000\n", "-1\n"],
        ];
        let groups = ["0::/box/inner\n", "4:cpu:/box/inner\n"];
        for (version, [unit, count]) in [["throttled_usec", "5000"], ["throttled_time", "5000000"]]
            .into_iter()
            .enumerate()
        {
            let [name, quota, none] = quotas[version];
            let outer = format!("sys/fs/cgroup/box/{name}");
            let inner = format!("sys/fs/cgroup/box/inner/{name}");
            let (_folder, root) = test_root(&[
                ("proc/self/mountinfo", mounts[version]),
                ("proc/self/cgroup", groups[version]),
                (&outer, quota),
                (&inner, none),
                ("sys/fs/cgroup/box/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/box/inner/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/box/cpu.stat", &format!("{unit} 7\n")),
            ]);
            let mut throttling = Throttling::default();
            assert!(throttling.refresh(&root), "version {}", version + 1);
            assert_eq!(throttling.count(), 0);
            // A namespace that is not the first one may hide quotas.
            assert!(throttling.may_be_hidden);
            let stat = root.file("/sys/fs/cgroup/box/cpu.stat").expect("a root");
            std::fs::write(stat, format!("nr_throttled 3\n{unit} {count}\n")).expect("it is there");
            let expected_ns = if version == 0 { 4_993_000 } else { 4_999_993 };
            assert_eq!(throttling.count(), expected_ns, "version {}", version + 1);
            assert!(!throttling.refresh(&root));
            assert_eq!(throttling.count(), expected_ns);
        }
    }

    #[cfg(unix)]
    #[test]
    fn complete_groups_hide_nothing() {
        for (mount, groups, is_hidden) in [
            ("/ /c rw - cgroup2 cgroup2 rw", "0::/box\n", false),
            ("/box /c rw - cgroup2 cgroup2 rw", "0::/box\n", true),
            ("/ /c rw - cgroup cgroup rw,io", "3:cpu:/box\n", true),
            ("/ /c rw - cgroup cgroup rw,io", "3:cpu:/\n0::/\n", false),
            (
                "/ /c rw - cgroup2 cgroup2 rw",
                "7:freezer:/\n0::/box\n",
                false,
            ),
            (
                "/ /c rw - cgroup2 cgroup2 rw",
                "7:freezer:/box\n0::/\n",
                true,
            ),
        ] {
            let (folder, root) = test_root(&[
                ("proc/self/mountinfo", &format!("31 23 0:28 {mount}\n")),
                ("proc/self/cgroup", groups),
                ("proc/self/ns/other", "one"),
            ]);
            let link = folder.path().join("proc/self/ns/cgroup");
            std::os::unix::fs::symlink(FIRST_NAMESPACE, link).expect("a link");
            let mut throttling = Throttling::default();
            throttling.refresh(&root);
            assert_eq!(throttling.may_be_hidden, is_hidden, "{mount} {groups}");
        }
    }
}
