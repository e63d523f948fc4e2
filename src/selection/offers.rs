//! The timers that one agent offers, and the selection of timers from all agents.

use std::rc::Rc;

use super::{AgentName, MissingTimer, Selection, SelectionError, UnknownTimer, meanings, select};
use crate::agents::agent::Agent;
use crate::agents::children;
use crate::agents::process::AgentCommand;
use crate::agents::protocol::{AgentTimer, Hello, Missing, Op};
use crate::agents::serve;
use crate::requests::AgentSpec;
use reporting::scratch::ScratchFolder;

/// An agent with all of its timers.
pub(super) struct Offer {
    agent: Agent,
    pub name: AgentName,
    missing: Vec<Missing>,
}

impl Offer {
    /// The timers of this agent whose operations are wanted, with their ids in reports.
    fn usable(
        &self,
        is_wanted: impl Fn(&[String]) -> bool,
    ) -> impl Iterator<Item = (String, &AgentTimer)> {
        self.agent
            .timers
            .iter()
            .filter(move |timer| is_wanted(&timer.ops))
            .map(|timer| (self.name.id(&timer.id), timer))
    }

    /// The timers that this agent lacks and whose operations would be wanted.
    fn missing(&self, is_wanted: impl Fn(&[String]) -> bool) -> impl Iterator<Item = MissingTimer> {
        self.missing
            .iter()
            .filter(move |missing| is_wanted(&missing.timer.ops))
            .map(|missing| MissingTimer::unavailable(missing, &self.name))
    }
}

/// The runtimes that `--runtime all` stands for: those that are installed, and those that are not.
#[derive(Debug, Default)]
pub struct AllRuntimes {
    pub(super) installed: Vec<&'static str>,
    pub(super) missing: Vec<&'static str>,
}

impl AllRuntimes {
    /// Whether an id is `NAME:*` with a runtime of this list that is not installed.
    pub fn is_missing(&self, id: &str) -> bool {
        id.strip_suffix(":*")
            .is_some_and(|name| self.missing.contains(&name))
    }

    /// A line that lists both groups; `None` without `--runtime all`.
    pub fn summary(&self) -> Option<String> {
        let list = |names: &[&str]| match names {
            [] => "none".into(),
            names => names.join(", "),
        };
        (self.installed.len() + self.missing.len() > 0).then(|| {
            format!(
                "runtimes: {}; not installed: {} (`timermeter list --runtime all` names their packages)",
                list(&self.installed),
                list(&self.missing)
            )
        })
    }
}

/// All agents of a run with their timers.
#[derive(Default)]
pub struct Offers {
    pub(super) all: Vec<Offer>,
    /// The unreachable agents and the runtimes that are not installed.
    pub(super) unreachable: Vec<MissingTimer>,
    /// Whether a runtime that the user named is not installed.
    pub(super) named_runtime_missing: bool,
    /// The runtimes that `--runtime all` stands for.
    pub all_runtimes: AllRuntimes,
    /// Keeps the files of the agents of other runtimes while they are needed.
    pub(super) folder: Option<Rc<ScratchFolder>>,
}

impl Offers {
    /// Selects the timers that match `patterns`, or all if there are no patterns, of those whose
    /// operations `is_wanted` accepts.
    ///
    /// # Errors
    /// When a pattern matches no timer.
    pub fn pick(
        &self,
        patterns: &[String],
        is_wanted: impl Fn(&[String]) -> bool + Copy,
    ) -> Result<Selection, UnknownTimer> {
        let mut selection = Selection {
            missing: self.unreachable.clone(),
            named_runtime_missing: self.named_runtime_missing,
            _folder: self.folder.clone(),
            ..Selection::default()
        };
        let ids = self.all.iter().flat_map(|offer| {
            let usable = offer.usable(is_wanted).map(|(id, _)| id);
            usable.chain(offer.missing(is_wanted).map(|timer| timer.timer.id))
        });
        let selected = self.select(patterns, ids.collect())?;
        for offer in &self.all {
            let (agent, before) = (selection.agents.len(), selection.usable.len());
            let usable = offer
                .usable(is_wanted)
                .filter(|(id, _)| selected.contains(id));
            selection
                .usable
                .extend(usable.map(|(_, timer)| (agent, timer.clone())));
            let missing = offer.missing(is_wanted);
            selection
                .missing
                .extend(missing.filter(|timer| selected.contains(&timer.timer.id)));
            // Hosts without selected timers are not started.
            if selection.usable.len() > before {
                selection.agents.push(offer.agent.clone());
                selection.names.push(offer.name.clone());
            }
        }
        Ok(selection)
    }

