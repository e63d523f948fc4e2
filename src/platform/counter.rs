//! Reports what this machine declares about the counter of its processor: the properties of the
//! time stamp counter (CPUID, and the flags in `/proc/cpuinfo`).

use timers::clock_sources::TIME_STAMP_COUNTER;

use estimators::model::Tsc;

/// The declared properties of the counter. The kernel's flags are preferred, because the kernel
/// knows models of processors; CPUID is used if `/proc` is missing. A flag counts as missing only
/// if a list of bugs follows, as in Linux: the text may be truncated, and gVisor, which lists no
/// bugs, never lists these flags.
pub fn identify_tsc(cpuinfo: &str) -> Tsc {
    let mut lines = cpuinfo.lines();
    let is_flags = |(key, _): &(&str, &str)| key.trim() == "flags";
    let all = lines.find_map(|line| line.split_once(':').filter(is_flags));
    let all = all
        .filter(|_| lines.any(|line| line.starts_with("bugs")))
        .map(|(_, all)| all);
    let has = |flag: &str| all.map(|all| all.split_whitespace().any(|word| word == flag));
    let flag = |name| has(name).filter(|_| has(TIME_STAMP_COUNTER) == Some(true));
    // An invariant TSC is constant and does not stop; a TSC that is not invariant may still be
    // constant.
    let invariant = timers::arch::identity().invariant_tsc.filter(|yes| *yes);
    Tsc {
        constant: flag("constant_tsc").or(invariant),
        nonstop: flag("nonstop_tsc").or(invariant),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_the_counter() {
        let found = identify_tsc("flags\t: fpu tsc constant_tsc nonstop_tsc\nbugs\t: spectre_v1\n");
        assert_eq!((found.constant, found.nonstop), (Some(true), Some(true)));
        let varying = identify_tsc("flags : tsc\nbugs :\n");
        assert_eq!(
            (varying.constant, varying.nonstop),
            (Some(false), Some(false))
        );
        for cut in [
            "flags : tsc nonst",
            "flags",
            "",
            "Features : fp\n\n",
            "flags\t\t: fpu tsc rdtscp\nbogomips\t: 2000.00\n",
        ] {
            assert_ne!(identify_tsc(cut).constant, Some(false), "{cut:?}");
        }
    }
}
