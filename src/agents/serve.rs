//! The agent of native timers: reads requests line by line and writes the answers in the same
//! order.

mod observer;

use std::collections::{HashMap, hash_map};
use std::io::{self, BufRead, Write};
use std::time::Duration;

use rand::rngs::SmallRng;
use timers::waits::WaitEntry;
use timers::{
    Activity, Answer, CoreFrequencyMeter, Entry, Fault, StepQuestion, Subject, Unavailable, Values,
};

use super::children::with_remedy;
use super::lines::{self, InputLine};
use super::protocol::questions::excess;
use super::protocol::{
    AgentTimer, EncodedObservations, Hello, Missing, Op, Reply, RuntimeVersion, TimerQuestion,
    VERSION,
};
use estimators::trace::{Observations, Reference};
use probe::prober::{find_step, time_calls_briefly};

/// Maximum length of a request, in bytes; every valid request is shorter.
const MAX_REQUEST_BYTES: u64 = 16 << 20;

/// Answers requests for the clocks `entries`, the references and `waiters` until the input ends.
///
/// The calling thread opens a timer at the first request for that timer, because opening some
/// timers takes long.
///
/// # Errors
/// When the input cannot be read or the output cannot be written. The content of a request never
/// causes an error.
pub fn serve(
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    entries: &[Entry],
    waiters: &[WaitEntry],
) -> io::Result<()> {
    let mut agent = NativeAgent::new(entries, waiters);
    let mut answer = Vec::new();
    loop {
        answer.clear();
        match lines::read(input, MAX_REQUEST_BYTES)? {
            InputLine::Whole(line) | InputLine::Unfinished(line) => {
                agent.reply(&line, &mut answer)?
            }
            InputLine::TooLong(_) => {
                while let InputLine::TooLong(_) = lines::read(input, MAX_REQUEST_BYTES)? {}
                let max_mib = MAX_REQUEST_BYTES >> 20;
                let error = format!("the request is longer than {max_mib} MiB");
                serde_json::to_writer(&mut answer, &refusal(error))?;
            }
            InputLine::End => return Ok(()),
        }
        answer.push(b'\n');
        // One write for the whole answer: each part would wake the runner, which takes longer than
        // a short measurement.
        output.write_all(&answer)?;
        output.flush()?;
    }
}

/// Returns the introduction of an agent with these timers.
pub fn introduction(entries: &[Entry], waiters: &[WaitEntry]) -> Hello {
    NativeAgent::new(entries, waiters).hello()
}

struct NativeAgent {
    /// The clocks that can be requested; those that the command line names come first.
    entries: Vec<Entry>,
    waiters: Vec<WaitEntry>,
    /// The timers that were used so far.
    open: HashMap<String, Box<dyn Subject>>,
    /// Measures the frequency of the core; `None` before the first request that needs it.
    meter: Option<CoreFrequencyMeter>,
}

impl NativeAgent {
    fn new(entries: &[Entry], waiters: &[WaitEntry]) -> Self {
        let additional = timers::REFERENCES.into_iter().filter_map(timers::find);
        let mut all: Vec<Entry> = Vec::new();
        for entry in entries.iter().copied().chain(additional) {
            if all.iter().all(|other| other.info.id != entry.info.id) {
                all.push(entry);
            }
        }
        Self {
            entries: all,
            open: HashMap::new(),
            waiters: waiters.into(),
            meter: None,
        }
    }

    /// Appends the answer to a request line to `output`.
    fn reply(&mut self, line: &[u8], output: &mut Vec<u8>) -> io::Result<()> {
        let reply = match serde_json::from_slice(line) {
            Ok(TimerQuestion::Hello { protocol: VERSION }) => {
                return Ok(serde_json::to_writer(output, &self.hello())?);
            }
            Ok(question) => match excess(&question) {
                Some(excess) => refusal(excess),
                None => self
                    .answer(question)
                    .unwrap_or_else(|fault| refusal(fault.to_string())),
            },
            Err(error) => refusal(format!(
                "this is not a request of protocol {VERSION}: {error}"
            )),
        };
        Ok(serde_json::to_writer(output, &reply)?)
    }

    fn answer(&mut self, question: TimerQuestion) -> Answer<Reply> {
        match &question {
            TimerQuestion::Hello { protocol } => Err(Fault::Refused(format!(
                "this agent speaks protocol {VERSION}, not {protocol}"
            ))),
            TimerQuestion::Comparisons {
                timers,
                reference,
                work,
                count,
                repeat,
            } if timers.len() != 1 || *repeat != 1 => {
                let values = self.compare(timers, reference, *work, [*count, *repeat])?;
                Ok(Values::from(values).into())
            }
            TimerQuestion::Advance {
                timers,
                reference,
                during,
                ms,
            } if timers.len() != 1 => {
                let values = self.advance(timers, reference, *during, *ms)?;
                Ok(Values::from(values).into())
            }
            TimerQuestion::Calls {
                timer,
                reference,
                ns_per_tick,
                step,
            } => {
                let reference = Reference {
                    id: reference.clone(),
                    ns_per_tick: *ns_per_tick,
                    step: *step,
                    ..Reference::default()
                };
                self.calls(timer, &reference)
            }
            TimerQuestion::Steps { timer, question } => self.steps(timer, question),
            _ => self.pass_on(question),
        }
    }

    /// Passes a question on to the one timer that it names. The reply also contains the state of
    /// this thread and its core before and after, if requested.
    fn pass_on(&mut self, question: TimerQuestion) -> Answer<Reply> {
        let is_watched = match &question {
            TimerQuestion::Batches { watched, .. } | TimerQuestion::Readings { watched, .. } => {
                *watched
            }
            question => question.op() == Op::Adds,
        };
        let meter = if is_watched { self.meter() } else { None };
        let id = question.timers().concat();
        let subject = self.subject(&id)?;
        if !is_watched {
            return subject.answer(question).map(Reply::from);
        }
        let (values, around) = observer::around(meter, || subject.answer(question))?;
        Ok(Reply {
            around,
            ..values.into()
        })
    }

