//! Reports the limits that a container or control group imposes on this process, and the offsets of
//! clocks in its time namespace.
//!
//! Sources: time_namespaces(7), [cgroups(7)], [control groups version 2], [CFS bandwidth control]
//! (version 1), proc_pid_mountinfo(5).
//!
//! [cgroups(7)]: https://man7.org/linux/man-pages/man7/cgroups.7.html
//! [control groups version 2]: https://docs.kernel.org/admin-guide/cgroup-v2.html
//! [CFS bandwidth control]: https://docs.kernel.org/scheduler/sched-bwc.html

use super::Root;
use super::root::{cpu_count, name_by_mark};
use crate::model::{CpuQuota, Limits, MemoryLimit, TimeNamespace};

/// Maximum size of the list of mounts, in bytes: hosts of many containers have many mounts.
const MAX_MOUNTS_BYTES: u64 = 1 << 20;
/// A limit of at least this many bytes is no limit: version 1 writes the largest number of whole
/// pages.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// The limits of this process.
pub fn limits(root: &Root) -> Limits {
    let visible = VisibleGroups::read(root);
    let (cpu, cpuset, memory) = (
        visible.find_hierarchy("cpu"),
        visible.find_hierarchy("cpuset"),
        visible.find_hierarchy("memory"),
    );
    Limits {
        container: container(root, &visible.groups),
        cgroup: cpu.as_ref().map(|hierarchy| hierarchy.version),
        cpu: cpu.and_then(|hierarchy| hierarchy.cpu_quota(root)),
        cpuset: cpuset.and_then(|hierarchy| hierarchy.cpuset(root)),
        memory: memory.and_then(|hierarchy| hierarchy.memory_limit(root)),
        time_namespace: root
            .read_text("/proc/self/timens_offsets")
            .and_then(|offsets| parse_time_namespace(&offsets)),
    }
}

/// Parses lines such as `monotonic 86400 500000000` and `boottime -7 0`: the seconds and the
/// nanoseconds that are added to a clock.
fn parse_time_namespace(offsets: &str) -> Option<TimeNamespace> {
    let offset_ns = |name: &str| -> Option<i64> {
        let line = offsets
            .lines()
            .find_map(|line| line.trim().strip_prefix(name))?;
        let mut numbers = line.split_whitespace().map(str::parse::<i64>);
        let (seconds, nanoseconds) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
    };
    let found = TimeNamespace {
        monotonic_ns: offset_ns("monotonic")?,
        boottime_ns: offset_ns("boottime")?,
    };
    (found != TimeNamespace::default()).then_some(found)
}

/// The kind of container, identified by the files and groups of container programs.
fn container(root: &Root, groups: &str) -> Option<String> {
    // A container manager writes its name to this file ("systemd's container interface").
    let by_manager = root
        .read_name("/run/systemd/container")
        .filter(|name| name.len() <= 40);
    let marker_files = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
    let group_names = [
        ("/kubepods", "kubernetes"),
        ("/docker", "docker"),
        ("/libpod", "podman"),
        ("/lxc", "lxc"),
    ];
    by_manager.or_else(|| {
        name_by_mark(&marker_files, |path| root.exists(path))
            .or_else(|| name_by_mark(&group_names, |part| groups.contains(part)))
            .map(str::to_owned)
    })
}

/// The control groups of the process, and the mounts.
pub struct VisibleGroups {
    pub groups: String,
    mounts: String,
}

/// The control groups that limit this process, for one controller.
pub struct Hierarchy {
    version: u32,
    /// Folders from the group of the process up to the outermost visible group.
    pub folders: Vec<String>,
}

impl VisibleGroups {
    /// Reads the groups and the mounts of this process.
    pub fn read(root: &Root) -> Self {
        Self {
            groups: root.read_text("/proc/self/cgroup").unwrap_or_default(),
            mounts: root
                .read_start("/proc/self/mountinfo", MAX_MOUNTS_BYTES)
                .unwrap_or_default(),
        }
    }

    /// Finds the groups of a controller: its version 1 hierarchy if mounted, otherwise version 2.
    pub fn find_hierarchy(&self, controller: &str) -> Option<Hierarchy> {
        let mounts = || self.mounts.lines().filter_map(Mount::parse);
        let (version, mount) = mounts()
            .find(|mount| {
                mount.kind == "cgroup"
                    && mount.options.split(',').any(|option| option == controller)
            })
            .map(|mount| (1, mount))
            .or_else(|| Some((2, mounts().find(|mount| mount.kind == "cgroup2")?)))?;
        let process_group = own_group(&self.groups, version, controller).unwrap_or("/");
        // The path of a group outside the mount starts with `/..`.
        let below_mount = process_group
            .strip_prefix(mount.root.trim_end_matches('/'))
            .unwrap_or("/");
        let components: Vec<&str> = below_mount
            .split('/')
            .filter(|name| !name.is_empty())
            .collect();
        let components = if components.contains(&"..") {
            &[][..]
        } else {
            &components[..]
        };
        let folder = |depth: usize| {
            [&[mount.point.as_str()][..], &components[..depth]]
                .concat()
                .join("/")
        };
        Some(Hierarchy {
            version,
            folders: (0..=components.len()).rev().map(folder).collect(),
        })
    }
}

