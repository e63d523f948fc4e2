//! The identity and the declared counter rate of the processor, as reported by CPUID.

use crate::arch::Identity;

/// The identity that the processor reports.
pub fn identity() -> Identity {
    let cpuid = raw_cpuid::CpuId::new();
    let signature = cpuid.get_feature_info();
    let signature = signature.as_ref();
    let readable = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    // 0 if the processor does not report its base frequency.
    let megahertz = cpuid
        .get_processor_frequency_info()
        .map(|info| info.processor_base_frequency());
    Identity {
        vendor: cpuid
            .get_vendor_info()
            .and_then(|vendor| readable(vendor.as_str())),
        model: cpuid
            .get_processor_brand_string()
            .and_then(|brand| readable(brand.as_str())),
        family: signature.map(|info| info.family_id().into()),
        model_number: signature.map(|info| info.model_id().into()),
        stepping: signature.map(|info| info.stepping_id().into()),
        // Tells cores with the same model number apart.
        amx: cpuid
            .get_extended_feature_info()
            .map(|features| features.has_amx_tile()),
        base_hz: megahertz
            .filter(|&megahertz| megahertz > 0)
            .map(|megahertz| f64::from(megahertz) * 1e6),
        invariant_tsc: cpuid
            .get_advanced_power_mgmt_info()
            .map(|power| power.has_invariant_tsc()),
    }
}

/// The rate of the time-stamp counter in hertz declared by hypervisor or processor, and the source;
/// `None` if not declared.
pub(crate) fn declared_rate() -> Option<(f64, &'static str)> {
    const TIMING: u32 = 0x4000_0010;
    let cpuid = raw_cpuid::CpuId::new();
    let guest = cpuid
        .get_feature_info()
        .is_some_and(|info| info.has_hypervisor());
    // The highest leaf of the hypervisor is at least this one, and below the next block of 0x100 leaves.
    // VMware introduced this leaf; under KVM it exists if the virtual machine monitor sets it;
    // Hyper-V does not have it.
    let khz = (guest && (TIMING..TIMING + 0x100).contains(&raw_cpuid::cpuid!(0x4000_0000).eax))
        .then(|| raw_cpuid::cpuid!(TIMING).eax)
        .filter(|&khz| khz > 0);
    if let Some(khz) = khz {
        return Some((f64::from(khz) * 1e3, "CPUID leaf 0x40000010"));
    }
    let info = cpuid.get_tsc_info()?;
    if let Some(hz) = info.tsc_frequency() {
        return Some((hz as f64, "CPUID leaf 0x15"));
    }
    // If leaf 0x15 lacks the frequency of the crystal, leaf 0x16 has the rate in whole MHz.
    let megahertz = cpuid
        .get_processor_frequency_info()
        .map_or(0, |info| info.processor_base_frequency());
    let known = info.numerator() > 0 && info.denominator() > 0 && megahertz > 0;
    known.then(|| (f64::from(megahertz) * 1e6, "CPUID leaf 0x16"))
}
