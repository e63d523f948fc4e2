//! Reads what the kernel counts while the machine runs: CPU time and load (proc(5));
//! and the real-time clock, which runs even while the machine is off (rtc(4)).

use super::Root;
use crate::model::Load;

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
    root.read_start("/proc/stat", MAX_STAT_BYTES)
        .unwrap_or_default()
}

/// Steal time since the start of the machine in nanoseconds, summed over all CPUs; `None` if the
/// kernel does not report it.
pub fn stolen_ns(root: &Root) -> Option<u64> {
    let all = *CpuTicks::read(root).first()?;
    all.stolen.checked_mul(TICK_NS)
}

/// The reading of the real-time clock, in seconds since 1970; `None` if there is none.
pub fn rtc_s(root: &Root) -> Option<i64> {
    root.read_name("/sys/class/rtc/rtc0/since_epoch")?
        .parse()
        .ok()
}

/// The load averages of the kernel; `None` if they cannot be read.
pub fn load(root: &Root) -> Option<Load> {
    parse_loadavg(&root.read_text("/proc/loadavg")?)
}

/// The steal time since the start of the machine, as a share of the time in which CPUs had work;
/// `None` if it cannot be read or CPUs never had work.
pub fn steal_share(root: &Root) -> Option<f64> {
    // The first line is the sum over all CPUs.
    let all = *CpuTicks::read(root).first()?;
    (all.busy() > 0).then(|| all.stolen as f64 / all.busy() as f64)
}

fn parse_loadavg(text: &str) -> Option<Load> {
    let mut words = text.split_whitespace();
    let mut next_average = || {
        words
            .next()?
            .parse()
            .ok()
            .filter(|mean: &f64| mean.is_finite() && *mean >= 0.0)
    };
    let load = Load {
        one_minute: next_average()?,
        five_minutes: next_average()?,
        fifteen_minutes: next_average()?,
    };
    // Two more words follow the averages; without them the last average may be truncated.
    words.next().map(|_| load)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::platform::tests::test_root;

    #[test]
    fn reads_counts_of_the_kernel() {
        let stat = "cpu  900 10 50 417596 471 20 10 12 7 0\ncpu0 1 0 1 1 1 0 0 12 7 0\n";
        let rtc = ("sys/class/rtc/rtc0/since_epoch", "1790000000\n");
        let (_folder, root) = test_root(&[("proc/stat", stat), rtc]);
        assert_eq!(stolen_ns(&root), Some(120_000_000));
        assert_eq!(rtc_s(&root), Some(1_790_000_000));
        let (_folder, root) = test_root(&[("proc/stat", "cpu 1\n")]);
        assert_eq!((stolen_ns(&root), rtc_s(&root)), (None, None));
    }

    #[test]
    fn parses_cpu_lines_of_stat() {
        let stat = "cpu  855 0 1319 417596 471 0 23 110 0 0\ncpu0 300 0 547 209231 23 0 9 56 7 0\n\
                    cpu12 1 2 3 4\nintr 103781 0 0\nctxt 208049\ncpux 1 2 3 4 5 6 7 8 9 0\ncpu4 1 2 3 -4 0 0 0 0 0 0\n";
        let (_folder, root) = test_root(&[("proc/stat", stat)]);
        let ticks = |cpu, idle, stolen, total| CpuTicks {
            cpu,
            idle,
            stolen,
            total,
        };
        assert_eq!(
            CpuTicks::read(&root),
            [
                ticks(None, 418_067, 110, 420_374),
                ticks(Some(0), 209_254, 56, 210_166)
            ]
        );
    }

    #[test]
    fn parses_load_averages() {
        let load = Load {
            one_minute: 1.13,
            five_minutes: 1.41,
            fifteen_minutes: 0.77,
        };
        assert_eq!(parse_loadavg("1.13 1.41 0.77 1/89 14921\n"), Some(load));
        for malformed in [
            "",
            "1.13 1.41",
            "1.13 1.41 0.7",
            "nan 1 1 1/2 3",
            "-1 1 1 1/2 3",
            "a b c d e",
        ] {
            assert_eq!(parse_loadavg(malformed), None, "{malformed:?}");
        }
    }

    #[test]
    fn steal_time_is_a_share_of_work() {
        let share = |stat| {
            let (_folder, root) = test_root(&[("proc/stat", stat)]);
            steal_share(&root)
        };
        // 10 of 1000 ticks with work are steal time; idle time and guest times do not count.
        let stat = "cpu  900 10 50 417596 471 20 10 10 7 0\ncpu0 300 0 547 209231 23 0 9 56 7 0\n";
        assert_eq!(share(stat), Some(0.01));
        for malformed in [
            "",
            "cpu",
            "cpu 1 2 3\n",
            "cpu 0 0 0 5 0 0 0 0 0 0\n",
            "cpu 1 1 1 1 1 1 1 1",
        ] {
            assert_eq!(share(malformed), None, "{malformed:?}");
        }
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in any::<String>(), times in prop::collection::vec(any::<u64>(), 0..12)) {
            let _ = parse_loadavg(&text);
            let _ = CpuTicks::parse(&text);
            let words: Vec<String> = times.iter().map(u64::to_string).collect();
            if let Some(all) = CpuTicks::parse(&format!("cpu  {}", words.join(" "))) {
                prop_assert!(all.idle <= all.total && all.stolen <= all.total);
            }
        }
    }
}
