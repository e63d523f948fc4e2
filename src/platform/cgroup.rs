//! Reports the CPU quota of the control groups of this process ([control groups version 2]), and
//! the offsets of clocks in its time namespace (time_namespaces(7)).
//!
//! [control groups version 2]: https://docs.kernel.org/admin-guide/cgroup-v2.html

use super::Root;
use estimators::model::{CpuQuota, Limits, TimeNamespace};

/// The folder of the outermost visible group.
const GROUPS: &str = "/sys/fs/cgroup";

/// The limits of this process.
pub fn limits(root: &Root) -> Limits {
    Limits {
        cpu: Groups::read(root).quota(root),
        time_namespace: time_namespace(root),
    }
}

/// The offsets of the clocks of this process. The file has those of its future children, whose
/// namespace may be another one.
fn time_namespace(root: &Root) -> Option<TimeNamespace> {
    let link = |name| root.file(name)?.read_link().ok();
    let is_own = link("/proc/self/ns/time")? == link("/proc/self/ns/time_for_children")?;
    let offsets = root.read_text("/proc/self/timens_offsets")?;
    parse_time_namespace(&offsets).filter(|_| is_own)
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

/// The control groups of the process.
pub struct Groups {
    /// The folders of the visible groups, from that of the process outwards; none if that is hidden.
    pub folders: Vec<String>,
    /// Whether the quotas of all groups are visible. In a container the outermost visible group is
    /// not that of the whole machine, which has no events.
    is_complete: bool,
}

impl Groups {
    /// Reads the groups of this process.
    pub fn read(root: &Root) -> Self {
        let text = root.read_text("/proc/self/cgroup").unwrap_or_default();
        // The path of a group that is not visible begins with `/..`, or its folder does not exist. A
        // mount that does not begin at the group of the namespace has other groups below it.
        let own = text.lines().find_map(|line| line.strip_prefix("0::/"));
        let own = own.filter(|own| {
            !own.contains("..")
                && root.exists(&format!("{GROUPS}/{own}"))
                && root.mounted_at(GROUPS).is_none_or(|group| group == "/")
        });
        let mut folders = Vec::from_iter(own.map(|_| GROUPS.to_owned()));
        for name in own.unwrap_or_default().split_terminator('/') {
            folders.insert(0, format!("{}/{name}", folders[0]));
        }
        let controllers = root.read_text(&format!("{GROUPS}/cgroup.controllers"));
        let has_cpu = controllers.is_some_and(|names| names.split(' ').any(|name| name == "cpu"));
        Self {
            is_complete: own.is_some()
                && has_cpu
                && !root.exists(&format!("{GROUPS}/cgroup.events")),
            folders,
        }
    }

    /// The tightest quota; `None` if there may be one that is not visible.
    fn quota(&self, root: &Root) -> Option<CpuQuota> {
        let files = self
            .folders
            .iter()
            .map(|folder| format!("{folder}/cpu.max"));
        let quotas = files.filter_map(|file| parse_quota(&root.read_text(&file)?));
        let tightest = quotas.min_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        tightest.or_else(|| self.is_complete.then(CpuQuota::default))
    }
}

/// Parses the time and the period in microseconds; `None` for `max`.
fn parse_quota(text: &str) -> Option<CpuQuota> {
    let (allowed, period) = text.split_once(' ')?;
    let [allowed, period] = [allowed, period].map(|us| us.parse::<u64>().unwrap_or(0));
    (allowed > 0 && period > 0).then(|| CpuQuota {
        cpus: Some(allowed as f64 / period as f64),
        period_ns: Some(period.saturating_mul(1_000)),
    })
}

#[cfg(test)]
mod tests;
