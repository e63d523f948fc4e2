//! The hypervisor of this system, as reported by CPUID.
//!
//! Sources: [KVM CPUID bits], [Hyper-V reference counter], Linux arch/x86/kernel/cpu.
//!
//! [KVM CPUID bits]: https://docs.kernel.org/virt/kvm/x86/cpuid.html
//! [Hyper-V reference counter]:
//! https://learn.microsoft.com/en-us/virtualization/hyper-v-on-windows/tlfs/timers

/// The first CPUID leaf of a hypervisor.
const FIRST_LEAF: u32 = 0x4000_0000;

/// The signatures of hypervisors in CPUID leaf 0x40000000, and their common names.
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
];

/// The name of the hypervisor that CPUID reports; `Some(None)` on bare metal.
pub fn hypervisor() -> Option<Option<String>> {
    // The flag is checked first, because without a hypervisor its leaves return the values of the
    // last basic leaf.
    let features = raw_cpuid::CpuId::new().get_feature_info();
    let present = features.is_some_and(|info| info.has_hypervisor());
    Some(present.then(|| hypervisor_name(&signature(FIRST_LEAF))))
}

/// The common name for a signature; for an unknown signature its printable characters.
fn hypervisor_name(signature: &[u8; 12]) -> String {
    if let Some((_, name)) = HYPERVISORS
        .iter()
        .find(|(known, _)| signature.starts_with(known))
    {
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

/// The signature in a leaf: 12 bytes in EBX, ECX and EDX.
fn signature(base: u32) -> [u8; 12] {
    let leaf = raw_cpuid::cpuid!(base);
    let mut signature = [0; 12];
    for (bytes, register) in signature
        .chunks_exact_mut(4)
        .zip([leaf.ebx, leaf.ecx, leaf.edx])
    {
        bytes.copy_from_slice(&register.to_le_bytes());
    }
    signature
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hypervisors() {
        assert_eq!(hypervisor_name(b"KVMKVMKVM\0\0\0"), "KVM");
        assert_eq!(hypervisor_name(b"Microsoft Hv"), "Hyper-V");
        assert_eq!(hypervisor_name(b"bhyve bhyve "), "bhyve");
        assert_eq!(hypervisor_name(b"UnisysSpar64"), "UnisysSpar64");
        assert_eq!(hypervisor_name(&[0; 12]), "unnamed");
        assert_eq!(hypervisor_name(b"\0\x01\xff  \n\0\0\0\0\0\0"), "unnamed");
    }
}
