//! What FreeBSD tells of the machine.

use std::path::PathBuf;

use crate::os::Told;
pub use crate::os::unix::machine::kernel;
use crate::os::unix::sysctl::{load, number, online, text};

/// FreeBSD shows nothing in files that are there on each.
#[must_use]
pub fn files() -> Option<PathBuf> {
    None
}

/// A program cannot be forbidden to read a counter here.
pub fn regain_counter() {}

pub use crate::os::other::machine::kernel_log;

/// What the system tells by sysctl(3).
#[must_use]
pub fn told(_cpu: Option<u32>) -> Told {
    let release = text(c"kern.osrelease");
    Told {
        os_name: Some(release.map_or_else(|| "FreeBSD".into(), |release| format!("FreeBSD {release}"))),
        clock_source: text(c"kern.timecounter.hardware").map(as_linux_calls_it),
        load: load(),
        cpu_model: text(c"hw.model"),
        nominal: number(c"hw.clockrate").map(|megahertz| (megahertz as f64 * 1e6, "hw.clockrate")),
        online: online(),
        ..Told::default()
    }
}

fn as_linux_calls_it(timecounter: String) -> String {
    match timecounter.as_str() {
        "TSC" | "TSC-low" => "tsc".into(),
        "HPET" => "hpet".into(),
        "ACPI-fast" | "ACPI-safe" => "acpi_pm".into(),
        "i8254" => "pit".into(),
        "kvmclock" => "kvm-clock".into(),
        _ => timecounter,
    }
}
