//! Tests the limits of control groups in folders that imitate machines.

use super::*;
use crate::platform::tests::test_root;

fn found(files: &[(&str, &str)]) -> Limits {
    let (_folder, root) = test_root(files);
    limits(&root)
}

#[test]
fn tightest_quota_of_groups_counts() {
    let limited = |outer: &str, inner: &str| {
        let quota = found(&[
            ("proc/self/cgroup", "0::/box/inner\n"),
            ("sys/fs/cgroup/box/cpu.max", outer),
            ("sys/fs/cgroup/box/inner/cpu.max", inner),
        ]);
        let quota = quota.cpu.expect("a quota");
        (quota.cpus, quota.period_ns)
    };
    let (second, tenth) = (Some(1_000_000_000), Some(100_000_000));
    for (outer, inner, expected) in [
        ("150000 100000\n", "max 100000\n", (Some(1.5), tenth)),
        ("400000 1000000\n", "50000 100000\n", (Some(0.4), second)),
        ("400000 1000000\n", "30000 100000\n", (Some(0.3), tenth)),
    ] {
        assert_eq!(limited(outer, inner), expected, "{outer} {inner}");
    }
}

#[cfg(unix)]
#[test]
fn time_namespace_shifts_clocks() {
    let reported = parse_time_namespace;
    assert_eq!(reported("monotonic 0 0\nboottime 0 0\n"), None);
    let shifted = TimeNamespace {
        monotonic_ns: 86_400_500_000_000,
        boottime_ns: -6_999_999_999,
    };
    assert_eq!(
        reported("monotonic 86400 500000000\nboottime -7 1\n"),
        Some(shifted)
    );
    let no_such_time = "monotonic 9223372036854775807 0\nboottime 0 0\n";
    assert_eq!(reported(no_such_time), None);
    let of_children = ("proc/self/timens_offsets", "monotonic 5 0\nboottime 5 0");
    let (folder, root) = test_root(&[of_children, ("proc/self/ns/x", "")]);
    for name in ["time", "time_for_children"] {
        let link = folder.path().join("proc/self/ns").join(name);
        std::os::unix::fs::symlink(name, link).unwrap();
    }
    assert_eq!(limits(&root).time_namespace, None);
}

/// Without a visible quota there is none only if no group is hidden.
#[test]
fn hidden_quota_is_unknown() {
    // A mount of a namespace further out.
    let outer = ("proc/self/mountinfo", "1 1 0:1 /.. /sys/fs/cgroup");
    let events = ("sys/fs/cgroup/cgroup.events", "populated 1\n");
    for (group, controllers, more, is_known) in [
        ("0::/\n", "cpu memory\n", None, true),
        ("0::/\n", "io\n", None, false),
        ("0::/\n", "cpu\n", Some(events), false),
        ("0::/../other\n", "cpu\n", None, false),
        ("0::/not/there\n", "cpu\n", None, false),
        ("4:cpu:/box\n", "cpu\n", None, false),
        ("0::/\n", "cpu\n", Some(outer), false),
    ] {
        let mut files = vec![
            ("proc/self/cgroup", group),
            ("sys/fs/cgroup/cgroup.controllers", controllers),
        ];
        files.extend(more);
        let none = is_known.then(CpuQuota::default);
        assert_eq!(found(&files).cpu, none, "{group} {controllers} {more:?}");
    }
    for malformed in ["", "max", "a b", "-5 100000", "0 100000", "1000 0", "1 nan"] {
        assert_eq!(found(&[("sys/fs/cgroup/cpu.max", malformed)]).cpu, None);
    }
}
