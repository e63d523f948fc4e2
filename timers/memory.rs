//! Address space: where it is limited (`ulimit -v`), what the allocator reserves for each thread is missing for threads.

/// Has all threads share one reserve of the allocator from here on. glibc reserves 64 MB of address space for nearly each thread
/// that allocates ([mallopt(3)](https://man7.org/linux/man-pages/man3/mallopt.3.html), `M_ARENA_MAX`); elsewhere this does nothing.
pub fn share_reserves() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: two plain numbers; the function takes its own lock.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
