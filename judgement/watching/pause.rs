//! Finds the cause of a pause, which is detected because a sample is late.

use super::{Cause, ClockSample, MachineState};

/// Smallest share of a pause for which a cause must account.
/// *Judgement*: most of the pause.
const MIN_CAUSE_SHARE: f64 = 0.5;

/// Smallest number of interrupts usual in the time of a pause for which their count is evidence.
/// *Judgement*: five standard deviations of a count of 100 are half of it, so chance does not make
/// a machine that ran look like one that stood still.
const MIN_INTERRUPTS: f64 = 100.0;

/// What kept the thread from running since the last sample; `None` if the system does not report it.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    /// The time, in nanoseconds, for which the thread was ready to run but had no CPU.
    pub run_queue_ns: Option<u64>,
    /// The time, in nanoseconds, for which CPU quotas kept its control groups from running.
    pub throttled_ns: Option<u64>,
}

/// The interrupt rate and steal time of a machine: they distinguish a machine that stood still, or
/// whose CPU the host took, from a process that was stopped.
#[derive(Clone, Debug, Default)]
pub struct MachineRates {
    /// The time of the last state of the machine, in nanoseconds of MONOTONIC, and its number of
    /// interrupts.
    last_interrupts: Option<(i64, u64)>,
    interrupts_per_ns: Option<f64>,
    /// The steal time at the last state of the machine, in nanoseconds.
    steal_ns: Option<u64>,
}

impl MachineRates {
    /// Adds a state of the machine. A late sample does not update the interrupt rate.
    pub fn add(&mut self, monotonic: i64, machine: &MachineState, late: bool) {
        if let Some(interrupts) = machine.interrupts {
            if let (Some((then, before)), false) = (self.last_interrupts, late) {
                let span = monotonic - then;
                if span > 0 {
                    self.interrupts_per_ns =
                        Some(interrupts.saturating_sub(before) as f64 / span as f64);
                }
            }
            self.last_interrupts = Some((monotonic, interrupts));
        }
        self.steal_ns = machine.stolen_ns;
    }

    /// Returns the cause of a `sample` that is `late_ns` nanoseconds late.
    pub fn find_cause(&self, sample: &ClockSample, late_ns: i64, waited: Waited) -> Cause {
        let min_ns = late_ns as f64 * MIN_CAUSE_SHARE;
        if sample.continued {
            return Cause::Process;
        }
        let explains = |ns: Option<u64>| ns.is_some_and(|ns| ns as f64 >= min_ns);
        if explains(waited.throttled_ns) {
            return Cause::Quota;
        }
        let machine = sample.machine.as_ref();
        let steal_ns = machine.and_then(|machine| machine.stolen_ns?.checked_sub(self.steal_ns?));
        if explains(steal_ns) {
            return Cause::Host;
        }
        // A thread that a quota stops is ready to run.
        let throttled_ns = waited.throttled_ns.unwrap_or(0);
        if explains(
            waited
                .run_queue_ns
                .map(|ns| ns.saturating_sub(throttled_ns)),
        ) {
            return Cause::Scheduler;
        }
        // A quota explains a part of the pause.
        if throttled_ns > 0 {
            return Cause::Unknown;
        }
        let had_interrupts =
            machine.and_then(|machine| self.had_interrupts(sample.monotonic, machine, late_ns));
        match (had_interrupts, sample.slept_through) {
            (Some(true), Some(false) | None) => Cause::Process,
            // The timer that should have ended the sleep was late.
            (Some(false) | None, Some(true)) => Cause::Machine,
            // The evidence is missing, or the observations contradict each other. A machine whose
            // only work is in a stopped control group also has few interrupts.
            _ => Cause::Unknown,
        }
    }

    /// Returns whether the machine ran during a pause of `late_ns` nanoseconds that ended at `now`:
    /// the number of interrupts is then nearer to the usual number with the pause than to that
    /// without it. `None` if the usual rate is unknown, or too low for the length of the pause.
    fn had_interrupts(&self, now: i64, machine: &MachineState, late_ns: i64) -> Option<bool> {
        let (then, interrupts_then) = self.last_interrupts?;
        let rate = self.interrupts_per_ns?;
        let count = machine.interrupts?.saturating_sub(interrupts_then) as f64;
        let count_if_stopped = rate * (now - then - late_ns).max(0) as f64;
        let count_if_running = rate * (now - then) as f64;
        (count_if_running - count_if_stopped >= MIN_INTERRUPTS)
            .then_some(count >= (count_if_running + count_if_stopped) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_pause_decides_cause() {
        for (throttled_ns, run_queue_ns, cause) in [
            (0, 90, Cause::Scheduler),
            (50, 100, Cause::Quota),
            (40, 100, Cause::Scheduler),
            (45, 90, Cause::Unknown),
            (20, 30, Cause::Unknown),
        ] {
            let waited = Waited {
                run_queue_ns: Some(run_queue_ns),
                throttled_ns: Some(throttled_ns),
            };
            let found = MachineRates::default().find_cause(&ClockSample::default(), 100, waited);
            assert_eq!(found, cause, "{waited:?}");
        }
    }
}
