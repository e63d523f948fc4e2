//! The kernel: its name, its clock source, and how often its timer interrupt comes.

use std::io::Read;

use timers::os::{KernelName, Told};

use super::Root;
use crate::model::{ClockSource, Kernel, Tickless};

const CLOCKSOURCE: &str = "/sys/devices/system/clocksource/clocksource0";
/// Far more than the configuration of any kernel: 10 000 lines are 300 KiB.
const LONGEST_CONFIGURATION: u64 = 4 << 20;
/// CONFIG_HZ lies between 24 and 1200 (Linux, arch/*/Kconfig).
const TICK_RATES: std::ops::RangeInclusive<u32> = 20..=2_000;
/// Parameters of the kernel that decide which clock source it uses, and those that name CPUs to be left alone.
const CLOCK_PARAMETERS: [&str; 13] = [
    "clocksource",
    "tsc",
    "notsc",
    "hpet",
    "nohpet",
    "no-kvmclock",
    "no-kvmclock-vsyscall",
    "nohz",
    "highres",
    // Of Windows, as `bcdedit` sets them.
    "USEPLATFORMCLOCK",
    "USEPLATFORMTICK",
    "DISABLEDYNAMICTICK",
    "TSCSYNCPOLICY",
];

/// The kernel as it calls itself, its tick from its configuration or from what it declares as the step of its coarse clocks.
#[must_use]
pub fn kernel(root: &Root) -> Kernel {
    let KernelName { name, release, version } = timers::os::machine::kernel();
    let configuration = configuration(root, release.as_deref());
    let by_configuration =
        configuration.as_ref().and_then(|(text, source)| Some((tick_rate(text)?, *source)));
    let (tick_hz, tick_source) = by_configuration.or_else(declared_tick).unzip();
    Kernel {
        tick_hz,
        tick_source: tick_source.map(str::to_owned),
        tickless: configuration.and_then(|(text, _)| tickless(&text)),
        name,
        release,
        version,
    }
}

/// The clock source of the kernel.
#[must_use]
pub fn clocksource(root: &Root, told: &Told) -> ClockSource {
    let read = |name| root.name(&format!("{CLOCKSOURCE}/{name}"));
    let available = read("available_clocksource").unwrap_or_default();
    ClockSource {
        current: read("current_clocksource").or_else(|| told.clock_source.clone()),
        available: available.split_whitespace().map(str::to_owned).collect(),
        vdso: told.vdso,
        parameters: root
            .content("/proc/cmdline")
            .or_else(|| told.start_options.clone())
            .map(|line| clock_parameters(&line)),
    }
}

/// The configuration the kernel was built with, and where it was found.
fn configuration(root: &Root, release: Option<&str>) -> Option<(String, &'static str)> {
    unpacked(root).map(|text| (text, "CONFIG_HZ in /proc/config.gz")).or_else(|| {
        let text = root.beginning(&format!("/boot/config-{}", release?), LONGEST_CONFIGURATION)?;
        Some((text, "CONFIG_HZ in /boot"))
    })
}

fn unpacked(root: &Root) -> Option<String> {
    let packed = root.bytes("/proc/config.gz", LONGEST_CONFIGURATION)?;
    let mut text = Vec::new();
    // A file that is cut off or broken gives nothing: an option that is missing from it would not be known to be off.
    flate2::read::GzDecoder::new(packed.as_slice())
        .take(LONGEST_CONFIGURATION)
        .read_to_end(&mut text)
        .ok()?;
    Some(String::from_utf8_lossy(&text).into_owned()).filter(|text| !text.is_empty())
}

fn option<'a>(configuration: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = configuration.lines();
    lines.find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='))
}

fn tick_rate(configuration: &str) -> Option<u32> {
    option(configuration, "CONFIG_HZ")?.parse().ok().filter(|hertz| TICK_RATES.contains(hertz))
}

fn tickless(configuration: &str) -> Option<Tickless> {
    let set = |name| option(configuration, name) == Some("y");
    [
        ("CONFIG_NO_HZ_FULL", Tickless::WhenAlone),
        ("CONFIG_NO_HZ_IDLE", Tickless::WhenIdle),
        ("CONFIG_HZ_PERIODIC", Tickless::Never),
    ]
    .into_iter()
    .find_map(|(name, tickless)| set(name).then_some(tickless))
}

