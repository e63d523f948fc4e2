//! Sends questions to an agent, which is not trusted to answer them.
//!
//! The agent and its timers are black boxes: an agent may crash, hang, or send malformed replies.
//! Each failure becomes a [`Fault`] that describes it; the process and everything that it started
//! are then ended, and every later question returns the same fault.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use timers::{Answer, Deadline, Fault};

use super::children::{self, Placement};
use super::events::{self, RuntimeLog};
use super::lines::{InputLine, printable};
use super::process::{AgentCommand, AgentProcess, exit_description};
use super::protocol::questions::{excessive_value, expected_form, max_answer_bytes, objection};
use super::protocol::{Hello, Op, Reply, ThreadState, TimerQuestion, VERSION};
use reporting::limits::MAX_TIMERS;
use reporting::text::clean_strings;

/// Number of runs of each loop of a built-in agent before the first measurement.
const WARM_UP_RUNS: u64 = 10;
/// The questions whose loops are warmed up for a clock.
const WARMED_UP_OPS: [Op; 4] = [Op::Intervals, Op::Batches, Op::Readings, Op::Comparisons];
/// Maximum number of repetitions of a disturbed window. The last repetition is kept even if it was
/// disturbed.
const MAX_REPETITIONS: u32 = 6;
/// Interval between two checks of an agent that is silent.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Maximum time by which an answer may take longer than its question says.
const GRACE: Duration = Duration::from_secs(2);
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
            windows: Windows::default(),
            reports_thread_states: false,
            thread_states: None,
        };
        connection.hello = connection.introduction(command)?;
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
    pub fn share(self) -> SharedConnection {
        Rc::new(RefCell::new(self))
    }

    /// Asks for the introduction, completes it with the declarations, and checks it.
    fn introduction(&mut self, command: &AgentCommand) -> Answer<Hello> {
        let question = TimerQuestion::Hello { protocol: VERSION };
        let line = self.exchange(&question)?;
        introduced(&line, command).map_err(|why| self.malformed(&question, &why.to_string(), &line))
    }

    /// Runs the loops of the timers with small amounts, so that the runtime compiles them and fills
    /// its caches.
    pub(super) fn warm_up(&mut self, ids: &[&str]) -> Answer<()> {
        let reference = self.hello.timers.iter().find(|timer| timer.reference);
        let reference = reference.map_or_else(String::new, |timer| timer.id.clone());
        for timer in ids.iter().copied().chain([timers::FLOOR_ID]) {
            let is_waiter = self.hello.waiters.iter().any(|waiter| waiter.id == timer);
            let (ops, runs): (&[Op], _) = if is_waiter {
                (&[Op::Waits], 1)
            } else {
                (&WARMED_UP_OPS, WARM_UP_RUNS)
            };
            for amount in 0..runs {
                for op in ops {
                    match self.ask(&op.example(timer, &reference, amount)) {
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
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// The id of the process that reads the clocks. A browser does not say which of its processes
    /// does that for a page: no process has the id that is then returned.
    pub fn process(&self) -> u32 {
        const NONE: u32 = u32::MAX;
        if self.process.is_browser() {
            NONE
        } else {
            self.process.id()
        }
    }

    /// Requests that the agent report the state of its thread before and after each later question.
    /// Returns whether the agent can do so.
    pub fn request_thread_states(&mut self) -> bool {
        self.reports_thread_states = self.hello.offers(Op::Calls);
        self.reports_thread_states
    }

    /// Whether the agent reports the state of its thread before and after a question.
    pub(super) fn reports_thread_states(&self) -> bool {
        self.reports_thread_states
    }

    /// Takes the state of the agent's thread before and after the last question.
    pub fn take_thread_states(&mut self) -> Option<[ThreadState; 2]> {
        self.thread_states.take()
    }

    /// The numbers of answered, dropped, disturbed and voided windows.
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

    /// Repeats a question until the runtime does not disturb its answer, and counts the windows. If a
    /// disturbance makes earlier measurements void, the caller has to discard them.
    ///
    /// # Errors
    /// As for [`ask`](Self::ask).
    pub fn ask_undisturbed(&mut self, question: &TimerQuestion) -> Answer<Reply> {
        let mut repetitions = 0;
        loop {
            let reply = self.ask(question)?;
            self.windows.answered += 1;
            let Some(first) = reply.disturbed.first() else {
                return Ok(reply);
            };
            if reply.disturbed.iter().any(|event| events::voids_all(event)) {
                self.windows.voided += 1;
                return Ok(reply);
            }
            if repetitions == MAX_REPETITIONS {
                self.windows.disturbed += 1;
                return Ok(reply);
            }
            *self.windows.dropped.entry(first.clone()).or_default() += 1;
            repetitions += 1;
        }
    }

    /// Sends a question other than the introduction and waits for the answer.
    ///
    /// # Errors
    /// [`Fault::Refused`] when the agent refuses the question or does not offer it; [`Fault::Lost`]
    /// when the answer is invalid.
    pub fn ask(&mut self, question: &TimerQuestion) -> Answer<Reply> {
        if !self.hello.offers(question.op()) {
            let op = question.op().name();
            return Err(Fault::Refused(format!("this agent does not offer `{op}`")));
        }
        let line = self.exchange(question)?;
        let mut reply: Reply = serde_json::from_slice(&line).map_err(|error| {
            let why = excessive_value(question, &line);
            self.malformed(question, &why.unwrap_or_else(|| error.to_string()), &line)
        })?;
        let cleaned = |text: &String| printable(text.as_bytes(), MAX_ERROR_CHARS);
        reply.disturbed = reply.disturbed.iter().map(cleaned).collect();
        if let Some(log) = &mut self.log {
            reply.disturbed.extend(log.read_events());
        }
        if let Some(why) = &reply.error {
            return Err(Fault::Refused(cleaned(why)));
        }
        if let Some(why) = objection(question, &reply) {
            return Err(self.malformed(question, &why, &line));
        }
        self.thread_states = reply.around;
        Ok(reply)
    }

    /// Ends the agent because an answer is invalid, and returns the fault.
    fn malformed(&mut self, question: &TimerQuestion, why: &str, line: &[u8]) -> Fault {
        let why = printable(why.as_bytes(), MAX_ERROR_CHARS);
        let (op, excerpt) = (question.op().name(), printable(line, MAX_EXCERPT_CHARS));
        let expected = expected_form(question);
        self.lose(format!(
            "malformed reply to `{op}`: {why}; expected {expected}, got `{excerpt}`"
        ))
    }

    /// Sends a question and returns the line of the answer.
    fn exchange(&mut self, question: &TimerQuestion) -> Answer<Vec<u8>> {
        let (op, max_bytes) = (question.op().name(), max_answer_bytes(question));
        let mut line = serde_json::to_vec(question)
            .map_err(|error| Fault::Refused(format!("the request cannot be written: {error}")))?;
        line.push(b'\n');
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if let Ok(output) = self.process.next(Duration::ZERO) {
            let excerpt = match output {
                InputLine::Whole(line) => printable(&line, MAX_EXCERPT_CHARS),
                _ => "…".into(),
            };
            return Err(self.lose(format!(
                "wrote a line without a request, before `{op}`: `{excerpt}`"
            )));
        }
        self.process.send(line, max_bytes);
        let all = Deadline::after(self.time_left);
        let own = question.span().map(|span| span + GRACE);
        let own = own.filter(|own| *own < self.time_left);
        let received = self.receive(op, max_bytes, (own.map_or(all, Deadline::after), own));
        self.time_left = all.remaining().unwrap_or_default();
        received
    }

    /// Waits for a line of the agent until the deadline, which may be that of this question alone.
    fn receive(
        &mut self,
        op: &str,
        max_bytes: u64,
        (deadline, own): (Deadline, Option<Duration>),
    ) -> Answer<Vec<u8>> {
        loop {
            if children::interrupted() {
                return Err(self.finish(Fault::Interrupted));
            }
            let Some(time_left) = deadline.remaining() else {
                let ended = self.process.end_and_describe();
                let seconds = own.unwrap_or(self.timeout).as_secs_f64();
                return Err(self.lose(format!(
                    "did not answer `{op}` in time ({seconds} s) and {ended}"
                )));
            };
            let output = match self.process.next(time_left.min(CHECK_INTERVAL)) {
                // The output may still be open, because a process that the agent started holds it.
                Err(RecvTimeoutError::Timeout) if self.process.has_exited() => {
                    self.process.next(Duration::ZERO).ok()
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

/// Reads an introduction, completes it with the declarations, and checks it.
fn introduced(line: &[u8], command: &AgentCommand) -> Result<Hello, Box<dyn std::error::Error>> {
    if line.iter().filter(|&&byte| byte == b'"').count() > MAX_QUOTES {
        return Err(format!("it lists more than {MAX_TIMERS} timers").into());
    }
    let mut hello: Hello = serde_json::from_str(&clean_strings(str::from_utf8(line)?)?)?;
    if let Some(declarations) = &command.declarations {
        declarations.complete(&mut hello);
    }
    if let Some(version) = &command.browser_version {
        hello.runtime.version.clone_from(version);
    }
    match hello.objection() {
        None => Ok(hello.with_devices()),
        Some(why) => Err(why.into()),
    }
}
