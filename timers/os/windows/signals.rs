//! Console events that ask this program to end ([console control handlers]): Ctrl-C, Ctrl-Break,
//! and closing the console.
//!
//! [console control handlers]: https://learn.microsoft.com/windows/console/setconsolectrlhandler

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{io, process, thread};

use windows_sys::Win32::Foundation::STATUS_CONTROL_C_EXIT;
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};

use super::windows::handle::check_status;

/// An event that asks this program to end.
#[derive(Clone, Copy, Debug)]
pub struct EndRequest(());

impl EndRequest {
    /// The exit status, as a Unix shell reports it for a program that the user interrupted.
    pub fn exit_status(self) -> u8 {
        130
    }

    /// Ends this process as the default action of the event does.
    pub fn obey(self) {
        process::exit(STATUS_CONTROL_C_EXIT);
    }
}

/// Whether an event asked this program to end.
static ASKED: AtomicBool = AtomicBool::new(false);
type Work = Box<dyn FnOnce(EndRequest) + Send>;
/// What [`listen`] was given, until an event.
static WORK: Mutex<Option<Work>> = Mutex::new(None);
/// The time for the program to end when the console is closed. The handler waits this long, because
/// Windows ends the process when the handler returns, at the latest after five seconds.
const SHUTDOWN_TIME: Duration = Duration::from_secs(10);

/// The event that asked this program to end; `None` if there was none.
pub fn end_request() -> Option<EndRequest> {
    ASKED.load(Ordering::SeqCst).then_some(EndRequest(()))
}

/// Calls `on_request` on another thread when an event asks this program to end.
///
/// # Errors
/// When the handler cannot be installed; events then have their default action.
pub fn listen(on_request: impl FnOnce(EndRequest) + Send + 'static) -> io::Result<()> {
    *WORK.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(on_request));
    // SAFETY: the handler has the documented signature and exists as long as the program.
    check_status(unsafe { SetConsoleCtrlHandler(Some(handle), 1) })
}

/// The handler of console events, which Windows calls on a new thread.
unsafe extern "system" fn handle(event: u32) -> i32 {
    ASKED.store(true, Ordering::SeqCst);
    // Later events find no work.
    let work = WORK.lock().ok().and_then(|mut work| work.take());
    if let Some(work) = work {
        work(EndRequest(()));
    }
    if event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT {
        thread::sleep(SHUTDOWN_TIME);
    }
    1
}
