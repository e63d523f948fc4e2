//! Hosts native timers: reads requests line by line and writes the answers in the same order.

mod observer;

use std::collections::{HashMap, hash_map};
use std::io::{self, BufRead, Write};
use std::time::Duration;

use timers::waits::{WaitEntry, WaitRequest, WaitSubject};
use timers::{Answer, CoreFrequencyMeter, During, Entry, Fault, Subject, Unavailable};

use super::bench::Bench;
use super::calls::explore_calls;
use super::children::with_remedy;
use super::lines::{self, Line};
use super::protocol::{
    Hello, HostedTimer, HostedWaiter, Missing, Op, PackedRun, Question, Reply, Runtime, VERSION,
};
use crate::hosts::step_search::find_step;
use crate::text::from_bytes;
use crate::trace::{Reference, Run};

/// Maximum length of a request, in bytes; every valid request is shorter.
const LONGEST_REQUEST: u64 = 16 << 20;
/// Maximum units of work in a search for a step: a few minutes.
const MOST_WORK: f64 = 1e12;

/// Serves `entries`, the timer that reads nothing, the references and `waiters` until the input
/// ends.
///
/// The calling thread opens a timer at the first request for that timer, because opening some
/// timers takes long.
///
/// # Errors
/// When the input cannot be read or the output cannot be written. The content of a request never
/// causes an error.
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
                let error = format!("the request is longer than {most} MiB");
                serde_json::to_writer(&mut answer, &refusal(error))?;
            }
            Line::End => return Ok(()),
        }
        answer.push(b'\n');
        // One write for the whole answer: each part would wake the runner, which takes longer than
        // a short measurement.
        output.write_all(&answer)?;
        output.flush()?;
    }
}

/// The introduction of a host of these timers.
#[must_use]
pub fn introduction(entries: &[Entry], waiters: &[WaitEntry]) -> Hello {
    Host::new(entries, waiters).hello()
}

struct Host {
    /// The requested timers come first.
    entries: Vec<Entry>,
    open: HashMap<&'static str, Box<dyn Subject>>,
    waiters: Vec<WaitEntry>,
    open_waiters: HashMap<&'static str, Box<dyn WaitSubject>>,
    /// Measures the frequency of the core; `None` before the first request that needs it.
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

    /// Appends the answer to a request line to `output`.
    fn reply(&mut self, line: &[u8], output: &mut Vec<u8>) -> io::Result<()> {
        let reply = match from_bytes(line) {
            Ok(Question::Hello { protocol: VERSION }) => {
                return Ok(serde_json::to_writer(output, &self.hello())?);
            }
            Ok(question) => match question.excess() {
                Some(excess) => refusal(excess),
                None => self
                    .answer(question)
                    .unwrap_or_else(|fault| refusal(fault.to_string())),
            },
            Err(error) => refusal(format!("this is no request of protocol {VERSION}: {error}")),
        };
        Ok(serde_json::to_writer(output, &reply)?)
    }

