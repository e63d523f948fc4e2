//! The agent that hosts native timers: requests come in line by line, answers go out in the same
//! order.

mod many;

use std::collections::{HashMap, hash_map};
use std::io::{self, BufRead, Write};

use smallvec::{SmallVec, smallvec};
use timers::waits::{Expiration, Wait, WaitEntry, WaitRequest, WaitSubject};
use timers::{Answer, CoreFrequencyMeter, Entry, Fault, Subject, Unavailable};

use super::lines::{self, Line};
use super::protocol::{
    Adds, Advanced, Advances, Arms, Batches, Comparisons, Handoffs, HandoffsBetween, Hello,
    HostedTimer, HostedWaiter, Intervals, Missing, OPS, Ordered, PackedRun, Periods, Readings,
    Refusal, Reply, Request, Runtime, Steps, Together, VERSION, Waits,
};
use crate::hosts::step_search::find_step;
use crate::model::Context;
use crate::native;
use crate::text::from_bytes;
use crate::text::json::{Layout, write};
use crate::trace::{Reference, Run};

/// No request needs to be as long as this.
const LONGEST_REQUEST: u64 = 16 << 20;
/// No answer holds more integers than this.
const MOST_VALUES: u64 = 10_000_000;
/// No request makes this host call or work more often than this: some minutes.
const MOST_STEPS: u64 = 1_000_000_000_000;
/// No request starts more pairs of threads than this.
const MOST_PAIRS: usize = 4_096;
/// No request lets a timer advance for longer than this, an hour.
const LONGEST_MS: u32 = 3_600_000;

/// Serves `entries`, the timer that reads nothing, the references and `waiters` until the input
/// ends.
///
/// Timers are opened by the calling thread when they are first asked for, as opening some takes
/// long.
///
/// # Errors
/// When the input cannot be read or the output cannot be written. Nothing that a request says leads
/// to an error.
pub fn serve(
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    entries: &[Entry],
    waiters: &[WaitEntry],
) -> io::Result<()> {
    let mut host = Host::of(entries, waiters);
    let mut answer = Vec::new();
    loop {
        let reply = match lines::read(input, LONGEST_REQUEST)? {
            Line::Whole(line) | Line::Unfinished(line) => host.reply(&line),
            Line::TooLong(_) => {
                while let Line::TooLong(_) = lines::read(input, LONGEST_REQUEST)? {}
                refusal(format!(
                    "the request is longer than {} MiB",
                    LONGEST_REQUEST >> 20
                ))
            }
            Line::End => return Ok(()),
        };
        answer.clear();
        write(&reply, Layout::Compact, &mut answer)?;
        answer.push(b'\n');
        // All at once: each part wakes the runner, which takes longer than what was asked for.
        output.write_all(&answer)?;
        output.flush()?;
    }
}

struct Host {
    /// The timers that were asked for come first.
    entries: Vec<Entry>,
    open: HashMap<&'static str, Box<dyn Subject>>,
    waiters: Vec<WaitEntry>,
    open_waiters: HashMap<&'static str, Box<dyn WaitSubject>>,
    /// What tells how the core does, once it was asked for.
    meter: Option<CoreFrequencyMeter>,
}

impl Host {
    fn of(entries: &[Entry], waiters: &[WaitEntry]) -> Self {
        let own = [timers::floor()]
            .into_iter()
            .chain(timers::REFERENCES.into_iter().filter_map(timers::find));
        let mut all: Vec<Entry> = Vec::new();
        for entry in entries.iter().copied().chain(own) {
            if all.iter().all(|other| other.info.id != entry.info.id) {
                all.push(entry);
            }
        }
        Self {
            entries: all,
            open: HashMap::new(),
            waiters: waiters.into(),
            open_waiters: HashMap::new(),
            meter: None,
        }
    }

    fn reply(&mut self, line: &[u8]) -> Reply {
        match from_bytes(line) {
            Ok(request) => self
                .answer(request)
                .unwrap_or_else(|fault| refusal(fault.to_string())),
            Err(error) => refusal(format!("this is no request of protocol {VERSION}: {error}")),
        }
    }

