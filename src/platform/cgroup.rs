//! What a container, or any control group, allows this process, and by how much its time namespace
//! shifts clocks.
//!
//! Sources: time_namespaces(7), [cgroups(7)], [control groups version 2], [CFS bandwidth control]
//! (version 1), proc_pid_mountinfo(5).
//!
//! [cgroups(7)]: https://man7.org/linux/man-pages/man7/cgroups.7.html
//! [control groups version 2]: https://docs.kernel.org/admin-guide/cgroup-v2.html
//! [CFS bandwidth control]: https://docs.kernel.org/scheduler/sched-bwc.html

use super::Root;
use super::root::count_of;
use crate::model::{CpuQuota, Limits, MemoryLimit, TimeNamespace};

/// Where systemd and containers mount the control groups, for where the mounts are not reported.
const USUAL: &str = "/sys/fs/cgroup";
/// Hosts of many containers have many mounts.
const MOUNTS: u64 = 1 << 20;
/// Groups within groups that are looked at.
const DEEPEST: usize = 64;
/// Version 1 writes the largest number of whole pages where there is no limit.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// What a container allows.
#[must_use]
pub fn limits(root: &Root) -> Limits {
    let seen = SeenGroups {
        groups: root.content("/proc/self/cgroup").unwrap_or_default(),
        mounts: root
            .beginning("/proc/self/mountinfo", MOUNTS)
            .unwrap_or_default(),
        root,
    };
    let (cpu, cpuset, memory) = (
        seen.hierarchy("cpu"),
        seen.hierarchy("cpuset"),
        seen.hierarchy("memory"),
    );
    Limits {
        container: container(root, &seen.groups),
        cgroup: cpu.as_ref().map(|hierarchy| hierarchy.version),
        cpu: cpu.and_then(|hierarchy| hierarchy.cpu_quota(root)),
        cpuset: cpuset.and_then(|hierarchy| hierarchy.cpuset(root)),
        memory: memory.and_then(|hierarchy| hierarchy.memory_limit(root)),
        time_namespace: root
            .content("/proc/self/timens_offsets")
            .and_then(|offsets| time_namespace(&offsets)),
    }
}

/// As in `monotonic 86400 500000000` and `boottime -7 0`, a line each: seconds, and nanoseconds to
/// be added.
fn time_namespace(offsets: &str) -> Option<TimeNamespace> {
    let of = |name: &str| -> Option<i64> {
        let line = offsets
            .lines()
            .find_map(|line| line.trim().strip_prefix(name))?;
        let mut numbers = line.split_whitespace().map(str::parse::<i64>);
        let (seconds, nanoseconds) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
    };
    let found = TimeNamespace {
        monotonic_ns: of("monotonic")?,
        boottime_ns: of("boottime")?,
    };
    (found != TimeNamespace::default()).then_some(found)
}

/// The kind of container, by the marks that container programs leave.
fn container(root: &Root, groups: &str) -> Option<String> {
    // "systemd's container interface": the manager writes its name there.
    let named = root
        .name("/run/systemd/container")
        .filter(|name| name.len() <= 40);
    let marked = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
    let grouped = [
        ("/kubepods", "kubernetes"),
        ("/docker", "docker"),
        ("/libpod", "podman"),
        ("/lxc", "lxc"),
    ];
    named
        .or_else(|| {
            marked
                .iter()
                .find(|(path, _)| root.has(path))
                .map(|(_, name)| (*name).to_owned())
        })
        .or_else(|| {
            grouped
                .iter()
                .find(|(part, _)| groups.contains(part))
                .map(|(_, name)| (*name).to_owned())
        })
}

struct SeenGroups<'a> {
    groups: String,
    mounts: String,
    root: &'a Root,
}

/// The groups that bound this process, for one controller.
struct Hierarchy {
    version: u32,
    /// Folders from the process's own group up to the outermost that can be seen, which comes last.
    folders: Vec<String>,
}

