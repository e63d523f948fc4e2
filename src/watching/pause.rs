//! Finds the cause of a late sample.

use super::{Cause, Look, Machine};

/// Share of a pause that one cause has to account for.
/// *Judgement*: most of it.
const MIN_CAUSE_SHARE: f64 = 0.5;

/// Fewest expected interrupts in a pause for a decision based on them.
/// *Judgement*: five standard deviations of so many by chance are less than half of them.
const MIN_INTERRUPTS: f64 = 100.0;

/// The interrupt rate and stolen time of a running machine. The interrupt rate distinguishes a
/// machine that stood still from a process that was stopped.
#[derive(Clone, Debug, Default)]
pub struct MachineRates {
    at: Option<(i64, u64)>,
    interrupts_per_ns: Option<f64>,
    stolen: Option<u64>,
}

impl MachineRates {
    /// Adds a state of the machine. A late sample does not update the interrupt rate.
    pub fn note(&mut self, monotonic: i64, machine: &Machine, late: bool) {
        if let Some(interrupts) = machine.interrupts {
            if let (Some((then, before)), false) = (self.at, late) {
                let span = monotonic - then;
                if span > 0 {
                    self.interrupts_per_ns =
                        Some(interrupts.saturating_sub(before) as f64 / span as f64);
                }
            }
            self.at = Some((monotonic, interrupts));
        }
        self.stolen = machine.stolen_ns;
    }

    /// Returns the cause of a `look` that is `late` by this many nanoseconds; `waited` is the time
    /// in nanoseconds for which its thread was ready to run.
    pub fn cause(&self, look: &Look, late: i64, waited: Option<u64>) -> Cause {
        let most = late as f64 * MIN_CAUSE_SHARE;
        if look.continued {
            return Cause::Process;
        }
        let machine = look.machine.as_ref();
        let stolen = machine.and_then(|machine| machine.stolen_ns?.checked_sub(self.stolen?));
        if stolen.is_some_and(|stolen| stolen as f64 >= most) {
            return Cause::Host;
        }
        if waited.is_some_and(|waited| waited as f64 >= most) {
            return Cause::Scheduler;
        }
        match machine.and_then(|machine| self.had_interrupts(look.monotonic, machine, late)) {
            Some(true) => Cause::Process,
            // The timer that should have woken this thread fired late, and no signal stopped the
            // process.
            _ => Cause::Machine,
        }
    }

    /// Returns whether the machine had its usual number of interrupts in a pause. `None` if the
    /// rate is unknown or the pause is too short.
    fn had_interrupts(&self, now: i64, machine: &Machine, late: i64) -> Option<bool> {
        let (then, before) = self.at?;
        let usual = self.interrupts_per_ns?;
        let came = machine.interrupts?.saturating_sub(before) as f64;
        let stood = usual * (now - then - late).max(0) as f64;
        let ran = usual * (now - then) as f64;
        (ran - stood >= MIN_INTERRUPTS).then_some(came >= (ran + stood) / 2.0)
    }
}