    /// As long as there are questions: an arm each.
    fn answer(&mut self, request: Request) -> Answer<Reply> {
        affordable(&request)?;
        Ok(match request {
            Request::Hello { protocol } => Reply::Hello(self.hello(protocol)?),
            Request::Intervals {
                timer,
                work,
                repeat,
            } => Reply::Intervals(Intervals {
                intervals: self.subject(&timer)?.intervals(&work, repeat)?,
            }),
            Request::Batches {
                timer,
                reference,
                calls,
                repeat,
                watched,
            } => {
                let mirror = self.mirror(watched);
                let subject = self.subject(&timer)?;
                let (batches, around) =
                    mirror.around(|| subject.batches(&reference, calls, repeat))?;
                Reply::Batches(Batches { batches, around })
            }
            Request::Readings {
                timer,
                count,
                watched,
            } => {
                let mirror = self.mirror(watched);
                let subject = self.subject(&timer)?;
                let (readings, around) = mirror.around(|| subject.readings(count))?;
                Reply::Readings(Readings { readings, around })
            }
            Request::Calls {
                timer,
                reference,
                ns_per_tick,
                step,
                floor,
            } => {
                let reference = Reference {
                    id: reference,
                    ns_per_tick,
                    step,
                    ..Reference::default()
                };
                Reply::Called(Box::new(self.calls(&timer, &reference, floor)?))
            }
            Request::Steps { timer, question } => {
                let mut run = Run::default();
                let slow = find_step(self.subject(&timer)?, &question, &mut run.intervals)?;
                Reply::Steps(Box::new(Steps {
                    steps: PackedRun(run),
                    slow,
                }))
            }
            Request::Together {
                timers,
                reference,
                repeat,
                work,
                count,
            } => {
                let together = self.together(&timers, &reference, [repeat, count], work)?;
                Reply::Together(Together { together })
            }
            Request::Advances {
                timers,
                reference,
                during,
                ms,
            } => {
                let advances = self.advances(&timers, &reference, during, ms)?;
                Reply::Advances(Advances { advances })
            }
            Request::Order { timer, count } => {
                let timers::Ordered {
                    backward,
                    largest,
                    ends,
                    ..
                } = self.subject(&timer)?.order(count)?;
                Reply::Order(Ordered {
                    backward,
                    largest,
                    ends,
                })
            }
            Request::Handoffs { timer, count } => Reply::Handoffs(Handoffs {
                handoffs: self.subject(&timer)?.handoffs(count)?,
            }),
            Request::HandoffsBetween { timer, cpus, count } => {
                let handoffs = self.subject(&timer)?.handoffs_between(&cpus, count)?;
                Reply::HandoffsBetween(HandoffsBetween { handoffs })
            }
            Request::Comparisons {
                timer,
                reference,
                work,
                count,
            } => {
                let comparisons = self.subject(&timer)?.comparisons(&reference, work, count)?;
                Reply::Comparisons(Comparisons { comparisons })
            }
            Request::Advance {
                timer,
                reference,
                during,
                ms,
            } => {
                let moved = self.subject(&timer)?.advance(&reference, during, ms)?;
                Reply::Advance(Advanced {
                    timer: moved.timer,
                    reference: moved.reference,
                })
            }
            Request::Adds {
                timer,
                reference,
                contexts,
                turns,
                repeat,
            } => {
                let contexts: Vec<_> = contexts.into_iter().map(native::context).collect();
                let mirror = self.mirror(true);
                let subject = self.subject(&timer)?;
                let (adds, around) =
                    mirror.around(|| subject.adds(&reference, &contexts, turns, repeat))?;
                Reply::Adds(Adds { adds, around })
            }
            Request::Waits {
                timer,
                reference,
                request_ns,
                repeat,
                pause_ns,
                break_ns,
            } => {
                let request = WaitRequest {
                    lengths_ns: &request_ns,
                    repeat,
                    pause_ns,
                    break_ns,
                };
                let waits = self.waiter(&timer)?.waits(&reference, request)?;
                Reply::Waits(Waits {
                    waits: waits
                        .into_iter()
                        .map(|row| row.into_iter().map(told).collect())
                        .collect(),
                })
            }
            Request::Arms {
                timer,
                reference,
                repeat,
            } => Reply::Arms(Arms {
                arms: self.waiter(&timer)?.arms(&reference, repeat)?,
            }),
            Request::Periods {
                timer,
                reference,
                period_ns,
                count,
                stalls,
            } => {
                let periods = self
                    .waiter(&timer)?
                    .periods(&reference, period_ns, count, &stalls)?;
                let told = |expiration: Expiration| [expiration.at, expiration.expirations as i64];
                Reply::Periods(Periods {
                    periods: periods.into_iter().map(told).collect(),
                })
            }
        })
    }

