//! Collects the timers of all agents of a run: prepares the agents of other runtimes, and asks each
//! agent for its timers.

use std::collections::BTreeSet;
use std::rc::Rc;

use timers::Fault;

use super::offers::{
    Offer, Offers, agent_command, native_offer, offer_from_hello, prefix_from_name,
};
use super::{
    AgentName, MissingTimer, Selection, SelectionError, is_for_other_systems, named_runtimes,
};
use crate::agents::children;
use crate::agents::connection::Connection;
use crate::agents::process::{AgentCommand, raise_file_limit};
use crate::agents::protocol::{Op, answers};
use crate::agents::runtimes::{AgentError, PreparedAgent, prepare};
use crate::agents::surroundings::removed_variables;
use crate::messages::{is_quiet, print_message};
use crate::plan::Plan;
use crate::recording::NotUsable;
use crate::requests::{AgentRequest, RunRequest, RuntimeName};
use estimators::model::Status;
use reporting::parallel;
use reporting::scratch::ScratchFolder;

impl Selection {
    /// Collects the timers of all agents and selects those that match the patterns of the request, or
    /// all if there are no patterns. With `op`, only timers that support this protocol operation are
    /// selected, without it only clocks. Agents run on the CPU of the plan.
    ///
    /// # Errors
    /// When a pattern matches no timer, or the agents cannot be started.
    pub fn gather(run: &RunRequest, op: Option<Op>) -> Result<Self, SelectionError> {
        let offers = Offers::gather(run, op.is_some())?;
        let mut selection = offers.pick(&run.timers, |ops| answers(ops, op))?;
        let all_runtimes = &offers.all_runtimes;
        // Timers of other systems are reported only if they are asked for.
        selection.missing.retain(|MissingTimer { timer, .. }| {
            let is_foreign = run.timers.is_empty() && is_for_other_systems(&timer.id);
            !(is_foreign || all_runtimes.is_missing(&timer.id))
        });
        if let Some(line) = all_runtimes.summary().filter(|_| !is_quiet()) {
            print_message(&line);
        }
        Ok(selection)
    }
}

impl Offers {
    /// Collects the timers of every agent. Runtimes that the patterns name are started without
    /// --runtime, if there is no other agent that may have that name. `with_waiters` includes the sleep primitives and periodic
    /// timers of this program; commands that only read clocks leave them out, because testing
    /// whether each is available takes time.
    ///
    /// # Errors
    /// When the user interrupts the program, a flag is invalid, or no agent can be started.
    pub fn gather(run: &RunRequest, with_waiters: bool) -> Result<Self, SelectionError> {
        raise_file_limit()?;
        let mut offers = Self {
            all: vec![native_offer(with_waiters)?],
            ..Self::default()
        };
        let mut agents = run.agents.clone();
        if agents.agents.is_empty() {
            let named = named_runtimes(&run.timers).map(RuntimeName::One);
            agents.runtimes.extend(named);
        }
        offers.add_runtimes(&agents, &run.plan)?;
        for spec in &agents.agents {
            let (command, label) = (agent_command(spec), spec.command.join(" "));
            offers.add_agent(command, label, spec.name.as_deref(), false, &run.plan)?;
        }
        make_names_unique(&mut offers.all);
        Ok(offers)
    }

