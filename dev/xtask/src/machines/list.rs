//! The table of emulated machines, each with its known properties.

use std::process::Command;

use super::truth::Truth::{
    self, Contains, CostInTicks, CostsMoreThanItsStep, Events, EventsByCause, ReadInUserMode,
    SingleEvent, Step, StepInTicks, StepOfHpet,
};

/// An emulated machine.
pub struct Machine {
    /// The name.
    pub name: &'static str,
    /// The emulator.
    pub emulator: &'static Emulator,
    /// Additional options of the emulator.
    pub options: &'static [&'static str],
    /// Kernel parameters.
    pub parameters: &'static str,
    /// The script that busybox runs on the machine; it writes its results to /out. Besides busybox it
    /// may call `timermeter`, `probe ARGS` (saves a report), `provoke` (`provoke.c`), and
    /// `outside stop|pause SECONDS`: the host stops the emulator by SIGSTOP, so that the clocks go on,
    /// or pauses the machine with its clocks.
    pub script: &'static str,
    /// The known properties.
    pub truths: &'static [Truth],
}

/// The emulator of an architecture.
pub struct Emulator {
    /// The name of the architecture in Rust.
    pub architecture: &'static str,
    /// The name of the architecture in Debian.
    pub debian: &'static str,
    /// The metapackage of the newest kernel.
    pub kernel: &'static str,
    /// Targets of the program, in order of preference.
    pub targets: &'static [&'static str],
    /// The executable of the emulator.
    pub program: &'static str,
    /// The package that contains the emulator.
    pub package: &'static str,
    options: &'static [&'static str],
    /// The console device of the kernel.
    pub console: &'static str,
}

