//! Reads what is declared about a built-in agent before it is started (`clocks.json`): its clocks,
//! the code of their calls, and their properties.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::hosts::protocol::{Hello, HostedTimer, HostedWaiter, Op};
use crate::model::{Counted, Family, Properties, ReadsBy};

/// Marks the start of lines in a source that are repeated for each clock, up to [`END`].
const EACH_CLOCK: &str = "each clock:";
/// Marks the start of lines that are repeated for each sleep primitive or periodic timer.
const EACH_WAITER: &str = "each waiter:";
const END: &str = "end each";

/// Pieces of code by name; sources refer to them as `«name»`.
type Code = BTreeMap<String, String>;

/// The declarations of an agent: `clocks.json` in the folder of the agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Book {
    /// The id of the clock with which all other clocks are timed.
    reference: String,
    /// The questions that the agent answers.
    ops: Vec<String>,
    /// Code for clocks that do not define their own code of the same name.
    #[serde(default)]
    defaults: Code,
    /// The code of a call that reads nothing.
    floor: Code,
    /// The code of a wait for nothing.
    #[serde(default)]
    nothing: Code,
    pub(super) clocks: Vec<Clock>,
    #[serde(default)]
    pub(super) waiters: Vec<Waiter>,
}

/// A clock of the agent.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Clock {
    #[serde(flatten)]
    pub timer: HostedTimer,
    /// The kind of the clock, if declared.
    is: Option<ClockKind>,
    #[serde(default)]
    code: Code,
}

/// A sleep primitive or periodic timer of the agent.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Waiter {
    #[serde(flatten)]
    pub waiter: HostedWaiter,
    #[serde(default)]
    code: Code,
}

/// Kinds of clocks by their documentation.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ClockKind {
    /// Counts from an arbitrary origin and is never set.
    Steady,
    /// Returns the date and time of day.
    Calendar,
    /// The CPU time of the process.
    Process,
    /// The CPU time of the thread.
    Thread,
}