    /// The ids that match `patterns`, among `ids` and the ids of unreachable agents; all if there
    /// are no patterns.
    fn select(
        &self,
        patterns: &[String],
        mut ids: Vec<String>,
    ) -> Result<Vec<String>, UnknownTimer> {
        ids.extend(self.unreachable.iter().map(|agent| agent.timer.id.clone()));
        // The timers of an unreachable agent are unknown, so any pattern with its prefix is
        // accepted.
        let is_of_unreachable = |pattern: &String| {
            self.unreachable.iter().any(|agent| {
                let prefix = agent.timer.id.trim_end_matches('*');
                pattern.starts_with(prefix)
                    || meanings(pattern).iter().any(|id| id.starts_with(prefix))
            })
        };
        let known: Vec<String> = patterns
            .iter()
            .filter(|pattern| !is_of_unreachable(pattern))
            .cloned()
            .collect();
        if !patterns.is_empty() && known.is_empty() {
            return Ok(Vec::new());
        }
        let all: Vec<&str> = ids.iter().map(String::as_str).collect();
        let wanted = select(&known, &all)?;
        Ok(wanted.into_iter().map(str::to_owned).collect())
    }
}

/// The timers of this program, which worker processes serve.
pub(super) fn native_offer(with_waiters: bool) -> Result<Offer, SelectionError> {
    let (program, mut args) = children::this_program().map_err(SelectionError::Program)?;
    args.push("agent".into());
    let command = AgentCommand::new("timermeter agent", program, args);
    let waiters = if with_waiters {
        timers::waits::catalogue()
    } else {
        &[]
    };
    let name = AgentName {
        prefix: None,
        runtime: "native".into(),
    };
    let hello = serve::introduction(timers::catalogue(), waiters);
    Ok(offer_from_hello(command, true, name, hello))
}

/// The timers of an agent by its introduction, without the timers that it offers only for the
/// measurement of the floor.
pub(super) fn offer_from_hello(
    command: AgentCommand,
    takes_ids: bool,
    name: AgentName,
    hello: Hello,
) -> Offer {
    let (compares, answers_for_many) = (hello.offers(Op::Comparisons), hello.many);
    let Hello {
        mut timers,
        waiters,
        unavailable: mut missing,
        ..
    } = hello;
    timers.extend(waiters);
    let floors = [timers::FLOOR_ID, timers::waits::FLOOR.id];
    timers.retain(|timer| !floors.contains(&&*timer.id));
    missing.retain(|missing| timers.iter().all(|timer| timer.id != missing.timer.id));
    let agent = Agent {
        command,
        takes_ids,
        timers,
        compares,
        answers_for_many,
    };
    Offer {
        agent,
        name,
        missing,
    }
}

/// The command that starts an agent named on the command line.
pub fn agent_command(spec: &AgentSpec) -> AgentCommand {
    let (program, args) = spec
        .command
        .split_first()
        .expect("the command line rejects an empty command");
    AgentCommand::new(program, program, args.iter().map(Into::into).collect())
}

/// The prefix of ids for a runtime name: lower case, with other characters replaced by `-`.
pub(super) fn prefix_from_name(name: &str) -> String {
    let joined: String = name
        .to_lowercase()
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '.' | '_' | '#' | '+') {
                c
            } else {
                '-'
            }
        })
        .collect();
    let trimmed = joined.trim_matches('-');
    if trimmed.is_empty() {
        "agent".into()
    } else {
        trimmed.into()
    }
}
