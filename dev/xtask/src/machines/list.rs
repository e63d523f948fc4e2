//! The machines, and what is true of them.

use std::process::Command;

use super::truth::Truth;
use super::truth::Truth::{
    CostInTicks, CostsMoreThanItsStep, Events, Happened, ReadInUserMode, ReadsCounted, Says,
    SourceStep, SourceStepOfHpet, Step, StepInTicks, StepOfHpet, WatchEvents,
};

/// A machine.
pub struct Machine {
    /// What it is called.
    pub name: &'static str,
    /// What it is emulated by.
    pub emulator: &'static Emulator,
    /// What the emulator is passed.
    pub options: &'static [&'static str],
    /// What its kernel is passed.
    pub parameters: &'static str,
    /// What is done on it, in words of busybox; what is in /out afterwards is kept.
    pub script: &'static str,
    /// What is true of it.
    pub truths: &'static [Truth],
}

/// What emulates an architecture.
pub struct Emulator {
    /// As Rust calls it.
    pub architecture: &'static str,
    /// As Debian calls it.
    pub debian: &'static str,
    /// The package of the newest kernel.
    pub kernel: &'static str,
    /// What the program may be compiled for, the best first.
    pub targets: &'static [&'static str],
    /// The program.
    pub program: &'static str,
    /// The package that brings it.
    pub package: &'static str,
    options: &'static [&'static str],
    /// Where the kernel speaks.
    pub console: &'static str,
}

impl Emulator {
    /// The emulator with what its constant options.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        command.args(self.options);
        command
    }
}

const X86: Emulator = Emulator {
    architecture: "x86_64",
    debian: "amd64",
    kernel: "linux-image-amd64",
    targets: &["x86_64-unknown-linux-musl", "x86_64-unknown-linux-gnu"],
    program: "qemu-system-x86_64",
    package: "qemu-system-x86",
    options: &["-accel", "tcg", "-cpu", "max"],
    console: "ttyS0",
};
const ARM: Emulator = Emulator {
    architecture: "aarch64",
    debian: "arm64",
    kernel: "linux-image-arm64",
    targets: &["aarch64-unknown-linux-musl", "aarch64-unknown-linux-gnu"],
    program: "qemu-system-aarch64",
    package: "qemu-system-arm",
    options: &["-accel", "tcg", "-machine", "virt"],
    console: "ttyAMA0",
};
const RISCV: Emulator = Emulator {
    architecture: "riscv64",
    debian: "riscv64",
    kernel: "linux-image-riscv64",
    targets: &[
        "riscv64gc-unknown-linux-musl",
        "riscv64gc-unknown-linux-gnu",
    ],
    program: "qemu-system-riscv64",
    package: "qemu-system-misc",
    options: &["-accel", "tcg", "-machine", "virt"],
    console: "ttyS0",
};

const TWO: &[&str] = &["-smp", "2"];
const PM_TIMER_NS: f64 = 1e9 / 3_579_545.0;
const MONOTONIC: &str = "monotonic";
const RAW: &str = "monotonic-raw";
const CNTVCT: &str = "cntvct";
const RDTSC: &str = "rdtsc";
const RDTIME: &str = "rdtime";

/// One where an instruction takes 2^N ns.
macro_rules! counted {
    ($name:literal, $options:literal, $ticks:literal) => {
        Machine {
            name: $name,
            emulator: &X86,
            options: &["-smp", "1", "-icount", $options],
            parameters: "tsc=reliable clocksource=tsc",
            script: "probe rdtsc monotonic",
            truths: &[
                StepInTicks(RDTSC, $ticks),
                CostInTicks(RDTSC, "icount-0", $ticks),
            ],
        }
    };
}

/// One that is watched while something happens to it.
macro_rules! watched {
    ($name:literal, $script:literal, $truths:expr) => {
        Machine {
            name: $name,
            emulator: &X86,
            options: TWO,
            parameters: "clocksource=hpet",
            script: $script,
            truths: $truths,
        }
    };
}

