//! Builds a readable name for a machine that is valid in file systems, from its CPU and CPU
//! generation, its hypervisor and its OS.

use estimators::model::Platform;

/// The largest length of the name, in characters.
const MAX_SLUG_CHARS: usize = 80;
/// Words of brand strings that carry no information.
const OMITTED_WORDS: &[&str] = &["cpu", "processor", "r", "tm", "gnu", "linux"];

/// The name in lower case, digits and hyphens, never empty, as in
/// `amd-epyc-9r14-zen-4-kvm-debian-12`.
pub fn slug(platform: &Platform) -> String {
    let cpu = platform
        .cpu
        .model
        .as_deref()
        .or(platform.cpu.vendor.as_deref())
        .unwrap_or_default();
    let os = platform.os.name.as_deref().unwrap_or_default();
    let parts = [
        words(
            cpu.split('@').next().unwrap_or_default(),
            &platform.cpu.architecture,
        ),
        words(&platform.cpu.generation().unwrap_or_default(), ""),
        words(platform.hypervisor.as_deref().unwrap_or_default(), ""),
        // The architecture, if an emulator runs the machine.
        words(
            platform
                .emulator()
                .map_or("", |_| &platform.cpu.architecture),
            "",
        ),
        words(os, &platform.os.family),
    ];
    let joined = parts.into_iter().flatten().collect::<Vec<_>>().join("-");
    let mut slug: String = joined.chars().take(MAX_SLUG_CHARS).collect();
    slug.truncate(slug.trim_end_matches('-').len());
    if slug.is_empty() {
        "unknown".into()
    } else {
        slug
    }
}

/// The informative words of `text`, or of `fallback` if `text` has none. Remarks in parentheses,
/// as in `(R)` and `(bookworm)`, and core counts (`96-Core`) are not part of the name.
fn words(text: &str, fallback: &str) -> Vec<String> {
    let meaningful = |text: &str| -> Vec<String> {
        text.to_lowercase()
            .split_whitespace()
            .filter(|word| !word.ends_with("-core"))
            .flat_map(|word| {
                word.split(|c: char| !c.is_ascii_alphanumeric())
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .filter(|word| !word.is_empty())
            .collect()
    };
    let mut found = meaningful(&without_remarks(text));
    found.retain(|word| !OMITTED_WORDS.contains(&word.as_str()));
    if found.is_empty() {
        meaningful(fallback)
    } else {
        found
    }
}

/// The text without the parts in parentheses.
fn without_remarks(text: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '(' => {
                depth += 1;
                out.push(' ');
            }
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::slug;
    use estimators::model::Platform;
    use proptest::prelude::*;

    fn slug_of(cpu: Option<&str>, hypervisor: Option<&str>, os: Option<&str>) -> String {
        let mut platform = Platform::default();
        platform.cpu.model = cpu.map(Into::into);
        platform.cpu.architecture = "x86_64".into();
        platform.hypervisor = hypervisor.map(Into::into);
        platform.os.name = os.map(Into::into);
        platform.os.family = "linux".into();
        slug(&platform)
    }

    fn slug_of_family(family: u32, number: u32) -> String {
        let mut platform = Platform::default();
        platform.cpu.vendor = Some("AuthenticAMD".into());
        platform.cpu.model = Some("AMD EPYC".into());
        (platform.cpu.family, platform.cpu.model_number) = (Some(family), Some(number));
        platform.hypervisor = Some("KVM".into());
        platform.os.name = Some("Debian GNU/Linux 12 (bookworm)".into());
        slug(&platform)
    }

    #[test]
    fn names_machines_readably() {
        for (cpu, hypervisor, os, name) in [
            (
                "AMD EPYC 9R14 96-Core Processor",
                Some("KVM"),
                "Debian GNU/Linux 12 (bookworm)",
                "amd-epyc-9r14-kvm-debian-12",
            ),
            (
                "Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz",
                None,
                "Ubuntu 22.04.3 LTS",
                "intel-xeon-e5-2670-0-ubuntu-22-04-3-lts",
            ),
            (
                "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz",
                Some("Hyper-V"),
                "Fedora Linux 40",
                "intel-core-i7-8650u-hyper-v-fedora-40",
            ),
            (
                "AMD EPYC",
                Some("qemu-user"),
                "Debian GNU/Linux 12 (bookworm)",
                "amd-epyc-qemu-user-x86-64-debian-12",
            ),
        ] {
            assert_eq!(slug_of(Some(cpu), hypervisor, Some(os)), name);
        }
        assert_eq!(slug_of(None, None, None), "x86-64-linux");
        assert_eq!(
            [slug_of_family(25, 17), slug_of_family(26, 2)],
            [
                "amd-epyc-zen-4-kvm-debian-12",
                "amd-epyc-zen-5-kvm-debian-12"
            ]
        );
        assert_eq!(
            slug_of_family(99, 3),
            "amd-epyc-family-99-model-3-kvm-debian-12"
        );
        assert_eq!(slug(&Platform::default()), "unknown");
    }

    proptest! {
        #[test]
        fn any_name_is_valid_in_file_systems(cpu in any::<String>(), hypervisor in any::<String>(), os in any::<String>()) {
            let name = slug_of(Some(&cpu), Some(&hypervisor), Some(&os));
            prop_assert!(!name.is_empty() && name.len() <= 80);
            prop_assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            prop_assert!(!name.starts_with('-') && !name.ends_with('-'));
        }
    }
}