    fn answer(&mut self, question: Question) -> Answer<Reply> {
        let values = match question {
            Question::Hello { protocol } => {
                return Err(Fault::Refused(format!(
                    "this agent speaks protocol {VERSION}, not {protocol}"
                )));
            }
            Question::Intervals {
                timer,
                repeat,
                work,
            } => self.subject(&timer)?.intervals(&work, repeat)?.concat(),
            Question::Batches {
                timer,
                reference,
                calls,
                repeat,
                watched,
            } => {
                return self.observed(watched, &timer, |subject| {
                    subject.batches(&reference, calls, repeat)
                });
            }
            Question::Readings {
                timer,
                count,
                watched,
            } => return self.observed(watched, &timer, |subject| subject.readings(count)),
            Question::Order { timer, count } => {
                let order = self.subject(&timer)?.order(count)?;
                let [first, last] = order
                    .ends
                    .ok_or_else(|| Fault::Refused("no readings have no order".into()))?;
                let counts = [order.backward, order.largest].map(|count| count as i64);
                [&counts[..], &[first, last]].concat()
            }
            Question::Handoffs { timer, cpus, count } if cpus.is_empty() => {
                self.subject(&timer)?.handoffs(count)?.concat()
            }
            Question::Handoffs { timer, cpus, count } => {
                let rows = self.subject(&timer)?.handoffs_between(&cpus, count)?;
                rows.concat().concat()
            }
            Question::Comparisons {
                timers,
                reference,
                work,
                count,
                repeat,
            } => match &timers[..] {
                [timer] if repeat == 1 => self
                    .subject(timer)?
                    .comparisons(&reference, work, count)?
                    .concat(),
                _ => self.compare(&timers, &reference, work, [count, repeat])?,
            },
            Question::Advance {
                timers,
                reference,
                during,
                ms,
            } => match &timers[..] {
                [timer] => {
                    let moved = self.subject(timer)?.advance(&reference, during, ms)?;
                    vec![moved.timer, moved.reference]
                }
                _ => self.advance(&timers, &reference, during, ms)?,
            },
            Question::Calls {
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
                return self.calls(&timer, &reference, floor);
            }
            Question::Steps { timer, question } => {
                let most = question.most_work();
                if !(question.ns_per_work > 0.0 && most <= MOST_WORK) {
                    return Err(Fault::Refused(format!(
                        "{most} units of work are too many: at most {MOST_WORK}"
                    )));
                }
                let mut run = Run::default();
                let slow = find_step(self.subject(&timer)?, &question, &mut run.intervals)?;
                return Ok(Reply {
                    packed: Some(PackedRun(run)),
                    ..vec![slow.into()].into()
                });
            }
            Question::Adds {
                timer,
                reference,
                contexts,
                turns,
                repeat,
            } => {
                return self.observed(true, &timer, |subject| {
                    let rows = subject.adds(&reference, &contexts, turns, repeat)?;
                    Ok(rows.concat().concat())
                });
            }
            Question::Waits {
                timer,
                reference,
                break_ns,
                pause_ns,
                repeat,
                request_ns,
            } => {
                let request = WaitRequest {
                    lengths_ns: &request_ns,
                    repeat,
                    pause_ns,
                    break_ns: u64::try_from(break_ns).ok(),
                };
                let rows = self.waiter(&timer)?.waits(&reference, request)?;
                let mut values = Vec::new();
                for (at, row) in rows.into_iter().enumerate() {
                    for wait in row {
                        let known = |ns: Option<i64>| ns.unwrap_or(-1);
                        let times = [known(wait.cpu_ns), known(wait.run_delay_ns)];
                        values.extend([at as i64, wait.before, wait.after]);
                        values.extend(times);
                    }
                }
                values
            }
            Question::Arms {
                timer,
                reference,
                repeat,
            } => self.waiter(&timer)?.arms(&reference, repeat)?,
            Question::Periods {
                timer,
                reference,
                period_ns,
                count,
                stalls,
            } => {
                let waiter = self.waiter(&timer)?;
                let periods = waiter.periods(&reference, period_ns, count, &stalls)?;
                let values = periods
                    .into_iter()
                    .flat_map(|one| [one.at, one.expirations as i64]);
                values.collect()
            }
        };
        Ok(values.into())
    }

    fn hello(&self) -> Hello {
        let (mut timers, mut waiters, mut unavailable) = (Vec::new(), Vec::new(), Vec::new());
        for entry in &self.entries {
            match (entry.availability)() {
                Ok(()) => timers.push(HostedTimer::native(entry)),
                Err(why) => unavailable.push(Missing::clock(entry, why)),
            }
        }
        let best = timers::REFERENCES
            .iter()
            .find_map(|id| timers.iter().position(|timer| timer.id == *id));
        if let Some(best) = best {
            timers[best].reference = true;
        }
        for entry in &self.waiters {
            match entry.availability() {
                Ok(()) => waiters.push(HostedWaiter::native(entry)),
                Err(why) => unavailable.push(Missing::waiter(entry, why)),
            }
        }
        Hello {
            protocol: VERSION,
            runtime: Runtime {
                name: "native".into(),
                version: env!("CARGO_PKG_VERSION").into(),
            },
            timers,
            many: true,
            ops: Op::ALL[1..].iter().map(|op| op.name().into()).collect(),
            waiters,
            unavailable,
        }
    }