/// All of them.
pub const ALL: &[Machine] = &[
    Machine {
        name: "acpi-pm",
        emulator: &X86,
        options: TWO,
        parameters: "clocksource=acpi_pm",
        script: "probe monotonic monotonic-raw realtime rdtsc",
        truths: &[
            Step(MONOTONIC, PM_TIMER_NS),
            Step(RAW, PM_TIMER_NS),
            CostsMoreThanItsStep(MONOTONIC),
            ReadInUserMode(MONOTONIC, false),
        ],
    },
    Machine {
        name: "hpet",
        emulator: &X86,
        options: TWO,
        parameters: "clocksource=hpet",
        script: "probe monotonic monotonic-raw realtime rdtsc",
        truths: &[
            StepOfHpet(MONOTONIC, 1.0),
            StepOfHpet(RAW, 1.0),
            CostsMoreThanItsStep(MONOTONIC),
            ReadInUserMode(MONOTONIC, false),
        ],
    },
    Machine {
        name: "sources",
        emulator: &X86,
        options: TWO,
        parameters: "clocksource=hpet",
        script: "mount -t tracefs tracefs /sys/kernel/tracing; provoke read 2000 & reader=$!
timermeter check --sources --yes --format json >/out/sources.out; kill $reader
cat /sys/devices/system/clocksource/clocksource0/current_clocksource >/out/afterwards",
        truths: &[
            SourceStepOfHpet("hpet"),
            SourceStep("acpi_pm", PM_TIMER_NS),
            ReadsCounted(2_000.0),
            Says("afterwards", "hpet"),
        ],
    },
    Machine {
        name: "sources-killed",
        emulator: &X86,
        options: TWO,
        parameters: "clocksource=hpet",
        script: "current=/sys/devices/system/clocksource/clocksource0/current_clocksource
timermeter check --sources --yes >/dev/null & measuring=$!
while [ $(cat $current) = hpet ]; do sleep 0.1; done
kill -KILL $measuring; sleep 1; cat $current >/out/a-second-later",
        truths: &[Says("a-second-later", "hpet")],
    },
    Machine {
        name: "no-vdso",
        emulator: &X86,
        options: TWO,
        parameters: "vdso=0 tsc=reliable clocksource=tsc",
        script: "probe monotonic monotonic-syscall monotonic-raw realtime rdtsc",
        truths: &[ReadInUserMode(MONOTONIC, false)],
    },
    Machine {
        name: "slewed",
        emulator: &X86,
        options: TWO,
        parameters: "clocksource=hpet",
        // Parts per million, as the kernel has them: times 2^16.
        script: "adjtimex -f 6553600\nprobe monotonic monotonic-raw realtime rdtsc",
        truths: &[StepOfHpet(MONOTONIC, 1.0001), StepOfHpet(RAW, 1.0)],
    },
    Machine {
        name: "arm",
        emulator: &ARM,
        options: &["-smp", "2", "-cpu", "cortex-a72"],
        parameters: "",
        script: "probe monotonic monotonic-raw realtime cntvct",
        truths: &[
            Step(MONOTONIC, 16.0),
            Step(RAW, 16.0),
            Step(CNTVCT, 16.0),
            ReadInUserMode(MONOTONIC, true),
        ],
    },
    Machine {
        name: "arm-24-mhz",
        emulator: &ARM,
        options: &["-smp", "2", "-cpu", "cortex-a72,cntfrq=24000000"],
        parameters: "",
        script: "probe monotonic monotonic-raw realtime cntvct",
        truths: &[
            Step(MONOTONIC, 1e3 / 24.0),
            Step(RAW, 1e3 / 24.0),
            Step(CNTVCT, 1e3 / 24.0),
            ReadInUserMode(MONOTONIC, true),
        ],
    },
    Machine {
        name: "riscv",
        emulator: &RISCV,
        options: TWO,
        parameters: "",
        script: "probe monotonic monotonic-raw realtime rdtime",
        truths: &[Step(MONOTONIC, 100.0), Step(RAW, 100.0), Step(RDTIME, 100.0)],
    },
    watched!(
        "quiet",
        "timermeter watch 60s --format json >/out/watch.jsonl",
        &[
            Events("suspend", 0),
            Events("frozen", 0),
            Events("step", 0),
            Events("slew", 0),
            Events("source", 0),
            Events("counter-jump", 0),
            Events("counter-rate", 0),
        ]
    ),
    watched!(
        "emulator-stopped",
        "timermeter watch 25s --pause 1s --format json >/out/watch.jsonl &
sleep 8; outside stop 5; wait",
        &[Happened("pause", "machine", Some(5.0)), Events("frozen", 0), Events("step", 0)]
    ),
    watched!(
        "emulator-paused",
        "timermeter watch 25s --pause 1s --format json >/out/watch.jsonl &
sleep 8; outside pause 5; wait",
        &[Happened("frozen", "machine", Some(5.0)), Events("pause", 0), Events("step", 0)]
    ),
    watched!(
        "process-stopped",
        "timermeter watch 20s --pause 1s --format json >/out/watch.jsonl &
sleep 8; kill -STOP $!; sleep 3; kill -CONT $!; wait",
        &[Happened("pause", "process", None), Events("suspend", 0), Events("frozen", 0), Events("step", 0)]
    ),
    watched!(
        "clock-set",
        // busybox sets whole seconds, wherever within one the clock is.
        "timermeter watch 20s --pause 1s --format json >/out/watch.jsonl &
sleep 8; date -s '2031-05-06 07:08:09'; wait",
        &[Happened("step", "clock-set", None), Events("pause", 0), Events("suspend", 0), Events("frozen", 0)]
    ),
    watched!(
        "leap-second",
        // The kernel puts one in at the end of the day.
        "date -s '2031-12-31 23:59:45'; provoke leap; timermeter watch 30s --pause 1s --format json >/out/watch.jsonl",
        &[
            Happened("step", "leap-second", Some(-1.0)),
            Events("step", 1),
            Events("pause", 0),
            Events("suspend", 0)
        ]
    ),
    Machine {
        name: "time-namespace",
        emulator: &X86,
        options: TWO,
        parameters: "clocksource=hpet",
        script: "provoke namespace 86400 timermeter probe --quick --quiet --format json monotonic boottime realtime >/out/report.json",
        truths: &[
            Says("report.json", "shifts CLOCK_MONOTONIC by 86400 s and CLOCK_BOOTTIME by 86400 s"),
            StepOfHpet(MONOTONIC, 1.0),
        ],
    },
    watched!(
        "rate-trimmed",
        "timermeter watch 90s --pause 1s --format json >/out/watch.jsonl &
sleep 45; adjtimex -f 6553600; wait",
        &[Happened("slew", "discipline", Some(100.0)), Events("step", 0), Events("source", 0)]
    ),
    watched!(
        "source-changed",
        "timermeter watch 20s --pause 1s --format json >/out/watch.jsonl &
sleep 8; echo acpi_pm >/sys/devices/system/clocksource/clocksource0/current_clocksource; wait",
        &[
            Happened("source", "chosen", None),
            Says("watch.jsonl", "hpet → acpi_pm"),
            Events("step", 0),
            Events("slew", 0)
        ]
    ),
    watched!(
        "suspended",
        "timermeter watch 25s --pause 1s --format json >/out/watch.jsonl &
sleep 8; echo +6 >/sys/class/rtc/rtc0/wakealarm; echo mem >/sys/power/state; wait",
        &[Happened("suspend", "suspend", None), Events("step", 0), Events("frozen", 0)]
    ),
    watched!(
        "twenty-events",
        "timermeter watch 235s --pause 1s --format json >/out/watch.jsonl & watch=$!
source=/sys/devices/system/clocksource/clocksource0/current_clocksource
for other in acpi_pm hpet acpi_pm hpet; do
sleep 4; outside stop 2; sleep 5; kill -STOP $watch; sleep 2; kill -CONT $watch
sleep 3; date -s @$(($(date +%s) + 1000)); sleep 3; echo $other >$source
done
sleep 30; adjtimex -f 6553600; sleep 35; adjtimex -f -6553600; sleep 35
for again in 1 2; do echo +5 >/sys/class/rtc/rtc0/wakealarm; echo mem >/sys/power/state; sleep 5; done; wait",
        &[
            WatchEvents("pause", "machine", 4),
            WatchEvents("pause", "process", 4),
            WatchEvents("step", "clock-set", 4),
            WatchEvents("source", "chosen", 4),
            WatchEvents("slew", "discipline", 2),
            WatchEvents("suspend", "suspend", 2),
            Events("pause", 8),
            Events("step", 4),
            Events("source", 4),
            Events("slew", 2),
            Events("suspend", 2),
            Events("frozen", 0),
            Events("counter-jump", 0),
            Events("counter-rate", 0),
        ]
    ),
    counted!("icount-0", "shift=0,sleep=off", 1.0),
    counted!("icount-1", "shift=1,sleep=off", 2.0),
    counted!("icount-2", "shift=2,sleep=off", 4.0),
    counted!("icount-3", "shift=3,sleep=off", 8.0),
    counted!("icount-4", "shift=4,sleep=off", 16.0),
    counted!("icount-5", "shift=5,sleep=off", 32.0),
    counted!("icount-6", "shift=6,sleep=off", 64.0),
];
