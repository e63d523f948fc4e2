//! The identity and the declared counter rate of the processor, as reported by CPUID.

use crate::arch::Identity;

/// The identity that the processor reports.
#[must_use]
pub fn identity() -> Identity {
    let cpuid = raw_cpuid::CpuId::new();
    let signature = cpuid.get_feature_info().map(|info| {
        let family = [info.base_family_id(), info.extended_family_id()].map(u32::from);
        let model = [info.base_model_id(), info.extended_model_id()].map(u32::from);
        (
            effective_family_and_model(family, model),
            u32::from(info.stepping_id()),
        )
    });
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
        family: signature.map(|((family, _), _)| family),
        model_number: signature.map(|((_, model), _)| model),
        stepping: signature.map(|(_, stepping)| stepping),
        amx: cpuid
            .get_extended_feature_info()
            .map(|features| features.has_amx_tile()),
        base_hz: megahertz
            .filter(|&megahertz| megahertz > 0)
            .map(|megahertz| f64::from(megahertz) * 1e6),
        invariant_tsc: cpuid
            .get_advanced_power_mgmt_info()
            .map(|power| power.has_invariant_tsc()),
        tsc_adjust: cpuid
            .get_extended_feature_info()
            .map(|features| features.has_tsc_adjust_msr()),
        tsc_scaling: cpuid
            .get_svm_info()
            .map(|svm| svm.has_tsc_rate_msr())
            .filter(|yes| *yes),
    }
}

/// The rate of the time-stamp counter in hertz declared by hypervisor or processor, and the source;
/// `None` if not declared.
#[must_use]
pub(crate) fn declared_rate() -> Option<(f64, &'static str)> {
    const TIMING: u32 = 0x4000_0010;
    let cpuid = raw_cpuid::CpuId::new();
    let guest = cpuid
        .get_feature_info()
        .is_some_and(|info| info.has_hypervisor());
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

/// Family and model from the base and extended fields of CPUID leaf 1, by the rule for all vendors
/// (Linux, arch/x86/lib/cpu.c): the extended family is used only with family 15, the extended model
/// only from family 6 on.
fn effective_family_and_model(
    [family, extended_family]: [u32; 2],
    [model, extended_model]: [u32; 2],
) -> (u32, u32) {
    let family = if family == 0xf {
        family + extended_family
    } else {
        family
    };
    let model = if family >= 6 {
        model | extended_model << 4
    } else {
        model
    };
    (family, model)
}

#[cfg(test)]
mod tests {
    use super::effective_family_and_model;

    #[test]
    fn computes_family_and_model() {
        // 0x000a0f11 is AMD family 25 model 1, 0x000306c3 Intel family 6 model 60, 0x00000543 a
        // Pentium.
        assert_eq!(effective_family_and_model([0xf, 0xa], [0x1, 0x0]), (25, 1));
        assert_eq!(effective_family_and_model([0x6, 0x0], [0xc, 0x3]), (6, 60));
        assert_eq!(effective_family_and_model([0x5, 0x0], [0x4, 0x0]), (5, 4));
        assert_eq!(
            effective_family_and_model([0xf, 0xff], [0xf, 0xf]),
            (270, 255)
        );
    }
}