    fn hello(&self) -> Hello {
        let (mut timers, mut waiters, mut unavailable) = (Vec::new(), Vec::new(), Vec::new());
        for entry in &self.entries {
            let mut timer = AgentTimer::native(entry);
            match (entry.availability)() {
                Ok(()) => timers.push(timer),
                Err(why) => {
                    timer.ns_per_tick = timer.ns_per_tick.or(entry.info.ns_per_tick);
                    unavailable.push(Missing::new(timer, why));
                }
            }
        }
        let reference = timers::REFERENCES
            .iter()
            .find_map(|id| timers.iter().position(|timer| timer.id == *id));
        if let Some(index) = reference {
            timers[index].reference = true;
        }
        for entry in &self.waiters {
            let timer = AgentTimer::native_waiter(entry);
            match entry.availability() {
                Ok(()) => waiters.push(timer),
                Err(why) => unavailable.push(Missing::new(timer, why)),
            }
        }
        Hello {
            protocol: VERSION,
            runtime: RuntimeVersion {
                name: "native".into(),
                version: env!("CARGO_PKG_VERSION").into(),
            },
            device: None,
            timers,
            many: true,
            ops: Op::ALL[1..].iter().map(|op| op.name().into()).collect(),
            waiters,
            unavailable,
        }
    }

    /// Returns a timer, which is opened at its first use.
    fn subject(&mut self, id: &str) -> Answer<&mut dyn Subject> {
        let subject = match self.open.entry(id.into()) {
            hash_map::Entry::Occupied(open) => open.into_mut(),
            hash_map::Entry::Vacant(place) => {
                let clock = self.entries.iter().find(|entry| entry.info.id == id);
                let waiter = || self.waiters.iter().find(|entry| entry.id == id);
                let opened = match clock {
                    Some(clock) => (clock.open)(),
                    None => waiter().ok_or_else(|| not_served(id))?.open(),
                };
                place.insert(opened.map_err(|why| unusable(id, &why))?)
            }
        };
        Ok(subject.as_mut())
    }

    /// Returns the meter of the core frequency, created at its first use; `None` if that fails.
    fn meter(&mut self) -> Option<CoreFrequencyMeter> {
        if self.meter.is_none() {
            self.meter = CoreFrequencyMeter::new().ok();
        }
        self.meter
    }

    /// Takes all measurements of one process of the calls of a timer.
    fn calls(&mut self, id: &str, reference: &Reference) -> Answer<Reply> {
        let meter = self.meter();
        let timer = self.subject(id)?;
        let (run, around) = observer::around(meter, || time_calls_briefly(timer, None, reference))?;
        Ok(Reply {
            packed: Some(EncodedObservations(run)),
            around,
            ..Reply::default()
        })
    }

    /// Takes all intervals with which one process searches for the step of a timer.
    fn steps(&mut self, id: &str, question: &StepQuestion) -> Answer<Reply> {
        let (intervals, is_slow) = find_step::<SmallRng>(self.subject(id)?, question)?;
        let run = Observations {
            intervals,
            ..Observations::default()
        };
        Ok(Reply {
            values: vec![is_slow.into()],
            packed: Some(EncodedObservations(run)),
            ..Reply::default()
        })
    }

    /// Compares several timers in turn, in `count` rounds with `work` between two rounds.
    fn compare(
        &mut self,
        ids: &[String],
        reference: &str,
        work: u64,
        [count, repeat]: [u32; 2],
    ) -> Answer<Vec<i64>> {
        let mut values = Vec::new();
        for round in 0..count {
            if round > 0 && work > 0 {
                self.subject(reference)?.intervals(&[work], 1)?;
            }
            for id in ids {
                let comparisons = match self.subject(id)?.comparisons(reference, 0, repeat) {
                    Err(Fault::Refused(_)) => vec![[Values::REFUSED; 3]; repeat as usize],
                    answer => answer?,
                };
                values.extend(comparisons.as_flattened());
            }
        }
        Ok(values)
    }

    /// Measures how far each timer and the reference advance: reads all of them before and after
    /// the span, in the same order.
    fn advance(
        &mut self,
        ids: &[String],
        reference: &str,
        during: Activity,
        ms: u32,
    ) -> Answer<Vec<i64>> {
        let mut read = || self.compare(ids, reference, 0, [1, 1]);
        // The first read of each timer is discarded, because its code is not in a cache yet.
        read()?;
        let before = read()?;
        timers::pass(Duration::from_millis(ms.into()), during)?;
        let after = read()?;
        let comparisons = before.as_chunks().0.iter().zip(after.as_chunks().0);
        let advances = comparisons.flat_map(
            |(&[_, first, reference_first], &[_, last, reference_last])| {
                if [first, last].contains(&Values::REFUSED) {
                    return [Values::REFUSED; 2];
                }
                [
                    last.wrapping_sub(first),
                    reference_last.wrapping_sub(reference_first),
                ]
            },
        );
        Ok(advances.collect())
    }
}

/// The fault of a request for a timer that this agent does not have.
fn not_served(id: &str) -> Fault {
    Fault::Refused(format!("the timer `{id}` is not served here"))
}

fn unusable(id: &str, why: &Unavailable) -> Fault {
    Fault::Refused(format!("{id} cannot be used: {}", with_remedy(why)))
}

fn refusal(error: String) -> Reply {
    Reply {
        error: Some(error),
        ..Reply::default()
    }
}

#[cfg(test)]
mod tests;
