//! Identifies the core of a processor by its family, model and stepping. Brand strings do not
//! identify it: two guests on an `AMD EPYC` may differ by a generation.

use super::Cpu;

impl Cpu {
    /// The public name of the generation of the core: `Zen 4`, `Sapphire Rapids`. `None` if the
    /// numbers are unknown or not reported; Arm cores are identified by their model.
    pub fn core(&self) -> Option<&'static str> {
        let numbers = (self.family?, self.model_number?);
        match self.vendor.as_deref()? {
            "AuthenticAMD" => amd(numbers),
            // The model that a hypervisor emulates is not the name of the actual core.
            "GenuineIntel" => intel(numbers, self.stepping)
                .filter(|core| self.amx != Some(true) || WITH_AMX.contains(core)),
            // Licensed from AMD (Linux, arch/x86/kernel/cpu/hygon.c).
            "HygonGenuine" if numbers.0 == 0x18 => Some("Dhyana"),
            _ => None,
        }
    }

    /// The name of the core, or else family and model, which distinguishes processors of one brand;
    /// `None` if neither is reported.
    pub fn generation(&self) -> Option<String> {
        let numbers = || {
            Some(format!(
                "family {} model {}",
                self.family?, self.model_number?
            ))
        };
        self.core().map(str::to_owned).or_else(numbers)
    }

    /// Brand and generation, as in `AMD EPYC (Zen 4)`; the vendor if there is no brand, and `None`
    /// if neither is reported.
    pub fn name(&self) -> Option<String> {
        let brand = self.model.as_deref().or(self.vendor.as_deref())?;
        // Some hypervisors include the core in the brand: `Intel Core Processor (Skylake)`.
        let added = self
            .generation()
            .filter(|generation| !brand.contains(generation.as_str()));
        Some(added.map_or_else(
            || brand.to_owned(),
            |generation| format!("{brand} ({generation})"),
        ))
    }
}

/// The core of an AMD processor by family and model.
///
/// Source: Linux, arch/x86/kernel/cpu/amd.c (`bsp_init_amd`), which follows AMD's *Processor
/// Programming References*; older families from AMD's *BIOS and Kernel Developer's Guides*.
fn amd(numbers: (u32, u32)) -> Option<&'static str> {
    Some(match numbers {
        (0x15, 0x00..=0x01) => "Bulldozer",
        (0x15, 0x02 | 0x10..=0x1f) => "Piledriver",
        (0x15, 0x30..=0x3f) => "Steamroller",
        (0x15, 0x60..=0x7f) => "Excavator",
        (0x16, 0x00..=0x0f) => "Jaguar",
        (0x16, 0x30..=0x3f) => "Puma",
        // Zen+ has separate model numbers for some products only.
        (0x17, 0x00..=0x2f | 0x50..=0x5f) => "Zen",
        (0x17, 0x30..=0x4f | 0x60..=0x7f | 0x90..=0x91 | 0xa0..=0xaf) => "Zen 2",
        (0x19, 0x00..=0x0f | 0x20..=0x5f) => "Zen 3",
        (0x19, 0x10..=0x1f | 0x60..=0xaf) => "Zen 4",
        (0x1a, 0x00..=0x2f | 0x40..=0x4f | 0x60..=0x7f) => "Zen 5",
        (0x1a, 0x50..=0x5f | 0x80..=0xaf | 0xc0..=0xcf) => "Zen 6",
        _ => return None,
    })
}

/// The core of an Intel processor by family, model and stepping.
///
/// Source: Linux, arch/x86/include/asm/intel-family.h, which follows the table of signatures in
/// Intel's *Software Developer's Manual*, volume 4, chapter 2. Servers of three generations share a
/// model and differ by stepping.
fn intel((family, model): (u32, u32), stepping: Option<u32>) -> Option<&'static str> {
    if family != 6 {
        return None;
    }
    Some(match model {
        0x1a | 0x1e | 0x1f | 0x2e => "Nehalem",
        0x25 | 0x2c | 0x2f => "Westmere",
        0x2a | 0x2d => "Sandy Bridge",
        0x3a | 0x3e => "Ivy Bridge",
        0x3c | 0x3f | 0x45 | 0x46 => "Haswell",
        0x3d | 0x47 | 0x4f | 0x56 => "Broadwell",
        0x4e | 0x5e => "Skylake",
        0x55 => match stepping? {
            0..=4 => "Skylake",
            5..=7 => "Cascade Lake",
            10..=11 => "Cooper Lake",
            _ => return None,
        },
        0x8e | 0x9e => "Kaby Lake",
        0xa5 | 0xa6 => "Comet Lake",
        0x6a | 0x6c | 0x7d | 0x7e | 0x9d => "Ice Lake",
        0x8c | 0x8d => "Tiger Lake",
        0xa7 => "Rocket Lake",
        0x97 | 0x9a => "Alder Lake",
        0xb7 | 0xba | 0xbf => "Raptor Lake",
        0xaa | 0xac => "Meteor Lake",
        0xb5 | 0xc5 | 0xc6 => "Arrow Lake",
        0xbd => "Lunar Lake",
        0xcc => "Panther Lake",
        0x8f => "Sapphire Rapids",
        0xcf => "Emerald Rapids",
        0xad | 0xae => "Granite Rapids",
        // Efficiency cores and many-core processors.
        0x37 | 0x4a | 0x4d => "Silvermont",
        0x4c | 0x5a | 0x75 => "Airmont",
        0x5c | 0x5f => "Goldmont",
        0x7a => "Goldmont Plus",
        0x86 | 0x96 | 0x9c => "Tremont",
        0xbe => "Gracemont",
        0xaf | 0xb6 => "Crestmont",
        0xdd => "Darkmont",
        _ => return None,
    })
}

