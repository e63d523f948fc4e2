//! Reads what the kernel counts while the machine runs: interrupts, steal time, load, and the time
//! that a thread waited for a CPU (proc(5)); and the real-time clock, which runs even while the
//! machine is off (rtc(4)).

use std::fs::File;

use timers::os::files;

use super::Root;
use crate::model::Load;

/// Maximum number of bytes read from `/proc/stat`, which grows with the number of CPUs and of
/// interrupts; the values that are needed come before the interrupts of each source.
const MOST: u64 = 1 << 17;

/// Nanoseconds in a tick of USER_HZ, in which the kernel counts CPU time.
const TICK_NS: u64 = 10_000_000;

/// Counts since the start of the machine; `None` if not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Interrupts on all CPUs.
    pub interrupts: Option<u64>,
    /// Time in nanoseconds during which the hypervisor withheld CPUs that had work.
    pub stolen_ns: Option<u64>,
}

/// Reads the current counts.
#[must_use]
pub fn activity(root: &Root) -> Activity {
    root.beginning("/proc/stat", MOST)
        .map(|stat| parse(&stat))
        .unwrap_or_default()
}

/// The time during which a thread was ready to run but had no CPU. The file stays open, because
/// opening it takes longer than reading it.
#[derive(Debug)]
pub struct RunQueueDelay(Option<File>);

impl RunQueueDelay {
    /// Opens the file of the calling thread.
    #[must_use]
    pub fn of_this_thread(root: &Root) -> Self {
        Self(
            root.file("/proc/thread-self/schedstat")
                .and_then(|path| File::open(path).ok()),
        )
    }

    /// The delay since the thread started, in nanoseconds.
    #[must_use]
    pub fn ns(&self) -> Option<u64> {
        /// Bytes for three 64-bit numbers.
        const LONGEST: usize = 64;
        let mut bytes = [0; LONGEST];
        let length = files::read_again(self.0.as_ref()?, &mut bytes).ok()?;
        let mut words = std::str::from_utf8(&bytes[..length])
            .ok()?
            .split_whitespace();
        // A run time of 0 means that the kernel does not count, because this thread has run.
        let ran: u64 = words.next()?.parse().ok()?;
        words.next()?.parse().ok().filter(|_| ran > 0)
    }
}

/// The reading of the real-time clock, in seconds since 1970.
#[must_use]
pub fn rtc_s(root: &Root) -> Option<i64> {
    root.name("/sys/class/rtc/rtc0/since_epoch")?.parse().ok()
}

fn parse(stat: &str) -> Activity {
    let number = |line: &str, at: usize| line.split(' ').nth(at)?.parse::<u64>().ok();
    let all = stat.lines().find_map(|line| line.strip_prefix("cpu "));
    let stolen = all.and_then(|line| line.split_whitespace().nth(7)?.parse::<u64>().ok());
    Activity {
        interrupts: stat
            .lines()
            .find(|line| line.starts_with("intr "))
            .and_then(|line| number(line, 1)),
        stolen_ns: stolen.and_then(|ticks| ticks.checked_mul(TICK_NS)),
    }
}

/// The load averages.
#[must_use]
pub fn load(root: &Root) -> Option<Load> {
    parse_loadavg(&root.content("/proc/loadavg")?)
}

/// The steal time as a share of the time in which CPUs had work.
#[must_use]
pub fn steal_share(root: &Root) -> Option<f64> {
    // The first line is the sum over all CPUs.
    parse_steal(&root.beginning("/proc/stat", 1 << 10)?)
}

fn parse_loadavg(text: &str) -> Option<Load> {
    let mut words = text.split_whitespace();
    let mut mean = || {
        words
            .next()?
            .parse()
            .ok()
            .filter(|mean: &f64| mean.is_finite() && *mean >= 0.0)
    };
    let load = Load {
        one_minute: mean()?,
        five_minutes: mean()?,
        fifteen_minutes: mean()?,
    };
    // Two more words follow; without them the last average may be truncated.
    words.next().map(|_| load)
}

fn parse_steal(stat: &str) -> Option<f64> {
    // If the line is truncated, the last value may be too small.
    let (line, _) = stat.split_once('\n')?;
    let mut words = line.split_whitespace();
    words.next().filter(|name| *name == "cpu")?;
    let times = words
        .map(str::parse)
        .collect::<Result<Vec<u64>, _>>()
        .ok()?;
    // user, nice, system, idle, iowait, irq, softirq, steal; the guest times that follow are
    // included in user and nice.
    let (&steal, wanted) = (
        times.get(7)?,
        [0, 1, 2, 5, 6, 7]
            .map(|at| times[at] as f64)
            .iter()
            .sum::<f64>(),
    );
    (wanted > 0.0).then(|| steal as f64 / wanted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::platform::test_root;

    #[test]
    fn what_is_counted() {
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
            (RunQueueDelay::of_this_thread(&root).ns(), rtc_s(&root)),
            (Some(77), Some(1_790_000_000))
        );
        let (_folder, root) = test_root(&[
            ("proc/stat", "cpu 1\nintr x\n"),
            ("proc/thread-self/schedstat", "0 0 0\n"),
        ]);
        assert_eq!(
            (
                activity(&root),
                RunQueueDelay::of_this_thread(&root).ns(),
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
        // 10 of 1000 ticks with work were stolen; idle time and guest times do not count.
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
