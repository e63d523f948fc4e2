//! Reads what the kernel counts while the machine runs: CPU time and load (proc(5)). lxcfs covers
//! these files by others with estimates for the container, which are not read.

use super::Root;
use estimators::model::Load;

/// Maximum number of bytes read from `/proc/stat`. The file grows with the number of CPUs, which
/// come first with about 80 bytes each, and of interrupt sources; the total number of interrupts
/// precedes the numbers of the sources.
const MAX_STAT_BYTES: u64 = 1 << 20;

/// The unit in which the kernel counts CPU time, in nanoseconds: USER_HZ is 100 per second.
const TICK_NS: u64 = 10_000_000;

/// The time of a CPU since the start of the machine, in ticks of USER_HZ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTicks {
    /// The number of the CPU; `None` for all CPUs together.
    pub cpu: Option<u32>,
    /// Idle time, including the wait for input and output.
    pub idle: u64,
    /// Steal time: the CPU had work, but the hypervisor did not run it.
    pub stolen: u64,
    /// Total time, including steal time.
    pub total: u64,
}

impl CpuTicks {
    /// Parses a line `cpu …` or `cpuN …` of `/proc/stat`: user, nice, system, idle, iowait, irq,
    /// softirq, steal, and the guest times, which are included in user and nice. A line without the
    /// latter is truncated.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let cpu = match words.next()?.strip_prefix("cpu")? {
            "" => None,
            number => Some(number.parse().ok()?),
        };
        let times: Option<Vec<u64>> = words.take(10).map(|time| time.parse().ok()).collect();
        let times: [u64; 10] = times?.try_into().ok()?;
        Some(Self {
            cpu,
            idle: times[3].saturating_add(times[4]),
            stolen: times[7],
            total: times[..8].iter().copied().fold(0, u64::saturating_add),
        })
    }

    /// Reads the times of all CPUs together and of each CPU; empty if they cannot be read.
    pub(super) fn read(root: &Root) -> Vec<Self> {
        let stat = read_stat(root);
        stat.lines().filter_map(Self::parse).collect()
    }

    /// The time in which the CPU was not idle.
    pub(super) fn busy(&self) -> u64 {
        self.total.saturating_sub(self.idle)
    }
}

fn read_stat(root: &Root) -> String {
    read_own(root, "/proc/stat").unwrap_or_default()
}

/// Reads a file of the kernel that no mount covers.
fn read_own(root: &Root, path: &str) -> Option<String> {
    let text = root.read_start(path, MAX_STAT_BYTES);
    text.filter(|_| root.mounted_at(path).is_none())
}

/// Steal time since the start of the machine in nanoseconds, summed over all CPUs; `None` if the
/// kernel does not report it.
pub fn stolen_ns(root: &Root) -> Option<u64> {
    let all = *CpuTicks::read(root).first()?;
    all.stolen.checked_mul(TICK_NS)
}

/// The load averages of the kernel; `None` if they cannot be read.
pub fn load(root: &Root) -> Option<Load> {
    parse_loadavg(&read_own(root, "/proc/loadavg")?)
}

/// The steal time since the start of the machine, as a share of the time in which CPUs had work;
/// `None` if it cannot be read or CPUs never had work.
pub fn steal_share(root: &Root) -> Option<f64> {
    // The first line is the sum over all CPUs.
    let all = *CpuTicks::read(root).first()?;
    (all.busy() > 0).then(|| all.stolen as f64 / all.busy() as f64)
}

fn parse_loadavg(text: &str) -> Option<Load> {
    let one_minute: f64 = text.split_once(' ')?.0.parse().ok()?;
    // A kernel counts the thread that reads the file; gVisor reports zeros only.
    let is_counted = !text.contains(" 0/0 ");
    (one_minute.is_finite() && one_minute >= 0.0 && is_counted).then_some(Load { one_minute })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::tests::test_root;

    const STAT: &str = "cpu  900 10 50 417596 471 20 10 10 7 0\ncpu0 300 0 547 209231 23 0 9 56 7 0\n\
                        cpu12 1 2 3 4\nintr 4711 1 2\ncpux 1 2 3 4 5 6 7 8 9 0\ncpu4 1 2 3 -4 0 0 0 0 0 0\n";

    #[test]
    fn reads_counts_of_the_kernel() {
        let (_folder, root) = test_root(&[("proc/stat", STAT), ("proc/loadavg", "1.13 1.41 0.7")]);
        assert_eq!(stolen_ns(&root), Some(100_000_000));
        let cpus: Vec<_> = CpuTicks::read(&root)
            .iter()
            .map(|it| (it.cpu, it.idle, it.stolen))
            .collect();
        assert_eq!(cpus, [(None, 418_067, 10), (Some(0), 209_254, 56)]);
        // 10 of 1000 ticks with work are steal time; idle time and guest times do not count.
        assert_eq!(steal_share(&root), Some(0.01));
        assert_eq!(load(&root), Some(Load { one_minute: 1.13 }));
        let covered = ("proc/self/mountinfo", "1 1 0:1 / /proc/stat");
        let (_folder, root) = test_root(&[("proc/stat", STAT), covered]);
        assert_eq!(steal_share(&root), None);
    }

    #[test]
    fn malformed_counts_are_unknown() {
        for stat in [
            "",
            "cpu",
            "cpu 1 2 3\nintr x\n",
            "cpu 0 0 0 5 0 0 0 0 0 0\n",
            "cpu 1 1 1 1 1 1 1 1",
        ] {
            let (_folder, root) = test_root(&[("proc/stat", stat)]);
            assert_eq!(steal_share(&root), None, "{stat:?}");
        }
        for text in [
            "",
            "1.13",
            "nan 1 1 1/2 3",
            "-1 1 1 1/2 3",
            "0.00 0.00 0.00 0/0 0",
            "a b c d e",
        ] {
            assert_eq!(parse_loadavg(text), None, "{text:?}");
        }
    }
}