/// Intel cores with matrix extensions (Intel, *Architecture Instruction Set Extensions Programming
/// Reference*, table of recent instruction set extensions).
const WITH_AMX: [&str; 3] = ["Sapphire Rapids", "Emerald Rapids", "Granite Rapids"];

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(vendor: &str, family: u32, model: u32, stepping: u32) -> Cpu {
        Cpu {
            vendor: Some(vendor.into()),
            model: Some("AMD EPYC".into()),
            family: Some(family),
            model_number: Some(model),
            stepping: Some(stepping),
            ..Cpu::default()
        }
    }

    #[test]
    fn finds_cores_by_numbers() {
        for (vendor, family, model, stepping, core) in [
            ("AuthenticAMD", 23, 1, 2, Some("Zen")), // EPYC 7601, Naples
            ("AuthenticAMD", 23, 49, 0, Some("Zen 2")), // EPYC 7742, Rome
            ("AuthenticAMD", 25, 1, 1, Some("Zen 3")), // EPYC 7763, Milan
            ("AuthenticAMD", 25, 17, 1, Some("Zen 4")), // EPYC 9654, Genoa
            ("AuthenticAMD", 25, 160, 2, Some("Zen 4")), // EPYC 9754, Bergamo
            ("AuthenticAMD", 26, 2, 1, Some("Zen 5")), // EPYC 9755, Turin
            ("AuthenticAMD", 26, 0xff, 0, None),
            ("GenuineIntel", 6, 0x55, 4, Some("Skylake")), // Xeon Platinum 8175M
            ("GenuineIntel", 6, 0x55, 7, Some("Cascade Lake")), // Xeon Platinum 8259CL
            ("GenuineIntel", 6, 0x6a, 6, Some("Ice Lake")), // Xeon Platinum 8375C
            ("GenuineIntel", 6, 0x8f, 8, Some("Sapphire Rapids")), // Xeon Platinum 8488C
            ("GenuineIntel", 15, 6, 1, None),
            ("HygonGenuine", 24, 1, 1, Some("Dhyana")),
            ("Arm", 25, 17, 1, None),
        ] {
            assert_eq!(
                cpu(vendor, family, model, stepping).core(),
                core,
                "{vendor} {family} {model}"
            );
        }
    }

    #[test]
    fn contradicting_features_name_no_core() {
        let with_amx = |model| Cpu {
            amx: Some(true),
            ..cpu("GenuineIntel", 6, model, 1)
        };
        assert_eq!(with_amx(0xa7).core(), None);
        assert_eq!(
            with_amx(0xa7).generation().as_deref(),
            Some("family 6 model 167")
        );
        assert_eq!(with_amx(0xad).core(), Some("Granite Rapids"));
    }

    #[test]
    fn names_include_the_generation() {
        let name = |family, model| cpu("AuthenticAMD", family, model, 1).name();
        assert_eq!(name(25, 17).as_deref(), Some("AMD EPYC (Zen 4)"));
        assert_eq!(name(26, 2).as_deref(), Some("AMD EPYC (Zen 5)"));
        assert_eq!(
            name(26, 255).as_deref(),
            Some("AMD EPYC (family 26 model 255)")
        );
        let without_numbers = Cpu {
            model: Some("Neoverse-N1".into()),
            vendor: Some("Arm".into()),
            ..Cpu::default()
        };
        assert_eq!(without_numbers.name().as_deref(), Some("Neoverse-N1"));
        assert_eq!(Cpu::default().name(), None);
    }
}
