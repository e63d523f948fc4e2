//! Finds the values with which a shell completes an argument: timers, baselines, runtimes, nodes and
//! words to explain.

use clap::{Arg, ValueHint};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use std::ffi::OsStr;
use timers::agents::RUNTIMES;

use crate::fields::fields;
use crate::findings::wordings;
use crate::report::{Baselines, read};

/// Adds the completion of an argument of a command.
pub(super) fn with_completion(verb: &'static str, argument: Arg) -> Arg {
    let candidates: fn() -> Vec<String> = match (verb, argument.get_id().as_str()) {
        ("wait" | "period", "timers") => waits,
        ("probe" | "measure", "timers" | "clock") => clocks,
        (_, "timers") => || [clocks(), waits()].concat(),
        ("pick", "runtime") => || RUNTIMES.iter().map(|it| it.name.to_owned()).collect(),
        ("compare", "reports" | "new") | (_, "baseline") => baselines,
        (_, "node") => nodes,
        ("explain", _) => words,
        _ => return argument,
    };
    let has_paths = argument.get_value_hint() == ValueHint::AnyPath;
    argument.add(ArgValueCompleter::new(move |current: &OsStr| {
        let paths = has_paths.then(|| PathCompleter::any().complete(current));
        let begins = current.to_string_lossy();
        let known = candidates()
            .into_iter()
            .filter(|word| word.starts_with(&*begins));
        known
            .map(CompletionCandidate::new)
            .chain(paths.into_iter().flatten())
            .collect()
    }))
}

/// The clocks that can be read here.
fn clocks() -> Vec<String> {
    let here = timers::catalogue()
        .iter()
        .filter(|entry| (entry.availability)().is_ok());
    here.map(|entry| entry.info.id.to_owned()).collect()
}

/// The sleep primitives and periodic timers that can be used here.
fn waits() -> Vec<String> {
    let here = timers::waits::catalogue()
        .iter()
        .filter(|entry| entry.availability().is_ok());
    here.map(|entry| entry.info.id.to_owned()).collect()
}

/// The columns and the codes of findings.
fn words() -> Vec<String> {
    let columns = fields().iter().map(|field| field.column);
    let codes = wordings().map(|wording| wording.code);
    columns.chain(codes).map(str::to_owned).collect()
}

fn baselines() -> Vec<String> {
    Baselines::of_user().map_or(Vec::new(), |all| all.names())
}

/// The nodes of the baselines.
fn nodes() -> Vec<String> {
    let stored = Baselines::of_user();
    let files = baselines()
        .into_iter()
        .filter_map(|name| Some(stored.as_ref()?.file(&name)));
    files.filter_map(|file| read(&file).ok()?.node).collect()
}
