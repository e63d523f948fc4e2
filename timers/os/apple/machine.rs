//! What macOS tells of the machine.

use std::ffi::CString;
use std::path::PathBuf;

pub use crate::os::unix::machine::kernel;
use crate::os::unix::sysctl::{load, number, online, text};
use crate::os::{Told, ToldKind};

/// macOS shows nothing in files.
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
    let release = text(c"kern.osproductversion");
    let translated = number(c"sysctl.proc_translated") == Some(1);
    let in_a_guest = number(c"kern.hv_vmm_present") == Some(1);
    Told {
        os_name: Some(release.map_or_else(|| "macOS".into(), |release| format!("macOS {release}"))),
        emulator: translated.then(|| "Rosetta 2".into()).or(in_a_guest.then(|| "a hypervisor".into())),
        load: load(),
        cpu_model: text(c"machdep.cpu.brand_string"),
        // Macs with Apple's processors declare none.
        nominal: number(c"hw.cpufrequency").map(|hertz| (hertz as f64, "hw.cpufrequency")),
        online: online(),
        kinds: kinds(),
        ..Told::default()
    }
}

/// Kinds of cores, the most capable first. Which CPU is of which kind is not told, nor would it help: no thread can be bound to one.
fn kinds() -> Option<Vec<ToldKind>> {
    let of_level = |level: u64, what: &str| CString::new(format!("hw.perflevel{level}.{what}")).ok();
    let kind = |level| {
        let count = u32::try_from(number(&of_level(level, "logicalcpu")?)?).ok()?;
        Some(ToldKind { name: text(&of_level(level, "name")?)?, count, cpus: None })
    };
    (0..number(c"hw.nperflevels")?).map(kind).collect()
}
