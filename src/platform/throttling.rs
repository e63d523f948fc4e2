//! Reports for how long CPU quotas kept the control groups of this process from running
//! ([control groups version 2]).
//!
//! [control groups version 2]: https://docs.kernel.org/admin-guide/cgroup-v2.html

use std::fs;
use std::path::PathBuf;

use super::Root;
use super::cgroup::Groups;

/// `cpu.stat` of the visible groups of this process.
pub fn quota_files(root: &Root) -> Vec<PathBuf> {
    let file = |folder: &String| root.file(&format!("{folder}/cpu.stat"));
    Groups::read(root).folders.iter().filter_map(file).collect()
}

/// The time in nanoseconds for which quotas kept the groups of these files from running, summed over
/// CPUs and groups.
pub fn throttled_ns(files: &[PathBuf]) -> u64 {
    let read = |file: &PathBuf| {
        let stat = fs::read_to_string(file).ok()?;
        let us = stat
            .lines()
            .find_map(|line| line.strip_prefix("throttled_usec "))?;
        us.parse::<u64>().ok()?.checked_mul(1_000)
    };
    files.iter().filter_map(read).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::tests::test_root;

    #[test]
    fn counts_quotas_of_all_groups() {
        let (_folder, root) = test_root(&[
            ("proc/self/cgroup", "0::/box/inner\n"),
            ("sys/fs/cgroup/box/inner/cpu.stat", "throttled_usec 2\n"),
            (
                "sys/fs/cgroup/box/cpu.stat",
                "usage_usec 9\nthrottled_usec 5\n",
            ),
        ]);
        assert_eq!(throttled_ns(&quota_files(&root)), 7_000);
    }
}
