//! Identifies Arm processors by the identification register of a core (MIDR), as shown by the
//! kernel, and by the devicetree, because programs cannot execute an equivalent of CPUID.

use super::Root;
use super::root::field;
use estimators::model::Cpu;

/// Implementer codes with their names (Arm Architecture Reference Manual, MIDR_EL1.Implementer), each
/// with its parts: number and name (MIDR_EL1.PartNum in technical reference manuals; Linux,
/// arch/arm64/include/asm/cputype.h).
const VENDORS: &[(u32, &str, &str)] = &[
    (
        0x41,
        "Arm",
        "d03 Cortex-A53, d04 Cortex-A35, d05 Cortex-A55, d07 Cortex-A57, \
         d08 Cortex-A72, d09 Cortex-A73, d0a Cortex-A75, d0b Cortex-A76, d0c Neoverse-N1, \
         d0d Cortex-A77, d40 Neoverse-V1, d41 Cortex-A78, d44 Cortex-X1, d46 Cortex-A510, \
         d47 Cortex-A710, d48 Cortex-X2, d49 Neoverse-N2, d4d Cortex-A715, d4e Cortex-X3, \
         d4f Neoverse-V2, d80 Cortex-A520, d81 Cortex-A720, d82 Cortex-X4, d84 Neoverse-V3, \
         d85 Cortex-X925, d87 Cortex-A725, d8e Neoverse-N3",
    ),
    (0x42, "Broadcom", ""),
    (0x43, "Cavium", "0a1 ThunderX, 0af ThunderX2"),
    (0x46, "Fujitsu", "001 A64FX"),
    (0x48, "HiSilicon", "d01 TaiShan v110"),
    (0x4e, "NVIDIA", ""),
    (0x50, "Applied Micro", ""),
    (0x51, "Qualcomm", ""),
    (0x53, "Samsung", ""),
    (0x56, "Marvell", ""),
    (
        0x61,
        "Apple",
        "022 M1 (Icestorm), 023 M1 (Firestorm), 032 M2 (Blizzard), 033 M2 (Avalanche)",
    ),
    (0x6d, "Microsoft", "d49 Azure Cobalt 100"),
    (0xc0, "Ampere", "ac3 Ampere-1, ac4 Ampere-1A"),
];

/// Vendor and model of `cpu`, else of the first core. A machine may have cores with different
/// names. A part without a name in this table is shown by its number.
pub fn core(root: &Root, cpu: Option<u32>, cpuinfo: &str) -> Cpu {
    let register = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1");
    let midr = cpu.and_then(|cpu: u32| parse_hexadecimal(&root.read_text(&register(cpu))?));
    let number = |name| field(cpuinfo, name).and_then(parse_hexadecimal);
    let implementer = midr
        .map(|midr| midr >> 24)
        .or_else(|| number("CPU implementer"));
    let part = midr
        .map(|midr| midr >> 4 & 0xfff)
        .or_else(|| number("CPU part"));
    let known = VENDORS.iter().find(|(code, ..)| Some(*code) == implementer);
    let vendor = |code| {
        known.map_or_else(
            || format!("implementer {code:#04x}"),
            |known| known.1.into(),
        )
    };
    let model = |part| {
        known
            .and_then(|(.., parts)| {
                let number = format!("{part:03x} ");
                parts
                    .split(", ")
                    .find_map(|part| part.strip_prefix(&number))
            })
            .map_or_else(|| format!("part {part:#05x}"), str::to_owned)
    };
    Cpu {
        vendor: implementer.map(vendor),
        model: part.map(model),
        ..Cpu::default()
    }
}

/// Whether the processor is emulated: no implementer has the code 0.
pub fn is_emulated(root: &Root, cpuinfo: &str) -> bool {
    core(root, Some(0), cpuinfo).vendor.as_deref() == Some("implementer 0x00")
}

/// The name of the board, used if nothing else identifies the processor.
pub fn board(root: &Root) -> Option<String> {
    let board = root.read_text("/sys/firmware/devicetree/base/model")?;
    Some(board.trim_end_matches('\0').to_owned())
}

fn parse_hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::tests::test_root;

    fn record(implementer: &str, part: &str) -> String {
        format!(
            "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: {implementer}\nCPU architecture: 8\n\
             CPU variant\t: 0x3\nCPU part\t: {part}\nCPU revision\t: 1\n"
        )
    }

    fn parse(cpuinfo: &str) -> Cpu {
        core(&test_root(&[]).1, None, cpuinfo)
    }

    #[test]
    fn cores_with_and_without_a_name() {
        let found = |implementer, part| {
            let cpu = parse(&record(implementer, part));
            (
                cpu.vendor.unwrap_or_default(),
                cpu.model.unwrap_or_default(),
            )
        };
        assert_eq!(found("0x41", "0xd0c"), ("Arm".into(), "Neoverse-N1".into()));
        assert_eq!(found("0x41", "0xfff"), ("Arm".into(), "part 0xfff".into()));
        assert_eq!(
            found("0x61", "0x022"),
            ("Apple".into(), "M1 (Icestorm)".into())
        );
        assert_eq!(
            found("0x07", "0xd0c"),
            ("implementer 0x07".into(), "part 0xd0c".into())
        );
    }

    #[test]
    fn cores_of_several_kinds() {
        let (_folder, root) = test_root(&[
            (
                "sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
                "0x00000000410fd034\n",
            ),
            (
                "sys/devices/system/cpu/cpu4/regs/identification/midr_el1",
                "0x00000000411fd0b0\n",
            ),
        ]);
        let model = |cpu| {
            core(&root, cpu, &record("0x41", "0xd03"))
                .model
                .unwrap_or_default()
        };
        assert_eq!(
            [Some(0), Some(4), Some(9), None].map(model),
            ["Cortex-A53", "Cortex-A76", "Cortex-A53", "Cortex-A53"]
        );
    }
}
