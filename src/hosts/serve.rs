//! The agent that hosts native timers: requests come in line by line, answers go out in the same
//! order.

mod many;

use std::collections::{HashMap, hash_map};
use std::io::{self, BufRead, Write};

use smallvec::{SmallVec, smallvec};
use timers::waits::{Expiration, Wait, WaitEntry, WaitRequest, WaitSubject};
use timers::{Answer, CoreFrequencyMeter, Entry, Fault, Subject, Unavailable};

use super::lines::{self, Line};
use super::protocol::questions::{
    Adds, Advance, Advances, Arms, Batches, Calls, Comparisons, Handoffs, HandoffsBetween,
    Intervals, Introduction, Order, Periods, Question, Readings, Request, Steps, Together, Waits,
    each_question,
};
use super::protocol::{
    Hello, HostedTimer, HostedWaiter, Missing, PackedRun, Refusal, Runtime, VERSION, answers, ops,
};
use crate::hosts::step_search::find_step;
use crate::model::Context;
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
    let mut host = Host::new(entries, waiters);
    let mut answer = Vec::new();
    loop {
        answer.clear();
        match lines::read(input, LONGEST_REQUEST)? {
            Line::Whole(line) | Line::Unfinished(line) => host.reply(&line, &mut answer)?,
            Line::TooLong(_) => {
                while let Line::TooLong(_) = lines::read(input, LONGEST_REQUEST)? {}
                let most = LONGEST_REQUEST >> 20;
                refuse(
                    format!("the request is longer than {most} MiB"),
                    &mut answer,
                )?;
            }
            Line::End => return Ok(()),
        }
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
    fn new(entries: &[Entry], waiters: &[WaitEntry]) -> Self {
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

    /// Writes the answer to a line.
    fn reply(&mut self, line: &[u8], output: &mut Vec<u8>) -> io::Result<()> {
        let request = match from_bytes(line) {
            Ok(request) => request,
            Err(error) => {
                let error = format!("this is no request of protocol {VERSION}: {error}");
                return refuse(error, output);
            }
        };
        macro_rules! serve_each {
            ($($name:ident)*) => {
                match request { $(Request::$name(question) => self.answer(question, output),)* }
            };
        }
        each_question!(serve_each)
    }

    fn answer<Q: Serve>(&mut self, question: Q, output: &mut Vec<u8>) -> io::Result<()> {
        match affordable(&question).and_then(|()| question.serve(self)) {
            Ok(answer) => Ok(write(&answer, Layout::Compact, output)?),
            Err(fault) => refuse(fault.to_string(), output),
        }
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
            match entry.availability() {
                Ok(()) => waiters.push(HostedWaiter::native(entry)),
                Err(why) => unavailable.push(Missing::waiter(entry, why)),
            }
        }
        Ok(Hello {
            protocol,
            runtime,
            timers,
            ops: ops().iter().map(|&op| op.to_owned()).collect(),
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
                place.insert(entry.open().map_err(|why| unusable(id, &why))?)
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
fn wait_values(wait: Wait) -> SmallVec<[i64; 4]> {
    let mut values = smallvec![wait.before, wait.after];
    values.extend(wait.cpu_ns);
    values.extend(wait.cpu_ns.and(wait.run_delay_ns));
    values
}

/// How this host answers a question.
trait Serve: Question {
    /// Calls and units of work that the answer takes; or why it takes too long.
    fn steps(&self) -> Answer<u64> {
        Ok(0)
    }

    fn serve(self, host: &mut Host) -> Answer<Self::Answer>;
}

impl Serve for Introduction {
    fn serve(self, host: &mut Host) -> Answer<Hello> {
        host.hello(self.protocol)
    }
}

impl Serve for Intervals {
    fn steps(&self) -> Answer<u64> {
        let amounts = self.work.iter();
        let total = amounts.fold(0_u64, |total, &amount| total.saturating_add(amount));
        Ok(total.saturating_mul(self.repeat.into()))
    }

    fn serve(self, host: &mut Host) -> Answer<answers::Intervals> {
        let intervals = host
            .subject(&self.timer)?
            .intervals(&self.work, self.repeat)?;
        Ok(answers::Intervals { intervals })
    }
}

impl Serve for Batches {
    fn steps(&self) -> Answer<u64> {
        Ok(self.calls.saturating_mul(self.repeat.into()))
    }

    fn serve(self, host: &mut Host) -> Answer<answers::Batches> {
        let mirror = host.mirror(self.watched);
        let subject = host.subject(&self.timer)?;
        let (batches, around) =
            mirror.around(|| subject.batches(&self.reference, self.calls, self.repeat))?;
        Ok(answers::Batches { batches, around })
    }
}

impl Serve for Readings {
    fn serve(self, host: &mut Host) -> Answer<answers::Readings> {
        let mirror = host.mirror(self.watched);
        let subject = host.subject(&self.timer)?;
        let (readings, around) = mirror.around(|| subject.readings(self.count))?;
        Ok(answers::Readings { readings, around })
    }
}

impl Serve for Calls {
    fn serve(self, host: &mut Host) -> Answer<answers::Called> {
        let reference = Reference {
            id: self.reference,
            ns_per_tick: self.ns_per_tick,
            step: self.step,
            ..Reference::default()
        };
        host.calls(&self.timer, &reference, self.floor)
    }
}

impl Serve for Steps {
    fn steps(&self) -> Answer<u64> {
        let question = &self.question;
        if !(question.ns_per_work.is_normal() && question.ns_per_work > 0.0) {
            return Err(Fault::Refused("a unit of work takes some time".into()));
        }
        Ok(question.most_work() as u64)
    }

    fn serve(self, host: &mut Host) -> Answer<answers::Steps> {
        let mut run = Run::default();
        let subject = host.subject(&self.timer)?;
        let slow = find_step(subject, &self.question, &mut run.intervals)?;
        Ok(answers::Steps {
            steps: PackedRun(run),
            slow,
        })
    }
}

impl Serve for Together {
    fn steps(&self) -> Answer<u64> {
        let calls = u64::from(self.repeat).saturating_mul(self.timers.len() as u64);
        Ok(calls
            .saturating_add(self.work)
            .saturating_mul(self.count.into()))
    }

    fn serve(self, host: &mut Host) -> Answer<answers::Together> {
        let counts = [self.repeat, self.count];
        let together = host.together(&self.timers, &self.reference, counts, self.work)?;
        Ok(answers::Together { together })
    }
}

impl Serve for Advances {
    fn steps(&self) -> Answer<u64> {
        ends_soon(self.ms.into())
    }

    fn serve(self, host: &mut Host) -> Answer<answers::Advances> {
        let advances = host.advances(&self.timers, &self.reference, self.during, self.ms)?;
        Ok(answers::Advances { advances })
    }
}

impl Serve for Order {
    fn serve(self, host: &mut Host) -> Answer<answers::Ordered> {
        let ordered = host.subject(&self.timer)?.order(self.count)?;
        Ok(answers::Ordered {
            backward: ordered.backward,
            largest: ordered.largest,
            ends: ordered.ends,
        })
    }
}

impl Serve for Handoffs {
    fn serve(self, host: &mut Host) -> Answer<answers::Handoffs> {
        let handoffs = host.subject(&self.timer)?.handoffs(self.count)?;
        Ok(answers::Handoffs { handoffs })
    }
}

impl Serve for HandoffsBetween {
    fn steps(&self) -> Answer<u64> {
        let pairs = self.cpus.len();
        if pairs > MOST_PAIRS {
            return Err(Fault::Refused(format!(
                "{pairs} pairs are too many: at most {MOST_PAIRS}"
            )));
        }
        Ok(0)
    }

    fn serve(self, host: &mut Host) -> Answer<answers::HandoffsBetween> {
        let subject = host.subject(&self.timer)?;
        let handoffs = subject.handoffs_between(&self.cpus, self.count)?;
        Ok(answers::HandoffsBetween { handoffs })
    }
}

impl Serve for Comparisons {
    fn steps(&self) -> Answer<u64> {
        Ok(self.work.saturating_mul(self.count.into()))
    }

    fn serve(self, host: &mut Host) -> Answer<answers::Comparisons> {
        let subject = host.subject(&self.timer)?;
        let comparisons = subject.comparisons(&self.reference, self.work, self.count)?;
        Ok(answers::Comparisons { comparisons })
    }
}

impl Serve for Advance {
    fn steps(&self) -> Answer<u64> {
        ends_soon(self.ms.into())
    }

    fn serve(self, host: &mut Host) -> Answer<answers::Advanced> {
        let subject = host.subject(&self.timer)?;
        let moved = subject.advance(&self.reference, self.during, self.ms)?;
        Ok(answers::Advanced {
            timer: moved.timer,
            reference: moved.reference,
        })
    }
}

impl Serve for Adds {
    fn steps(&self) -> Answer<u64> {
        /// Instructions of a piece of work, and of other work before a cold read, roughly.
        const PIECE: u64 = 1_000;
        const OTHER_WORK: u64 = 10_000_000;
        let row = u64::from(self.turns).saturating_mul(PIECE);
        let rows = self.contexts.iter().map(|context| match context {
            Context::Cold => OTHER_WORK,
            _ => row,
        });
        let pair = rows.fold(0_u64, u64::saturating_add).saturating_mul(2);
        Ok(pair.saturating_mul(self.repeat.into()))
    }

    fn serve(self, host: &mut Host) -> Answer<answers::Adds> {
        let mirror = host.mirror(true);
        let subject = host.subject(&self.timer)?;
        let (adds, around) = mirror
            .around(|| subject.adds(&self.reference, &self.contexts, self.turns, self.repeat))?;
        Ok(answers::Adds { adds, around })
    }
}

impl Serve for Waits {
    fn steps(&self) -> Answer<u64> {
        let once = self.request_ns.iter().fold(0_u64, |total, length| {
            total.saturating_add(*length).saturating_add(self.pause_ns)
        });
        ends_soon(once.saturating_mul(self.repeat.into()) / 1_000_000)
    }

    fn serve(self, host: &mut Host) -> Answer<answers::Waits> {
        let request = WaitRequest {
            lengths_ns: &self.request_ns,
            repeat: self.repeat,
            pause_ns: self.pause_ns,
            break_ns: self.break_ns,
        };
        let rows = host.waiter(&self.timer)?.waits(&self.reference, request)?;
        let values = |row: Vec<Wait>| row.into_iter().map(wait_values).collect();
        Ok(answers::Waits {
            waits: rows.into_iter().map(values).collect(),
        })
    }
}

impl Serve for Arms {
    fn serve(self, host: &mut Host) -> Answer<answers::Arms> {
        let arms = host
            .waiter(&self.timer)?
            .arms(&self.reference, self.repeat)?;
        Ok(answers::Arms { arms })
    }
}

impl Serve for Periods {
    fn steps(&self) -> Answer<u64> {
        let periods = u64::from(self.count).saturating_add(4 * self.stalls.len() as u64);
        ends_soon(self.period_ns.saturating_mul(periods) / 1_000_000)
    }

    fn serve(self, host: &mut Host) -> Answer<answers::Periods> {
        let waiter = host.waiter(&self.timer)?;
        let periods = waiter.periods(&self.reference, self.period_ns, self.count, &self.stalls)?;
        let values = |expiration: Expiration| [expiration.at, expiration.expirations as i64];
        Ok(answers::Periods {
            periods: periods.into_iter().map(values).collect(),
        })
    }
}

/// Refuses what would take all memory or all day, whatever the timer.
fn affordable<Q: Serve>(question: &Q) -> Answer<()> {
    let (op, values, steps) = (Q::OP, question.values(), question.steps()?);
    if values > MOST_VALUES {
        return Err(Fault::Refused(format!(
            "`{op}` with {values} values is too much for one answer: at most {MOST_VALUES}"
        )));
    }
    if steps > MOST_STEPS {
        return Err(Fault::Refused(format!(
            "`{op}` with {steps} steps takes too long: at most {MOST_STEPS}"
        )));
    }
    Ok(())
}

/// Refuses what takes longer than anything may. Returns that no steps have to be counted.
fn ends_soon(ms: u64) -> Answer<u64> {
    if ms > LONGEST_MS.into() {
        return Err(Fault::Refused(format!(
            "{ms} ms are too many: at most {LONGEST_MS}"
        )));
    }
    Ok(0)
}

/// Writes a refusal in place of an answer.
fn refuse(error: String, output: &mut Vec<u8>) -> io::Result<()> {
    output.clear();
    Ok(write(&Refusal { error }, Layout::Compact, output)?)
}

#[cfg(test)]
mod tests;
