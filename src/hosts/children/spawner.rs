//! The thread that starts processes. It stays as long as the program, as the kernel ends a process
//! that asked for it when the *thread* ends that started it, not when its process does.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Sender, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use timers::os::{process, scheduling};

use super::{Placement, StartError};

/// Bytes for its stack.
const STACK: usize = 256 << 10;

static SPAWNER: Mutex<Option<Sender<Job>>> = Mutex::new(None);

struct Job {
    command: Command,
    placement: Placement,
    ends_with_us: bool,
    answer: SyncSender<Result<Child, StartError>>,
}

/// Starts a process; the kernel ends it when this process ends, if that is asked for.
pub(super) fn start(
    command: Command,
    placement: Placement,
    ends_with_us: bool,
) -> Result<Child, StartError> {
    let (answer, result) = mpsc::sync_channel(1);
    spawner()?
        .send(Job {
            command,
            placement,
            ends_with_us,
            answer,
        })
        .map_err(|_| gone())?;
    result.recv().map_err(|_| gone())?
}

fn gone() -> StartError {
    StartError::NoRoom("the thread that starts processes has ended".into())
}

fn spawner() -> Result<Sender<Job>, StartError> {
    let mut spawner = SPAWNER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(jobs) = &*spawner {
        return Ok(jobs.clone());
    }
    let (jobs, to_do) = mpsc::channel::<Job>();
    let work = move || {
        for Job {
            command,
            placement,
            ends_with_us,
            answer,
        } in to_do
        {
            // It is not waited for any more where the program ends.
            let _ = answer.send(spawn(command, placement, ends_with_us));
        }
    };
    let started = thread::Builder::new()
        .name("spawner".into())
        .stack_size(STACK)
        .spawn(work);
    started.map_err(|error: io::Error| match StartError::from(error) {
        StartError::Program(error) => StartError::NoRoom(format!("no thread to start it: {error}")),
        error => error,
    })?;
    *spawner = Some(jobs.clone());
    Ok(jobs)
}

/// A child inherits affinity, timer slack and policy of the thread that starts it.
fn spawn(
    mut command: Command,
    placement: Placement,
    ends_with_us: bool,
) -> Result<Child, StartError> {
    match placement.cpu {
        Some(cpu) => timers::pin_to(cpu)?,
        None => timers::unpin(),
    }
    placement
        .slack_ns
        .map_or(Ok(()), scheduling::set_timer_slack)?;
    // Last, as the thread has no slack of its own any more once it is one of real time.
    let before = placement.policy.and_then(|_| scheduling::policy());
    let placed = placement.policy.map_or(Ok(()), scheduling::set_policy);
    if ends_with_us {
        process::ends_with_its_starter(&mut command);
    }
    let child = placed.map(|()| process::spawn(&mut command));
    let _ = placement
        .policy
        .map(|_| scheduling::set_policy(before.unwrap_or_default()));
    let _ = placement.slack_ns.map(|_| scheduling::set_timer_slack(0));
    // It waits for the next one anywhere but where something is measured.
    timers::unpin();
    Ok(child??)
}
