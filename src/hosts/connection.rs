//! Sends questions to an agent, which is not trusted to answer them.
//!
//! The agent and its timers are black boxes: an agent may crash, hang, or send malformed replies.
//! Each failure becomes a [`Fault`] that describes it; the process and everything that it started
//! are then ended, and every later question returns the same fault.

use std::collections::BTreeMap;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;

use timers::{Answer, Deadline, Fault};

use super::book::Book;
use super::children::{self, Placement};
use super::events::{self, Log, LogSpec};
use super::lines::printable;
use super::process::{Command, Output, Process, exit_description};
use super::protocol::examples::{EXAMPLES, question};
use super::protocol::{Around, Hello, Op, Question, Reply, VERSION};
use crate::limits::MOST_TIMERS;
use crate::text::{clean_strings, from_bytes};

/// Number of runs of each loop of a built-in agent before the first measurement.
const WARM_UP: u32 = 10;
/// Questions about clocks whose loops are warmed up.
const MEASURED: [Op; 4] = [Op::Intervals, Op::Batches, Op::Readings, Op::Comparisons];
/// Interval between two checks of an agent that is silent.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Time by which a process may end later than its output.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// Maximum length of a quoted answer, in characters.
const MAX_EXCERPT: usize = 80;
/// Maximum length of the answer to an invalid line, in bytes.
const MAX_REFUSAL: u64 = 64 << 10;
/// Maximum length of an agent's error message, in characters.
const MAX_EXPLANATION: usize = 300;
/// Maximum number of quotation marks in an introduction, which bounds its lists before they are
/// parsed.
const MAX_QUOTES: usize = 64 * MOST_TIMERS;

/// A running agent that has introduced itself. Dropping the value ends the process.
pub struct Connection {
    name: String,
    process: Process,
    hello: Hello,
    timeout: Duration,
    /// The rest of the timeout; it decreases only while the client waits for an answer.
    left: Duration,
    over: Option<Fault>,
    log: Option<Log>,
    /// The disturbances of the last window.
    events: Vec<String>,
    windows: Windows,
    /// Whether the host is requested to report the state of its thread around windows.
    watches_itself: bool,
    /// The state of the host's thread around the last window.
    around: Option<[Around; 2]>,
}

/// The measurement windows of a process: one for each question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Windows answered so far.
    pub answered: u32,
    /// Windows dropped so far, by kind of disturbance.
    pub dropped: BTreeMap<String, u32>,
    /// Windows kept although they were disturbed, because every repetition was disturbed too.
    pub disturbed: u32,
    /// How often all earlier measurements became void.
    pub voided: u32,
}

impl Connection {
    /// Starts an agent with the given placement and reads its introduction. `timeout` limits the
    /// total time of waiting for answers over this connection.
    ///
    /// # Errors
    /// [`Fault::Lost`] when the agent cannot be started or its introduction violates the protocol.
    pub fn start(
        command: &Command,
        placement: impl Into<Placement>,
        timeout: Duration,
    ) -> Answer<Self> {
        if children::interrupted() {
            return Err(Fault::Interrupted);
        }
        let mut connection = Self {
            name: command.name.clone(),
            process: Process::start(command, placement)?,
            hello: Hello::default(),
            timeout,
            left: timeout,
            over: None,
            log: None,
            events: Vec::new(),
            windows: Windows::default(),
            watches_itself: false,
            around: None,
        };
        connection.hello = connection.introduction(command.book.as_deref())?;
        Ok(connection)
    }

