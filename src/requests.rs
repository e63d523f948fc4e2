//! What a run measures, and for how long. `cli` makes requests of flags, commands make requests of
//! each other, and `runs` carries them out.

use std::time::Duration;

use timers::agents::{RUNTIMES, Runtime};

use crate::campaign::contender::Placement;
use crate::campaign::sampling::CampaignPlan;
use crate::platform::frequency::CyclesFrom;
use estimators::model::USUAL_WAIT_NS;

/// What all runs have.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// Ids or globs of the timers; all timers if there are none.
    pub timers: Vec<String>,
    /// The agents of the timers.
    pub agents: AgentRequest,
    /// Seed of all random choices.
    pub seed: u64,
    /// Time limit of one process of a timer; `None` for one that suits the run.
    pub timeout: Option<Duration>,
    /// Frequency for converting times to cycles.
    pub cycles: CyclesFrom,
}

impl Default for RunRequest {
    fn default() -> Self {
        Self {
            timers: Vec::new(),
            agents: AgentRequest::default(),
            seed: 1,
            timeout: None,
            cycles: CyclesFrom::default(),
        }
    }
}

impl RunRequest {
    /// The named timers of this program.
    pub fn of(timers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            timers: timers.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// The time limit of one process of a timer.
    pub fn time_limit(&self) -> Duration {
        const DEFAULT: Duration = Duration::from_secs(30);
        self.timeout.unwrap_or(DEFAULT)
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What `probe` measures.
#[derive(Clone, Debug)]
pub struct ProbeRequest {
    /// The timers, and what all runs have.
    pub run: RunRequest,
    /// How much of what is asked.
    pub plan: CampaignPlan,
    /// The CPU to measure on; `None` for the quietest.
    pub cpu: Option<u32>,
}

impl ProbeRequest {
    /// The largest number of processes per timer if a budget is requested.
    /// *Judgement*.
    const MAX_PROCESSES: u32 = 200;

    /// A quick probe.
    pub fn quick(run: RunRequest) -> Self {
        Self {
            run,
            plan: CampaignPlan::QUICK,
            cpu: None,
        }
    }

    /// The same request with a time budget in seconds, which decides when the run ends: more
    /// processes than the plan has are then allowed.
    #[must_use]
    pub fn limited(self, budget_s: Option<f64>) -> Self {
        let Some(budget_s) = budget_s else {
            return self;
        };
        let plan = CampaignPlan {
            insists: true,
            budget_s,
            max_processes: Self::MAX_PROCESSES.max(self.plan.max_processes),
            ..self.plan
        };
        Self { plan, ..self }
    }
}

/// What `wait` measures.
#[derive(Clone, Debug)]
pub struct WaitRequest {
    /// The timers, and what all runs have.
    pub run: RunRequest,
    /// The conditions under which a thread waits; without a CPU the quietest one.
    pub conditions: Placement,
    /// How many waits, of which lengths.
    pub plan: CampaignPlan,
    /// The lengths of waits, in nanoseconds.
    pub lengths_ns: Vec<u64>,
    /// The time for which waits are measured; `None` for the number of rounds of the plan.
    pub span: Option<Duration>,
    /// The period of periodic timers in nanoseconds; `None` for waits.
    pub every_ns: Option<u64>,
}

impl WaitRequest {
    /// Waits of these lengths, 1 ms if there are none; those of random lengths, which show the
    /// granularity, only if `with_random`.
    pub fn new(
        run: RunRequest,
        mut plan: CampaignPlan,
        mut lengths_ns: Vec<u64>,
        with_random: bool,
    ) -> Self {
        if lengths_ns.is_empty() {
            lengths_ns.push(USUAL_WAIT_NS as u64);
        }
        lengths_ns.sort_unstable();
        lengths_ns.dedup();
        if !with_random {
            plan.waits.scan = 0;
        }
        Self {
            run,
            conditions: Placement::default(),
            plan,
            lengths_ns,
            span: None,
            every_ns: None,
        }
    }
}