    fn hello(&self, protocol: u32) -> Answer<Hello> {
        if protocol != VERSION {
            return Err(Fault::Refused(format!(
                "this agent speaks protocol {VERSION}, not {protocol}"
            )));
        }
        let (mut timers, mut unavailable) = (Vec::new(), Vec::new());
        for entry in &self.entries {
            match (entry.availability)() {
                Ok(()) => timers.push(HostedTimer::native(entry)),
                Err(why) => {
                    let (id, label) = (entry.info.id.to_owned(), entry.info.label.to_owned());
                    unavailable.push(Missing {
                        id,
                        label,
                        reason: why.reason,
                        remedy: why.remedy,
                        ops: Vec::new(),
                    });
                }
            }
        }
        if let Some(best) = timers::REFERENCES
            .iter()
            .find_map(|id| timers.iter().position(|timer| timer.id == *id))
        {
            timers[best].reference = true;
        }
        let runtime = Runtime {
            name: "native".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        };
        let mut waiters = Vec::new();
        for entry in &self.waiters {
            match (entry.availability)() {
                Ok(()) => waiters.push(HostedWaiter::native(entry)),
                Err(why) => unavailable.push(Missing::waiter(entry, why)),
            }
        }
        Ok(Hello {
            protocol,
            runtime,
            timers,
            ops: OPS.map(str::to_owned).into(),
            waiters,
            unavailable,
        })
    }

    fn waiter(&mut self, id: &str) -> Answer<&mut dyn WaitSubject> {
        let Some(entry) = self.waiters.iter().find(|entry| entry.info.id == id) else {
            return Err(Fault::Refused(format!(
                "the timer `{id}` is not served here"
            )));
        };
        let subject = match self.open_waiters.entry(entry.info.id) {
            hash_map::Entry::Occupied(open) => open.into_mut(),
            hash_map::Entry::Vacant(place) => {
                place.insert((entry.open)().map_err(|why| unusable(id, &why))?)
            }
        };
        Ok(subject.as_mut())
    }

    fn subject(&mut self, id: &str) -> Answer<&mut dyn Subject> {
        let Some(entry) = self.entries.iter().find(|entry| entry.info.id == id) else {
            return Err(Fault::Refused(format!(
                "the timer `{id}` is not served here"
            )));
        };
        let id = entry.info.id;
        if !self.open.contains_key(id) {
            let opened = (entry.open)().map_err(|why| unusable(id, &why))?;
            self.open.insert(id, opened);
        }
        match self.open.get_mut(id) {
            Some(subject) => Ok(subject.as_mut()),
            None => Err(Fault::Refused(format!("{id} cannot be used"))),
        }
    }
}

fn unusable(id: &str, why: &Unavailable) -> Fault {
    let remedy = why
        .remedy
        .as_ref()
        .map_or_else(String::new, |remedy| format!("; {remedy}"));
    Fault::Refused(format!("{id} cannot be used: {why}{remedy}"))
}

