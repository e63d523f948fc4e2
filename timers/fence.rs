//! Waiting for what stands before.

/// Lets nothing that stands behind it begin before everything that stands before it has completed: `lfence` on x86-64
/// (Intel SDM vol. 2A; on AMD where it is dispatch-serialising, which Linux switches on), `isb` on 64-bit Arm after a
/// barrier for loads. Elsewhere it keeps the compiler from moving things, and no more.
#[inline(always)]
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: LFENCE belongs to SSE2, which all of x86-64 has; it changes no register, no flag and no memory. `nomem` is
    // not given, so that loads and stores stay on their side.
    unsafe {
        std::arch::asm!("lfence", options(nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: barriers change no register, no flag and no memory.
    unsafe {
        std::arch::asm!("dsb ld", "isb", options(nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}
