//! What descendants inherit.

/// Writes a variable into the environment that every process inherits which this one starts from now on, and all that those start:
/// so that they can be told from others, whatever becomes of their parents, groups and sessions. To be called before there is a
/// second thread at work.
pub fn mark_descendants(name: &str, value: &str) {
    // SAFETY: the environment is not read meanwhile, as no other thread is at work.
    unsafe { std::env::set_var(name, value) };
}
