//! Agents written in words: they know loops and clocks, and nothing of the agent protocol. What the
//! protocol asks reaches them as a line of words, and what they answer in a line of integers
//! becomes what the protocol wants. docs/agents.md says what the words are.

mod book;
mod introduction;
mod rows;

use std::collections::VecDeque;
use std::sync::Arc;

pub use book::Book;
use serde::Serialize;
use timers::During;

use super::protocol::{Question, Refusal, Request, VERSION, questions};
use crate::text::from_bytes;
use crate::text::json::{Layout, written};

/// No answer holds more integers than this.
const MOST_VALUES: u64 = 1_000_000;
/// Nothing is waited for longer, in nanoseconds: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Amounts that a float of 64 bits holds, which some languages count by.
const LARGEST_AMOUNT: u64 = 1 << 53;
/// How often each loop runs before the introduction, for compilers and caches of the runtime.
const WARM_UP: u32 = 10;

/// What lines of JSON are to an agent.
#[derive(Clone, Debug, Default)]
pub enum Dialect {
    /// It speaks JSON itself.
    #[default]
    Json,
    /// It is written in words.
    Words {
        /// What is known of it.
        book: Arc<Book>,
        /// As many of the arguments are its own; those after them are ids of timers.
        arguments: usize,
    },
}

/// The lines to and from an agent that was started.
pub(super) struct Interpreter {
    book: Arc<Book>,
    /// Ids of the timers that are wanted; all of them where there are none.
    wanted: Vec<String>,
    due: VecDeque<Due>,
}

/// What comes next.
enum Due {
    /// This, which the agent need not be asked for.
    Ready(Vec<u8>),
    /// The answer of the agent to this.
    Answer(Request),
    /// An answer that is not wanted.
    Discarded,
}

impl Interpreter {
    pub(super) fn new(book: &Arc<Book>, wanted: Vec<String>) -> Self {
        Self {
            book: Arc::clone(book),
            wanted,
            due: VecDeque::new(),
        }
    }