    /// Adds the timers of the requested runtimes. Their agents are prepared (for example compiled)
    /// in parallel, because nothing is being measured yet.
    pub(super) fn add_runtimes(
        &mut self,
        agents: &AgentRequest,
        plan: &Plan,
    ) -> Result<(), SelectionError> {
        let wanted = agents.wanted_runtimes();
        if wanted.is_empty() {
            return Ok(());
        }
        let folder = std::path::absolute(std::env::temp_dir());
        let folder = folder
            .and_then(|folder| ScratchFolder::within(&folder, 0o700))
            .map_err(SelectionError::Folder)?;
        let folder_path = folder.path();
        let prepared: Vec<Result<Vec<PreparedAgent>, AgentError>> =
            parallel::map(&wanted, |&(runtime, _)| prepare(runtime, folder_path));
        if children::interrupted() {
            return Err(SelectionError::Interrupted);
        }
        self.folder = Some(Rc::new(folder));
        let used = wanted
            .iter()
            .zip(&prepared)
            .filter(|((_, is_named), prepared)| *is_named || prepared.is_ok());
        let removed: BTreeSet<&str> = used
            .flat_map(|((runtime, _), _)| removed_variables(runtime))
            .collect();
        if !removed.is_empty() {
            let names = Vec::from_iter(removed).join(", ");
            print_message(&format_args!(
                "the agents of runtimes run without {names}, which can change the code that runs"
            ));
        }
        for ((runtime, is_named), prepared) in wanted.into_iter().zip(prepared) {
            // `--runtime all` takes the installed runtimes, and one line of the output lists which
            // it found. A runtime that the user named must be installed and is not in this line.
            if !is_named {
                let names = if prepared.is_ok() {
                    &mut self.all_runtimes.installed
                } else {
                    &mut self.all_runtimes.missing
                };
                names.push(runtime.name);
            }
            match prepared {
                Ok(ready) => {
                    for PreparedAgent { prefix, command } in ready {
                        let label = command.name.clone();
                        self.add_agent(command, label, Some(prefix), true, plan)?;
                    }
                }
                Err(why) => {
                    self.named_runtime_missing |= is_named;
                    let label = format!("all timers of {}", runtime.name);
                    let why = NotUsable {
                        status: Status::Unavailable,
                        reason: why.to_string(),
                        remedy: Some(runtime.remedy.into()),
                    };
                    self.unreachable
                        .push(MissingTimer::for_host(runtime.name, label, why));
                }
            }
        }
        Ok(())
    }

    /// Starts an agent to get the list of its timers, ends it again, and adds the timers, or the reason
    /// why the agent, described by `label`, is unreachable. Without a `prefix` of the ids of its timers
    /// in reports, they get the name that the agent reports, or that of its program.
    fn add_agent(
        &mut self,
        command: AgentCommand,
        label: String,
        prefix: Option<&str>,
        takes_ids: bool,
        plan: &Plan,
    ) -> Result<(), SelectionError> {
        let connected = Connection::start(&command, plan.placement.cpu, plan.time_limit());
        match connected.map(|connection| connection.hello().clone()) {
            Ok(hello) => {
                let (name, version) = (&hello.runtime.name, &hello.runtime.version);
                let name = AgentName {
                    prefix: Some(prefix.map_or_else(|| prefix_from_name(name), str::to_owned)),
                    runtime: format!("{name} {version}").trim().to_owned(),
                };
                self.all
                    .push(offer_from_hello(command, takes_ids, name, hello));
            }
            Err(Fault::Interrupted) => return Err(SelectionError::Interrupted),
            Err(fault) => {
                let program = command.program.to_string_lossy();
                let program = program.rsplit('/').next().unwrap_or(&program);
                let prefix = prefix.map_or_else(|| prefix_from_name(program), str::to_owned);
                let why = NotUsable {
                    status: Status::Failed,
                    reason: fault.to_string(),
                    remedy: None,
                };
                self.unreachable
                    .push(MissingTimer::for_host(&prefix, label, why));
            }
        }
        Ok(())
    }
}

/// Gives the second agent of the same runtime the prefix `name-2`, and so on.
fn make_names_unique(offers: &mut [Offer]) {
    for index in 1..offers.len() {
        let (before, rest) = offers.split_at_mut(index);
        let taken =
            |prefix: &Option<String>| before.iter().any(|offer| offer.name.prefix == *prefix);
        let Some(wanted) = rest[0].name.prefix.clone() else {
            continue;
        };
        let mut number = 2;
        while taken(&rest[0].name.prefix) {
            rest[0].name.prefix = Some(format!("{wanted}-{number}"));
            number += 1;
        }
    }
}
