//! Boots emulated machines with known clocks, runs the unchanged program on a real kernel there,
//! and compares its results with the known properties. Writes dev/emulated/machines/README.md.

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

/// Boot emulated machines with known clocks and check the results of timermeter
#[derive(Args)]
pub struct Machines {
    /// Folder with a subfolder per architecture (x86_64, aarch64, riscv64) that contains the
    /// kernel, busybox and timermeter; missing files are downloaded with `apt-get download` or
    /// compiled
    #[arg(long, value_name = "FOLDER", default_value = "target/machines/parts")]
    parts: PathBuf,
    /// Folder in which the results are kept, in a subfolder per machine
    #[arg(long, value_name = "FOLDER", default_value = "dev/emulated/machines")]
    keep: PathBuf,
    /// Compile the program with this rustc, for targets that the default one lacks
    #[arg(long, value_name = "PROGRAM")]
    rustc: Option<PathBuf>,
    /// Use the programs in the parts folder and compile none
    #[arg(long)]
    compiled: bool,
    /// Boot nothing and judge the kept results again
    #[arg(long)]
    judge: bool,
    /// Machines to boot, all by default; the document also lists the kept results of the others
    machines: Vec<String>,
}

/// Boots the machines one after the other, judges all kept results, and writes the README of
/// the folder in which they are kept.
///
/// # Errors
/// If a name is unknown, a machine cannot be booted, or a result contradicts a known property.
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
            // The results of an earlier boot must not pass for results of this one.
            let _ = fs::remove_dir_all(&folder);
            eprintln!("{}: not booted: {error}", machine.name);
            failed.push(machine.name);
        }
    }
    let kept: Vec<Option<Found>> = ALL
        .iter()
        .map(|machine| Found::read(&asked.keep, machine.name))
        .collect();
    let judged = document::judge(&kept);
    let text = document::format(&judged);
    print!("{text}");
    fs::write(asked.keep.join("README.md"), text)?;
    match (failed.as_slice(), document::count_wrong(&judged)) {
        ([], 0) => Ok(()),
        ([], wrong) => Err(format!("{wrong} results contradict the known properties").into()),
        (names, _) => Err(format!("not booted: {}", names.join(", ")).into()),
    }
}
