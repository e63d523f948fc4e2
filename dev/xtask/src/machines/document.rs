//! docs/truth.md: what is true of each machine, and what was found.

use std::fmt::Write as _;

use super::found::Found;
use super::list::{ALL, Machine};
use super::truth::{Judged, Verdict};

const HEAD: &str = "\
# Truth

Machines whose clocks are known, because they were built so: an emulator (QEMU, all of it emulated: TCG) boots Debian's kernel with the unchanged program
and nothing else, and what the program says is held against what the machine is. Written by

```sh
apt install qemu-system-x86 qemu-system-arm qemu-system-misc cpio
cargo xtask machines                    # all of them; or by name: cargo xtask machines hpet icount-0
cargo xtask machines --judge            # once more what is kept below reports/machines/
```

which takes kernels and busybox from Debian's packages, compiles the program statically, and keeps below
[`reports/machines/`](../reports/machines/) what each machine said: the report, what the kernel printed, and the events of `watch`. A truth is *held* where the
interval that was found holds it; *not determined* where the program says that it could not find the figure.

";

/// What became of each machine, in the order of the list.
pub fn judged(kept: &[Option<Found>]) -> Vec<Option<Vec<Judged>>> {
    let of = |name: &str| {
        let at = ALL.iter().position(|machine| machine.name == name)?;
        kept.get(at)?.as_ref()
    };
    let one = |(machine, found): (&Machine, &Option<Found>)| {
        let found = found.as_ref()?;
        Some(
            machine
                .truths
                .iter()
                .map(|truth| truth.judged(found, &of))
                .collect(),
        )
    };
    ALL.iter().zip(kept).map(one).collect()
}

/// How many truths something else was found for.
pub fn not_held(judged: &[Option<Vec<Judged>>]) -> usize {
    count(judged, Verdict::NotHeld)
}

fn count(judged: &[Option<Vec<Judged>>], verdict: Verdict) -> usize {
    judged
        .iter()
        .flatten()
        .flatten()
        .filter(|judged| judged.verdict == verdict)
        .count()
}

/// The document.
pub fn written(judged: &[Option<Vec<Judged>>]) -> String {
    let mut text = HEAD.to_owned();
    let all: usize = judged.iter().flatten().map(Vec::len).sum();
    let [held, wrong, undetermined] = [Verdict::Held, Verdict::NotHeld, Verdict::NotDetermined]
        .map(|verdict| count(judged, verdict));
    let _ = write!(
        text,
        "Of {all} truths of {} machines {held} were held, {wrong} not, {undetermined} not determined.\n\n",
        judged.iter().flatten().count()
    );
    text += "| machine | what is special | truth | found | |\n|---|---|---|---|---|\n";
    let mut absent = Vec::new();
    for (machine, judged) in ALL.iter().zip(judged) {
        let Some(judged) = judged else {
            absent.push(machine.name);
            continue;
        };
        for (
            at,
            Judged {
                truth,
                found,
                verdict,
            },
        ) in judged.iter().enumerate()
        {
            let (name, special) = if at == 0 {
                (machine.name, special(machine))
            } else {
                ("", String::new())
            };
            let _ = writeln!(
                text,
                "| {name} | {special} | {truth} | {found} | {} |",
                verdict.word()
            );
        }
    }
    if !absent.is_empty() {
        let _ = write!(
            text,
            "\nNot booted when this was written, as an emulator, a kernel or a program for them was missing, or not asked for: {}.\n",
            absent.join(", ")
        );
    }
    text + NOT_HERE
}

fn special(machine: &Machine) -> String {
    let cpus = machine.options.iter().position(|option| *option == "-smp");
    let is_cpus = |at: usize| cpus.is_some_and(|cpus| at == cpus || at == cpus + 1);
    let options = machine
        .options
        .iter()
        .enumerate()
        .filter(|(at, _)| !is_cpus(*at));
    let options: Vec<&str> = options.map(|(_, option)| *option).collect();
    let words = [
        machine.emulator.architecture,
        &options.join(" "),
        machine.parameters,
    ]
    .map(str::to_owned);
    let words: Vec<String> = words
        .into_iter()
        .filter(|word| !word.is_empty())
        .map(|word| format!("`{word}`"))
        .collect();
    words.join(" ")
}

const NOT_HERE: &str = "
## What is not here

- **CPUs whose counters are offset**: an emulator (TCG) ignores what a guest writes to them, and KVM with an unmodified kernel was not at hand. They are simulated hosts
  (`dev/simulated`, `tests/counter.rs`): the figures there are the model's.
- **libfaketime**: a library that programs are linked to when they start, so that the static one knows nothing of it. `tests/faults` runs the dynamic one beneath it:
  a clock that runs 5 % fast is named, by how much, and the system call next to it is not blamed.
- **A migration**: two hosts are needed. `watch` is judged by simulated ones.
- **Costs** of such machines are the emulator's, but for those of `-icount`, where an instruction takes a known time.
";
