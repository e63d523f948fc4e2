//! The rule about virtual machines that may be restored from a snapshot.
//!
//! KVM restores the counter of the processor, so that a clock source that reads it, or a device that
//! the hypervisor emulates, continues with the value of the snapshot. kvm-clock continues too, but
//! follows the host if the hypervisor sets it with `KVM_CLOCK_REALTIME` (Linux,
//! `Documentation/virt/kvm/api.rst`, 4.30): Firecracker does if `clock_realtime` is requested, recent
//! versions of Cloud Hypervisor always do, and QEMU does not.

use timers::clock_sources;

use crate::findings::values;
use crate::model::Platform;

/// A machine, with the names of its clock sources, each followed by its cost if that was measured.
pub struct RestoreCase<'a>(pub &'a Platform, pub &'a [String]);

rules! {
    /// The rule about virtual machines that may be restored from a snapshot.
    pub static RESTORES: RestoreCase;
    "restores" {
        Note "if {hypervisor} restores this machine from a snapshot, the time of day is late<, with clock source {stays}><, and also with {follows}, unless the host lets it follow (KVM_CLOCK_REALTIME), so that CLOCK_MONOTONIC leaps>"
            => "set the time of day after a restore",
            |RestoreCase(platform, sources)| {
                let list = |is_kvm: bool| {
                    let is_meant = |name: &&String| name.starts_with(clock_sources::KVM) == is_kvm;
                    let names: Vec<&str> = sources.iter().filter(is_meant).map(String::as_str).collect();
                    (!names.is_empty()).then(|| names.join(", "))
                };
                let hypervisor = restoring_hypervisor(platform)?;
                Some(values! { hypervisor, stays: list(false), follows: list(true) })
            };
    }
}

/// The hypervisor of a machine, if it often restores machines from snapshots.
fn restoring_hypervisor(platform: &Platform) -> Option<&'static str> {
    let hypervisor = platform.hypervisor.as_deref()?;
    let names = [Some(hypervisor), platform.product.as_deref()];
    let mut known = ["Firecracker", "Cloud Hypervisor", "QEMU"].into_iter();
    let named = known.find(|known| names.iter().flatten().any(|name| name.contains(known)));
    // Firecracker has no firmware tables, which name the product.
    let is_bare = names[1].is_none() && ["KVM", "a hypervisor"].contains(&hypervisor);
    named.or(is_bare.then_some("Firecracker or a similar hypervisor"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::apply_rules;

    fn message(
        hypervisor: Option<&str>,
        product: Option<&str>,
        sources: &[&str],
    ) -> Option<String> {
        let platform = Platform {
            hypervisor: hypervisor.map(str::to_owned),
            product: product.map(str::to_owned),
            ..Platform::default()
        };
        let sources: Vec<String> = sources.iter().map(|&name| name.to_owned()).collect();
        let found = apply_rules(RESTORES, &RestoreCase(&platform, &sources));
        found.first().map(crate::model::Finding::message)
    }

    #[test]
    fn names_effect_on_each_source() {
        let all = ["kvm-clock (25 ns)", "tsc (20 ns)", "acpi_pm"];
        for (hypervisor, product, name) in [
            ("KVM", None, "Firecracker"),
            (
                "KVM",
                Some("Cloud Hypervisor cloud-hypervisor"),
                "Cloud Hypervisor",
            ),
            (
                "KVM",
                Some("QEMU Standard PC (i440FX + PIIX, 1996)"),
                "QEMU",
            ),
            ("QEMU (TCG)", None, "QEMU"),
        ] {
            let message = message(Some(hypervisor), product, &all).expect("a finding");
            assert!(message.contains(name), "{message}");
            assert!(
                message.contains("late, with clock source tsc (20 ns), acpi_pm, and"),
                "{message}"
            );
            assert!(
                message.contains("kvm-clock (25 ns), unless the host"),
                "{message}"
            );
        }
        let only = message(Some("KVM"), None, &["tsc"]).expect("a finding");
        assert!(!only.contains("KVM_CLOCK_REALTIME"), "{only}");
    }

    #[test]
    fn other_machines_are_not_restored() {
        for (hypervisor, product) in [
            (None, None),
            (None, Some("QEMU")),
            (Some("KVM"), Some("Amazon EC2 m7i.large")),
            (Some("Hyper-V"), None),
            (Some("qemu-user"), None),
        ] {
            assert_eq!(
                message(hypervisor, product, &["tsc"]),
                None,
                "{hypervisor:?} {product:?}"
            );
        }
    }
}
