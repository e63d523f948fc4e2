//! Reads what the kernel counts while the machine runs: interrupts, steal time, load, and the time
//! that a thread waited for a CPU (proc(5)); and the real-time clock, which runs even while the
//! machine is off (rtc(4)).

use std::fs::File;

use timers::os::files;

use super::Root;
use crate::model::Load;

/// Maximum number of bytes read from `/proc/stat`. The file grows with the number of CPUs and of
/// interrupt sources; the total number of interrupts precedes the numbers of the sources.
const MAX_STAT_BYTES: u64 = 1 << 17;

/// The unit in which the kernel counts CPU time, in nanoseconds: USER_HZ is 100 per second.
const TICK_NS: u64 = 10_000_000;

/// Counts since the start of the machine; `None` if the kernel does not report them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The number of interrupts on all CPUs.
    pub interrupts: Option<u64>,
    /// Steal time in nanoseconds, summed over all CPUs: a CPU had work, but the hypervisor did not
    /// run it.
    pub stolen_ns: Option<u64>,
}

/// Reads the counts from `/proc/stat`; a count that cannot be read is `None`.
#[must_use]
pub fn activity(root: &Root) -> Activity {
    root.read_start("/proc/stat", MAX_STAT_BYTES)
        .map(|stat| parse_stat(&stat))
        .unwrap_or_default()
}

/// The time during which a thread was ready to run but waited for a CPU, from its `schedstat` file.
/// The file stays open, because opening it takes longer than reading it.
#[derive(Debug)]
pub struct RunQueueDelay(Option<File>);

impl RunQueueDelay {
    /// Opens the file of the calling thread; without the file, [`Self::ns`] returns `None`.
    #[must_use]
    pub fn open(root: &Root) -> Self {
        Self(
            root.file("/proc/thread-self/schedstat")
                .and_then(|path| File::open(path).ok()),
        )
    }

    /// The total delay since the thread started, in nanoseconds; `None` if the kernel does not
    /// count it.
    #[must_use]
    pub fn ns(&self) -> Option<u64> {
        /// Enough bytes for three 64-bit numbers: run time, delay and number of time slices.
        const MAX_SCHEDSTAT_BYTES: usize = 64;
        let mut bytes = [0; MAX_SCHEDSTAT_BYTES];
        let length = files::read_from_start(self.0.as_ref()?, &mut bytes).ok()?;
        let mut words = std::str::from_utf8(&bytes[..length])
            .ok()?
            .split_whitespace();
        // This thread has run, so a run time of 0 means that the kernel does not count these times.
        let run_time_ns: u64 = words.next()?.parse().ok()?;
        words.next()?.parse().ok().filter(|_| run_time_ns > 0)
    }
}

/// The reading of the real-time clock, in seconds since 1970; `None` if there is none.
#[must_use]
pub fn rtc_s(root: &Root) -> Option<i64> {
    root.read_name("/sys/class/rtc/rtc0/since_epoch")?
        .parse()
        .ok()
}

fn parse_stat(stat: &str) -> Activity {
    let number = |line: &str, at: usize| line.split(' ').nth(at)?.parse::<u64>().ok();
    let total = stat.lines().find_map(|line| line.strip_prefix("cpu "));
    let steal_ticks = total.and_then(|line| line.split_whitespace().nth(7)?.parse::<u64>().ok());
    Activity {
        interrupts: stat
            .lines()
            .find(|line| line.starts_with("intr "))
            .and_then(|line| number(line, 1)),
        stolen_ns: steal_ticks.and_then(|ticks| ticks.checked_mul(TICK_NS)),
    }
}

/// The load averages of the kernel; `None` if they cannot be read.
#[must_use]
pub fn load(root: &Root) -> Option<Load> {
    parse_loadavg(&root.read_text("/proc/loadavg")?)
}

/// The steal time since the start of the machine, as a share of the time in which CPUs had work;
/// `None` if it cannot be read or CPUs never had work.
#[must_use]
pub fn steal_share(root: &Root) -> Option<f64> {
    // The first line is the sum over all CPUs.
    parse_steal(&root.read_start("/proc/stat", 1 << 10)?)
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

/// Parses the share of steal time from the first line of `/proc/stat`.
fn parse_steal(stat: &str) -> Option<f64> {
    // Without a line end the line is truncated, and its last value may be too small.
    let (line, _) = stat.split_once('\n')?;
    let mut words = line.split_whitespace();
    words.next().filter(|name| *name == "cpu")?;
    let times = words
        .map(str::parse)
        .collect::<Result<Vec<u64>, _>>()
        .ok()?;
    // user, nice, system, idle, iowait, irq, softirq, steal; the guest times that follow are
    // included in user and nice.
    let (&steal, busy) = (
        times.get(7)?,
        [0, 1, 2, 5, 6, 7]
            .map(|at| times[at] as f64)
            .iter()
            .sum::<f64>(),
    );
    (busy > 0.0).then(|| steal as f64 / busy)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::platform::test_root;

    #[test]
    fn reads_counts_of_the_kernel() {
        let stat = "cpu  900 10 50 417596 471 20 10 12 7 0\ncpu0 1 0 1 1 1 0 0 12 7 0\nintr 4711 1 2\nctxt 5\n";
        let (_folder, root) = test_root(&[
            ("proc/stat", stat),
            ("proc/thread-self/schedstat", "500 77 9\n"),
            ("sys/class/rtc/rtc0/since_epoch", "1790000000\n"),
        ]);
        assert_eq!(
            activity(&root),
            Activity {
                interrupts: Some(4711),
                stolen_ns: Some(120_000_000)
            }
        );
        assert_eq!(
            (RunQueueDelay::open(&root).ns(), rtc_s(&root)),
            (Some(77), Some(1_790_000_000))
        );
        let (_folder, root) = test_root(&[
            ("proc/stat", "cpu 1\nintr x\n"),
            ("proc/thread-self/schedstat", "0 0 0\n"),
        ]);
        assert_eq!(
            (
                activity(&root),
                RunQueueDelay::open(&root).ns(),
                rtc_s(&root)
            ),
            (Activity::default(), None, None)
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
    fn parses_steal_time() {
        // 10 of 1000 ticks with work are steal time; idle time and guest times do not count.
        let stat = "cpu  900 10 50 417596 471 20 10 10 7 0\ncpu0 300 0 547 209231 23 0 9 56 7 0\n";
        assert_eq!(parse_steal(stat), Some(0.01));
        for malformed in [
            "",
            "cpu",
            "cpu 1 2 3\n",
            "cpu 0 0 0 5 0 0 0 0\n",
            "cpu0 1 1 1 1 1 1 1 1\n",
            "cpu 1 1 1 1 1 1 1 1",
        ] {
            assert_eq!(parse_steal(malformed), None, "{malformed:?}");
        }
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in any::<String>(), times in prop::collection::vec(any::<u64>(), 0..12)) {
            let _ = parse_loadavg(&text);
            let _ = parse_steal(&text);
            let words: Vec<String> = times.iter().map(u64::to_string).collect();
            if let Some(share) = parse_steal(&format!("cpu  {}\ncpu0", words.join(" "))) {
                prop_assert!((0.0..=1.0).contains(&share));
            }
        }
    }
}
