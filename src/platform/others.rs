//! Measures how many CPUs other programs keep busy during a run (proc(5)).

use super::Root;
use super::activity::CpuTicks;

/// CPU time since the start of the machine, in ticks of USER_HZ.
#[derive(Debug, PartialEq, Eq)]
pub struct CpuUse {
    /// Time in which a CPU was not idle, summed over all CPUs.
    pub busy: u64,
    /// The time of this process and of its children that have ended.
    pub own: u64,
    /// Elapsed time, summed over all CPUs.
    pub total: u64,
    /// The number of CPUs.
    pub cpus: usize,
}

impl CpuUse {
    /// Reads the present counts; `None` if the kernel does not report them.
    pub fn now(root: &Root) -> Option<Self> {
        let cpus = CpuTicks::read(root);
        let all = cpus.first()?;
        Some(Self {
            busy: all.busy(),
            own: own_time(&root.read_text("/proc/self/stat")?)?,
            total: all.total,
            cpus: cpus.len() - 1,
        })
    }

    /// Returns the number of CPUs that other programs kept busy from `before` until now, on
    /// average; `None` if no time passed.
    pub fn others_since(&self, before: &Self) -> Option<f64> {
        let since = |count: fn(&Self) -> u64| count(self).saturating_sub(count(before)) as f64;
        let others = since(|use_| use_.busy) - since(|use_| use_.own);
        let elapsed = since(|use_| use_.total) / self.cpus.max(1) as f64;
        (elapsed > 0.0).then(|| (others / elapsed).clamp(0.0, self.cpus as f64))
    }
}

/// Returns the user and system time of a process and of its ended children from the text of its
/// `stat` file.
fn own_time(stat: &str) -> Option<u64> {
    // The name of the program stands in brackets and may contain blanks; utime, stime, cutime and
    // cstime are the 12th to 15th word after it.
    let (_, after_name) = stat.rsplit_once(')')?;
    let times = after_name.split_whitespace().skip(11).take(4);
    times.map(|time| time.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::tests::test_root;

    #[test]
    fn own_time_is_not_that_of_others() {
        let at = |busy: u64, own: u64, elapsed: u64| {
            let cpu = |name: &str, cpus: u64| {
                let (busy, idle) = (cpus * busy, cpus * (elapsed - busy));
                format!("{name} {busy} 0 0 {idle} 0 0 0 0 0 0\n")
            };
            let stat = [cpu("cpu ", 2), cpu("cpu0", 1), cpu("cpu1", 1)].concat();
            let own = format!("7 (a b) c) R 1 7 7 0 -1 0 0 0 0 0 {own} 0 2 0 20 0 1\n");
            let (_folder, root) = test_root(&[("proc/stat", &stat), ("proc/self/stat", &own)]);
            CpuUse::now(&root).expect("both files have all counts")
        };
        let (before, after) = (at(100, 10, 1_000), at(180, 50, 1_100));
        // Two CPUs were busy for 80 of 100 ticks each, 40 of which were those of this process.
        assert_eq!(after.others_since(&before), Some(1.2));
        assert_eq!(before.others_since(&before), None);
        let (_folder, root) = test_root(&[]);
        assert_eq!(CpuUse::now(&root), None);
    }
}
