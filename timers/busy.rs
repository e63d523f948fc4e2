//! A background load: a thread that keeps one CPU busy during a measurement.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use crate::os::{AffinityError, Policy, scheduling};
use crate::{pin_to, unpin, work};

/// A thread that computes on one CPU, with the default scheduling policy, until dropped.
#[derive(Debug)]
pub struct BusyThread {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl BusyThread {
    /// Starts the thread. When this returns, the thread is bound to the CPU.
    ///
    /// # Errors
    /// When the thread cannot be started or cannot be bound to the CPU.
    pub fn on(cpu: u32) -> Result<Self, AffinityError> {
        let done = Arc::<AtomicBool>::default();
        let (sender, receiver) = mpsc::channel();
        let done_in_thread = Arc::clone(&done);
        let compute = move || {
            // The thread inherits affinity and policy from its creator: it may be bound to another
            // CPU, and a real-time policy would let no other thread run on its CPU.
            unpin();
            let pinned = pin_to(cpu);
            let bound = pinned.is_ok();
            let _ = scheduling::set_policy(Policy::Other);
            let _ = sender.send(pinned);
            while bound && !done_in_thread.load(Ordering::Relaxed) {
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

impl Drop for BusyThread {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        // The result is ignored: the thread only computes and does not panic.
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
            let busy = BusyThread::on(cpu).expect("allowed");
            assert_eq!(
                Arc::strong_count(&busy.done),
                2,
                "the thread ended by itself"
            );
        }
        assert!(BusyThread::on(u32::MAX).is_err());
    }
}
