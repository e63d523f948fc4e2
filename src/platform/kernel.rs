//! Reports the kernel: its name, its clock source, the rate of its timer interrupt, and the trims
//! by which it corrects the rate of its clocks.
//!
//! The trims are read with adjtimex(2). The sum of all trims is the amount that Linux adds to the
//! length of a second (kernel/time/ntp.c, `second_overflow` and `ntp_update_frequency`): the trim
//! of the frequency, the trim of the tick, the part of the offset that is slewed in this second,
//! and up to 500 µs of an adjtime(3).

use std::io::Read;

use timers::clock_sources::BOOT_PARAMETERS;
use timers::os::{Discipline, KernelName, MachineFacts, Trim};

use super::Root;
use crate::model::{ClockSource, Kernel, Ntp, Tickless};

const CLOCKSOURCE_FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";
/// Maximum size of a kernel configuration, in bytes; most have about 300 KiB.
const MAX_CONFIGURATION_BYTES: u64 = 4 << 20;
/// Plausible timer interrupt rates, in hertz: CONFIG_HZ is between 24 and 1200 (Linux,
/// arch/*/Kconfig).
const TICK_RATES: std::ops::RangeInclusive<u32> = 20..=2_000;

/// Identifies the kernel. Its tick, the period of the timer interrupt, is the declared resolution of
/// its coarse clocks.
pub fn kernel(root: &Root) -> Kernel {
    let KernelName {
        name,
        release,
        version,
    } = timers::os::machine::kernel();
    let (tick_hz, tick_source) = declared_tick().unzip();
    Kernel {
        tick_hz,
        tick_source: tick_source.map(str::to_owned),
        tickless: read_configuration(root, release.as_deref())
            .and_then(|configuration| parse_tickless(&configuration)),
        name,
        release,
        version,
    }
}

/// Identifies the clock source of the kernel.
pub fn clocksource(root: &Root, facts: &MachineFacts) -> ClockSource {
    let read = |name| root.read_name(&format!("{CLOCKSOURCE_FOLDER}/{name}"));
    let available = read("available_clocksource").unwrap_or_default();
    ClockSource {
        current: read("current_clocksource").or_else(|| facts.clock_source.clone()),
        available: available.split_whitespace().map(str::to_owned).collect(),
        vdso: facts.vdso,
        parameters: root
            .read_text("/proc/cmdline")
            .or_else(|| facts.start_options.clone())
            .map(|line| clock_parameters(&line)),
    }
}

/// The configuration with which the kernel was built.
fn read_configuration(root: &Root, release: Option<&str>) -> Option<String> {
    unpack_configuration(root).or_else(|| {
        let path = format!("/boot/config-{}", release?);
        root.read_start(&path, MAX_CONFIGURATION_BYTES)
    })
}

/// Decompresses `/proc/config.gz`; `None` if it is missing or damaged.
fn unpack_configuration(root: &Root) -> Option<String> {
    let packed = root.read_bytes("/proc/config.gz", MAX_CONFIGURATION_BYTES)?;
    let mut text = Vec::new();
    // A truncated or corrupt file is discarded, because an option missing from it would look
    // disabled.
    flate2::read::GzDecoder::new(packed.as_slice())
        .take(MAX_CONFIGURATION_BYTES)
        .read_to_end(&mut text)
        .ok()?;
    Some(String::from_utf8_lossy(&text).into_owned()).filter(|text| !text.is_empty())
}

fn parse_tickless(configuration: &str) -> Option<Tickless> {
    let is_set = |name| {
        configuration
            .lines()
            .any(|line| line.trim().strip_prefix(name) == Some("=y"))
    };
    [
        ("CONFIG_NO_HZ_FULL", Tickless::WhenAlone),
        ("CONFIG_NO_HZ_IDLE", Tickless::WhenIdle),
        ("CONFIG_HZ_PERIODIC", Tickless::Never),
    ]
    .into_iter()
    .find_map(|(name, tickless)| is_set(name).then_some(tickless))
}

/// The tick rate from the declared resolution of the coarse clocks, with its source.
fn declared_tick() -> Option<(u32, &'static str)> {
    let hertz = tick_rate_from_ns(timers::os::discipline::declared_tick_ns().ok()?)?;
    Some((hertz, timers::os::discipline::DECLARED_TICK))
}

/// The rate in hertz of a tick of this length; `None` if the length is implausible, as in some
/// emulators.
fn tick_rate_from_ns(nanoseconds: i64) -> Option<u32> {
    let hertz = (nanoseconds > 0).then(|| (1e9 / nanoseconds as f64).round() as u32)?;
    TICK_RATES.contains(&hertz).then_some(hertz)
}

