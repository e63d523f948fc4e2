//! A load for others to be measured beside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use crate::os::{AffinityError, Policy, scheduling};
use crate::{pin_to, unpin, work};

/// A thread that computes on one CPU, under the policy that threads have by default, until this is
/// dropped.
#[derive(Debug)]
pub struct Busy {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Busy {
    /// Starts it. It runs on that CPU once this returns.
    ///
    /// # Errors
    /// When the CPU cannot be had, or no thread can be started.
    pub fn on(cpu: u32) -> Result<Self, AffinityError> {
        let done = Arc::<AtomicBool>::default();
        let (sender, receiver) = mpsc::channel();
        let asked = Arc::clone(&done);
        let compute = move || {
            // Its starter may be bound to another CPU, and of a policy under which this one would
            // let no other thread run.
            unpin();
            let pinned = pin_to(cpu);
            let bound = pinned.is_ok();
            let _ = scheduling::set_policy(Policy::Other);
            let _ = sender.send(pinned);
            while bound && !asked.load(Ordering::Relaxed) {
                work::units(1 << 10);
            }
        };
        let thread = thread::Builder::new().name("busy".into()).spawn(compute);
        let thread = thread.map_err(|source| AffinityError::System {
            call: "starting a busy thread",
            source,
        })?;
        let busy = Self {
            done,
            thread: Some(thread),
        };
        receiver
            .recv()
            .unwrap_or(Err(AffinityError::Absent(cpu)))
            .map(|()| busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        // It computes and does nothing else, so that it does not panic.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allowed_cpus;

    #[test]
    fn computes_on_given_cpu() {
        for cpu in allowed_cpus().unwrap_or_default() {
            let busy = Busy::on(cpu).expect("allowed");
            assert_eq!(Arc::strong_count(&busy.done), 2, "it ended by itself");
        }
        assert!(Busy::on(u32::MAX).is_err());
    }
}