impl Book {
    /// Parses the declarations of an agent.
    ///
    /// # Errors
    /// When the text is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut book: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let floor = HostedTimer {
            id: timers::FLOOR_ID.into(),
            label: "reads nothing".into(),
            ..HostedTimer::default()
        };
        book.clocks.push(Clock {
            timer: floor,
            is: None,
            code: book.floor.clone(),
        });
        if !book.waiters.is_empty() {
            let nothing = HostedWaiter {
                id: timers::waits::FLOOR_ID.into(),
                label: "waits for nothing".into(),
                ops: vec![Op::Waits.name().into()],
                ..HostedWaiter::default()
            };
            book.waiters.push(Waiter {
                waiter: nothing,
                code: book.nothing.clone(),
            });
        }
        let on_linux = std::env::consts::OS == "linux";
        for clock in &mut book.clocks {
            clock.timer.reference = clock.timer.id == book.reference;
            if let Some(kind) = clock.is {
                complete(&mut clock.timer.properties, kind, on_linux);
            }
            add(&mut clock.code, &book.defaults);
        }
        for Waiter { waiter, code } in &mut book.waiters {
            // The declared timer slack applies to Linux only.
            waiter.slack = waiter.slack.filter(|_| on_linux);
            add(code, &book.defaults);
        }
        Ok(book)
    }

    /// Adds the declarations to an introduction. The introduction itself holds only what the agent
    /// finds out at run time: units, resolutions, and the timers that cannot be used.
    pub fn complete(&self, hello: &mut Hello) {
        let reported = std::mem::take(&mut hello.timers);
        for missing in &mut hello.unavailable {
            let waiter = self.waiters.iter().find(|one| one.waiter.id == missing.id);
            let clock = self.clocks.iter().find(|one| one.timer.id == missing.id);
            if let Some(Waiter { waiter, .. }) = waiter {
                (missing.label, missing.ops) = (waiter.label.clone(), waiter.ops.clone());
            } else if let Some(Clock { timer, .. }) = clock {
                missing.label.clone_from(&timer.label);
            }
        }
        let unavailable = &hello.unavailable;
        let is_here = |id: &str| unavailable.iter().all(|missing| missing.id != id);
        for Clock { timer, .. } in self.clocks.iter().filter(|one| is_here(&one.timer.id)) {
            let mut timer = timer.clone();
            for said in reported.iter().filter(|said| said.id == timer.id) {
                timer.ns_per_tick = said.ns_per_tick.or(timer.ns_per_tick);
                timer.resolution_ns = said.resolution_ns.or(timer.resolution_ns);
            }
            hello.timers.push(timer);
        }
        let waiters = self.waiters.iter().map(|one| one.waiter.clone());
        hello.waiters = waiters.filter(|one| is_here(&one.id)).collect();
        hello.ops.clone_from(&self.ops);
    }

    /// Expands a source of the agent: repeats the marked lines for each clock and for each sleep
    /// primitive or periodic timer.
    #[must_use]
    pub fn expand(&self, source: &str) -> String {
        let clocks: Vec<_> = self
            .clocks
            .iter()
            .map(|clock| (&clock.timer.id, &clock.code))
            .collect();
        let waiters: Vec<_> = self
            .waiters
            .iter()
            .map(|waiter| (&waiter.waiter.id, &waiter.code))
            .collect();
        let mut expanded = String::new();
        let mut lines = source.lines();
        while let Some(line) = lines.next() {
            let each = if line.contains(EACH_CLOCK) {
                &clocks
            } else if line.contains(EACH_WAITER) {
                &waiters
            } else {
                expanded = expanded + line + "\n";
                continue;
            };
            let block: Vec<&str> = lines
                .by_ref()
                .take_while(|line| !line.contains(END))
                .collect();
            let block = block.join("\n") + "\n";
            each.iter()
                .enumerate()
                .for_each(|(at, (id, code))| expanded += &fill_block(&block, at, id, code));
        }
        expanded
    }
}

/// Fills a block of a source in for one timer. `«n»` is its number, `«id»` its id.
fn fill_block(block: &str, number: usize, id: &str, code: &Code) -> String {
    let coded = code.iter().fold(block.to_owned(), |text, (name, code)| {
        text.replace(&format!("«{name}»"), code)
    });
    coded
        .replace("«n»", &number.to_string())
        .replace("«id»", id)
}

fn add(code: &mut Code, defaults: &Code) {
    for (name, text) in defaults {
        code.entry(name.clone()).or_insert_with(|| text.clone());
    }
}

/// Adds the properties that all clocks of a kind share, if this clock declares nothing else. The
/// kernel clock behind the clock is known on Linux only.
fn complete(properties: &mut Properties, kind: ClockKind, on_linux: bool) {
    let (family, counts) = match kind {
        ClockKind::Steady | ClockKind::Calendar => (Family::SystemClock, Counted::Wall),
        ClockKind::Process => (Family::CpuTime, Counted::ProcessCpu),
        ClockKind::Thread => (Family::CpuTime, Counted::ThreadCpu),
    };
    let of_wall = counts == Counted::Wall;
    let linux = |value: bool| on_linux.then_some(value);
    properties.family = properties.family.or(Some(family));
    properties.counts = properties.counts.or(Some(counts));
    properties.needs_fence = properties.needs_fence.or(Some(false));
    properties.settable = properties
        .settable
        .or(Some(matches!(kind, ClockKind::Calendar)));
    properties.slewed = properties.slewed.or(linux(of_wall));
    properties.runs_in_suspend = properties
        .runs_in_suspend
        .or(linux(matches!(kind, ClockKind::Calendar)));
    properties.reads_by = properties
        .reads_by
        .or((!of_wall && on_linux).then_some(ReadsBy::SystemCall));
}