/// Finds the path of the process's group in the text of `/proc/self/cgroup`: `4:cpu,cpuacct:/path`
/// in version 1, `0::/path` in version 2.
fn own_group<'a>(groups: &'a str, version: u32, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let (number, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let is_searched = match version {
            1 => controllers.split(',').any(|name| name == controller),
            _ => number == "0" && controllers.is_empty(),
        };
        is_searched.then_some(path)
    })
}

/// A line of `/proc/self/mountinfo`.
struct Mount {
    root: String,
    point: String,
    kind: String,
    options: String,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let (location, source) = line.split_once(" - ")?;
        let (mut location, mut source) = (location.split(' ').skip(3), source.split(' '));
        Some(Self {
            root: unescape(location.next()?),
            point: unescape(location.next()?),
            kind: source.next()?.to_owned(),
            options: source.nth(1)?.to_owned(),
        })
    }
}

/// Replaces the octal escapes of blanks, tabs, line ends and backslashes, such as `\040`.
fn unescape(path: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(path.to_owned(), |path, (code, character)| {
        path.replace(code, character)
    })
}

impl Hierarchy {
    /// The CPU quota of one group; `Some(None)` for no quota, `None` if it cannot be read.
    fn quota_in(&self, root: &Root, folder: &str) -> Option<Option<CpuQuota>> {
        let read = |name| root.read_text(&format!("{folder}/cpu.{name}"));
        if self.version == 1 {
            let [quota, period] = [read("cfs_quota_us")?, read("cfs_period_us")?];
            return parse_quota(&quota, &period, read("cfs_burst_us"));
        }
        let text = read("max")?;
        let (allowed, period) = text.split_once(' ')?;
        parse_quota(allowed, period, read("max.burst"))
    }

    fn cpu_quota(&self, root: &Root) -> Option<CpuQuota> {
        let quotas = self
            .folders
            .iter()
            .filter_map(|folder| self.quota_in(root, folder));
        let quota = smallest_limit(quotas, self.has_controller(root, "cpu"))?;
        let throttled_periods = self.read_nearest(root, "cpu.stat").and_then(|stat| {
            stat.lines()
                .find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse().ok())
        });
        Some(CpuQuota {
            throttled_periods,
            ..quota.unwrap_or_default()
        })
    }

    fn memory_limit(&self, root: &Root) -> Option<MemoryLimit> {
        let name = if self.version == 1 {
            "memory.limit_in_bytes"
        } else {
            "memory.max"
        };
        let limits = self.folders.iter().filter_map(|folder| {
            let text = root.read_text(&format!("{folder}/{name}"))?;
            let limit = if text == "max" {
                u64::MAX
            } else {
                text.parse().ok()?
            };
            Some((limit < NO_LIMIT_BYTES).then_some(limit))
        });
        Some(MemoryLimit {
            bytes: smallest_limit(limits, self.has_controller(root, "memory"))?,
        })
    }

    fn cpuset(&self, root: &Root) -> Option<String> {
        let names: &[&str] = match self.version {
            1 => &["cpuset.effective_cpus", "cpuset.cpus"],
            _ => &["cpuset.cpus.effective"],
        };
        let list = names
            .iter()
            .find_map(|name| self.read_nearest(root, name))?;
        cpu_count(&list).map(|_| list)
    }

    /// Reads a file from the innermost group that has it.
    fn read_nearest(&self, root: &Root, name: &str) -> Option<String> {
        self.folders
            .iter()
            .find_map(|folder| root.read_text(&format!("{folder}/{name}")))
    }

    /// Whether the controller is visible at all, so that a missing file means no limit: in version
    /// 2 the outermost group of a machine has none of these files.
    fn has_controller(&self, root: &Root, controller: &str) -> bool {
        let Some(outermost) = self.folders.last() else {
            return false;
        };
        match self.version {
            1 => root.exists(&format!("{outermost}/cgroup.procs")),
            _ => root
                .read_text(&format!("{outermost}/cgroup.controllers"))
                .is_some_and(|names| names.split_whitespace().any(|name| name == controller)),
        }
    }
}

/// The limit; `Some(None)` for no limit, `None` if a value cannot be parsed.
fn parse_quota(
    allowed_us: &str,
    period_us: &str,
    burst_us: Option<String>,
) -> Option<Option<CpuQuota>> {
    let period = period_us
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|period| *period > 0.0 && period.is_finite())?;
    match allowed_us.trim() {
        "max" | "-1" => Some(None),
        allowed => {
            let allowed = allowed.parse::<u64>().ok().filter(|allowed| *allowed > 0)?;
            let burst_us = burst_us.and_then(|text| text.trim().parse::<u64>().ok());
            Some(Some(CpuQuota {
                cpus: Some(allowed as f64 / period),
                period_ns: Some((1e3 * period) as u64),
                burst_ns: burst_us
                    .filter(|burst| *burst > 0)
                    .map(|us| us.saturating_mul(1_000)),
                throttled_periods: None,
            }))
        }
    }
}

/// The smallest limit of all groups. `None` if no limit could be parsed, unless the absence of a
/// limit is `known`.
fn smallest_limit<T: PartialOrd>(
    limits: impl Iterator<Item = Option<T>>,
    known: bool,
) -> Option<Option<T>> {
    limits.fold(known.then_some(None), |least, limit| {
        match (least.flatten(), limit) {
            (Some(least), Some(limit)) => Some(Some(if limit < least { limit } else { least })),
            (least, limit) => Some(least.or(limit)),
        }
    })
}

#[cfg(test)]
mod tests;
