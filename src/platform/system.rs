//! What runs on the processor: the hypervisor, the kernel with its clock source, the distribution.

use super::content;
use crate::report::{ClockSource, Kernel, Os};

const CLOCKSOURCE: &str = "/sys/devices/system/clocksource/clocksource0";

/// What hypervisors call themselves in CPUID leaf 0x40000000, and what people call them.
#[cfg(target_arch = "x86_64")]
const HYPERVISORS: &[(&[u8], &str)] = &[
    (b"KVMKVMKVM", "KVM"),
    (b"Linux KVM Hv", "KVM"),
    (b"Microsoft Hv", "Hyper-V"),
    (b"VMwareVMware", "VMware"),
    (b"XenVMMXenVMM", "Xen"),
    (b"TCGTCGTCGTCG", "QEMU (TCG)"),
    (b"VBoxVBoxVBox", "VirtualBox"),
    (b"bhyve bhyve", "bhyve"),
    (b"BHyVE BHyVE", "bhyve"),
    (b" lrpepyh  vr", "Parallels"),
    (b"prl hyperv", "Parallels"),
    (b"ACRNACRNACRN", "ACRN"),
    (b"QNXQVMBSQG", "QNX"),
    (b"Jailhouse", "Jailhouse"),
    (b"___ NVMM ___", "NVMM"),
    (b"OpenBSDVMM58", "OpenBSD vmm"),
    (b"HAXMHAXMHAXM", "HAXM"),
];

/// The operating system.
#[must_use]
pub fn os() -> Os {
    let name = ["/etc/os-release", "/usr/lib/os-release"]
        .into_iter()
        .find_map(|path| content(path).and_then(|text| pretty_name(&text)));
    Os { family: std::env::consts::OS.to_owned(), name }
}

/// The kernel (uname(2)).
#[cfg(unix)]
#[must_use]
pub fn kernel() -> Kernel {
    let uname = rustix::system::uname();
    let text = |part: &std::ffi::CStr| {
        Some(part.to_string_lossy().into_owned()).filter(|text: &String| !text.is_empty())
    };
    Kernel { name: text(uname.sysname()), release: text(uname.release()), version: text(uname.version()) }
}

/// The kernel: not asked on this system.
#[cfg(not(unix))]
#[must_use]
pub fn kernel() -> Kernel {
    Kernel::default()
}

/// The clock source of the kernel, where it is Linux.
#[must_use]
pub fn clocksource() -> ClockSource {
    let read = |name| content(&format!("{CLOCKSOURCE}/{name}"));
    let available = read("available_clocksource").unwrap_or_default();
    ClockSource {
        current: read("current_clocksource"),
        available: available.split_whitespace().map(str::to_owned).collect(),
    }
}

/// The hypervisor under this system, `None` on bare metal.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn hypervisor() -> Option<String> {
    let present = raw_cpuid::CpuId::new().get_feature_info().is_some_and(|info| info.has_hypervisor());
    // Asked only when the processor says there is one: without it, the leaf answers as the last basic leaf does.
    present.then(|| {
        let leaf = raw_cpuid::cpuid!(0x4000_0000_u32);
        let mut signature = [0; 12];
        for (bytes, register) in signature.chunks_exact_mut(4).zip([leaf.ebx, leaf.ecx, leaf.edx]) {
            bytes.copy_from_slice(&register.to_le_bytes());
        }
        hypervisor_name(&signature)
    })
}

/// The hypervisor under this system, where the kernel tells.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn hypervisor() -> Option<String> {
    content("/sys/hypervisor/type")
}

/// A readable name for a signature: unknown ones as they are, as far as they can be printed.
#[cfg(target_arch = "x86_64")]
fn hypervisor_name(signature: &[u8; 12]) -> String {
    if let Some((_, name)) = HYPERVISORS.iter().find(|(known, _)| signature.starts_with(known)) {
        return (*name).to_owned();
    }
    let printable: String = signature
        .iter()
        .map(|&byte| char::from(byte))
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
        .collect();
    match printable.trim() {
        "" => "unnamed".to_owned(),
        name => name.to_owned(),
    }
}

/// What the distribution calls itself: `PRETTY_NAME` of os-release(5), else its `NAME`.
#[must_use]
pub fn pretty_name(os_release: &str) -> Option<String> {
    let value = |name| {
        // A later assignment overrides an earlier one, as in the shell.
        let mut assignments = os_release.lines().filter_map(|line| line.trim().split_once('='));
        assignments.rfind(|(key, _)| *key == name).map(|(_, value)| unquoted(value)).filter(|v| !v.is_empty())
    };
    value("PRETTY_NAME").or_else(|| value("NAME"))
}

/// A value as the shell would read it: quotes taken off, and outside single quotes a backslash too.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    if let Some(literal) = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return literal.to_owned();
    }
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    let mut characters = inner.chars();
    let mut text = String::new();
    while let Some(character) = characters.next() {
        text.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_distributions() {
        let name = |text| pretty_name(text).unwrap_or_default();
        assert_eq!(
            name("NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n"),
            "Debian GNU/Linux 12 (bookworm)"
        );
        assert_eq!(name("# PRETTY_NAME=no\nPRETTY_NAME=Arch\n"), "Arch");
        assert_eq!(name("PRETTY_NAME='A \\ B'"), "A \\ B");
        assert_eq!(name(r#"PRETTY_NAME="A \"B\" \$1""#), r#"A "B" $1"#);
        assert_eq!(name("NAME=Alpine"), "Alpine");
        for nothing in ["", "PRETTY_NAME=", "PRETTY_NAME=\"\"", "PRETTY_NAME", "\0"] {
            assert_eq!(pretty_name(nothing), None, "{nothing:?}");
        }
        assert_eq!(name("PRETTY_NAME=\""), "\"");
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn names_of_hypervisors() {
        assert_eq!(hypervisor_name(b"KVMKVMKVM\0\0\0"), "KVM");
        assert_eq!(hypervisor_name(b"Microsoft Hv"), "Hyper-V");
        assert_eq!(hypervisor_name(b"bhyve bhyve "), "bhyve");
        assert_eq!(hypervisor_name(b"UnisysSpar64"), "UnisysSpar64");
        assert_eq!(hypervisor_name(&[0; 12]), "unnamed");
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in any::<String>(), value in any::<String>(), bytes in any::<[u8; 12]>()) {
            let _ = pretty_name(&text);
            let _ = pretty_name(&format!("PRETTY_NAME={value}"));
            #[cfg(target_arch = "x86_64")]
            prop_assert!(!hypervisor_name(&bytes).is_empty());
            #[cfg(not(target_arch = "x86_64"))]
            let _ = bytes;
        }
    }
}