/// As on the wire: what is unknown at the end is left out.
fn told(wait: Wait) -> SmallVec<[i64; 4]> {
    let mut told = smallvec![wait.before, wait.after];
    told.extend(wait.cpu_ns);
    told.extend(wait.cpu_ns.and(wait.run_delay_ns));
    told
}

/// Refuses what would take all memory or all day, whatever the timer.
fn affordable(request: &Request) -> Answer<()> {
    let steps = match request {
        Request::Intervals { work, repeat, .. } => {
            let total = work
                .iter()
                .fold(0_u64, |total, &amount| total.saturating_add(amount));
            total.saturating_mul((*repeat).into())
        }
        Request::Batches { calls, repeat, .. } => calls.saturating_mul((*repeat).into()),
        Request::HandoffsBetween { cpus, .. } if cpus.len() > MOST_PAIRS => {
            return Err(Fault::Refused(format!(
                "{} pairs are too many: at most {MOST_PAIRS}",
                cpus.len()
            )));
        }
        Request::Comparisons { work, count, .. } => work.saturating_mul((*count).into()),
        Request::Steps { question, .. }
            if !(question.ns_per_work.is_normal() && question.ns_per_work > 0.0) =>
        {
            return Err(Fault::Refused("a unit of work takes some time".into()));
        }
        Request::Steps { question, .. } => question.most_work() as u64,
        Request::Together {
            timers,
            work,
            repeat,
            count,
            ..
        } => {
            let calls = u64::from(*repeat).saturating_mul(timers.len() as u64);
            calls.saturating_add(*work).saturating_mul((*count).into())
        }
        Request::Advance { ms, .. } | Request::Advances { ms, .. } if *ms > LONGEST_MS => {
            return Err(Fault::Refused(format!(
                "{ms} ms are too many: at most {LONGEST_MS}"
            )));
        }
        Request::Adds {
            contexts,
            turns,
            repeat,
            ..
        } => {
            /// Instructions of a piece of work, and of other work before a cold read, roughly.
            const PIECE: u64 = 1_000;
            const OTHER_WORK: u64 = 10_000_000;
            let row = u64::from(*turns).saturating_mul(PIECE);
            let rows = contexts.iter().map(|context| match context {
                Context::Cold => OTHER_WORK,
                _ => row,
            });
            let pair = rows.fold(0_u64, u64::saturating_add).saturating_mul(2);
            pair.saturating_mul((*repeat).into())
        }
        Request::Waits {
            request_ns,
            repeat,
            pause_ns,
            ..
        } => {
            let once = request_ns.iter().fold(0_u64, |total, length| {
                total.saturating_add(*length).saturating_add(*pause_ns)
            });
            passes_soon(once.saturating_mul((*repeat).into()))?
        }
        Request::Periods {
            period_ns,
            count,
            stalls,
            ..
        } => {
            let periods = u64::from(*count).saturating_add(4 * stalls.len() as u64);
            passes_soon(period_ns.saturating_mul(periods))?
        }
        _ => 0,
    };
    let values = request.values();
    if values > MOST_VALUES {
        let op = request.op();
        return Err(Fault::Refused(format!(
            "`{op}` with {values} values is too much for one answer: at most {MOST_VALUES}"
        )));
    }
    if steps > MOST_STEPS {
        let op = request.op();
        return Err(Fault::Refused(format!(
            "`{op}` with {steps} steps takes too long: at most {MOST_STEPS}"
        )));
    }
    Ok(())
}

/// Refuses what takes longer than anything may. Returns that no steps have to be counted.
fn passes_soon(ns: u64) -> Answer<u64> {
    let ms = ns / 1_000_000;
    if ms > LONGEST_MS.into() {
        return Err(Fault::Refused(format!(
            "{ms} ms are too many: at most {LONGEST_MS}"
        )));
    }
    Ok(0)
}

fn refusal(error: String) -> Reply {
    Reply::Refusal(Refusal { error })
}

#[cfg(test)]
mod tests;
