//! Requests to end (signal(7)).

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::{io, ptr, thread};

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// A signal that asks this program to end.
#[derive(Clone, Copy, Debug)]
pub struct Request(i32);

impl Request {
    /// With what a shell reports a program that the signal ended: 130 for SIGINT, 143 for SIGTERM,
    /// 129 for SIGHUP.
    #[must_use]
    pub fn exit_status(self) -> u8 {
        128 + self.0 as u8
    }

    /// Ends this process as the signal does by itself.
    pub fn obey(self) {
        let _ = emulate_default_handler(self.0);
    }
}

static ASKED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Such a signal that came, from the moment on at which it did: a call that it cut short fails
/// before the thread that listens has heard of it.
#[must_use]
pub fn asked() -> Option<Request> {
    let signal = ASKED.get()?.load(Ordering::SeqCst);
    (signal != 0).then_some(Request(signal as i32))
}

/// Has `asked` called, in a thread of its own, when a signal asks this program to end. A file that
/// grows beyond its limit is an error from then on, and no end without a word.
///
/// # Errors
/// When signals cannot be heard: signals do then what they do by themselves.
pub fn listen(asked: impl FnOnce(Request) + Send + 'static) -> io::Result<()> {
    let ended = [SIGINT, SIGTERM, SIGQUIT]
        .into_iter()
        .chain((!is_ignored(SIGHUP)).then_some(SIGHUP));
    // First of all: from the first handler on a signal does nothing by itself, and one that came
    // before this would not be heard.
    let mut signals = Signals::new(ended.clone())?;
    let flag = ASKED.get_or_init(Arc::default);
    for signal in ended {
        signal_hook::flag::register_usize(signal, Arc::clone(flag), signal as usize)?;
    }
    signal_hook::flag::register(SIGXFSZ, Arc::<AtomicBool>::default())?;
    let work = move || {
        if let Some(signal) = signals.forever().next() {
            asked(Request(signal));
        }
    };
    thread::Builder::new()
        .name("signals".into())
        .spawn(work)
        .map(drop)
}

static CONTINUED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Hears from now on when this process is told to go on (SIGCONT), as after each stop by a signal.
///
/// # Errors
/// When signals cannot be heard.
pub fn hear_continuations() -> io::Result<()> {
    let flag = CONTINUED.get_or_init(Arc::default);
    signal_hook::flag::register(SIGCONT, Arc::clone(flag)).map(drop)
}

/// Whether this process was told to go on since the last time that this was asked.
#[must_use]
pub fn continued() -> bool {
    CONTINUED
        .get()
        .is_some_and(|flag| flag.swap(false, Ordering::SeqCst))
}

/// Whether the parent process wants it to go on when a signal comes, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: nothing is changed by a null pointer; the other one is valid.
    let status = unsafe { libc::sigaction(signal, ptr::null(), now.as_mut_ptr()) };
    // SAFETY: the call succeeded, so it is written.
    status == 0 && unsafe { now.assume_init() }.sa_sigaction == libc::SIG_IGN
}
