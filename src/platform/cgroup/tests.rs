//! Tests the limits of control groups in folders that imitate machines.

use proptest::prelude::*;

use super::*;
use crate::platform::tests::test_root;

const V2_MOUNT: &str =
    "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

fn found(files: &[(&str, &str)]) -> Limits {
    let (_folder, root) = test_root(files);
    limits(&root)
}

#[test]
fn smallest_quota_of_groups_counts() {
    let found = found(&[
        ("proc/self/mountinfo", V2_MOUNT),
        ("proc/self/cgroup", "0::/box/inner\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory\n"),
        ("sys/fs/cgroup/box/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/box/inner/cpu.max", "max 100000\n"),
        (
            "sys/fs/cgroup/box/inner/cpu.stat",
            "usage_usec 5\nnr_periods 10\nnr_throttled 3\n",
        ),
        ("sys/fs/cgroup/box/memory.max", "134217728\n"),
        ("sys/fs/cgroup/box/cpuset.cpus.effective", "0-1\n"),
    ]);
    assert_eq!(found.cgroup, Some(2));
    assert_eq!(
        found.cpu,
        Some(CpuQuota {
            cpus: Some(1.5),
            period_ns: Some(100_000_000),
            burst_ns: None,
            throttled_periods: Some(3)
        })
    );
    assert_eq!(
        found.memory,
        Some(MemoryLimit {
            bytes: Some(128 << 20)
        })
    );
    assert_eq!(found.cpuset.as_deref(), Some("0-1"));
    assert_eq!(found.container, None);
}

#[test]
fn time_namespace_shifts_clocks() {
    let reported = |offsets| found(&[("proc/self/timens_offsets", offsets)]).time_namespace;
    assert_eq!(
        reported("monotonic           0         0\nboottime            0         0\n"),
        None
    );
    let shifted = TimeNamespace {
        monotonic_ns: 86_400_500_000_000,
        boottime_ns: -6_999_999_999,
    };
    assert_eq!(
        reported("monotonic 86400 500000000\nboottime -7 1\n"),
        Some(shifted)
    );
    assert_eq!(
        reported("monotonic 9223372036854775807 0\nboottime 0 0\n"),
        None,
        "no such time"
    );
    assert_eq!(found(&[]).time_namespace, None);
}

#[test]
fn no_limit_differs_from_unknown() {
    let mounted = [
        ("proc/self/mountinfo", V2_MOUNT),
        ("proc/self/cgroup", "0::/\n"),
    ];
    let unlimited = found(
        &[
            &mounted[..],
            &[("sys/fs/cgroup/cgroup.controllers", "cpu memory\n")],
        ]
        .concat(),
    );
    assert_eq!(unlimited.cpu, Some(CpuQuota::default()));
    assert_eq!(unlimited.memory, Some(MemoryLimit::default()));
    // The controllers may be mounted as version 1 at a path that is not visible.
    let elsewhere = found(
        &[
            &mounted[..],
            &[("sys/fs/cgroup/cgroup.controllers", "io\n")],
        ]
        .concat(),
    );
    assert_eq!((elsewhere.cpu, elsewhere.memory), (None, None));
    assert_eq!(found(&[]), Limits::default());
}

#[test]
fn version_1_with_own_group() {
    let found = found(&[
        (
            "proc/self/mountinfo",
            "40 31 0:29 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
             41 31 0:32 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
        ),
        (
            "proc/self/cgroup",
            "5:memory:/docker/ab\n4:cpu,cpuacct:/docker/ab\n0::/docker/ab\n",
        ),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_burst_us", "20000\n"),
        (
            "sys/fs/cgroup/memory/memory.limit_in_bytes",
            "9223372036854771712\n",
        ),
    ]);
    assert_eq!(found.cgroup, Some(1));
    assert_eq!(
        found.cpu,
        Some(CpuQuota {
            cpus: Some(0.5),
            period_ns: Some(100_000_000),
            burst_ns: Some(20_000_000),
            throttled_periods: None
        })
    );
    assert_eq!(found.memory, Some(MemoryLimit { bytes: None }));
    assert_eq!(found.container.as_deref(), Some("docker"));
}

