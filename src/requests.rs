//! What a run measures, and how. `cli` makes requests of flags, commands make requests of each other, and
//! `runs` carries them out.

use std::time::Duration;

use timers::agents::{RUNTIMES, Runtime};

use crate::plan::Plan;
use crate::platform::frequency::CyclesFrom;
use estimators::model::USUAL_WAIT_NS;

/// What a run measures, and how.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// Ids or globs of the timers; all timers if there are none.
    pub timers: Vec<String>,
    /// The agents of the timers.
    pub agents: AgentRequest,
    /// What the timers are, and what is asked of them.
    pub task: Task,
    /// How much of it is asked.
    pub plan: Plan,
    /// Frequency for converting times to cycles.
    pub cycles: CyclesFrom,
}

/// What is asked of timers.
#[derive(Clone, Debug)]
pub enum Task {
    /// Clocks are read.
    Clocks,
    /// Sleep primitives wait for these times, in nanoseconds.
    Waits(Vec<u64>),
    /// Periodic timers tick with this period, in nanoseconds.
    Periods(u64),
}

impl RunRequest {
    /// A quick probe of the named clocks of this program.
    pub fn of(timers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            timers: timers.into_iter().map(Into::into).collect(),
            agents: AgentRequest::default(),
            task: Task::Clocks,
            plan: Plan::QUICK,
            cycles: CyclesFrom::default(),
        }
    }

    /// The request with sleep primitives in place of clocks, which wait for these times, 1 ms if there are
    /// none; for random times too, which show the granularity, only if `with_random`.
    #[must_use]
    pub fn waiting(mut self, mut lengths_ns: Vec<u64>, with_random: bool) -> Self {
        if lengths_ns.is_empty() {
            lengths_ns.push(USUAL_WAIT_NS as u64);
        }
        lengths_ns.sort_unstable();
        lengths_ns.dedup();
        if !with_random {
            self.plan.waits.scan = 0;
        }
        let task = Task::Waits(lengths_ns);
        Self { task, ..self }
    }

    /// The time limit of one process of a timer: the requested one, or one that grows with its waits.
    pub fn time_limit(&self) -> Duration {
        /// Number of waits of each length, or of periods. *Judgement*: more than twice as many as a timer
        /// makes at least.
        const SLOW_WAITS: u32 = 100;
        let waiting_ns = match &self.task {
            Task::Clocks => 0,
            Task::Waits(lengths_ns) => lengths_ns.iter().sum(),
            Task::Periods(every_ns) => *every_ns,
        };
        let waiting_ns = waiting_ns + self.plan.placement.slack_ns.unwrap_or(0);
        let usual = self.plan.time_limit() + Duration::from_nanos(waiting_ns) * SLOW_WAITS;
        self.plan.timeout.unwrap_or(usual)
    }
}

/// The agents of timers besides this program.
#[derive(Clone, Debug, Default)]
pub struct AgentRequest {
    /// The agents.
    pub agents: Vec<AgentSpec>,
    /// The runtimes.
    pub runtimes: Vec<RuntimeName>,
}

impl AgentRequest {
    /// The requested runtimes without repetitions, and whether the user named each explicitly
    /// rather than by `all`.
    pub fn wanted_runtimes(&self) -> Vec<(&'static Runtime, bool)> {
        let mut runtimes = self.runtimes.iter();
        let all = runtimes.any(|name| matches!(name, RuntimeName::All));
        let is_named = |wanted: &Runtime| {
            self.runtimes
                .iter()
                .any(|name| matches!(name, RuntimeName::One(named) if named.name == wanted.name))
        };
        RUNTIMES
            .iter()
            .filter(|runtime| all || is_named(runtime))
            .map(|runtime| (runtime, is_named(runtime)))
            .collect()
    }
}

/// The command that starts an agent.
#[derive(Clone, Debug)]
pub struct AgentSpec {
    /// The prefix of the ids of its timers; `None` for the name that the agent reports.
    pub name: Option<String>,
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
}

/// A runtime, or all of them.
#[derive(Clone, Copy, Debug)]
pub enum RuntimeName {
    /// The named runtime.
    One(&'static Runtime),
    /// All installed runtimes.
    All,
}
