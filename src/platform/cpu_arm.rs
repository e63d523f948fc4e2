//! 64-bit Arm: what `/proc/cpuinfo` and the devicetree say, for there is no CPUID that programs may ask.

use super::Root;
use super::fields::field;
use crate::model::Cpu;

/// Implementer codes (Arm Architecture Reference Manual, MIDR_EL1.Implementer).
const VENDORS: &[(u32, &str)] = &[
    (0x41, "Arm"),
    (0x42, "Broadcom"),
    (0x43, "Cavium"),
    (0x46, "Fujitsu"),
    (0x48, "HiSilicon"),
    (0x4e, "NVIDIA"),
    (0x50, "Applied Micro"),
    (0x51, "Qualcomm"),
    (0x53, "Samsung"),
    (0x56, "Marvell"),
    (0x61, "Apple"),
    (0x6d, "Microsoft"),
    (0xc0, "Ampere"),
];

/// Part numbers of Arm's own cores (MIDR_EL1.PartNum in their technical reference manuals).
const ARM_PARTS: &[(u32, &str)] = &[
    (0xd03, "Cortex-A53"),
    (0xd05, "Cortex-A55"),
    (0xd07, "Cortex-A57"),
    (0xd08, "Cortex-A72"),
    (0xd0b, "Cortex-A76"),
    (0xd0c, "Neoverse-N1"),
    (0xd40, "Neoverse-V1"),
    (0xd44, "Cortex-X1"),
    (0xd49, "Neoverse-N2"),
    (0xd4f, "Neoverse-V2"),
    (0xd84, "Neoverse-V3"),
    (0xd8e, "Neoverse-N3"),
];

/// Vendor and model of the first CPU. A part nobody has named here is shown by its number; the name of the board is
/// the last resort.
pub(super) fn declared(root: &Root, cpuinfo: &str) -> Cpu {
    let mut cpu = parse(cpuinfo);
    cpu.model = cpu.model.or_else(|| {
        root.content("/sys/firmware/devicetree/base/model")
            .map(|board| board.trim_end_matches('\0').to_owned())
    });
    cpu
}

fn parse(cpuinfo: &str) -> Cpu {
    let number = |name| field(cpuinfo, name).and_then(hexadecimal);
    let named = |table: &[(u32, &str)], code: u32| {
        table.iter().find(|(known, _)| *known == code).map(|(_, name)| (*name).to_owned())
    };
    let implementer = number("CPU implementer");
    let part = number("CPU part");
    let arm_part = part.filter(|_| implementer == Some(0x41)).and_then(|part| named(ARM_PARTS, part));
    Cpu {
        vendor: implementer
            .map(|code| named(VENDORS, code).unwrap_or_else(|| format!("implementer {code:#04x}"))),
        model: field(cpuinfo, "model name")
            .map(str::to_owned)
            .or(arm_part)
            .or_else(|| part.map(|part| format!("part {part:#05x}"))),
        ..Cpu::default()
    }
}

fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(implementer: &str, part: &str) -> String {
        format!(
            "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: {implementer}\nCPU architecture: 8\n\
             CPU variant\t: 0x3\nCPU part\t: {part}\nCPU revision\t: 1\n"
        )
    }

    #[test]
    fn cores_with_and_without_a_name() {
        let found = |implementer, part| {
            let cpu = parse(&record(implementer, part));
            (cpu.vendor.unwrap_or_default(), cpu.model.unwrap_or_default())
        };
        assert_eq!(found("0x41", "0xd0c"), ("Arm".into(), "Neoverse-N1".into()));
        assert_eq!(found("0x41", "0xfff"), ("Arm".into(), "part 0xfff".into()));
        assert_eq!(found("0x61", "0x022"), ("Apple".into(), "part 0x022".into()));
        assert_eq!(found("0x07", "0xd0c"), ("implementer 0x07".into(), "part 0xd0c".into()));
    }

    #[test]
    fn nothing_is_none() {
        assert_eq!(parse(""), Cpu::default());
        assert_eq!(parse("CPU implementer : odd\nCPU part : 12"), Cpu::default());
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            let _ = parse(&text);
            let _ = parse(&record(&text, &text));
        }
    }
}
