//! Computes how late the waits of one length are, or the wake-ups of a periodic timer.

use crate::model::{Estimate, Lateness};
use crate::statistics::quantiles::quantile_over_processes;
use crate::statistics::sorted;

/// The least number of waits for a 99th percentile. *Chance*: four or five are expected beyond it;
/// fewer decide by chance.
const MIN_P99_WAITS: usize = 450;

/// Returns the lateness of waits for `request_ns`; `processes` contains that of each wait, in
/// nanoseconds. All may be wrong by `error_ns`, and each by `single_ns` more. `None` without waits.
pub(super) fn lateness(
    request_ns: u64,
    processes: &[Vec<f64>],
    [error_ns, single_ns]: [f64; 2],
) -> Option<Lateness> {
    let all = sorted(processes.iter().flatten());
    let (first, last) = (*all.first()?, *all.last()?);
    let uncertainty_ns = error_ns + single_ns;
    let early = all.partition_point(|late| *late < -uncertainty_ns);
    // A negative lateness within the uncertainty is no evidence that a wait was early.
    let least = if early == 0 { 0.0 } else { f64::NEG_INFINITY };
    let evident = |late: Estimate| {
        let late = late.unless_chance(uncertainty_ns);
        late.within(least, f64::INFINITY)
    };
    let quantile = |probability: f64| {
        let found = quantile_over_processes(processes, probability)?;
        Some(evident(found.widened_by(error_ns)))
    };
    Some(Lateness {
        request_ns,
        waits: all.len() as u64,
        p50_ns: quantile(0.5),
        p99_ns: quantile(0.99).filter(|_| all.len() >= MIN_P99_WAITS),
        max_ns: evident(Estimate::exact(last)).value,
        uncertainty_ns,
        early: early as f64 / all.len() as f64,
        earliest_ns: if early == 0 { 0.0 } else { -first },
        cpu_ns: None,
    })
}

impl Lateness {
    /// Returns the lateness with this CPU time of a wait. A negative one is an error of the difference.
    pub(super) fn with_cpu_time(self, cpu_ns: Option<Estimate>) -> Self {
        let cpu_ns = cpu_ns.map(|cpu| cpu.within(0.0, f64::INFINITY));
        Self { cpu_ns, ..self }
    }
}