impl SeenGroups<'_> {
    fn hierarchy(&self, controller: &str) -> Option<Hierarchy> {
        let mounts = || self.mounts.lines().filter_map(Mount::parse);
        let (version, mount) = mounts()
            .find(|mount| {
                mount.kind == "cgroup"
                    && mount.options.split(',').any(|option| option == controller)
            })
            .map(|mount| (1, mount))
            .or_else(|| Some((2, mounts().find(|mount| mount.kind == "cgroup2")?)))
            .or_else(|| self.usual(controller))?;
        let own = self.own_group(version, controller).unwrap_or("/");
        // A group outside of what is mounted shows as a path that leads upwards.
        let inside = own
            .strip_prefix(mount.root.trim_end_matches('/'))
            .unwrap_or("/");
        let steps: Vec<&str> = inside.split('/').filter(|step| !step.is_empty()).collect();
        let steps = if steps.contains(&"..") {
            &[][..]
        } else {
            &steps[..]
        };
        let folder = |depth: usize| {
            [&[mount.point.as_str()][..], &steps[..depth]]
                .concat()
                .join("/")
        };
        let deepest = steps.len().min(DEEPEST);
        Some(Hierarchy {
            version,
            folders: (0..=deepest).rev().map(folder).collect(),
        })
    }

    /// Without `/proc` the groups may still be where they usually are; the process's own is then
    /// not known.
    fn usual(&self, controller: &str) -> Option<(u32, Mount)> {
        let mount = |point| Mount {
            root: "/".into(),
            point,
            kind: String::new(),
            options: String::new(),
        };
        let first = format!("{USUAL}/{controller}");
        if self.root.has(&format!("{USUAL}/cgroup.controllers")) {
            Some((2, mount(USUAL.to_owned())))
        } else if self.root.has(&format!("{first}/cgroup.procs")) {
            Some((1, mount(first)))
        } else {
            None
        }
    }

    /// Lines of `/proc/self/cgroup`: `4:cpu,cpuacct:/path` for version 1, `0::/path` for version 2.
    fn own_group(&self, version: u32, controller: &str) -> Option<&str> {
        self.groups.lines().find_map(|line| {
            let (number, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            let fits = match version {
                1 => controllers.split(',').any(|name| name == controller),
                _ => number == "0" && controllers.is_empty(),
            };
            fits.then_some(path)
        })
    }
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
        let (place, source) = line.split_once(" - ")?;
        let (mut place, mut source) = (place.split(' ').skip(3), source.split(' '));
        Some(Self {
            root: unescaped(place.next()?),
            point: unescaped(place.next()?),
            kind: source.next()?.to_owned(),
            options: source.nth(1)?.to_owned(),
        })
    }
}

/// Blanks, line ends and backslashes are written as `\040` and their like.
fn unescaped(path: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(path.to_owned(), |path, (code, meant)| {
        path.replace(code, meant)
    })
}

impl Hierarchy {
    fn cpu_quota(&self, root: &Root) -> Option<CpuQuota> {
        let quotas = self.folders.iter().filter_map(|folder| match self.version {
            1 => {
                let read = |name| root.content(&format!("{folder}/cpu.cfs_{name}_us"));
                quota(&read("quota")?, &read("period")?)
            }
            _ => {
                let text = root.content(&format!("{folder}/cpu.max"))?;
                let (allowed, period) = text.split_once(' ')?;
                quota(allowed, period)
            }
        });
        let cpus = least(quotas, self.shows(root, "cpu"))?;
        let throttled_periods = self.nearest(root, "cpu.stat").and_then(|stat| {
            stat.lines()
                .find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse().ok())
        });
        Some(CpuQuota {
            cpus,
            throttled_periods,
        })
    }

    fn memory_limit(&self, root: &Root) -> Option<MemoryLimit> {
        let name = if self.version == 1 {
            "memory.limit_in_bytes"
        } else {
            "memory.max"
        };
        let limits = self.folders.iter().filter_map(|folder| {
            let text = root.content(&format!("{folder}/{name}"))?;
            let limit = if text == "max" {
                u64::MAX
            } else {
                text.parse().ok()?
            };
            Some((limit < NO_LIMIT_BYTES).then_some(limit))
        });
        Some(MemoryLimit {
            bytes: least(limits, self.shows(root, "memory"))?,
        })
    }

    fn cpuset(&self, root: &Root) -> Option<String> {
        let names: &[&str] = match self.version {
            1 => &["cpuset.effective_cpus", "cpuset.cpus"],
            _ => &["cpuset.cpus.effective"],
        };
        let list = names.iter().find_map(|name| self.nearest(root, name))?;
        count_of(&list).map(|_| list)
    }

    fn nearest(&self, root: &Root, name: &str) -> Option<String> {
        self.folders
            .iter()
            .find_map(|folder| root.content(&format!("{folder}/{name}")))
    }

    /// Whether the controller can be seen at all, so that a limit that is nowhere written is known
    /// not to be there: the outermost group of a machine has none of these files in version 2.
    fn shows(&self, root: &Root, controller: &str) -> bool {
        let Some(outermost) = self.folders.last() else {
            return false;
        };
        match self.version {
            1 => root.has(&format!("{outermost}/cgroup.procs")),
            _ => root
                .content(&format!("{outermost}/cgroup.controllers"))
                .is_some_and(|names| names.split_whitespace().any(|name| name == controller)),
        }
    }
}

/// CPUs' worth of time, `Some(None)` for no limit, `None` for what cannot be understood.
fn quota(allowed_us: &str, period_us: &str) -> Option<Option<f64>> {
    let period = period_us
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|period| *period > 0.0 && period.is_finite())?;
    match allowed_us.trim() {
        "max" | "-1" => Some(None),
        allowed => {
            let allowed = allowed.parse::<u64>().ok().filter(|allowed| *allowed > 0)?;
            Some(Some(allowed as f64 / period))
        }
    }
}

/// The least of the limits of all groups. `None` where none was understood, unless it is `known`
/// that there is none.
fn least<T: PartialOrd>(limits: impl Iterator<Item = Option<T>>, known: bool) -> Option<Option<T>> {
    limits.fold(known.then_some(None), |least, limit| {
        match (least.flatten(), limit) {
            (Some(least), Some(limit)) => Some(Some(if limit < least { limit } else { least })),
            (least, limit) => Some(least.or(limit)),
        }
    })
}

#[cfg(test)]
mod tests;