#[test]
fn ignores_groups_outside_the_mount() {
    let found = found(&[
        ("proc/self/mountinfo", V2_MOUNT),
        ("proc/self/cgroup", "0::/../../../other\n"),
        ("sys/fs/cgroup/cpu.max", "max 100000\n"),
        ("sys/other/cpu.max", "1000 100000\n"),
        ("other/cpu.max", "1000 100000\n"),
    ]);
    assert_eq!(found.cpu, Some(CpuQuota::default()));
}

/// Of nested groups the one with the least share of time limits, not the one with the least time.
#[test]
fn period_is_that_of_tightest_group() {
    let limited = |outer: &str, inner: &str| {
        let quota = found(&[
            ("proc/self/mountinfo", V2_MOUNT),
            ("proc/self/cgroup", "0::/box/inner\n"),
            ("sys/fs/cgroup/box/cpu.max", outer),
            ("sys/fs/cgroup/box/cpu.max.burst", "30000\n"),
            ("sys/fs/cgroup/box/inner/cpu.max", inner),
            ("sys/fs/cgroup/box/inner/cpu.max.burst", "0\n"),
        ]);
        let quota = quota.cpu.expect("a quota");
        (quota.cpus, quota.period_ns, quota.burst_ns)
    };
    let (second, tenth) = (Some(1_000_000_000), Some(100_000_000));
    let burst = Some(30_000_000);
    assert_eq!(
        limited("400000 1000000", "50000 100000"),
        (Some(0.4), second, burst)
    );
    assert_eq!(
        limited("400000 1000000", "30000 100000"),
        (Some(0.3), tenth, None)
    );
    assert_eq!(
        limited("500000 1000000", "50000 100000"),
        (Some(0.5), tenth, None)
    );
    assert_eq!(
        limited("400000 1000000", "max 100000"),
        (Some(0.4), second, burst)
    );
}

#[test]
fn identifies_containers() {
    for (files, kind) in [
        (
            &[("run/systemd/container", "systemd-nspawn\n")][..],
            "systemd-nspawn",
        ),
        (&[("run/.containerenv", "")], "podman"),
        (
            &[(".dockerenv", ""), ("proc/self/cgroup", "0::/\n")],
            "docker",
        ),
        (
            &[("proc/self/cgroup", "0::/kubepods.slice/x\n")],
            "kubernetes",
        ),
    ] {
        assert_eq!(found(files).container.as_deref(), Some(kind));
    }
}

#[test]
fn malformed_limit_is_unknown() {
    for malformed in [
        "",
        "max",
        "a b",
        "-5 100000",
        "0 100000",
        "1000 0",
        "1000 -1",
        "1000 nan",
        "\u{0}\u{0}",
    ] {
        let found = found(&[
            ("proc/self/mountinfo", V2_MOUNT),
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/cgroup.controllers", "io"),
            ("sys/fs/cgroup/cpu.max", malformed),
        ]);
        assert_eq!(found.cpu, None, "{malformed:?}");
    }
}

proptest! {
    #[test]
    fn parser_never_panics(mounts in any::<String>(), groups in any::<String>(), file in any::<String>()) {
        for mounts in [mounts.clone(), format!("{V2_MOUNT}{mounts}"), format!("1 2 3 {mounts} - cgroup {mounts}")] {
            let (_folder, root) = test_root(&[
                ("proc/self/mountinfo", mounts.as_str()),
                ("proc/self/cgroup", &format!("0::{groups}")),
                ("sys/fs/cgroup/cpu.max", &file),
                ("sys/fs/cgroup/memory.max", &file),
            ]);
            let _ = limits(&root);
        }
    }
}