/// The parameters on the kernel's command line that concern clocks.
fn clock_parameters(command_line: &str) -> Vec<String> {
    let known = |word: &&str| {
        BOOT_PARAMETERS.contains(&word.split_once('=').map_or(*word, |(name, _)| name))
    };
    command_line
        .split_whitespace()
        .filter(known)
        .map(str::to_owned)
        .collect()
}

/// SHIFT_PLL of the kernel: each second slews 1/2^(2 + time constant) of the offset.
const SHIFT_PLL: i64 = 2;
/// Maximum slew of an adjtime(3) per second, in microseconds (MAX_TICKADJ).
const ADJTIME_US: i64 = 500;

/// The trims of the clocks; `None` if the kernel does not report them.
pub fn ntp() -> Option<Ntp> {
    timers::os::discipline::discipline()
        .ok()
        .map(|discipline| sum_trims(&discipline))
}

/// Sums the trims of the clocks, in ppm of their rate.
fn sum_trims(discipline: &Discipline) -> Ntp {
    let adjtime_us = discipline.adjtime_us.unwrap_or(0);
    let (trim, frequency_ppm) = (discipline.trim, discipline.trim.frequency_ppm());
    // Nanoseconds per second are parts per billion. The kernel keeps the time constant between 0
    // and 10.
    let halvings = (SHIFT_PLL + discipline.time_constant.clamp(0, 10)) as i32;
    let offset_ppm = discipline.offset_ns as f64 / 2_f64.powi(halvings) / 1e3;
    let adjtime_ppm = adjtime_us.clamp(-ADJTIME_US, ADJTIME_US) as f64;
    Ntp {
        synchronised: discipline.synchronised,
        slewing: discipline.offset_ns != 0
            || adjtime_us != 0
            || trim.tick_us != Trim::UNTRIMMED_TICK_US,
        rate_ppm: frequency_ppm + trim.tick_ppm() + offset_ppm + adjtime_ppm,
        frequency_ppm,
        offset_ns: discipline
            .offset_ns
            .saturating_add(adjtime_us.saturating_mul(1000)),
        tick_us: trim.tick_us,
        estimated_error_us: discipline.estimated_error_us,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::platform::tests::test_root;

    const CONFIGURATION: &str = "# CONFIG_HZ_PERIODIC is not set\nCONFIG_NO_HZ_IDLE=y\n# CONFIG_NO_HZ_FULL is not set\n\
                                 CONFIG_HZ_300=y\nCONFIG_HZ=300\n";

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder
            .write_all(text.as_bytes())
            .expect("a vector takes it");
        encoder.finish().expect("a vector takes it")
    }

    #[test]
    fn reads_start_options_of_windows() {
        let (_folder, root) = test_root(&[]);
        let facts = MachineFacts {
            start_options: Some(" NOEXECUTE=OPTIN  USEPLATFORMCLOCK FVEBOOT=1".into()),
            ..MachineFacts::default()
        };
        let parameters = |facts| clocksource(&root, facts).parameters;
        assert_eq!(
            parameters(&facts),
            Some(vec!["USEPLATFORMCLOCK".to_owned()])
        );
        assert_eq!(parameters(&MachineFacts::default()), None);
    }

    #[test]
    fn reads_tickless_from_configuration() {
        let (_folder, root) = test_root(&[]);
        std::fs::create_dir(root.file("/proc").expect("a root")).expect("a folder");
        std::fs::write(
            root.file("/proc/config.gz").expect("a root"),
            packed(CONFIGURATION),
        )
        .expect("it can be written");
        let found = kernel(&root);
        assert_eq!(found.tickless, Some(Tickless::WhenIdle));
        let release = found.release.expect("this kernel has a release");
        let path = format!("boot/config-{release}");
        let (_folder, root) =
            test_root(&[(path.as_str(), "CONFIG_HZ_PERIODIC=y\nCONFIG_HZ=1000\n")]);
        assert_eq!(kernel(&root).tickless, Some(Tickless::Never));
    }

    #[test]
    fn rejects_broken_configuration() {
        let complete = packed(CONFIGURATION);
        for broken in [
            &complete[..complete.len() / 2],
            &complete[..complete.len() - 4],
            b"\x1f\x8b rubbish",
            b"",
        ] {
            let (_folder, root) = test_root(&[]);
            std::fs::create_dir(root.file("/proc").expect("a root")).expect("a folder");
            std::fs::write(root.file("/proc/config.gz").expect("a root"), broken)
                .expect("it can be written");
            assert_eq!(read_configuration(&root, None), None);
        }
    }

    #[test]
    fn endless_configuration_is_cut() {
        let bomb = packed(&"\0".repeat(64 << 20));
        let (_folder, root) = test_root(&[]);
        std::fs::create_dir(root.file("/proc").expect("a root")).expect("a folder");
        std::fs::write(root.file("/proc/config.gz").expect("a root"), bomb)
            .expect("it can be written");
        let text = read_configuration(&root, None).expect("its beginning");
        assert_eq!(text.len() as u64, MAX_CONFIGURATION_BYTES);
        assert_eq!(parse_tickless(&text), None);
    }

    #[test]
    fn converts_declared_ticks_to_rates() {
        for (nanoseconds, hertz) in [
            (4_000_000, Some(250)),
            (3_333_333, Some(300)),
            (999_848, Some(1000)),
            (10_000_000, Some(100)),
            (1, None),
            (0, None),
            (-4_000_000, None),
            (1_000_000_000, None),
            (i64::MAX, None),
        ] {
            assert_eq!(tick_rate_from_ns(nanoseconds), hertz, "{nanoseconds}");
        }
    }

    #[test]
    fn parameters_about_clocks() {
        let found = clock_parameters(
            "quiet clocksource=hpet tsc=unstable notscx notsc root=/dev/tsc nohz=off",
        );
        assert_eq!(
            found,
            ["clocksource=hpet", "tsc=unstable", "notsc", "nohz=off"]
        );
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in any::<String>(), nanoseconds in any::<i64>()) {
            let _ = (parse_tickless(&text), clock_parameters(&text), tick_rate_from_ns(nanoseconds));
        }
    }

    const UNSTEERED: Discipline = Discipline {
        synchronised: false,
        offset_ns: 0,
        time_constant: 2,
        adjtime_us: Some(0),
        trim: UNTRIMMED,
        estimated_error_us: 16_000_000,
    };
    const UNTRIMMED: Trim = Trim {
        scaled_ppm: 0,
        tick_us: Trim::UNTRIMMED_TICK_US,
        tai_offset_s: 0,
    };

    fn trimmed(trim: Trim) -> Discipline {
        Discipline { trim, ..UNSTEERED }
    }

    #[test]
    fn unsteered_clock_has_no_rate() {
        let ntp = sum_trims(&UNSTEERED);
        assert!(!ntp.slewing && !ntp.synchronised);
        assert_eq!(
            (ntp.rate_ppm, ntp.frequency_ppm, ntp.offset_ns),
            (0.0, 0.0, 0)
        );
    }

    #[test]
    fn each_trim_in_parts_per_million() {
        let rate = |discipline| sum_trims(&discipline).rate_ppm;
        assert_eq!(
            rate(trimmed(Trim {
                scaled_ppm: 32 << 16,
                ..UNTRIMMED
            })),
            32.0
        );
        assert_eq!(
            rate(trimmed(Trim {
                scaled_ppm: -1 << 15,
                ..UNTRIMMED
            })),
            -0.5
        );
        assert_eq!(
            rate(trimmed(Trim {
                tick_us: 10_001,
                ..UNTRIMMED
            })),
            100.0
        );
        assert_eq!(
            rate(trimmed(Trim {
                tick_us: 9_000,
                ..UNTRIMMED
            })),
            -100_000.0
        );
        // An offset of 1 ms with the time constant 2: the first second slews 1/16 of the offset.
        assert_eq!(
            rate(Discipline {
                offset_ns: 1_000_000,
                ..UNSTEERED
            }),
            62.5
        );
        assert_eq!(
            rate(Discipline {
                adjtime_us: Some(-20_000),
                ..UNSTEERED
            }),
            -500.0
        );
        assert_eq!(
            rate(Discipline {
                adjtime_us: Some(20),
                ..UNSTEERED
            }),
            20.0
        );
        assert_eq!(
            rate(Discipline {
                adjtime_us: None,
                ..UNSTEERED
            }),
            0.0
        );
    }

    #[test]
    fn steady_trim_is_not_slewing() {
        let slewing = |discipline| sum_trims(&discipline).slewing;
        assert!(!slewing(Discipline {
            synchronised: true,
            ..trimmed(Trim {
                scaled_ppm: 32 << 16,
                ..UNTRIMMED
            })
        }));
        assert!(slewing(Discipline {
            offset_ns: -1,
            ..UNSTEERED
        }));
        assert!(slewing(Discipline {
            adjtime_us: Some(1),
            ..UNSTEERED
        }));
        assert!(slewing(trimmed(Trim {
            tick_us: 10_001,
            ..UNTRIMMED
        })));
    }

    proptest! {
        #[test]
        fn any_values_give_finite_rates(values in any::<[i64; 6]>(), reported in any::<bool>()) {
            let [offset_ns, time_constant, adjtime, scaled_ppm, tick_us, estimated_error_us] = values;
            let ntp = sum_trims(&Discipline {
                synchronised: reported,
                offset_ns,
                time_constant,
                adjtime_us: reported.then_some(adjtime),
                trim: Trim { scaled_ppm, tick_us, tai_offset_s: 0 },
                estimated_error_us,
            });
            prop_assert!(ntp.rate_ppm.is_finite() && ntp.frequency_ppm.is_finite());
        }
    }
}