fn declared_tick() -> Option<(u32, &'static str)> {
    let hertz = rate_of_tick(timers::os::discipline::declared_tick_ns().ok()?)?;
    Some((hertz, timers::os::discipline::DECLARED_TICK))
}

/// The rate of a tick of that length. Where an emulator answers for the kernel, the length may be that of no tick.
fn rate_of_tick(nanoseconds: i64) -> Option<u32> {
    let hertz = (nanoseconds > 0).then(|| (1e9 / nanoseconds as f64).round() as u32)?;
    TICK_RATES.contains(&hertz).then_some(hertz)
}

fn clock_parameters(command_line: &str) -> Vec<String> {
    let known =
        |word: &&str| CLOCK_PARAMETERS.contains(&word.split_once('=').map_or(*word, |(name, _)| name));
    command_line.split_whitespace().filter(known).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::super::made_up;
    use super::*;

    const CONFIGURATION: &str = "# CONFIG_HZ_PERIODIC is not set\nCONFIG_NO_HZ_IDLE=y\n# CONFIG_NO_HZ_FULL is not set\n\
                                 CONFIG_HZ_300=y\nCONFIG_HZ=300\n";

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("a vector takes it");
        encoder.finish().expect("a vector takes it")
    }

    #[test]
    fn what_windows_was_started_with() {
        let (_folder, root) = made_up(&[]);
        let told = Told {
            start_options: Some(" NOEXECUTE=OPTIN  USEPLATFORMCLOCK FVEBOOT=1".into()),
            ..Told::default()
        };
        let parameters = |told| clocksource(&root, told).parameters;
        assert_eq!(parameters(&told), Some(vec!["USEPLATFORMCLOCK".to_owned()]));
        assert_eq!(parameters(&Told::default()), None);
    }

    #[test]
    fn tick_of_a_configuration() {
        let (_folder, root) = made_up(&[]);
        std::fs::create_dir(root.file("/proc").expect("a root")).expect("a folder");
        std::fs::write(root.file("/proc/config.gz").expect("a root"), packed(CONFIGURATION))
            .expect("it can be written");
        let found = kernel(&root);
        assert_eq!((found.tick_hz, found.tickless), (Some(300), Some(Tickless::WhenIdle)));
        assert!(found.tick_source.is_some_and(|source| source.contains("/proc/config.gz")));
        let release = found.release.expect("this kernel has a release");
        let path = format!("boot/config-{release}");
        let (_folder, root) = made_up(&[(path.as_str(), "CONFIG_HZ_PERIODIC=y\nCONFIG_HZ=1000\n")]);
        let found = kernel(&root);
        assert_eq!((found.tick_hz, found.tickless), (Some(1000), Some(Tickless::Never)));
    }

    #[test]
    fn a_broken_configuration_says_nothing() {
        let whole = packed(CONFIGURATION);
        for broken in [&whole[..whole.len() / 2], &whole[..whole.len() - 4], b"\x1f\x8b rubbish", b""] {
            let (_folder, root) = made_up(&[]);
            std::fs::create_dir(root.file("/proc").expect("a root")).expect("a folder");
            std::fs::write(root.file("/proc/config.gz").expect("a root"), broken).expect("it can be written");
            assert_eq!(configuration(&root, None), None);
        }
    }

    #[test]
    fn a_configuration_that_unpacks_without_end_is_cut() {
        let bomb = packed(&"\0".repeat(64 << 20));
        let (_folder, root) = made_up(&[]);
        std::fs::create_dir(root.file("/proc").expect("a root")).expect("a folder");
        std::fs::write(root.file("/proc/config.gz").expect("a root"), bomb).expect("it can be written");
        let (text, _) = configuration(&root, None).expect("its beginning");
        assert_eq!(text.len() as u64, LONGEST_CONFIGURATION);
        assert_eq!((tick_rate(&text), tickless(&text)), (None, None));
    }

    #[test]
    fn rates_of_declared_ticks() {
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
            assert_eq!(rate_of_tick(nanoseconds), hertz, "{nanoseconds}");
        }
    }

    #[test]
    fn parameters_about_clocks() {
        let found =
            clock_parameters("quiet clocksource=hpet tsc=unstable notscx notsc root=/dev/tsc nohz=off");
        assert_eq!(found, ["clocksource=hpet", "tsc=unstable", "notsc", "nohz=off"]);
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in any::<String>(), nanoseconds in any::<i64>()) {
            let _ = (tick_rate(&text), tickless(&text), clock_parameters(&text), rate_of_tick(nanoseconds));
        }
    }
}
