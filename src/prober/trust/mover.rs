//! Moves a process over the CPUs while it measures, from outside, so that it can be done to any runtime.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long the process stays on a CPU.
const STAY: Duration = Duration::from_micros(300);

/// A thread that moves all threads of a process from CPU to CPU until this is stopped or dropped.
pub(super) struct Mover {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<u32>>,
}

impl Mover {
    /// Begins. `None` with fewer than two CPUs, or where the process cannot be moved.
    pub(super) fn start(process: u32, cpus: &[u32]) -> Option<Self> {
        if cpus.len() < 2 {
            return None;
        }
        let over = Arc::new(AtomicBool::new(false));
        let (watched, cpus) = (Arc::clone(&over), cpus.to_vec());
        let work = move || {
            let mut moves = 0;
            for cpu in cpus.iter().cycle() {
                if watched.load(Ordering::Relaxed) {
                    break;
                }
                moves += u32::from(move_all(process, &[*cpu]));
                thread::sleep(STAY);
            }
            move_all(process, &cpus);
            moves
        };
        let thread = thread::Builder::new().name("mover".into()).spawn(work).ok()?;
        Some(Self { over, thread: Some(thread) })
    }

    /// Ends and gives the process back all its CPUs; returns how often it was moved.
    pub(super) fn stop(mut self) -> u32 {
        self.end()
    }

    fn end(&mut self) -> u32 {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or(0)
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether at least one thread could be moved. Threads come and go, so that one that cannot is nothing unusual.
fn move_all(process: u32, cpus: &[u32]) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return timers::move_thread(process, cpus).is_ok();
    };
    let numbers = threads.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // All of them, also after one could be moved.
    numbers.filter(|&thread| timers::move_thread(thread, cpus).is_ok()).count() > 0
}
