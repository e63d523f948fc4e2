//! Sends questions to an agent, which is not trusted to answer them.
//!
//! The agent and its timers are black boxes: an agent may crash, hang, or send malformed replies.
//! Each failure becomes a [`Fault`] that describes it; the process and everything that it started
//! are then ended, and every later question returns the same fault.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use timers::{Answer, Deadline, Fault};

use super::children::{self, Placement};
use super::declarations::Declarations;
use super::events::{self, RuntimeLog};
use super::lines::{InputLine, printable};
use super::process::{AgentCommand, AgentProcess, exit_description};
use super::protocol::examples::{EXAMPLES, question};
use super::protocol::{AgentQuestion, Hello, Op, Reply, ThreadState, VERSION};
use reporting::limits::MAX_TIMERS;
use reporting::text::clean_strings;

/// Number of runs of each loop of a built-in agent before the first measurement.
const WARM_UP_RUNS: u32 = 10;
/// The questions whose loops are warmed up for a clock.
const WARMED_UP_OPS: [Op; 4] = [Op::Differences, Op::Batches, Op::Readings, Op::Comparisons];
/// Interval between two checks of an agent that is silent.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Time by which a process may end later than its output.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// Maximum length of a quoted answer, in characters.
const MAX_EXCERPT_CHARS: usize = 80;
/// Maximum length of an agent's error message, in characters.
const MAX_ERROR_CHARS: usize = 300;
/// Maximum number of quotation marks in an introduction, which bounds its lists before they are
/// parsed.
const MAX_QUOTES: usize = 64 * MAX_TIMERS;

/// A running agent that has introduced itself. Dropping the value ends the process.
pub struct Connection {
    name: String,
    process: AgentProcess,
    hello: Hello,
    timeout: Duration,
    /// The rest of the timeout; it decreases only while the client waits for an answer.
    time_left: Duration,
    /// The fault that ended the agent, if any; the answer to every later question.
    fault: Option<Fault>,
    log: Option<RuntimeLog>,
    /// The disturbances during the last question.
    events: Vec<String>,
    windows: Windows,
    /// Whether the agent is requested to report the state of its thread before and after a question.
    reports_thread_states: bool,
    /// The state of the agent's thread before and after the last question.
    thread_states: Option<[ThreadState; 2]>,
}

/// A connection that all timers of the agent use.
pub type SharedConnection = Rc<RefCell<Connection>>;

/// Numbers of measurement windows of a process. A window is the time in which an agent answers one
/// question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Windows answered so far.
    pub answered: u32,
    /// Windows dropped so far, by kind of disturbance.
    pub dropped: BTreeMap<String, u32>,
    /// Windows kept although they were disturbed, because every repetition was disturbed too.
    pub disturbed: u32,
    /// How often an event made all earlier measurements void.
    pub voided: u32,
}

impl Connection {
    /// Starts an agent with the given placement and reads its introduction. `timeout` limits the
    /// total time of waiting for answers over this connection.
    ///
    /// # Errors
    /// [`Fault::Lost`] when the agent cannot be started or its introduction violates the protocol.
    pub fn start(
        command: &AgentCommand,
        placement: impl Into<Placement>,
        timeout: Duration,
    ) -> Answer<Self> {
        if children::interrupted() {
            return Err(Fault::Interrupted);
        }
        let mut connection = Self {
            name: command.name.clone(),
            process: AgentProcess::start(command, placement)?,
            hello: Hello::default(),
            timeout,
            time_left: timeout,
            fault: None,
            log: None,
            events: Vec::new(),
            windows: Windows::default(),
            reports_thread_states: false,
            thread_states: None,
        };
        connection.hello = connection.introduction(command.declarations.as_deref())?;
        if let Some(path) = &command.log {
            let log = connection
                .log
                .insert(RuntimeLog::open(path, connection.process.id()));
            // Events before the introduction belong to the warm-up.
            log.read_events();
        }
        Ok(connection)
    }

