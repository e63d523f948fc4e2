//! What macOS tells of the machine.

use std::path::PathBuf;

use crate::os::Told;
pub use crate::os::unix::machine::kernel;
use crate::os::unix::sysctl::{load, number, online, text};

/// macOS shows nothing in files.
#[must_use]
pub fn files() -> Option<PathBuf> {
    None
}

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
        ..Told::default()
    }
}
