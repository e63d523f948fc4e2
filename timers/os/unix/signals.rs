//! Signals (signal(7)): those that ask this program to end; and SIGXFSZ, which must not end it.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::{io, ptr, thread};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// A signal that asks this program to end.
#[derive(Clone, Copy, Debug)]
pub struct EndRequest(i32);

impl EndRequest {
    /// The exit status by which a shell reports that the signal ended a program: 130 for SIGINT,
    /// 143 for SIGTERM, 129 for SIGHUP.
    pub fn exit_status(self) -> u8 {
        128 + self.0 as u8
    }

    /// Ends this process as the default action of the signal does.
    pub fn obey(self) {
        let _ = emulate_default_handler(self.0);
    }
}

/// The last signal that asked this program to end; 0 if there was none.
static END_SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// The last signal that asked this program to end; `None` if there was none. The signal handler
/// itself records it, because a system call that the signal interrupts can fail before the thread
/// of [`listen`] runs.
pub fn end_request() -> Option<EndRequest> {
    let signal = END_SIGNAL.get()?.load(Ordering::SeqCst);
    (signal != 0).then_some(EndRequest(signal as i32))
}

/// Calls `on_request` on a new thread when the first signal asks this program to end; later signals
/// are only recorded ([`end_request`]). In addition, exceeding the limit of file sizes (SIGXFSZ)
/// becomes an error of the write instead of ending the program.
///
/// # Errors
/// When a handler cannot be installed or the thread cannot be started. A signal whose handler is
/// installed then no longer ends the program; the other signals have their default action.
pub fn listen(on_request: impl FnOnce(EndRequest) + Send + 'static) -> io::Result<()> {
    let end_signals = [SIGINT, SIGTERM, SIGQUIT]
        .into_iter()
        .chain((!is_ignored(SIGHUP)).then_some(SIGHUP));
    // The first handler of a signal replaces its default action. If that were the handler which
    // sets the flag, a signal that arrives before `signals` exists would neither end the program
    // nor reach the thread.
    let mut signals = Signals::new(end_signals.clone())?;
    let flag = END_SIGNAL.get_or_init(Arc::default);
    for signal in end_signals {
        signal_hook::flag::register_usize(signal, Arc::clone(flag), signal as usize)?;
    }
    // Nothing reads this flag. It is registered because a handler, unlike the default action, lets
    // the write fail with EFBIG.
    signal_hook::flag::register(SIGXFSZ, Arc::<AtomicBool>::default())?;
    let work = move || {
        if let Some(signal) = signals.forever().next() {
            on_request(EndRequest(signal));
        }
    };
    thread::Builder::new()
        .name("signals".into())
        .spawn(work)
        .map(drop)
}

/// Whether this process ignores a signal, because the program that started this process requested
/// it, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: a null pointer as the new action changes nothing; the other pointer is valid for one
    // sigaction.
    let status = unsafe { libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) };
    // SAFETY: the call succeeded, so the kernel has filled the structure.
    status == 0 && unsafe { now.assume_init() }.sa_sigaction == libc::SIG_IGN
}
