//! Moves a process over the CPUs while it measures, from outside, so that it can be done to any
//! runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long the process stays on a CPU.
const STAY: Duration = Duration::from_micros(300);

/// A thread that moves all threads of a process from CPU to CPU until this is stopped or dropped.
pub(super) struct CpuMigrator {
    over: Arc<AtomicBool>,
    moves: Arc<AtomicU32>,
    cpus: u32,
    thread: Option<JoinHandle<()>>,
}

impl CpuMigrator {
    /// Begins. `None` with fewer than two CPUs, or where the process cannot be moved.
    pub(super) fn start(process: u32, cpus: &[u32]) -> Option<Self> {
        if cpus.len() < 2 {
            return None;
        }
        let (over, moves) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU32::new(0)),
        );
        let (watched, counted, all) = (Arc::clone(&over), Arc::clone(&moves), cpus.to_vec());
        let work = move || {
            for cpu in all.iter().cycle() {
                if watched.load(Ordering::Relaxed) {
                    break;
                }
                counted.fetch_add(
                    u32::from(timers::move_process(process, &[*cpu])),
                    Ordering::Relaxed,
                );
                thread::sleep(STAY);
            }
            timers::move_process(process, &all);
        };
        let thread = thread::Builder::new()
            .name("migrator".into())
            .spawn(work)
            .ok()?;
        Some(Self {
            over,
            moves,
            cpus: cpus.len() as u32,
            thread: Some(thread),
        })
    }

    /// Whether the process was on every CPU. They are visited in turn.
    pub(super) fn has_been_everywhere(&self) -> bool {
        self.moves.load(Ordering::Relaxed) >= self.cpus
    }

    /// Ends and gives the process back all its CPUs; returns how often it was moved, and among how
    /// many CPUs.
    pub(super) fn stop(mut self) -> (u32, u32) {
        self.end();
        let moves = self.moves.load(Ordering::Relaxed);
        (moves, moves.min(self.cpus))
    }

    fn end(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // It only sleeps and moves, and has nothing to say.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for CpuMigrator {
    fn drop(&mut self) {
        self.end();
    }
}
