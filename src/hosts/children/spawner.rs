//! Starts processes from a dedicated thread that exists as long as the program, because the kernel
//! sends the parent-death signal when the *thread* that started a process ends, not when its
//! program ends.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Sender, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use timers::os::{process, scheduling};

use super::{Placement, StartError};

/// Stack size of the thread, in bytes.
const STACK_BYTES: usize = 256 << 10;

static SPAWNER: Mutex<Option<Sender<Request>>> = Mutex::new(None);

struct Request {
    command: Command,
    placement: Placement,
    ends_with_program: bool,
    answer: SyncSender<Result<Child, StartError>>,
}

/// Starts a process; if `ends_with_program`, the kernel ends the process when this program ends.
pub(super) fn start(
    command: Command,
    placement: Placement,
    ends_with_program: bool,
) -> Result<Child, StartError> {
    let (answer, result) = mpsc::sync_channel(1);
    spawner()?
        .send(Request {
            command,
            placement,
            ends_with_program,
            answer,
        })
        .map_err(|_| thread_has_ended())?;
    result.recv().map_err(|_| thread_has_ended())?
}

/// The error if the thread no longer answers.
fn thread_has_ended() -> StartError {
    StartError::Shortage("the thread that starts processes has ended".into())
}

/// Returns the sender of requests to the thread, which is started at the first call.
fn spawner() -> Result<Sender<Request>, StartError> {
    let mut spawner = SPAWNER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(sender) = &*spawner {
        return Ok(sender.clone());
    }
    let (sender, requests) = mpsc::channel::<Request>();
    let work = move || {
        for Request {
            command,
            placement,
            ends_with_program,
            answer,
        } in requests
        {
            // The receiver is gone if the program is ending.
            let _ = answer.send(spawn(command, placement, ends_with_program));
        }
    };
    let started = thread::Builder::new()
        .name("spawner".into())
        .stack_size(STACK_BYTES)
        .spawn(work);
    started.map_err(|error: io::Error| match StartError::from(error) {
        StartError::Program(error) => StartError::Shortage(format!(
            "no thread could be created that starts it: {error}"
        )),
        error => error,
    })?;
    *spawner = Some(sender.clone());
    Ok(sender)
}

/// Starts a process with a placement. The calling thread takes the placement itself, because a
/// child inherits affinity, timer slack and policy from the thread that starts it.
fn spawn(
    mut command: Command,
    placement: Placement,
    ends_with_program: bool,
) -> Result<Child, StartError> {
    match placement.cpu {
        Some(cpu) => timers::pin_to(cpu)?,
        None => timers::unpin(),
    }
    placement
        .slack_ns
        .map_or(Ok(()), scheduling::set_timer_slack)?;
    // The policy is set last, because a real-time thread has no timer slack.
    let previous_policy = placement.policy.and_then(|_| scheduling::policy());
    let policy_set = placement.policy.map_or(Ok(()), scheduling::set_policy);
    if ends_with_program {
        process::kill_with_starter(&mut command);
    }
    let child = policy_set.map(|()| process::spawn(&mut command));
    let _ = placement
        .policy
        .map(|_| scheduling::set_policy(previous_policy.unwrap_or_default()));
    let _ = placement.slack_ns.map(|_| scheduling::set_timer_slack(0));
    // The thread waits for the next request on any CPU, so that it does not stay on a CPU that is
    // measured.
    timers::unpin();
    Ok(child??)
}
