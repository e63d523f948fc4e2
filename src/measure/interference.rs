//! Whether something disturbed a window: the one place that knows the signs.

/// What is looked at before and after a window.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    involuntary: Option<u64>,
}

impl Watch {
    /// Before the window.
    #[must_use]
    pub fn begin() -> Self {
        Self { involuntary: involuntary_switches() }
    }

    /// After it: what disturbed it, if anything did.
    #[must_use]
    pub fn end(self) -> Option<String> {
        let (before, after) = (self.involuntary?, involuntary_switches()?);
        (after > before).then(|| format!("the CPU was given to somebody else {} times", after - before))
    }
}

/// How often the scheduler took the CPU from this thread (`proc_pid_status(5)`); `None` where it does not tell.
fn involuntary_switches() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_counted_where_the_system_tells() {
        match (involuntary_switches(), involuntary_switches()) {
            (Some(first), Some(second)) => assert!(second >= first),
            _ => eprintln!("skipped: /proc does not tell"),
        }
    }
}
