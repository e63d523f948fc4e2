//! Replacements for x86-only functions on other processors.

use crate::arch::Identity;

/// An instruction that a hypervisor has to emulate; `None` because none is known here.
pub(crate) fn trapping_instruction() -> Option<fn() -> u64> {
    None
}

/// The identity reported by the processor; empty, because user mode has no instruction for it.
pub fn identity() -> Identity {
    Identity::default()
}

/// The counter rate that the processor declares, and the source of that value. Always `None` here;
/// rates that firmware declares are defined in the counter modules.
pub(crate) fn declared_rate() -> Option<(f64, &'static str)> {
    None
}

/// The hypervisor reported by the processor; always `None` here.
pub fn hypervisor() -> Option<Option<String>> {
    None
}