    /// What is sent to the agent for these lines.
    pub(super) fn say(&mut self, lines: &[u8]) -> Vec<u8> {
        let mut sent = String::new();
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            let asked = from_bytes::<Request>(line)
                .map_err(|error| format!("this is no request of protocol {VERSION}: {error}"))
                .and_then(|request| self.in_words(&request).map(|words| (request, words)));
            match asked {
                Ok((request, words)) => {
                    if matches!(request, Request::Introduction(_)) {
                        sent += &self.warm_up();
                    }
                    self.due.push_back(Due::Answer(request));
                    sent += &words;
                    sent.push('\n');
                }
                Err(error) => self
                    .due
                    .push_back(Due::Ready(json(&Refusal { error }, &[]))),
            }
        }
        sent.into_bytes()
    }

    /// What is answered without the agent, if that is next.
    pub(super) fn ready(&mut self) -> Option<Vec<u8>> {
        match self.due.pop_front()? {
            Due::Ready(line) => Some(line),
            other => {
                self.due.push_front(other);
                None
            }
        }
    }

    /// What a line of the agent means; nothing if it is not wanted. A line that means nothing is
    /// passed on as it is.
    pub(super) fn hear(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        let request = match self.due.pop_front() {
            Some(Due::Discarded) => return None,
            Some(Due::Answer(request)) => request,
            Some(Due::Ready(_)) | None => return Some(line),
        };
        let Ok(text) = str::from_utf8(&line) else {
            return Some(line);
        };
        if let Some(why) = text.strip_prefix('!') {
            let error = if why.trim().is_empty() {
                "it did not say why".into()
            } else {
                why.trim().into()
            };
            return Some(json(&Refusal { error }, &[]));
        }
        let (values, disturbed) = text.split_once('|').unwrap_or((text, ""));
        let disturbed: Vec<&str> = disturbed.split_whitespace().collect();
        let reply = match &request {
            Request::Introduction(_) => introduction::read(text, &self.book, &self.wanted)
                .map(|hello| json(&hello, &disturbed)),
            request => rows::integers(values)
                .and_then(|values| rows::reply(request, &values, self.book.cpu_time, &disturbed)),
        };
        Some(reply.unwrap_or(line))
    }

    /// A request as the agent understands it; or why it is not asked. As long as there are
    /// questions: an arm each.
    fn in_words(&self, request: &Request) -> Result<String, String> {
        if request.values() > MOST_VALUES {
            let values = request.values();
            return Err(format!(
                "{values} values are too many for one answer: at most {MOST_VALUES}"
            ));
        }
        let op = request.op();
        Ok(match request {
            Request::Introduction(questions::Introduction { protocol: VERSION }) => op.into(),
            Request::Introduction(questions::Introduction { protocol }) => {
                return Err(format!(
                    "this agent speaks protocol {VERSION}, not {protocol}"
                ));
            }
            Request::Intervals(questions::Intervals {
                timer,
                work,
                repeat,
            }) => {
                format!(
                    "{op} {} {repeat}{}",
                    self.clock(timer)?,
                    amounts(work.iter().copied())?
                )
            }
            Request::Batches(questions::Batches {
                timer,
                reference,
                calls,
                repeat,
                ..
            }) => {
                self.timed_by(reference)?;
                format!("{op} {}{} {repeat}", self.clock(timer)?, amounts([*calls])?)
            }
            Request::Readings(questions::Readings { timer, count, .. }) => {
                format!("{op} {} {count}", self.clock(timer)?)
            }
            Request::Handoffs(questions::Handoffs { timer, count }) if self.offers(op) => {
                format!("{op} {} {count}", self.clock(timer)?)
            }
            Request::Comparisons(questions::Comparisons {
                timer,
                reference,
                work,
                count,
            }) => {
                self.timed_by(reference)?;
                format!("{op} {}{} {count}", self.clock(timer)?, amounts([*work])?)
            }
            Request::Advance(questions::Advance {
                timer,
                reference,
                during,
                ms,
            }) => {
                self.timed_by(reference)?;
                soon(u64::from(*ms).saturating_mul(1_000_000))?;
                let during = match during {
                    During::Spin => 0,
                    During::Sleep => 1,
                    During::OtherSpin if self.offers("other-spin") => 2,
                    During::OtherSpin => return Err("this agent has no second thread".into()),
                };
                format!("{op} {} {during} {ms}", self.clock(timer)?)
            }
            Request::Waits(questions::Waits {
                timer,
                reference,
                request_ns,
                repeat,
                pause_ns,
                break_ns,
            }) => {
                self.timed_by(reference)?;
                let turn = request_ns.iter().fold(0, |sum: u64, &ns| {
                    sum.saturating_add(ns).saturating_add(*pause_ns)
                });
                soon(turn.saturating_mul((*repeat).into()))?;
                let late = break_ns.map_or(-1, |ns| i64::try_from(ns).unwrap_or(-1));
                let lengths = amounts(request_ns.iter().copied())?;
                format!(
                    "{op} {} {late} {pause_ns} {repeat}{lengths}",
                    self.waiter(timer, op)?
                )
            }
            Request::Periods(questions::Periods {
                timer,
                reference,
                period_ns,
                count,
                stalls,
            }) => {
                self.timed_by(reference)?;
                if *period_ns == 0 {
                    return Err("a period of 0 is none".into());
                }
                soon(period_ns.saturating_mul(u64::from(*count) + 4 * stalls.len() as u64))?;
                let stalls = amounts(stalls.iter().copied().map(u64::from))?;
                format!(
                    "{op} {} {period_ns} {count}{stalls}",
                    self.waiter(timer, op)?
                )
            }
            Request::Order(_)
            | Request::Calls(_)
            | Request::Steps(_)
            | Request::Together(_)
            | Request::Advances(_)
            | Request::Adds(_)
            | Request::Handoffs(_)
            | Request::HandoffsBetween(_)
            | Request::Arms(_) => {
                return Err(format!("this agent does not know `{op}`"));
            }
        })
    }

    /// The loops of what is wanted, run with few of everything.
    fn warm_up(&mut self) -> String {
        let wanted: Vec<&String> = self.wanted.iter().collect();
        let mut sent = String::new();
        let clocks = wanted
            .iter()
            .filter_map(|id| self.clock(id).ok())
            .chain(self.clock(timers::FLOOR_ID).ok());
        for clock in clocks.filter(|_| !wanted.is_empty()) {
            for round in 0..WARM_UP {
                sent += &format!(
                    "intervals {clock} 20 0 1 {round}\nbatches {clock} {round} 20\nreadings {clock} 20\ncomparisons {clock} {round} 9\n"
                );
            }
        }
        for waiter in wanted
            .iter()
            .filter_map(|id| self.waiter(id, questions::Waits::OP).ok())
        {
            sent += &format!("waits {waiter} -1 0 2 0 1000\n");
        }
        self.due.extend(sent.lines().map(|_| Due::Discarded));
        sent
    }

    fn offers(&self, op: &str) -> bool {
        self.book.ops.iter().any(|offered| offered == op)
    }

    fn clock(&self, id: &str) -> Result<usize, String> {
        let at = self
            .book
            .clocks
            .iter()
            .position(|clock| clock.timer.id == id);
        at.ok_or_else(|| format!("there is no timer `{id}` here"))
    }

    fn waiter(&self, id: &str, op: &str) -> Result<usize, String> {
        let answers = |ops: &[String]| ops.iter().any(|offered| offered == op);
        let at = self
            .book
            .waiters
            .iter()
            .position(|entry| entry.waiter.id == id && answers(&entry.waiter.ops));
        at.ok_or_else(|| format!("there is no timer `{id}` here that answers `{op}`"))
    }

    /// The agent times all by one clock.
    fn timed_by(&self, reference: &str) -> Result<(), String> {
        if reference == self.book.reference {
            return Ok(());
        }
        Err(format!(
            "this agent times by {} only, not by `{reference}`",
            self.book.reference
        ))
    }
}

/// An answer as a line of JSON.
fn json<T: Serialize>(reply: &T, disturbed: &[&str]) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a, T> {
        #[serde(flatten)]
        reply: &'a T,
        disturbed: &'a [&'a str],
    }
    let text = if disturbed.is_empty() {
        written(reply, Layout::Compact)
    } else {
        written(&Line { reply, disturbed }, Layout::Compact)
    };
    text.unwrap_or_else(|error| error.to_string()).into_bytes()
}

fn amounts(amounts: impl IntoIterator<Item = u64>) -> Result<String, String> {
    let mut words = String::new();
    for amount in amounts {
        if amount > LARGEST_AMOUNT {
            return Err(format!("{amount} is too much: at most {LARGEST_AMOUNT}"));
        }
        words += &format!(" {amount}");
    }
    Ok(words)
}

fn soon(ns: u64) -> Result<(), String> {
    let most = LONGEST_NS / 1_000_000_000;
    if ns > LONGEST_NS {
        Err(format!(
            "{} s are too many: at most {most}",
            ns / 1_000_000_000
        ))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
