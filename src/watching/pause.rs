//! Who let a look be late.

use super::{Cause, Look, Machine};

/// Share of a pause that has to be accounted for by one cause.
/// *Judgement*: most of it.
const MOST: f64 = 0.5;

/// Interrupts that have to be missing, or to be there, before anything is said by them.
/// *Judgement*: five standard deviations of so many by chance are less than half of them.
const FEWEST: f64 = 100.0;

/// What a machine does while it runs: how many interrupts it usually has, by which a machine that
/// stood still is distinguished from a process that did.
#[derive(Clone, Debug, Default)]
pub struct Usual {
    at: Option<(i64, u64)>,
    a_nanosecond: Option<f64>,
    stolen: Option<u64>,
}

impl Usual {
    /// Notes a look at the machine; one that was late tells nothing of what is usual.
    pub fn note(&mut self, monotonic: i64, machine: &Machine, late: bool) {
        if let Some(interrupts) = machine.interrupts {
            if let (Some((then, before)), false) = (self.at, late) {
                let span = monotonic - then;
                if span > 0 {
                    self.a_nanosecond =
                        Some(interrupts.saturating_sub(before) as f64 / span as f64);
                }
            }
            self.at = Some((monotonic, interrupts));
        }
        self.stolen = machine.stolen_ns;
    }

    /// Who let `look`, which is `late` by so many nanoseconds, wait; `waited` is how long its
    /// thread could have run meanwhile.
    pub fn cause(&self, look: &Look, late: i64, waited: Option<u64>) -> Cause {
        let most = late as f64 * MOST;
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
        match machine.and_then(|machine| self.went_on(look.monotonic, machine, late)) {
            Some(true) => Cause::Process,
            // The timer that was to wake this thread did not fire in time, and no signal stopped
            // the process.
            _ => Cause::Machine,
        }
    }

    /// Whether the machine had interrupts as usual in a pause; `None` where that is unknown, as
    /// of short ones.
    fn went_on(&self, now: i64, machine: &Machine, late: i64) -> Option<bool> {
        let (then, before) = self.at?;
        let usual = self.a_nanosecond?;
        let came = machine.interrupts?.saturating_sub(before) as f64;
        let stood = usual * (now - then - late).max(0) as f64;
        let ran = usual * (now - then) as f64;
        (ran - stood >= FEWEST).then_some(came >= (ran + stood) / 2.0)
    }
}
