//! Boots emulated machines with known clocks, runs the unchanged program on a real kernel there,
//! and compares its results with the known properties. Writes dev/emulated/machines/README.md.

mod boot;
mod list;
mod truth;

use std::fmt::Write as _;
use std::fs;

use clap::Args;

use crate::Outcome;
use list::{ALL, Machine};

/// Boot emulated machines with known clocks and check the results of timermeter
#[derive(Args)]
pub struct Machines {
    /// Use the programs in target/machines and compile none
    #[arg(long)]
    compiled: bool,
    /// Boot nothing and judge the kept results again
    #[arg(long)]
    judge: bool,
    /// Machines to boot, all by default; the document also lists the kept results of the others
    machines: Vec<String>,
}

const HEAD: &str = "\
# Results of emulated machines

Written by `cargo xtask machines`, which boots each machine in QEMU and keeps its report, its kernel log and the events of `watch` in a folder here.
A property is *right* if the interval in the result contains it, and *not determined* if the program says that it could not determine the figure. Costs
are those of the emulator. [Summary](../../../docs/results.md#emulated-machines)

| machine | configuration | known property | result | |
|---|---|---|---|---|
";

/// Boots the machines one after the other, judges all kept results, and writes the README of
/// the folder in which they are kept.
///
/// # Errors
/// If a machine cannot be booted, or a result contradicts a known property.
pub fn run(asked: &Machines) -> Outcome<()> {
    let kept = crate::root()?.join("dev/emulated/machines");
    let (mut failed, mut text, mut counts) = (Vec::new(), HEAD.to_owned(), [0; 3]);
    for machine in ALL {
        let folder = kept.join(machine.name);
        let is_asked =
            asked.machines.is_empty() || asked.machines.iter().any(|name| name == machine.name);
        if is_asked && !asked.judge {
            eprintln!("{}: booting", machine.name);
            if let Err(error) = boot::boot(machine, asked.compiled, &folder) {
                // The results of an earlier boot must not pass for results of this one.
                let _ = fs::remove_dir_all(&folder);
                failed.push(format!("{} is not booted: {error}", machine.name));
            }
        }
        let mut begin = format!("{} | {}", machine.name, configuration(machine));
        for truth in machine.truths {
            let (known, answer) = truth.compare(&folder);
            let (found, at, word) = match answer {
                Ok((found, true)) => (found, 0, "right"),
                Ok((found, false)) => (found, 1, "**wrong**"),
                Err(why) => (why, 2, "not determined"),
            };
            counts[at] += 1;
            writeln!(text, "| {begin} | {known} | {found} | {word} |")?;
            begin = " | ".into();
        }
    }
    let [right, wrong, undetermined] = counts;
    let sum = format!("{right} results are right, {wrong} wrong, {undetermined} not determined.");
    writeln!(text, "\n{sum}")?;
    fs::write(kept.join("README.md"), &text)?;
    println!("{sum}");
    if wrong > 0 {
        failed.push("results contradict the known properties".into());
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(failed.join("\n").into())
}

/// Formats the configuration of a machine: architecture, options of the emulator, and kernel
/// parameters.
fn configuration(machine: &Machine) -> String {
    let options = machine.options.join(" ");
    let words = [machine.emulator.architecture, &options, machine.parameters];
    let words = words.into_iter().filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    words.join(" ")
}
