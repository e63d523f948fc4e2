//! Machines whose truth is known: an emulator boots a real kernel with the unchanged program, whose report is held against what the machine
//! was built to be.

mod guest;
mod truth;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use timermeter::model::Report;

use crate::Outcome;
use truth::Truth;

/// Boots machines whose truth is known.
#[derive(Args)]
pub struct Machines {
    /// A folder per architecture (x86_64, aarch64), each with what runs there: kernel, busybox, timermeter
    #[arg(long, value_name = "FOLDER", default_value = "target/machines/parts")]
    parts: PathBuf,
    /// Where reports and what the kernels said are kept, a folder a machine
    #[arg(long, value_name = "FOLDER", default_value = "target/machines/found")]
    keep: PathBuf,
    /// Only these
    machines: Vec<String>,
}

/// A machine.
struct Machine {
    name: &'static str,
    emulator: &'static Emulator,
    /// What the emulator is told.
    options: &'static [&'static str],
    /// What its kernel is told.
    parameters: &'static str,
    /// What is done on it before, in words of busybox.
    before: &'static str,
    truths: &'static [Truth],
}

/// What emulates an architecture.
struct Emulator {
    architecture: &'static str,
    program: &'static str,
    package: &'static str,
    options: &'static [&'static str],
    console: &'static str,
    /// The raw counter.
    counter: &'static str,
}

const X86: Emulator = Emulator {
    architecture: "x86_64",
    program: "qemu-system-x86_64",
    package: "qemu-system-x86",
    options: &["-cpu", "max"],
    console: "ttyS0",
    counter: "rdtsc",
};
const ARM: Emulator = Emulator {
    architecture: "aarch64",
    program: "qemu-system-aarch64",
    package: "qemu-system-arm",
    options: &["-machine", "virt"],
    console: "ttyAMA0",
    counter: "cntvct",
};
const PM_TIMER_NS: f64 = 1e9 / 3_579_545.0;
const MONOTONIC: &str = "monotonic";
const RAW: &str = "monotonic-raw";

const ALL: [Machine; 6] = [
    Machine {
        name: "acpi-pm",
        emulator: &X86,
        options: &[],
        parameters: "clocksource=acpi_pm",
        before: "true",
        truths: &[
            Truth::Step(MONOTONIC, PM_TIMER_NS),
            Truth::Step(RAW, PM_TIMER_NS),
            Truth::CostsMoreThanItsStep(MONOTONIC),
            Truth::ReadInUserMode(MONOTONIC, false),
        ],
    },
    Machine {
        name: "hpet",
        emulator: &X86,
        options: &[],
        parameters: "clocksource=hpet",
        before: "true",
        truths: &[
            Truth::StepOfHpet(MONOTONIC, 1.0),
            Truth::StepOfHpet(RAW, 1.0),
            Truth::CostsMoreThanItsStep(MONOTONIC),
            Truth::ReadInUserMode(MONOTONIC, false),
        ],
    },
    Machine {
        name: "no-vdso",
        emulator: &X86,
        options: &[],
        parameters: "vdso=0 clocksource=hpet",
        before: "true",
        truths: &[Truth::StepOfHpet(MONOTONIC, 1.0), Truth::ReadInUserMode(MONOTONIC, false)],
    },
    Machine {
        name: "slewed",
        emulator: &X86,
        options: &[],
        parameters: "clocksource=hpet",
        // Parts per million, as the kernel has them: times 2^16.
        before: "adjtimex -f 6553600",
        truths: &[Truth::StepOfHpet(MONOTONIC, 1.0001), Truth::StepOfHpet(RAW, 1.0)],
    },
    Machine {
        name: "arm",
        emulator: &ARM,
        options: &["-cpu", "cortex-a72"],
        parameters: "",
        before: "true",
        truths: &[
            Truth::Step(MONOTONIC, 16.0),
            Truth::Step(RAW, 16.0),
            Truth::Step(ARM.counter, 16.0),
            Truth::ReadInUserMode(MONOTONIC, true),
        ],
    },
    Machine {
        name: "arm-24-mhz",
        emulator: &ARM,
        options: &["-cpu", "cortex-a72,cntfrq=24000000"],
        parameters: "",
        before: "true",
        truths: &[
            Truth::Step(MONOTONIC, 1e3 / 24.0),
            Truth::Step(RAW, 1e3 / 24.0),
            Truth::Step(ARM.counter, 1e3 / 24.0),
            Truth::ReadInUserMode(MONOTONIC, true),
        ],
    },
];

/// Boots them, one after the other, and tells each truth and what was found.
///
/// # Errors
/// When a machine cannot be booted, or was found to be something else than it is.
pub fn run(asked: &Machines) -> Outcome<()> {
    if let Some(unknown) = asked.machines.iter().find(|name| ALL.iter().all(|machine| machine.name != **name))
    {
        let names: Vec<&str> = ALL.iter().map(|machine| machine.name).collect();
        return Err(format!("there is no machine `{unknown}`; there are {}", names.join(", ")).into());
    }
    let is_asked = |machine: &&Machine| {
        asked.machines.is_empty() || asked.machines.iter().any(|name| name == machine.name)
    };
    let mut wrong = 0;
    println!("| machine | kernel parameters | truth | found | |\n|---|---|---|---|---|");
    for machine in ALL.iter().filter(is_asked) {
        let Machine { name, parameters, emulator, .. } = machine;
        let parts = asked.parts.join(emulator.architecture);
        if !parts.is_dir() {
            println!("| {name} | `{parameters}` | | not booted: there is no {} | |", parts.display());
            continue;
        }
        let (report, log) = boot(machine, &parts, &asked.keep.join(name))?;
        for truth in machine.truths {
            let (told, found, holds) = truth.judged(&report, &log)?;
            wrong += usize::from(!holds);
            let verdict = if holds { "held" } else { "**not held**" };
            println!("| {name} | `{parameters}` | {told} | {found} | {verdict} |");
        }
    }
    if wrong > 0 { Err(format!("{wrong} truths were not found").into()) } else { Ok(()) }
}

/// Boots one and reads what it says.
fn boot(machine: &Machine, parts: &Path, folder: &Path) -> Outcome<(Report, String)> {
    let Machine { name, emulator, .. } = machine;
    fs::create_dir_all(folder)?;
    let [initramfs, log, report] = ["initramfs", "kernel.log", "report.json"].map(|name| folder.join(name));
    guest::write(&initramfs, parts, machine.before, emulator.counter)?;
    let mut command = Command::new(emulator.program);
    command.args(emulator.options).args(machine.options).args(["-accel", "tcg", "-m", "512", "-smp", "2"]);
    command.args(["-display", "none", "-nodefaults", "-no-reboot", "-kernel"]).arg(parts.join("kernel"));
    command.arg("-initrd").arg(&initramfs);
    let line = format!("console={} quiet panic=-1 {}", emulator.console, machine.parameters);
    command.args(["-append", &line, "-serial", &format!("file:{}", log.display())]);
    command.args(["-chardev", &format!("file,id=report,path={}", report.display())]);
    command.args(["-device", "pci-serial,chardev=report"]).stdin(Stdio::null());
    let ended = command.status().map_err(|error| {
        format!("{} cannot be started ({error}): apt install {}", emulator.program, emulator.package)
    })?;
    let said = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    fs::remove_file(&initramfs)?;
    if !ended.success() {
        return Err(format!("{name}: the emulator ended with {ended}; see {}", log.display()).into());
    }
    let report = timermeter::report::read(&report)
        .map_err(|error| format!("{name}: {error}; see {}", log.display()))?;
    Ok((report, said))
}
