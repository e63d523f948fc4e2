//! The table of emulated machines, each with its known properties.

use super::truth::Truth::{
    self, Contains, CostsMoreThanItsStep, Events, ReadInUserMode, Size, Step, StepInTicks,
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
    /// may call `timermeter`, `probe ARGS` (saves a report), `watch ARGS` (saves its events), `provoke`
    /// (`provoke.c`), and `outside SECONDS`: the host stops the emulator by SIGSTOP, so that the clocks
    /// go on.
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
    /// The target of the program.
    pub target: &'static str,
    /// The executable of the emulator.
    pub program: &'static str,
    /// The options that all its machines share.
    pub options: &'static [&'static str],
    /// The console device of the kernel.
    pub console: &'static str,
}

const X86: Emulator = Emulator {
    architecture: "x86_64",
    debian: "amd64",
    kernel: "linux-image-amd64",
    target: "x86_64-unknown-linux-musl",
    program: "qemu-system-x86_64",
    options: &["-cpu", "max"],
    console: "ttyS0",
};
const ARM: Emulator = Emulator {
    architecture: "aarch64",
    debian: "arm64",
    kernel: "linux-image-arm64",
    target: "aarch64-unknown-linux-musl",
    program: "qemu-system-aarch64",
    options: &["-machine", "virt"],
    console: "ttyAMA0",
};
const RISCV: Emulator = Emulator {
    architecture: "riscv64",
    debian: "riscv64",
    kernel: "linux-image-riscv64",
    target: "riscv64gc-unknown-linux-musl",
    program: "qemu-system-riscv64",
    options: &["-machine", "virt"],
    console: "ttyS0",
};

/// ACPI specification, section 4.8.2.1: the power management timer counts at 3.579545 MHz.
const PM_TIMER_NS: f64 = 1e9 / 3_579_545.0;
/// QEMU's HPET counts at 100 MHz.
const HPET_NS: f64 = 10.0;
const MONOTONIC: &str = "monotonic";
const RAW: &str = "monotonic-raw";
const HPET: &str = "clocksource=hpet";
const PROBE: &str = "probe monotonic monotonic-raw realtime rdtsc cntvct rdtime";

const fn x86(
    name: &'static str,
    parameters: &'static str,
    script: &'static str,
    truths: &'static [Truth],
) -> Machine {
    Machine {
        name,
        emulator: &X86,
        options: &[],
        parameters,
        script,
        truths,
    }
}

const fn arm(
    name: &'static str,
    options: &'static [&'static str],
    truths: &'static [Truth],
) -> Machine {
    Machine {
        emulator: &ARM,
        options,
        ..x86(name, "", PROBE, truths)
    }
}

