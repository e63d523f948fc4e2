//! The time stamp counter: what CPUID and the kernel's flags in `/proc/cpuinfo` say of it.

use crate::model::Tsc;

/// What is declared about the counter. The kernel knows more than CPUID does, as it knows models of processors; CPUID
/// can be asked where there is no `/proc`.
#[must_use]
pub fn identify(cpuinfo: &str) -> Tsc {
    let (told, asked) = (by_flags(cpuinfo), by_cpuid());
    Tsc {
        constant: told.constant.or(asked.constant),
        nonstop: told.nonstop.or(asked.nonstop),
        adjust: told.adjust.or(asked.adjust),
        scaling: told.scaling.or(asked.scaling),
        known_frequency: told.known_frequency,
        reliable: told.reliable,
    }
}

/// By the flags of the first record. One that is missing from a list that was cut off is not known to be missing: the
/// lists have to be followed by a line.
fn by_flags(cpuinfo: &str) -> Tsc {
    let flags = |name: &str| {
        let mut lines = cpuinfo.lines();
        let (_, flags) = lines.find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name))?;
        lines.next().map(|_| flags)
    };
    let Some(all) = flags("flags").filter(|all| has(all, "tsc")) else { return Tsc::default() };
    // That of AMD stands among the others, that of Intel among the "vmx flags", of processors that may virtualise.
    let scaling = has(all, "tsc_scale") || flags("vmx flags").is_some_and(|vmx| has(vmx, "tsc_scaling"));
    Tsc {
        constant: Some(has(all, "constant_tsc")),
        nonstop: Some(has(all, "nonstop_tsc")),
        adjust: Some(has(all, "tsc_adjust")),
        scaling: Some(scaling),
        known_frequency: Some(has(all, "tsc_known_freq")),
        reliable: Some(has(all, "tsc_reliable")),
    }
}

fn has(flags: &str, flag: &str) -> bool {
    flags.split_whitespace().any(|word| word == flag)
}

fn by_cpuid() -> Tsc {
    let asked = timers::arch::identity();
    // An invariant TSC is both constant and nonstop; one that is not may still be constant.
    let invariant = asked.invariant_tsc.filter(|yes| *yes);
    Tsc {
        constant: invariant,
        nonstop: invariant,
        adjust: asked.tsc_adjust,
        scaling: asked.tsc_scaling,
        ..Tsc::default()
    }
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
            by_flags(cpuinfo),
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
        let scaling = |cpuinfo| by_flags(cpuinfo).scaling;
        assert_eq!(scaling("flags : tsc svm tsc_scale\nbugs :\n"), Some(true));
        assert_eq!(scaling("flags : tsc vmx\nvmx flags : tsc_offset tsc_scaling\nbugs :\n"), Some(true));
        assert_eq!(scaling("flags : tsc vmx\nvmx flags : tsc_offset\nbugs :\n"), Some(false));
    }

    #[test]
    fn flags_that_were_cut_off_are_unknown() {
        for cut in
            ["flags : tsc constant_tsc nonst", "flags : tsc constant_tsc", "flags", "", "Features : fp\n\n"]
        {
            assert_eq!(by_flags(cut), Tsc::default(), "{cut:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            let _ = by_flags(&text);
            let _ = by_flags(&format!("flags : {text}\nbugs :\n"));
        }
    }
}
