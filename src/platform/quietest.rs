//! Selects the CPU on which to measure: the most idle CPU.

use std::time::Duration;

use super::activity::CpuTicks;
use super::{Root, cores};

/// Time for which the CPUs are observed: several times the 10 ms in which the kernel counts CPU
/// time.
const OBSERVATION_TIME: Duration = Duration::from_millis(60);

/// The CPU among `allowed` with the largest share of idle time over 60 ms, so that the measurement
/// does not share a CPU with a busy program. If there are several kinds of cores, the CPU is one of
/// the most capable kind, on which the scheduler runs programs under load. Without `/proc/stat` it
/// is the last CPU; `None` if no CPU is allowed.
pub fn quietest_cpu(allowed: &[u32]) -> Option<u32> {
    let root = Root::system();
    let allowed = &cores::capable_cpus(&root, allowed);
    if allowed.len() < 2 {
        return allowed.first().copied();
    }
    let before = CpuTicks::read(&root);
    if !before.is_empty() {
        timers::pause(OBSERVATION_TIME);
    }
    quietest(allowed, &before, &CpuTicks::read(&root))
}

/// The CPU among `allowed` with the largest share of idle time between two samples. Of CPUs with
/// the same share the highest number is preferred, because CPU 0 handles most interrupts; CPUs
/// without counts come last.
pub fn quietest(allowed: &[u32], before: &[CpuTicks], after: &[CpuTicks]) -> Option<u32> {
    allowed.iter().copied().max_by(|&a, &b| {
        let share = |cpu| idle_share(cpu, before, after).unwrap_or(-1.0);
        share(a).total_cmp(&share(b)).then(a.cmp(&b))
    })
}

/// The share of idle time of a CPU between two samples; `None` if the CPU has no counts.
fn idle_share(cpu: u32, before: &[CpuTicks], after: &[CpuTicks]) -> Option<f64> {
    let time_of_cpu = |times: &[CpuTicks]| times.iter().copied().find(|time| time.cpu == Some(cpu));
    let (before, after) = (time_of_cpu(before)?, time_of_cpu(after)?);
    // The kernel's idle times may decrease slightly.
    let idle = after.idle.saturating_sub(before.idle);
    let total = after.total.saturating_sub(before.total);
    (total > 0).then(|| idle.min(total) as f64 / total as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn samples(times: &[(u64, u64)]) -> Vec<CpuTicks> {
        (0..)
            .zip(times)
            .map(|(cpu, &(idle, total))| CpuTicks {
                cpu: Some(cpu),
                idle,
                stolen: 0,
                total,
            })
            .collect()
    }

    /// Of equal shares that of the highest number.
    #[test]
    fn avoids_busy_cpu() {
        let before = samples(&[(10, 20); 3]);
        for (after, allowed, expected) in [
            ([(16, 26), (13, 26), (10, 26)], &[0, 1, 2][..], 0),
            ([(16, 26), (13, 26), (10, 26)], &[1, 2], 1),
            ([(16, 26), (15, 25), (10, 26)], &[0, 1, 2], 1),
            ([(16, 26), (15, 25), (10, 26)], &[1, 0], 1),
        ] {
            let found = quietest(allowed, &before, &samples(&after));
            assert_eq!(found, Some(expected), "{after:?} {allowed:?}");
        }
    }

    proptest! {
        #[test]
        fn the_choice_is_allowed(allowed in prop::collection::vec(0_u32..6, 0..6),
                                 first in prop::collection::vec(any::<(u64, u64)>(), 0..6),
                                 second in prop::collection::vec(any::<(u64, u64)>(), 0..6)) {
            let choice = quietest(&allowed, &samples(&first), &samples(&second));
            prop_assert_eq!(choice.is_none(), allowed.is_empty());
            prop_assert!(choice.is_none_or(|cpu| allowed.contains(&cpu)));
        }
    }
}
