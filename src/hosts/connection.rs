//! The client of the agent protocol: questions to a process that is not trusted to answer them.
//!
//! Its timers are black boxes, and so is the agent: it may crash, hang, or send malformed replies.
//! Whatever it does becomes a [`Fault`] that says what happened; the process and all it started are
//! then ended, and every later question gets the same fault.

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

/// How often each loop of a built-in agent runs before it is asked.
const WARM_UP: u32 = 10;
/// The questions about clocks whose loops are warmed.
const MEASURED: [Op; 4] = [Op::Intervals, Op::Batches, Op::Readings, Op::Comparisons];
/// How often an agent that is silent is looked after.
const SLICE: Duration = Duration::from_millis(250);
/// How long the end of a process may come after the end of its output.
const DYING: Duration = Duration::from_millis(500);
/// As much of an answer is quoted.
const EXCERPT: usize = 80;
/// Bytes of the longest answer to what is no request.
const NO_REQUEST: u64 = 64 << 10;
/// As much of an agent's own explanation is passed on.
const EXPLANATION: usize = 300;
/// Quotation marks in an introduction: so its lists are bounded before they are read.
const MOST_QUOTES: usize = 64 * MOST_TIMERS;

/// An agent that runs and has introduced itself. Dropping it ends the process.
pub struct Connection {
    name: String,
    process: Process,
    hello: Hello,
    timeout: Duration,
    /// What is left of it: it passes only while an answer is waited for.
    left: Duration,
    over: Option<Fault>,
    log: Option<Log>,
    /// What disturbed the last window.
    events: Vec<String>,
    windows: Windows,
    /// Whether the host is asked what it sees of itself around windows.
    watches_itself: bool,
    /// What it saw around the last one.
    around: Option<[Around; 2]>,
}

/// The windows of a process: one a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Answered so far.
    pub answered: u32,
    /// Dropped so far, by what disturbed them.
    pub dropped: BTreeMap<String, u32>,
    /// Kept although they were disturbed, as each repetition was.
    pub disturbed: u32,
    /// How often all that was measured before became void.
    pub voided: u32,
}

impl Connection {
    /// Starts an agent, placed like that from its first instruction, and asks what it is. All
    /// answers that it is ever asked for over this connection may take `timeout` together.
    ///
    /// # Errors
    /// Lost when it cannot be started or does not introduce itself as the protocol wants it.
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
            Ok(_) if quotes > MOST_QUOTES => {
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

    /// Runs the loops of timers with few of everything, for compilers and caches of the runtime.
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

    /// How the agent introduced itself.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// The number of the process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Watches the log that the runtime of the agent writes, from now on.
    pub fn watch(&mut self, spec: &LogSpec) {
        let mut log = Log::open(spec, self.process.id());
        // What came before the introduction was the warm-up.
        log.events();
        self.log = Some(log);
    }

    /// From now on the host reports what it observes of itself around windows, where it can.
    /// Returns whether it can.
    pub fn watch_itself(&mut self) -> bool {
        self.watches_itself = self.hello.offers(Op::Calls);
        self.watches_itself
    }

    /// Whether it is asked to.
    pub(super) fn watches_itself(&self) -> bool {
        self.watches_itself
    }

    /// What it saw around the last window.
    pub fn take_around(&mut self) -> Option<[Around; 2]> {
        self.around.take()
    }

    /// What became of its windows.
    #[must_use]
    pub fn windows(&self) -> &Windows {
        &self.windows
    }

    /// All that was answered since `before` became void and was dropped.
    pub fn void_since(&mut self, before: &Windows) {
        let answered = self.windows.answered - before.answered;
        *self
            .windows
            .dropped
            .entry(events::COMPILATION.into())
            .or_default() += answered;
    }

    /// Whether something disturbed the window of the last answer. If it is to be dropped, it is
    /// counted as that.
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

    /// Sends a question that is no introduction and waits for its answer.
    ///
    /// # Errors
    /// Refused by the agent, or because it does not offer the question; lost when what it answers
    /// is no answer.
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
        let shown = |text: &String| printable(text.as_bytes(), EXPLANATION);
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
        let why = printable(why.as_bytes(), EXPLANATION);
        let (op, excerpt) = (question.op().name(), printable(line, EXCERPT));
        let expected = question.expected();
        self.lose(format!(
            "malformed reply to `{op}`: {why}; expected {expected}, got `{excerpt}`"
        ))
    }

    /// Sends a line that is no request, which the agent has to refuse.
    ///
    /// # Errors
    /// Lost when it does anything else.
    pub fn provoke(&mut self, line: &str) -> Answer<()> {
        let answer = self.send("no request", line.into(), NO_REQUEST)?;
        let reply = from_bytes::<Reply>(&answer).ok();
        match reply.and_then(|reply| reply.error) {
            Some(why) if !why.trim().is_empty() => Ok(()),
            _ => {
                let excerpt = printable(&answer, EXCERPT);
                Err(self.lose(format!(
                    "is expected to answer {{\"error\":\"why, in one line\"}}, not `{excerpt}`"
                )))
            }
        }
    }

    /// From now on its answers may take as long as at the beginning.
    pub(super) fn allow_anew(&mut self) {
        self.left = self.timeout;
    }

    /// Ends its input, after which it has to exit by itself.
    ///
    /// # Errors
    /// Lost when it does not, or not with status 0.
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
                Output::Line(line) => printable(&line, EXCERPT),
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
            let output = match self.process.next(left.min(SLICE)) {
                // A process that it left behind may hold its output open.
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
                None => Err(self.gone(op, deadline)),
            };
        }
    }

    /// Why nothing comes any more.
    fn gone(&mut self, op: &str, deadline: Deadline) -> Fault {
        let dying = Deadline::after(deadline.remaining().unwrap_or_default().min(DYING));
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