    fn waiter(&mut self, id: &str) -> Answer<&mut dyn WaitSubject> {
        let entry = self.waiters.iter().find(|entry| entry.info.id == id);
        let entry = entry.ok_or_else(|| not_served(id))?;
        let subject = match self.open_waiters.entry(entry.info.id) {
            hash_map::Entry::Occupied(open) => open.into_mut(),
            hash_map::Entry::Vacant(place) => {
                place.insert(entry.open().map_err(|why| unusable(id, &why))?)
            }
        };
        Ok(subject.as_mut())
    }

    fn subject(&mut self, id: &str) -> Answer<&mut dyn Subject> {
        let entry = self.entries.iter().find(|entry| entry.info.id == id);
        let entry = entry.ok_or_else(|| not_served(id))?;
        let subject = match self.open.entry(entry.info.id) {
            hash_map::Entry::Occupied(open) => open.into_mut(),
            hash_map::Entry::Vacant(place) => {
                place.insert((entry.open)().map_err(|why| unusable(id, &why))?)
            }
        };
        Ok(subject.as_mut())
    }

    /// Questions a timer; if `watched`, also records the state of this thread and its core before
    /// and after.
    fn observed(
        &mut self,
        watched: bool,
        timer: &str,
        ask: impl FnOnce(&mut dyn Subject) -> Answer<Vec<i64>>,
    ) -> Answer<Reply> {
        if !watched {
            return ask(self.subject(timer)?).map(Reply::from);
        }
        let meter = self.meter();
        let subject = self.subject(timer)?;
        let (values, around) = observer::around(meter, || ask(subject))?;
        Ok(Reply {
            around,
            ..values.into()
        })
    }

    fn meter(&mut self) -> Option<CoreFrequencyMeter> {
        if self.meter.is_none() {
            self.meter = CoreFrequencyMeter::new().ok();
        }
        self.meter
    }

    /// Takes all measurements of one process of the calls of a timer.
    fn calls(&mut self, id: &str, reference: &Reference, floor: bool) -> Answer<Reply> {
        let floor = floor.then(|| opened_again(timers::FLOOR_ID)).transpose()?;
        let times = opened_again(&reference.id)?;
        let meter = self.meter();
        self.subject(id)?;
        let (id, timer) = self.open.remove_entry(id).ok_or_else(|| not_served(id))?;
        let mut bench = Bench {
            timer,
            ns_per_tick: None,
            reference: times,
            reference_id: reference.id.clone(),
            floor,
            watch: None,
            dropped: Vec::new(),
        };
        let found = observer::around(meter, || explore_calls(&mut bench, reference, &mut None));
        self.open.insert(id, bench.timer);
        let (run, around) = found?;
        Ok(Reply {
            packed: Some(PackedRun(run)),
            around,
            ..Reply::default()
        })
    }

    /// Compares several timers in turn, in rounds.
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
                self.subject(timers::FLOOR_ID)?.intervals(&[work], 1)?;
            }
            for id in ids {
                let all = match self.subject(id)?.comparisons(reference, 0, repeat) {
                    Err(Fault::Refused(_)) => vec![[Reply::REFUSED; 3]; repeat as usize],
                    answer => answer?,
                };
                values.extend(all.as_flattened());
            }
        }
        Ok(values)
    }

    /// How far each timer and the reference advance: all are read before the span and after the
    /// span, in the same order.
    fn advance(
        &mut self,
        ids: &[String],
        reference: &str,
        during: During,
        ms: u32,
    ) -> Answer<Vec<i64>> {
        let mut read = || self.compare(ids, reference, 0, [1, 1]);
        // The first read of each timer runs code that is not in a cache yet, so it is discarded.
        read()?;
        let before = read()?;
        timers::pass(Duration::from_millis(ms.into()), during);
        let after = read()?;
        let comparisons = before.as_chunks().0.iter().zip(after.as_chunks().0);
        let moved = comparisons.flat_map(|(&[_, began, at], &[_, ended, until])| {
            if [began, ended].contains(&Reply::REFUSED) {
                return [Reply::REFUSED; 2];
            }
            [ended.wrapping_sub(began), until.wrapping_sub(at)]
        });
        Ok(moved.collect())
    }
}

/// Opens another instance of the timer with that id: opening a reference or the timer that reads
/// nothing is cheap.
fn opened_again(id: &str) -> Answer<Box<dyn Subject>> {
    let entry = timers::find(id).ok_or_else(|| not_served(id))?;
    (entry.open)().map_err(|why| unusable(id, &why))
}

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
