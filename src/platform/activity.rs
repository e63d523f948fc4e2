//! What a machine counts while it runs: interrupts, stolen time, how long a thread waited for a CPU (proc(5)); and the clock that goes on without
//! it (rtc(4)).

use std::fs::File;

use timers::os::files;

use super::Root;

/// /proc/stat grows with the number of CPUs and of interrupts; what is looked for stands before the latter.
const MOST: u64 = 1 << 17;

/// CPU time is counted in ticks of USER_HZ, 10 ms.
const TICK_NS: u64 = 10_000_000;

/// What is counted since the machine was started; `None` where it is not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Interrupts, of all CPUs.
    pub interrupts: Option<u64>,
    /// Time that the host took from CPUs that had something to run.
    pub stolen_ns: Option<u64>,
}

/// What is counted now.
#[must_use]
pub fn activity(root: &Root) -> Activity {
    root.beginning("/proc/stat", MOST).map(|stat| parse(&stat)).unwrap_or_default()
}

/// How long a thread was ready to run and got no CPU. The file stays open: to open it takes longer than to read it.
#[derive(Debug)]
pub struct RunQueueDelay(Option<File>);

impl RunQueueDelay {
    /// Of the calling thread.
    #[must_use]
    pub fn of_this_thread(root: &Root) -> Self {
        Self(root.file("/proc/thread-self/schedstat").and_then(|path| File::open(path).ok()))
    }

    /// Since the thread began.
    #[must_use]
    pub fn ns(&self) -> Option<u64> {
        /// Three numbers of 64 bits.
        const LONGEST: usize = 64;
        let mut bytes = [0; LONGEST];
        let length = files::read_again(self.0.as_ref()?, &mut bytes).ok()?;
        let mut words = std::str::from_utf8(&bytes[..length]).ok()?.split_whitespace();
        // A kernel that does not count has a thread that reads this never have run.
        let ran: u64 = words.next()?.parse().ok()?;
        words.next()?.parse().ok().filter(|_| ran > 0)
    }
}

/// The clock that goes on without the machine, in seconds since 1970.
#[must_use]
pub fn rtc_s(root: &Root) -> Option<i64> {
    root.name("/sys/class/rtc/rtc0/since_epoch")?.parse().ok()
}

fn parse(stat: &str) -> Activity {
    let number = |line: &str, at: usize| line.split(' ').nth(at)?.parse::<u64>().ok();
    let all = stat.lines().find_map(|line| line.strip_prefix("cpu "));
    let stolen = all.and_then(|line| line.split_whitespace().nth(7)?.parse::<u64>().ok());
    Activity {
        interrupts: stat.lines().find(|line| line.starts_with("intr ")).and_then(|line| number(line, 1)),
        stolen_ns: stolen.and_then(|ticks| ticks.checked_mul(TICK_NS)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up;
    use super::*;

    #[test]
    fn what_is_counted() {
        let stat =
            "cpu  900 10 50 417596 471 20 10 12 7 0\ncpu0 1 0 1 1 1 0 0 12 7 0\nintr 4711 1 2\nctxt 5\n";
        let (_folder, root) = made_up(&[
            ("proc/stat", stat),
            ("proc/thread-self/schedstat", "500 77 9\n"),
            ("sys/class/rtc/rtc0/since_epoch", "1790000000\n"),
        ]);
        assert_eq!(activity(&root), Activity { interrupts: Some(4711), stolen_ns: Some(120_000_000) });
        assert_eq!(
            (RunQueueDelay::of_this_thread(&root).ns(), rtc_s(&root)),
            (Some(77), Some(1_790_000_000))
        );
        let (_folder, root) =
            made_up(&[("proc/stat", "cpu 1\nintr x\n"), ("proc/thread-self/schedstat", "0 0 0\n")]);
        assert_eq!(
            (activity(&root), RunQueueDelay::of_this_thread(&root).ns(), rtc_s(&root)),
            (Activity::default(), None, None)
        );
    }
}
