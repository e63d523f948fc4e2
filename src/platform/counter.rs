//! Reports what this machine declares about the counter of its processor: the properties of the
//! time stamp counter (CPUID, and the flags in `/proc/cpuinfo`).

use timers::clock_sources::TIME_STAMP_COUNTER;

use crate::model::Tsc;

/// The declared properties of the counter. The kernel's flags are preferred, because the kernel
/// knows models of processors; CPUID is used if `/proc` is missing.
pub fn identify_tsc(cpuinfo: &str) -> Tsc {
    let (flags, cpuid) = (tsc_from_flags(cpuinfo), timers::arch::identity());
    // An invariant TSC is constant and does not stop; a TSC that is not invariant may still be
    // constant.
    let invariant = cpuid.invariant_tsc.filter(|yes| *yes);
    Tsc {
        constant: flags.constant.or(invariant),
        nonstop: flags.nonstop.or(invariant),
        adjust: flags.adjust.or(cpuid.tsc_adjust),
        scaling: flags.scaling.or(cpuid.tsc_scaling),
        ..flags
    }
}

/// The properties by the flags of the first record. A flag counts as missing only if its list is
/// followed by another line, because the last list may be truncated.
fn tsc_from_flags(cpuinfo: &str) -> Tsc {
    let flags = |name: &str| {
        let mut lines = cpuinfo.lines();
        let (_, flags) =
            lines.find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name))?;
        lines.next().map(|_| flags)
    };
    let Some(all) = flags("flags").filter(|all| has_flag(all, TIME_STAMP_COUNTER)) else {
        return Tsc::default();
    };
    // AMD's flag is in the general list, Intel's flag in the list `vmx flags` of processors that
    // support virtualisation.
    let scaling = has_flag(all, "tsc_scale")
        || flags("vmx flags").is_some_and(|vmx| has_flag(vmx, "tsc_scaling"));
    Tsc {
        constant: Some(has_flag(all, "constant_tsc")),
        nonstop: Some(has_flag(all, "nonstop_tsc")),
        adjust: Some(has_flag(all, "tsc_adjust")),
        scaling: Some(scaling),
        known_frequency: Some(has_flag(all, "tsc_known_freq")),
        reliable: Some(has_flag(all, "tsc_reliable")),
    }
}

fn has_flag(flags: &str, flag: &str) -> bool {
    flags.split_whitespace().any(|word| word == flag)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn flags_of_a_guest_on_intel() {
        let cpuinfo = "flags\t\t: fpu tsc msr constant_tsc nonstop_tsc tsc_known_freq tsc_deadline_timer tsc_adjust\n\
                       bugs\t\t: spectre_v1\n";
        assert_eq!(
            tsc_from_flags(cpuinfo),
            Tsc {
                constant: Some(true),
                nonstop: Some(true),
                adjust: Some(true),
                scaling: Some(false),
                known_frequency: Some(true),
                reliable: Some(false),
            }
        );
    }

    #[test]
    fn scaling_of_either_vendor() {
        let scaling = |cpuinfo| tsc_from_flags(cpuinfo).scaling;
        assert_eq!(scaling("flags : tsc svm tsc_scale\nbugs :\n"), Some(true));
        assert_eq!(
            scaling("flags : tsc vmx\nvmx flags : tsc_offset tsc_scaling\nbugs :\n"),
            Some(true)
        );
        assert_eq!(
            scaling("flags : tsc vmx\nvmx flags : tsc_offset\nbugs :\n"),
            Some(false)
        );
    }

    #[test]
    fn truncated_flags_are_unknown() {
        for cut in [
            "flags : tsc constant_tsc nonst",
            "flags : tsc constant_tsc",
            "flags",
            "",
            "Features : fp\n\n",
        ] {
            assert_eq!(tsc_from_flags(cut), Tsc::default(), "{cut:?}");
        }
    }

    proptest! {
        #[test]
        fn flags_never_panic(text in any::<String>()) {
            let _ = tsc_from_flags(&text);
            let _ = tsc_from_flags(&format!("flags : {text}\nbugs :\n"));
        }
    }
}
