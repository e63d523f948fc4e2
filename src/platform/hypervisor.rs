//! The hypervisor under this system, and the clocks that it offers its guests.
//!
//! Sources: [KVM CPUID bits], [Hyper-V reference counter], Linux arch/x86/include/asm/hypervisor.h.
//!
//! [KVM CPUID bits]: https://docs.kernel.org/virt/kvm/x86/cpuid.html
//! [Hyper-V reference counter]: https://learn.microsoft.com/en-us/virtualization/hyper-v-on-windows/tlfs/timers

use super::Root;

/// Clock sources of Linux that a hypervisor answers.
const PARAVIRTUAL: [&str; 4] = ["kvm-clock", "hyperv_clocksource_tsc_page", "hyperv_clocksource_msr", "xen"];

#[cfg(target_arch = "x86_64")]
const FIRST_LEAF: u32 = 0x4000_0000;
/// KVM that plays Hyper-V first has its own leaves here.
#[cfg(target_arch = "x86_64")]
const SECOND_LEAF: u32 = 0x4000_0100;

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

/// The hypervisor under this system, `None` on bare metal.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn hypervisor(_root: &Root) -> Option<String> {
    present().then(|| hypervisor_name(&signature(FIRST_LEAF)))
}

/// The hypervisor under this system, where the kernel tells.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn hypervisor(root: &Root) -> Option<String> {
    root.content("/sys/hypervisor/type")
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

/// The clocks that a hypervisor offers, as the kernel calls them: those that the kernel lists among `available`, and
/// those that CPUID shows. `None` where neither is known.
#[must_use]
pub fn clocks(available: &[String]) -> Option<Vec<String>> {
    let offered = offered();
    if offered.is_none() && available.is_empty() {
        return None;
    }
    let offered = offered.unwrap_or_default();
    let seen = |clock: &&str| available.iter().any(|name| name == clock) || offered.contains(clock);
    Some(PARAVIRTUAL.iter().filter(|clock| seen(clock)).map(|clock| (*clock).to_owned()).collect())
}

#[cfg(target_arch = "x86_64")]
fn offered() -> Option<Vec<&'static str>> {
    if !present() {
        return Some(Vec::new());
    }
    let mut clocks = Vec::new();
    for base in [FIRST_LEAF, SECOND_LEAF] {
        let signature = signature(base);
        if signature.starts_with(b"KVMKVMKVM") {
            // KVM_FEATURE_CLOCKSOURCE, KVM_FEATURE_CLOCKSOURCE2
            let features = raw_cpuid::cpuid!(base + 1).eax;
            clocks.extend((features & (1 | 1 << 3) != 0).then_some("kvm-clock"));
        } else if signature.starts_with(b"XenVMMXenVMM") {
            clocks.push("xen");
        } else if base == FIRST_LEAF && &signature == b"Microsoft Hv" {
            // AccessPartitionReferenceTsc, AccessPartitionReferenceCounter
            let privileges = raw_cpuid::cpuid!(base + 3).eax;
            clocks.extend((privileges & 1 << 9 != 0).then_some("hyperv_clocksource_tsc_page"));
            clocks.extend((privileges & 1 << 1 != 0).then_some("hyperv_clocksource_msr"));
        }
    }
    Some(clocks)
}

#[cfg(not(target_arch = "x86_64"))]
fn offered() -> Option<Vec<&'static str>> {
    None
}

/// Whether the processor says there is one. Asked before its leaves are: without one, they answer as the last basic
/// leaf does.
#[cfg(target_arch = "x86_64")]
fn present() -> bool {
    raw_cpuid::CpuId::new().get_feature_info().is_some_and(|info| info.has_hypervisor())
}

#[cfg(target_arch = "x86_64")]
fn signature(base: u32) -> [u8; 12] {
    let leaf = raw_cpuid::cpuid!(base);
    let mut signature = [0; 12];
    for (bytes, register) in signature.chunks_exact_mut(4).zip([leaf.ebx, leaf.ecx, leaf.edx]) {
        bytes.copy_from_slice(&register.to_le_bytes());
    }
    signature
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn names_of_hypervisors() {
        assert_eq!(hypervisor_name(b"KVMKVMKVM\0\0\0"), "KVM");
        assert_eq!(hypervisor_name(b"Microsoft Hv"), "Hyper-V");
        assert_eq!(hypervisor_name(b"bhyve bhyve "), "bhyve");
        assert_eq!(hypervisor_name(b"UnisysSpar64"), "UnisysSpar64");
        assert_eq!(hypervisor_name(&[0; 12]), "unnamed");
    }

    #[test]
    fn clocks_that_the_kernel_lists() {
        let listed = |names: &[&str]| clocks(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        let clocks = listed(&["tsc", "hyperv_clocksource_tsc_page", "acpi_pm"]).expect("the kernel told");
        assert!(clocks.contains(&"hyperv_clocksource_tsc_page".to_owned()), "{clocks:?}");
        assert!(!clocks.contains(&"acpi_pm".to_owned()), "{clocks:?}");
        if cfg!(not(target_arch = "x86_64")) {
            assert_eq!(listed(&[]), None);
        }
    }

    #[cfg(target_arch = "x86_64")]
    proptest::proptest! {
        #[test]
        fn names_are_never_empty(bytes in proptest::prelude::any::<[u8; 12]>()) {
            proptest::prop_assert!(!hypervisor_name(&bytes).is_empty());
        }
    }
}
