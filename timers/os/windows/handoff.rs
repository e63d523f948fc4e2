//! A channel whose receiver waits with a limit of time, which no library that is preloaded distorts
//! on Windows.

#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented in the folder of Unix"
)]

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::time::Duration;

pub struct Sender<T>(SyncSender<T>);
pub struct Receiver<T>(mpsc::Receiver<T>);

pub fn channel<T>() -> io::Result<(Sender<T>, Receiver<T>)> {
    let (sender, receiver) = mpsc::sync_channel(1);
    Ok((Sender(sender), Receiver(receiver)))
}

#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented in the folder of Unix"
)]
impl<T> Sender<T> {
    pub fn send(&self, message: T) -> bool {
        self.0.send(message).is_ok()
    }
}

#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented in the folder of Unix"
)]
impl<T> Receiver<T> {
    pub fn receive(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        self.0.recv_timeout(limit)
    }
}
