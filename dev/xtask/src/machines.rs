//! Machines whose truth is known: an emulator boots a real kernel with the unchanged program, and
//! what that says is held against what the machine was built to be. docs/truth.md is written from
//! it.

mod answer;
mod boot;
mod document;
mod found;
mod guest;
mod list;
mod parts;
mod truth;

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::Outcome;
use found::Found;
use list::{ALL, Machine};

/// Boots machines whose truth is known.
#[derive(Args)]
pub struct Machines {
    /// A folder per architecture (x86_64, aarch64, riscv64) with what runs there: kernel, busybox,
    /// timermeter. What is missing is fetched by `apt-get download` and compiled
    #[arg(long, value_name = "FOLDER", default_value = "target/machines/parts")]
    parts: PathBuf,
    /// Where what the machines said is kept, a folder a machine
    #[arg(long, value_name = "FOLDER", default_value = "reports/machines")]
    keep: PathBuf,
    /// Compile the program by this rustc, where Rust's own lacks a target
    #[arg(long, value_name = "PROGRAM")]
    rustc: Option<PathBuf>,
    /// Take the programs that lie among the parts as they are, and compile none
    #[arg(long)]
    compiled: bool,
    /// Boot nothing: judge once more what is kept
    #[arg(long)]
    judge: bool,
    /// Only these; the document tells of those that are kept as well
    machines: Vec<String>,
}

/// Boots them, one after the other, holds all that is kept against what is true, and writes
/// docs/truth.md.
///
/// # Errors
/// When a name is unknown, a machine cannot be booted, or was found to be something else than it
/// is.
pub fn run(asked: &Machines) -> Outcome<()> {
    if let Some(unknown) = asked
        .machines
        .iter()
        .find(|name| ALL.iter().all(|machine| machine.name != **name))
    {
        let names: Vec<&str> = ALL.iter().map(|machine| machine.name).collect();
        return Err(format!(
            "there is no machine `{unknown}`; there are {}",
            names.join(", ")
        )
        .into());
    }
    let is_asked = |machine: &&Machine| {
        asked.machines.is_empty() || asked.machines.iter().any(|name| name == machine.name)
    };
    let mut failed = Vec::new();
    let mut parts = parts::Parts::new(&asked.parts, asked.rustc.as_deref(), asked.compiled);
    for machine in ALL.iter().filter(is_asked).filter(|_| !asked.judge) {
        let folder = asked.keep.join(machine.name);
        eprintln!("{}: booting", machine.name);
        let booted = parts
            .folder_for(machine.emulator)
            .and_then(|parts| boot::boot(machine, &parts, &folder));
        if let Err(error) = booted {
            // What an earlier boot said is no answer of this one.
            let _ = fs::remove_dir_all(&folder);
            eprintln!("{}: not booted: {error}", machine.name);
            failed.push(machine.name);
        }
    }
    let kept: Vec<Option<Found>> = ALL
        .iter()
        .map(|machine| Found::read(&asked.keep, machine.name))
        .collect();
    let judged = document::judged(&kept);
    let text = document::written(&judged);
    print!("{text}");
    fs::write(crate::root()?.join("docs/truth.md"), text)?;
    match (failed.as_slice(), document::not_held(&judged)) {
        ([], 0) => Ok(()),
        ([], wrong) => Err(format!("{wrong} truths were not found").into()),
        (names, _) => Err(format!("not booted: {}", names.join(", ")).into()),
    }
}