    fn introduction(&mut self, book: Option<&Book>) -> Answer<Hello> {
        let question = Question::Hello { protocol: VERSION };
        let line = self.exchange(&question)?;
        let quotes = line.iter().filter(|&&byte| byte == b'"').count();
        let why = match str::from_utf8(&line).map(clean_strings) {
            Ok(_) if quotes > MAX_QUOTES => {
                format!("more than {MOST_TIMERS} timers are not taken")
            }
            Ok(text) => match from_bytes::<Hello>(text.as_bytes()) {
                Ok(mut hello) => {
                    if let Some(book) = book {
                        book.complete(&mut hello);
                    }
                    match hello.objection() {
                        None => return Ok(hello),
                        Some(why) => why,
                    }
                }
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        Err(self.malformed(&question, &why, &line))
    }

    /// Runs the loops of the timers with small amounts, so that the runtime compiles them and fills
    /// its caches.
    pub(super) fn warm_up(&mut self, ids: &[&str]) -> Answer<()> {
        let reference = self.hello.timers.iter().find(|timer| timer.reference);
        let reference = reference.map_or_else(String::new, |timer| timer.id.clone());
        for timer in ids.iter().copied().chain([timers::FLOOR_ID]) {
            let is_waiter = self.hello.waiters.iter().any(|waiter| waiter.id == timer);
            for amount in 0..if is_waiter { 1 } else { WARM_UP } {
                for (op, example) in EXAMPLES {
                    let is_loop = if is_waiter {
                        op == Op::Waits
                    } else {
                        MEASURED.contains(&op)
                    };
                    let Ok(question) = question(example, timer, &reference, amount) else {
                        continue;
                    };
                    match is_loop.then(|| self.ask(&question)) {
                        None | Some(Ok(_) | Err(Fault::Refused(_))) => {}
                        Some(Err(fault)) => return Err(fault),
                    }
                }
            }
        }
        Ok(())
    }

    /// The introduction of the agent.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// The process id.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Starts to read the log that the runtime of the agent writes.
    pub fn watch(&mut self, spec: &LogSpec) {
        let mut log = Log::open(spec, self.process.id());
        // Events before the introduction belong to the warm-up.
        log.events();
        self.log = Some(log);
    }

    /// Requests that the host report the state of its thread around windows from now on. Returns
    /// whether the host can do so.
    pub fn watch_itself(&mut self) -> bool {
        self.watches_itself = self.hello.offers(Op::Calls);
        self.watches_itself
    }

    /// Whether the host reports the state of its thread around windows.
    pub(super) fn watches_itself(&self) -> bool {
        self.watches_itself
    }

    /// Takes the state of the host's thread around the last window.
    pub fn take_around(&mut self) -> Option<[Around; 2]> {
        self.around.take()
    }

    /// The numbers of answered, dropped, disturbed and voided windows.
    #[must_use]
    pub fn windows(&self) -> &Windows {
        &self.windows
    }

    /// Counts all windows answered since `before` as void and dropped.
    pub fn void_since(&mut self, before: &Windows) {
        let answered = self.windows.answered - before.answered;
        *self
            .windows
            .dropped
            .entry(events::COMPILATION.into())
            .or_default() += answered;
    }

    /// Whether a disturbance fell into the window of the last answer. If `drop`, a disturbed window
    /// is counted as dropped.
    pub(super) fn was_disturbed(&mut self, drop: bool) -> bool {
        let events = std::mem::take(&mut self.events);
        self.windows.answered += 1;
        let Some(first) = events.first() else {
            return false;
        };
        if events.iter().any(|event| events::voids_all(event)) {
            self.windows.voided += 1;
        } else if drop {
            *self.windows.dropped.entry(first.clone()).or_default() += 1;
        } else {
            self.windows.disturbed += 1;
        }
        true
    }

    /// Sends a question other than the introduction and waits for the answer.
    ///
    /// # Errors
    /// [`Fault::Refused`] when the agent refuses the question or does not offer it; [`Fault::Lost`]
    /// when the answer is invalid.
    pub fn ask(&mut self, question: &Question) -> Answer<Reply> {
        if !self.hello.offers(question.op()) {
            let op = question.op().name();
            return Err(Fault::Refused(format!("this agent does not offer `{op}`")));
        }
        let line = self.exchange(question)?;
        let reply: Reply = match from_bytes(&line) {
            Ok(reply) => reply,
            Err(error) => return Err(self.malformed(question, &error.to_string(), &line)),
        };
        let shown = |text: &String| printable(text.as_bytes(), MAX_EXPLANATION);
        self.events = reply.disturbed.iter().map(shown).collect();
        self.events
            .extend(self.log.as_mut().map(Log::events).unwrap_or_default());
        if let Some(why) = &reply.error {
            return Err(Fault::Refused(shown(why)));
        }
        if let Some(why) = question.objection(&reply) {
            return Err(self.malformed(question, &why, &line));
        }
        self.around = reply.around;
        Ok(reply)
    }

    fn malformed(&mut self, question: &Question, why: &str, line: &[u8]) -> Fault {
        let why = printable(why.as_bytes(), MAX_EXPLANATION);
        let (op, excerpt) = (question.op().name(), printable(line, MAX_EXCERPT));
        let expected = question.expected();
        self.lose(format!(
            "malformed reply to `{op}`: {why}; expected {expected}, got `{excerpt}`"
        ))
    }

    /// Sends an invalid line, which the agent has to refuse.
    ///
    /// # Errors
    /// [`Fault::Lost`] when the agent does anything else.
    pub fn provoke(&mut self, line: &str) -> Answer<()> {
        let answer = self.send("no request", line.into(), MAX_REFUSAL)?;
        let reply = from_bytes::<Reply>(&answer).ok();
        match reply.and_then(|reply| reply.error) {
            Some(why) if !why.trim().is_empty() => Ok(()),
            _ => {
                let excerpt = printable(&answer, MAX_EXCERPT);
                Err(self.lose(format!(
                    "is expected to answer {{\"error\":\"why, in one line\"}}, not `{excerpt}`"
                )))
            }
        }
    }

    /// Resets the time that is left for answers to the whole timeout.
    pub(super) fn allow_anew(&mut self) {
        self.left = self.timeout;
    }

    /// Closes the input of the agent, which then has to exit by itself.
    ///
    /// # Errors
    /// [`Fault::Lost`] when the agent does not exit in time, or exits with another status than 0.
    pub fn dismiss(&mut self) -> Answer<()> {
        self.process.close();
        let deadline = Deadline::after(self.timeout);
        while !self.process.has_exited()
            && deadline.remaining().is_some()
            && !children::interrupted()
        {
            thread::sleep(Duration::from_millis(5));
        }
        let by_itself = self.process.has_exited();
        match self.process.end().filter(|_| by_itself) {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self
                .lose(exit_description(status) + " when its input ended, and not with status 0")),
            None => Err(self.lose(format!(
                "still ran {} s after its input",
                self.timeout.as_secs_f64()
            ))),
        }
    }

    fn exchange(&mut self, question: &Question) -> Answer<Vec<u8>> {
        let line = serde_json::to_string(question)
            .map_err(|error| Fault::Refused(format!("the request cannot be written: {error}")))?;
        self.send(question.op().name(), line, question.longest_answer())
    }

    fn send(&mut self, op: &str, line: String, longest: u64) -> Answer<Vec<u8>> {
        if let Some(fault) = &self.over {
            return Err(fault.clone());
        }
        if let Some(output) = self.process.pending() {
            let excerpt = match output {
                Output::Line(line) => printable(&line, MAX_EXCERPT),
                Output::Endless => "…".into(),
            };
            return Err(self.lose(format!(
                "wrote something without being asked, before `{op}`: `{excerpt}`"
            )));
        }
        self.process.send((line + "\n").into_bytes(), longest);
        let deadline = Deadline::after(self.left);
        let received = self.receive(op, longest, deadline);
        self.left = deadline.remaining().unwrap_or_default();
        received
    }

    fn receive(&mut self, op: &str, longest: u64, deadline: Deadline) -> Answer<Vec<u8>> {
        loop {
            if children::interrupted() {
                return Err(self.finish(Fault::Interrupted));
            }
            let Some(left) = deadline.remaining() else {
                let seconds = self.timeout.as_secs_f64();
                return Err(self.lose(format!(
                    "did not answer `{op}` in time ({seconds} s for all its answers) and was ended"
                )));
            };
            let output = match self.process.next(left.min(CHECK_INTERVAL)) {
                // A process that the agent left behind may hold the agent's output open.
                Err(RecvTimeoutError::Timeout) if self.process.has_exited() => {
                    self.process.pending()
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => None,
                Ok(output) => Some(output),
            };
            return match output {
                Some(Output::Line(line)) => Ok(line),
                Some(Output::Endless) => {
                    let most = longest >> 10;
                    Err(self.lose(format!(
                        "answered `{op}` with more than {most} KiB, which no answer to that question needs"
                    )))
                }
                None => Err(self.describe_end(op, deadline)),
            };
        }
    }

    /// The reason why the output has ended.
    fn describe_end(&mut self, op: &str, deadline: Deadline) -> Fault {
        let dying = Deadline::after(deadline.remaining().unwrap_or_default().min(EXIT_GRACE));
        while !self.process.has_exited() && dying.remaining().is_some() {
            thread::sleep(Duration::from_millis(2));
        }
        if children::interrupted() {
            return self.finish(Fault::Interrupted);
        }
        let by_itself = self.process.has_exited();
        match self.process.end() {
            Some(status) if by_itself => self.lose(format!(
                "{} instead of answering `{op}`",
                exit_description(status)
            )),
            _ => self.lose(format!(
                "closed its output instead of answering `{op}`, and was ended"
            )),
        }
    }

    fn lose(&mut self, what: String) -> Fault {
        self.process.end();
        let words = self
            .process
            .last_error_output()
            .map_or_else(String::new, |words| {
                format!("; its last error output: {words}")
            });
        self.finish(Fault::Lost(format!("agent `{}` {what}{words}", self.name)))
    }

    fn finish(&mut self, fault: Fault) -> Fault {
        self.process.end();
        self.over = Some(fault.clone());
        fault
    }
}