/// All machines.
pub const ALL: &[Machine] = &[
    x86(
        "acpi-pm",
        "clocksource=acpi_pm",
        PROBE,
        &[
            Step(MONOTONIC, PM_TIMER_NS),
            Step(RAW, PM_TIMER_NS),
            CostsMoreThanItsStep(MONOTONIC),
            ReadInUserMode(MONOTONIC, false),
        ],
    ),
    x86(
        "hpet",
        HPET,
        PROBE,
        &[
            Step(MONOTONIC, HPET_NS),
            Step(RAW, HPET_NS),
            CostsMoreThanItsStep(MONOTONIC),
            ReadInUserMode(MONOTONIC, false),
        ],
    ),
    x86(
        "no-vdso",
        "vdso=0 tsc=reliable clocksource=tsc",
        PROBE,
        &[ReadInUserMode(MONOTONIC, false)],
    ),
    x86(
        "slewed",
        HPET,
        // `adjtimex -f` takes ppm times 2^16: 6553600 is 100 ppm.
        "adjtimex -f 6553600; probe monotonic monotonic-raw realtime rdtsc",
        &[Step(MONOTONIC, 1.0001 * HPET_NS), Step(RAW, HPET_NS)],
    ),
    arm(
        "arm",
        &["-cpu", "cortex-a72"],
        &[
            // QEMU's `virt` counts at 62.5 MHz.
            Step(MONOTONIC, 16.0),
            Step(RAW, 16.0),
            Step("cntvct", 16.0),
            ReadInUserMode(MONOTONIC, true),
        ],
    ),
    arm(
        "arm-24-mhz",
        &["-cpu", "cortex-a72,cntfrq=24000000"],
        &[
            Step(MONOTONIC, 1e3 / 24.0),
            Step(RAW, 1e3 / 24.0),
            Step("cntvct", 1e3 / 24.0),
            ReadInUserMode(MONOTONIC, true),
        ],
    ),
    Machine {
        emulator: &RISCV,
        // QEMU's `virt` counts at 10 MHz.
        ..x86(
            "riscv",
            "",
            PROBE,
            &[
                Step(MONOTONIC, 100.0),
                Step(RAW, 100.0),
                Step("rdtime", 100.0),
            ],
        )
    },
    x86(
        "time-namespace",
        HPET,
        "provoke namespace 86400 timermeter probe --quick --quiet --format json monotonic boottime realtime >/out/report.json",
        &[
            Contains(
                "report.json",
                "shifts CLOCK_MONOTONIC by 86400 s and CLOCK_BOOTTIME by 86400 s",
            ),
            Step(MONOTONIC, HPET_NS),
        ],
    ),
    Machine {
        // An instruction takes 8 ns.
        options: &["-smp", "1", "-icount", "shift=3,sleep=off"],
        ..x86(
            "icount-3",
            "tsc=reliable clocksource=tsc",
            PROBE,
            &[StepInTicks("rdtsc", 8.0)],
        )
    },
    x86("quiet", HPET, "watch 60s", &[Events(&[])]),
    x86(
        "emulator-stopped",
        HPET,
        "watch 25s & sleep 8; outside 5; wait",
        &[Events(&[("pause", "", 1)]), Size("pause", 5.0)],
    ),
    x86(
        "process-stopped",
        HPET,
        "watch 20s & sleep 8; killall -STOP timermeter; sleep 3; killall -CONT timermeter; wait",
        &[Events(&[("pause", "", 1)])],
    ),
    x86(
        "clock-set",
        HPET,
        // The size of the step is unknown, because busybox sets whole seconds.
        "watch 20s & sleep 8; date -s '2031-05-06 07:08:09'; wait",
        &[Events(&[("step", "clock-set", 1)])],
    ),
    x86(
        "leap-second",
        HPET,
        // The kernel inserts the leap second at the end of the day.
        "date -s '2031-12-31 23:59:45'; provoke leap; watch 30s",
        &[Events(&[("step", "leap-second", 1)]), Size("step", -1.0)],
    ),
    x86(
        "rate-trimmed",
        HPET,
        "watch 90s & sleep 45; adjtimex -f 6553600; wait",
        &[Events(&[("slew", "discipline", 1)]), Size("slew", 100.0)],
    ),
    x86(
        "source-changed",
        HPET,
        "watch 20s & sleep 8; choose acpi_pm; wait",
        &[
            Events(&[("source", "chosen", 1)]),
            Contains("watch.jsonl", "hpet → acpi_pm"),
        ],
    ),
    x86(
        "suspended",
        HPET,
        "watch 25s & sleep 8; suspend 6; wait",
        &[Events(&[("suspend", "suspend", 1)])],
    ),
    x86(
        "twenty-events",
        HPET,
        "watch 235s &
for other in acpi_pm hpet acpi_pm hpet; do
sleep 4; outside 2; sleep 5; killall -STOP timermeter; sleep 2; killall -CONT timermeter
sleep 3; date -s @$(($(date +%s) + 1000)); sleep 3; choose $other
done
sleep 30; adjtimex -f 6553600; sleep 35; adjtimex -f -6553600; sleep 35
for again in 1 2; do suspend 5; sleep 5; done; wait",
        &[Events(&[
            ("pause", "", 8),
            ("step", "clock-set", 4),
            ("source", "chosen", 4),
            ("slew", "discipline", 2),
            ("suspend", "suspend", 2),
        ])],
    ),
];