    /// Lets several timers use this connection.
    #[must_use]
    pub fn share(self) -> SharedConnection {
        Rc::new(RefCell::new(self))
    }

    /// Asks for the introduction, completes it with the declarations, and checks it.
    fn introduction(&mut self, declarations: Option<&Declarations>) -> Answer<Hello> {
        let question = AgentQuestion::Hello { protocol: VERSION };
        let line = self.exchange(&question)?;
        let quotes = line.iter().filter(|&&byte| byte == b'"').count();
        let text = str::from_utf8(&line).map_err(io::Error::other);
        let why = match text.and_then(clean_strings) {
            Ok(_) if quotes > MAX_QUOTES => {
                format!("it lists more than {MAX_TIMERS} timers")
            }
            Ok(text) => match serde_json::from_str::<Hello>(&text) {
                Ok(mut hello) => {
                    if let Some(declarations) = declarations {
                        declarations.complete(&mut hello);
                    }
                    match hello.objection() {
                        None => return Ok(hello.with_devices()),
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
            for amount in 0..if is_waiter { 1 } else { WARM_UP_RUNS } {
                let warmed_up = EXAMPLES.iter().filter(|(op, _)| {
                    if is_waiter {
                        *op == Op::Waits
                    } else {
                        WARMED_UP_OPS.contains(op)
                    }
                });
                for (_, example) in warmed_up {
                    let Ok(question) = question(example, timer, &reference, amount) else {
                        continue;
                    };
                    match self.ask(&question) {
                        Ok(_) | Err(Fault::Refused(_)) => {}
                        Err(fault) => return Err(fault),
                    }
                }
            }
        }
        Ok(())
    }

    /// Lets the answers take the whole timeout again.
    pub fn restart_timeout(&mut self) {
        self.time_left = self.timeout;
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

    /// Requests that the host report the state of its thread before and after each later question.
    /// Returns whether the host can do so.
    pub fn request_thread_states(&mut self) -> bool {
        self.reports_thread_states = self.hello.offers(Op::Calls);
        self.reports_thread_states
    }

    /// Whether the host reports the state of its thread before and after a question.
    pub(super) fn reports_thread_states(&self) -> bool {
        self.reports_thread_states
    }

    /// Takes the state of the host's thread before and after the last question.
    pub fn take_thread_states(&mut self) -> Option<[ThreadState; 2]> {
        self.thread_states.take()
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

    /// Counts the window of the last question and returns whether it was disturbed. A disturbed
    /// window counts as voided if its event voids all earlier measurements, otherwise as dropped if
    /// `drop` is set, otherwise as disturbed.
    pub(super) fn count_window(&mut self, drop: bool) -> bool {
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
    pub fn ask(&mut self, question: &AgentQuestion) -> Answer<Reply> {
        if !self.hello.offers(question.op()) {
            let op = question.op().name();
            return Err(Fault::Refused(format!("this agent does not offer `{op}`")));
        }
        let line = self.exchange(question)?;
        let reply: Reply = match serde_json::from_slice(&line) {
            Ok(reply) => reply,
            Err(error) => {
                let why = question.excessive_value(&line);
                let why = why.unwrap_or_else(|| error.to_string());
                return Err(self.malformed(question, &why, &line));
            }
        };
        let cleaned = |text: &String| printable(text.as_bytes(), MAX_ERROR_CHARS);
        self.events = reply.disturbed.iter().map(cleaned).collect();
        self.events.extend(
            self.log
                .as_mut()
                .map(RuntimeLog::read_events)
                .unwrap_or_default(),
        );
        if let Some(why) = &reply.error {
            return Err(Fault::Refused(cleaned(why)));
        }
        if let Some(why) = question.objection(&reply) {
            return Err(self.malformed(question, &why, &line));
        }
        self.thread_states = reply.around;
        Ok(reply)
    }

    /// Ends the agent because an answer is invalid, and returns the fault.
    fn malformed(&mut self, question: &AgentQuestion, why: &str, line: &[u8]) -> Fault {
        let why = printable(why.as_bytes(), MAX_ERROR_CHARS);
        let (op, excerpt) = (question.op().name(), printable(line, MAX_EXCERPT_CHARS));
        let expected = question.expected_form();
        self.lose(format!(
            "malformed reply to `{op}`: {why}; expected {expected}, got `{excerpt}`"
        ))
    }

    /// Sends a question and returns the line of the answer.
    fn exchange(&mut self, question: &AgentQuestion) -> Answer<Vec<u8>> {
        let line = serde_json::to_string(question)
            .map_err(|error| Fault::Refused(format!("the request cannot be written: {error}")))?;
        self.send(question.op().name(), line, question.max_answer_bytes())
    }

    /// Sends a line and returns the line of the answer. `op` names the question in messages.
    fn send(&mut self, op: &str, line: String, max_bytes: u64) -> Answer<Vec<u8>> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if let Some(output) = self.process.pending() {
            let excerpt = match output {
                InputLine::Whole(line) => printable(&line, MAX_EXCERPT_CHARS),
                _ => "…".into(),
            };
            return Err(self.lose(format!(
                "wrote a line without a request, before `{op}`: `{excerpt}`"
            )));
        }
        self.process.send((line + "\n").into_bytes(), max_bytes);
        let deadline = Deadline::after(self.time_left);
        let received = self.receive(op, max_bytes, deadline);
        self.time_left = deadline.remaining().unwrap_or_default();
        received
    }

    /// Waits for a line of the agent until the deadline.
    fn receive(&mut self, op: &str, max_bytes: u64, deadline: Deadline) -> Answer<Vec<u8>> {
        loop {
            if children::interrupted() {
                return Err(self.finish(Fault::Interrupted));
            }
            let Some(time_left) = deadline.remaining() else {
                let seconds = self.timeout.as_secs_f64();
                let ended = self.process.end_and_describe();
                return Err(self.lose(format!(
                    "did not answer `{op}` in time ({seconds} s for all its answers) and {ended}"
                )));
            };
            let output = match self.process.next(time_left.min(CHECK_INTERVAL)) {
                // The output may still be open, because a process that the agent started holds it.
                Err(RecvTimeoutError::Timeout) if self.process.has_exited() => {
                    self.process.pending()
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => None,
                Ok(output) => Some(output),
            };
            return match output {
                Some(InputLine::Whole(line)) => Ok(line),
                Some(_) => {
                    let max_kib = max_bytes >> 10;
                    Err(self.lose(format!(
                        "answered `{op}` with more than {max_kib} KiB, which no answer to that question needs"
                    )))
                }
                None => Err(self.end_without_answer(op, deadline)),
            };
        }
    }

    /// Ends the agent because its output has ended, and returns the fault.
    fn end_without_answer(&mut self, op: &str, deadline: Deadline) -> Fault {
        let grace = deadline.remaining().unwrap_or_default().min(EXIT_GRACE);
        let exited_by_itself = self.process.wait_for_exit(grace);
        if children::interrupted() {
            return self.finish(Fault::Interrupted);
        }
        let ended = self.process.end_and_describe();
        match self.process.end() {
            Some(status) if exited_by_itself => self.lose(format!(
                "{} instead of answering `{op}`",
                exit_description(status)
            )),
            _ => self.lose(format!(
                "closed its output instead of answering `{op}`, and {ended}"
            )),
        }
    }

    /// Ends the agent and returns the fault, with the agent's last error output.
    fn lose(&mut self, what: String) -> Fault {
        self.process.end();
        let error_output = self
            .process
            .last_error_output()
            .map_or_else(String::new, |line| {
                format!("; its last error output: {line}")
            });
        self.finish(Fault::Lost(format!(
            "agent `{}` {what}{error_output}",
            self.name
        )))
    }

    /// Ends the agent and stores the fault for later questions.
    fn finish(&mut self, fault: Fault) -> Fault {
        self.process.end();
        self.fault = Some(fault.clone());
        fault
    }
}
