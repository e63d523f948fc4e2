//! Questions that many timers answer at once, and what this host sees of itself around a window: it
//! is the same program as the one that asks, so what takes many questions elsewhere takes one here.

use timers::os::counters::Counts;
use timers::{Answer, CoreFrequencyMeter, During, Fault, Subject};

use super::Host;
use crate::hosts::bench::Bench;
use crate::hosts::calls::explore_calls;
use crate::hosts::protocol::answers::{Around, Called, PackedRun};

use crate::rate::tightest;
use crate::trace::Reference;

/// Looks at the thread that measures, and at its core, right before and right after what it does.
#[derive(Clone, Copy)]
pub(super) struct Mirror {
    /// Whether anybody wants to know.
    watched: bool,
    meter: Option<CoreFrequencyMeter>,
}

impl Mirror {
    /// Does it; with what was seen where that is wanted, and the system tells.
    pub(super) fn around<T>(
        self,
        work: impl FnOnce() -> Answer<T>,
    ) -> Answer<(T, Option<[Around; 2]>)> {
        if !self.watched {
            return Ok((work()?, None));
        }
        // The chains of additions stand outside, so that the counts hold nothing but what lies
        // between.
        let core = self.core();
        let before = Counts::of_this_thread();
        let done = work()?;
        let after = Counts::of_this_thread();
        let cores = [core, self.core()];
        let seen = before.zip(after).and_then(|(before, after)| {
            let seen = |counters: timers::os::Counters, core| {
                let [cpu] = counters.cpus[..] else {
                    return None;
                };
                let timers::os::Counters {
                    switches,
                    major_faults,
                    ..
                } = counters;
                Some(Around {
                    switches,
                    major_faults,
                    cpu,
                    core,
                })
            };
            Some([seen(before, cores[0])?, seen(after, cores[1])?])
        });
        Ok((done, seen))
    }

    fn core(self) -> Option<[f64; 2]> {
        let core = self.meter?.look()?;
        Some([core.hertz, core.width])
    }
}

impl Host {
    /// What looks around a window, if it is watched.
    pub(super) fn mirror(&mut self, watched: bool) -> Mirror {
        if watched && self.meter.is_none() {
            self.meter = CoreFrequencyMeter::new().ok();
        }
        Mirror {
            watched,
            meter: self.meter,
        }
    }

    /// All that a process is asked of the calls of a timer.
    pub(super) fn calls(&mut self, id: &str, reference: &Reference, floor: bool) -> Answer<Called> {
        let times = fresh(&reference.id)?;
        let floor = if floor {
            Some(fresh(timers::FLOOR_ID)?)
        } else {
            None
        };
        let mirror = self.mirror(true);
        self.subject(id)?;
        let Some((id, timer)) = self.open.remove_entry(id) else {
            return Err(Fault::Refused(format!("{id} cannot be used")));
        };
        let mut bench = Bench {
            timer,
            ns_per_tick: None,
            reference: times,
            reference_id: reference.id.clone(),
            floor,
            watch: None,
            dropped: Vec::new(),
        };
        let called = mirror.around(|| explore_calls(&mut bench, reference, &mut None));
        self.open.insert(id, bench.timer);
        called.map(|(calls, around)| Called {
            calls: PackedRun(calls),
            around,
        })
    }

    /// In each round of each timer the tightest of some comparisons.
    pub(super) fn together(
        &mut self,
        ids: &[String],
        reference: &str,
        [repeat, count]: [u32; 2],
        work: u64,
    ) -> Answer<Vec<Vec<Option<[i64; 3]>>>> {
        (0..count)
            .map(|round| {
                if round > 0 && work > 0 {
                    self.subject(timers::FLOOR_ID)?.intervals(&[work], 1)?;
                }
                let compared =
                    |id: &String| match self.subject(id)?.comparisons(reference, 0, repeat) {
                        Ok(comparisons) => Ok(tightest(comparisons)),
                        Err(Fault::Refused(_)) => Ok(None),
                        Err(fault) => Err(fault),
                    };
                ids.iter().map(compared).collect()
            })
            .collect()
    }

    /// How far each timer and the reference move: all are read before the span and after it, in the
    /// same order.
    pub(super) fn advances(
        &mut self,
        ids: &[String],
        reference: &str,
        during: During,
        ms: u32,
    ) -> Answer<Vec<Option<[i64; 2]>>> {
        // What is read for the first time finds cold code.
        self.together(ids, reference, [1, 1], 0)?;
        let before = self.together(ids, reference, [1, 1], 0)?;
        timers::pass(std::time::Duration::from_millis(ms.into()), during);
        let after = self.together(ids, reference, [1, 1], 0)?;
        let moved = |(before, after): (&Option<[i64; 3]>, &Option<[i64; 3]>)| {
            let (Some([_, began, at]), Some([_, ended, until])) = (before, after) else {
                return None;
            };
            Some([ended.wrapping_sub(*began), until.wrapping_sub(*at)])
        };
        Ok(before
            .iter()
            .flatten()
            .zip(after.iter().flatten())
            .map(moved)
            .collect())
    }
}

/// The timer of that id, opened once more: those of references and of what reads nothing cost
/// little.
fn fresh(id: &str) -> Answer<Box<dyn Subject>> {
    let entry =
        timers::find(id).ok_or_else(|| Fault::Refused(format!("there is no timer `{id}`")))?;
    (entry.open)().map_err(|why| Fault::Refused(format!("{id} cannot be used: {why}")))
}
