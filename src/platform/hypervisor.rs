//! The hypervisor under this system, and the clocks that it offers its guests.

use timers::os::Told;

use super::Root;

/// Clock sources of Linux that a hypervisor answers.
const PARAVIRTUAL: [&str; 4] = ["kvm-clock", "hyperv_clocksource_tsc_page", "hyperv_clocksource_msr", "xen"];

/// What carries out this program in place of a processor, or the hypervisor under this system, as the processor tells or else
/// the kernel; `None` on bare metal. What only plays the system comes first, as in `Wine 8.0 on KVM`.
#[must_use]
pub fn hypervisor(root: &Root, told: &Told) -> Option<String> {
    if let Some(emulator) = timers::os::emulator() {
        return Some(emulator);
    }
    let beneath = match timers::arch::hypervisor() {
        Some(asked) => asked.name,
        None => root.content("/sys/hypervisor/type"),
    };
    match (&told.emulator, beneath) {
        (Some(emulator), Some(beneath)) => Some(format!("{emulator} on {beneath}")),
        (emulator, beneath) => emulator.clone().or(beneath),
    }
}

/// The clocks that a hypervisor offers, as the kernel calls them: those that the kernel lists among `available`, and
/// those that the processor shows. `None` where neither is known.
#[must_use]
pub fn clocks(available: &[String]) -> Option<Vec<String>> {
    known(available, timers::arch::hypervisor().map(|asked| asked.clocks))
}

fn known(available: &[String], offered: Option<Vec<&str>>) -> Option<Vec<String>> {
    if offered.is_none() && available.is_empty() {
        return None;
    }
    let offered = offered.unwrap_or_default();
    let seen = |clock: &&str| available.iter().any(|name| name == clock) || offered.contains(clock);
    Some(PARAVIRTUAL.iter().filter(|clock| seen(clock)).map(|clock| (*clock).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_the_kernel_lists_or_the_processor_shows() {
        let listed = ["tsc", "hyperv_clocksource_tsc_page", "acpi_pm"].map(str::to_owned);
        assert_eq!(known(&listed, None), Some(vec!["hyperv_clocksource_tsc_page".to_owned()]));
        assert_eq!(known(&[], Some(vec!["kvm-clock"])), Some(vec!["kvm-clock".to_owned()]));
        assert_eq!(known(&[], Some(Vec::new())), Some(Vec::new()));
        assert_eq!(known(&[], None), None);
    }
}
