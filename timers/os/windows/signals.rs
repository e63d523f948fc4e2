//! Requests to end ([console control handlers]): Ctrl-C, Ctrl-Break, and the closing of the
//! console.
//!
//! [console control handlers]: https://learn.microsoft.com/windows/console/setconsolectrlhandler

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;
use std::{io, process, thread};

use windows_sys::Win32::Foundation::STATUS_CONTROL_C_EXIT;
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};

use super::handle::checked;

/// An event that asks this program to end.
#[derive(Clone, Copy, Debug)]
pub struct Request(());

impl Request {
    /// With what the program ends: what a shell of Unix reports where a user interrupted it.
    #[must_use]
    pub fn exit_status(self) -> u8 {
        130
    }

    /// Ends this process as the event does by itself.
    pub fn obey(self) {
        process::exit(STATUS_CONTROL_C_EXIT);
    }
}

static ASKED: AtomicBool = AtomicBool::new(false);
static ASKED_ONCE: OnceLock<SyncSender<()>> = OnceLock::new();
/// Windows ends the process as soon as the handler of a console that closes returns, or after five
/// seconds.
const TO_END: Duration = Duration::from_secs(10);

/// Such an event that came, from the moment on at which it did.
#[must_use]
pub fn asked() -> Option<Request> {
    ASKED.load(Ordering::SeqCst).then_some(Request(()))
}

/// No signal tells a process here that it goes on.
///
/// # Errors
/// Never.
pub fn hear_continuations() -> io::Result<()> {
    Ok(())
}

/// Whether this process was receiver to go on; that is not receiver here.
#[must_use]
pub fn continued() -> bool {
    false
}

/// Has `asked` called, in a thread of its own, when an event asks this program to end.
///
/// # Errors
/// When signals cannot be heard: events do then what they do by themselves.
pub fn listen(asked: impl FnOnce(Request) + Send + 'static) -> io::Result<()> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let work = move || {
        if receiver.recv().is_ok() {
            asked(Request(()));
        }
    };
    thread::Builder::new().name("signals".into()).spawn(work)?;
    let _ = ASKED_ONCE.set(sender);
    // SAFETY: the handler is a function that lives as long as the program.
    checked(unsafe { SetConsoleCtrlHandler(Some(handle), 1) })
}

/// Windows calls it in a thread of its own.
unsafe extern "system" fn handle(event: u32) -> i32 {
    ASKED.store(true, Ordering::SeqCst);
    // Of several events one is enough.
    let _ = ASKED_ONCE.get().map(|receiver| receiver.try_send(()));
    if event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT {
        thread::sleep(TO_END);
    }
    1
}
