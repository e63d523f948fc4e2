//! Reads the declarations of a built-in agent (`clocks.json` in its folder): its clocks, the code
//! of their calls, and their documented properties.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, from_value, to_value};

use crate::agents::protocol::{AgentTimer, Hello, Missing, Op};
use estimators::model::{Properties, ReadsBy};

/// Marks the start of source lines that are repeated for each clock, up to [`END`].
const EACH_CLOCK: &str = "each clock:";
/// Marks the start of source lines that are repeated for each sleep primitive or periodic timer, up
/// to [`END`].
const EACH_WAITER: &str = "each waiter:";
/// Marks the end of these lines.
const END: &str = "end each";

/// Pieces of code by name; `«name»` in a source is replaced by the piece.
type Code = BTreeMap<String, String>;

/// The declarations of an agent: `clocks.json` in the folder of the agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declarations {
    /// The id of the clock that is the reference of all other clocks.
    reference: String,
    /// The questions that the agent answers.
    ops: Vec<String>,
    /// Code for timers that do not define code of the same name.
    #[serde(default)]
    defaults: Code,
    /// The code of a call that reads nothing.
    floor: Code,
    /// The code of a wait that returns immediately.
    #[serde(default)]
    nothing: Code,
    pub(super) clocks: Vec<DeclaredTimer>,
    #[serde(default)]
    pub(super) waiters: Vec<DeclaredTimer>,
}

/// A timer of the agent.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct DeclaredTimer {
    #[serde(flatten)]
    pub timer: AgentTimer,
    /// The kind of a clock, if declared.
    is: Option<ClockKind>,
    #[serde(default)]
    code: Code,
}

/// The kind of a clock according to its documentation.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ClockKind {
    /// A clock that counts from an arbitrary origin and is never set.
    Steady,
    /// A clock of the date and time of day.
    Calendar,
    /// The CPU time of the process.
    Process,
    /// The CPU time of the thread.
    Thread,
}

impl Declarations {
    /// Parses the declarations of an agent.
    ///
    /// # Errors
    /// When the text is invalid.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        let mut declarations: Self = serde_json::from_str(text)?;
        let floor = AgentTimer {
            id: timers::FLOOR_ID.into(),
            label: "reads nothing".into(),
            ..AgentTimer::default()
        };
        declarations.clocks.push(DeclaredTimer {
            timer: floor,
            is: None,
            code: declarations.floor.clone(),
        });
        if !declarations.waiters.is_empty() {
            let nothing = AgentTimer {
                id: timers::waits::FLOOR.id.into(),
                label: "waits for nothing".into(),
                ops: vec![Op::Waits.name().into()],
                ..AgentTimer::default()
            };
            declarations.waiters.push(DeclaredTimer {
                timer: nothing,
                is: None,
                code: declarations.nothing.clone(),
            });
        }
        for clock in &mut declarations.clocks {
            clock.timer.reference = clock.timer.id == declarations.reference;
            if let Some(kind) = clock.is {
                clock.timer.properties = with_those_of_kind(&clock.timer.properties, kind)?;
            }
            add_defaults(&mut clock.code, &declarations.defaults);
        }
        for waiter in &mut declarations.waiters {
            add_defaults(&mut waiter.code, &declarations.defaults);
        }
        Ok(declarations)
    }

    /// Adds the declarations to an introduction. The agent itself introduces only what it finds out
    /// at run time: units, resolutions, and the timers that cannot be used.
    pub fn complete(&self, hello: &mut Hello) {
        let reported = std::mem::take(&mut hello.timers);
        for Missing { timer, .. } in &mut hello.unavailable {
            let mut declared = self.waiters.iter().chain(&self.clocks);
            if let Some(declared) = declared.find(|declared| declared.timer.id == timer.id) {
                timer.label.clone_from(&declared.timer.label);
                timer.ops.clone_from(&declared.timer.ops);
            }
        }
        let unavailable = &hello.unavailable;
        let is_available = |id: &str| unavailable.iter().all(|missing| missing.timer.id != id);
        for DeclaredTimer { timer, .. } in self
            .clocks
            .iter()
            .filter(|clock| is_available(&clock.timer.id))
        {
            let mut timer = timer.clone();
            for found in reported.iter().filter(|found| found.id == timer.id) {
                timer.ns_per_tick = found.ns_per_tick.or(timer.ns_per_tick);
                timer.resolution_ns = found.resolution_ns.or(timer.resolution_ns);
            }
            hello.timers.push(timer);
        }
        let waiters = self.waiters.iter().map(|declared| declared.timer.clone());
        hello.waiters = waiters.filter(|waiter| is_available(&waiter.id)).collect();
        hello.ops.clone_from(&self.ops);
    }

    /// Expands a source of the agent: repeats the marked lines for each clock and for each sleep
    /// primitive or periodic timer.
    pub fn expand(&self, source: &str) -> String {
        let mut expanded = String::new();
        let mut lines = source.lines();
        while let Some(line) = lines.next() {
            let timers = if line.contains(EACH_CLOCK) {
                &self.clocks
            } else if line.contains(EACH_WAITER) {
                &self.waiters
            } else {
                expanded = expanded + line + "\n";
                continue;
            };
            let block: Vec<&str> = lines
                .by_ref()
                .take_while(|line| !line.contains(END))
                .collect();
            let block = block.join("\n") + "\n";
            for (index, DeclaredTimer { timer, code, .. }) in timers.iter().enumerate() {
                expanded += &fill_block(&block, index, &timer.id, code);
            }
        }
        expanded
    }
}

/// Fills in a block of a source for one timer: `«n»` is its number, `«id»` its id, and `«name»` its
/// code of that name.
fn fill_block(block: &str, number: usize, id: &str, code: &Code) -> String {
    let with_code = code.iter().fold(block.to_owned(), |text, (name, code)| {
        text.replace(&format!("«{name}»"), code)
    });
    with_code
        .replace("«n»", &number.to_string())
        .replace("«id»", id)
}

/// Adds the default code for the names that `code` lacks.
fn add_defaults(code: &mut Code, defaults: &Code) {
    for (name, text) in defaults {
        code.entry(name.clone()).or_insert_with(|| text.clone());
    }
}

/// Adds the properties that all clocks of a kind share to those that the clock declares itself. Some
/// are known on Linux only, because the kernel clock that is read is unknown elsewhere.
fn with_those_of_kind(own: &Properties, kind: ClockKind) -> serde_json::Result<Properties> {
    let mut shared = match kind {
        ClockKind::Steady => timers::Properties::MONOTONIC,
        ClockKind::Calendar => timers::Properties::CALENDAR,
        ClockKind::Process => timers::Properties::PROCESS,
        ClockKind::Thread => timers::Properties::THREAD,
    };
    // Between the vDSO and the caller is code of the runtime.
    shared.reads_by = shared.reads_by.filter(|by| *by != ReadsBy::Vdso);
    if std::env::consts::OS != "linux" {
        (shared.slewed, shared.runs_in_suspend, shared.reads_by) = (None, None, None);
    }
    let mut all: Map<String, Value> = from_value(to_value(shared)?)?;
    all.extend(from_value::<Map<_, _>>(to_value(own)?)?);
    from_value(all.into())
}