impl Emulator {
    /// Returns the command of the emulator with the options that all machines share.
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

/// The options for two CPUs.
const TWO_CPUS: &[&str] = &["-smp", "2"];
/// ACPI specification, section 4.8.2.1: the power management timer counts at 3.579545 MHz.
const PM_TIMER_NS: f64 = 1e9 / 3_579_545.0;
const MONOTONIC: &str = "monotonic";
const RAW: &str = "monotonic-raw";
const CNTVCT: &str = "cntvct";
const RDTSC: &str = "rdtsc";
const RDTIME: &str = "rdtime";

/// A machine on which an instruction takes 2^N ns.
macro_rules! icount_machine {
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

/// A machine on which `watch` runs during an event.
macro_rules! watch_machine {
    ($name:literal, $script:literal, $truths:expr) => {
        Machine {
            name: $name,
            emulator: &X86,
            options: TWO_CPUS,
            parameters: "clocksource=hpet",
            script: $script,
            truths: $truths,
        }
    };
}

/// All machines.
pub const ALL: &[Machine] = &[
    Machine {
        name: "acpi-pm",
        emulator: &X86,
        options: TWO_CPUS,
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
        options: TWO_CPUS,
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
        name: "no-vdso",
        emulator: &X86,
        options: TWO_CPUS,
        parameters: "vdso=0 tsc=reliable clocksource=tsc",
        script: "probe monotonic monotonic-syscall monotonic-raw realtime rdtsc",
        truths: &[ReadInUserMode(MONOTONIC, false)],
    },
    Machine {
        name: "slewed",
        emulator: &X86,
        options: TWO_CPUS,
        parameters: "clocksource=hpet",
        // `adjtimex -f` takes ppm times 2^16: 6553600 is 100 ppm.
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
            // QEMU's `virt` counts at 62.5 MHz.
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
        options: TWO_CPUS,
        parameters: "",
        script: "probe monotonic monotonic-raw realtime rdtime",
        // QEMU's `virt` counts at 10 MHz.
        truths: &[Step(MONOTONIC, 100.0), Step(RAW, 100.0), Step(RDTIME, 100.0)],
    },
    watch_machine!(
        "quiet",
        "timermeter watch 60s --format json >/out/watch.jsonl",
        &[
            Events("suspend", 0),
            Events("step", 0),
            Events("slew", 0),
            Events("source", 0),
        ]
    ),
    watch_machine!(
        "emulator-sigstop",
        "timermeter watch 25s --pause 1s --format json >/out/watch.jsonl &
sleep 8; outside stop 5; wait",
        &[SingleEvent("pause", "unknown", Some(5.0)), Events("step", 0)]
    ),
    watch_machine!(
        "process-stopped",
        "timermeter watch 20s --pause 1s --format json >/out/watch.jsonl &
sleep 8; kill -STOP $!; sleep 3; kill -CONT $!; wait",
        &[SingleEvent("pause", "unknown", None), Events("suspend", 0), Events("step", 0)]
    ),
    watch_machine!(
        "clock-set",
        // The size of the step is unknown, because busybox sets whole seconds.
        "timermeter watch 20s --pause 1s --format json >/out/watch.jsonl &
sleep 8; date -s '2031-05-06 07:08:09'; wait",
        &[SingleEvent("step", "clock-set", None), Events("pause", 0), Events("suspend", 0)]
    ),
    watch_machine!(
        "leap-second",
        // The kernel inserts the leap second at the end of the day.
        "date -s '2031-12-31 23:59:45'; provoke leap; timermeter watch 30s --pause 1s --format json >/out/watch.jsonl",
        &[
            SingleEvent("step", "leap-second", Some(-1.0)),
            Events("step", 1),
            Events("pause", 0),
            Events("suspend", 0)
        ]
    ),
    Machine {
        name: "time-namespace",
        emulator: &X86,
        options: TWO_CPUS,
        parameters: "clocksource=hpet",
        script: "provoke namespace 86400 timermeter probe --quick --quiet --format json monotonic boottime realtime >/out/report.json",
        truths: &[
            Contains("report.json", "shifts CLOCK_MONOTONIC by 86400 s and CLOCK_BOOTTIME by 86400 s"),
            StepOfHpet(MONOTONIC, 1.0),
        ],
    },
    watch_machine!(
        "rate-trimmed",
        "timermeter watch 90s --pause 1s --format json >/out/watch.jsonl &
sleep 45; adjtimex -f 6553600; wait",
        &[SingleEvent("slew", "discipline", Some(100.0)), Events("step", 0), Events("source", 0)]
    ),
    watch_machine!(
        "source-changed",
        "timermeter watch 20s --pause 1s --format json >/out/watch.jsonl &
sleep 8; echo acpi_pm >/sys/devices/system/clocksource/clocksource0/current_clocksource; wait",
        &[
            SingleEvent("source", "chosen", None),
            Contains("watch.jsonl", "hpet → acpi_pm"),
            Events("step", 0),
            Events("slew", 0)
        ]
    ),
    watch_machine!(
        "suspended",
        "timermeter watch 25s --pause 1s --format json >/out/watch.jsonl &
sleep 8; echo +6 >/sys/class/rtc/rtc0/wakealarm; echo mem >/sys/power/state; wait",
        &[SingleEvent("suspend", "suspend", None), Events("step", 0)]
    ),
    watch_machine!(
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
            EventsByCause("pause", "unknown", 8),
            EventsByCause("step", "clock-set", 4),
            EventsByCause("source", "chosen", 4),
            EventsByCause("slew", "discipline", 2),
            EventsByCause("suspend", "suspend", 2),
            Events("pause", 8),
            Events("step", 4),
            Events("source", 4),
            Events("slew", 2),
            Events("suspend", 2),
        ]
    ),
    icount_machine!("icount-0", "shift=0,sleep=off", 1.0),
    icount_machine!("icount-1", "shift=1,sleep=off", 2.0),
    icount_machine!("icount-2", "shift=2,sleep=off", 4.0),
    icount_machine!("icount-3", "shift=3,sleep=off", 8.0),
    icount_machine!("icount-4", "shift=4,sleep=off", 16.0),
    icount_machine!("icount-5", "shift=5,sleep=off", 32.0),
    icount_machine!("icount-6", "shift=6,sleep=off", 64.0),
];
