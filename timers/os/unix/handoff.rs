//! A channel whose receiver waits with a limit of time. `std::sync::mpsc` computes the end of such a
//! wait from the C library's clock, which a preloaded library may stop or hasten; `poll` is given
//! the time that is left, and the kernel counts it.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender, TryRecvError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use crate::Deadline;
use crate::os::unix::rest;

/// Sends messages; dropping it ends the channel.
pub struct Sender<T> {
    // Dropped before the pipe, so that a receiver that is woken by its end finds the channel ended.
    messages: SyncSender<T>,
    /// Gets a byte for each message.
    bell: PipeWriter,
}

/// Receives messages.
pub struct Receiver<T> {
    messages: mpsc::Receiver<T>,
    bell: PipeReader,
}

/// A channel that holds one message that nobody has received yet.
///
/// # Errors
/// When the process may not open two more files.
pub fn channel<T>() -> io::Result<(Sender<T>, Receiver<T>)> {
    let ((messages, received), (heard, bell)) = (mpsc::sync_channel(1), io::pipe()?);
    let receiver = Receiver {
        messages: received,
        bell: heard,
    };
    Ok((Sender { messages, bell }, receiver))
}

impl<T> Sender<T> {
    /// Sends a message, after waiting for the one before it to be received. Returns whether there is
    /// still a receiver.
    pub fn send(&self, message: T) -> bool {
        self.messages.send(message).is_ok() && (&self.bell).write_all(&[0]).is_ok()
    }
}

impl<T> Receiver<T> {
    /// Waits for the next message.
    ///
    /// # Errors
    /// `Timeout` when none came within `limit`, `Disconnected` when the sender is gone.
    pub fn receive(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        let deadline = Deadline::after(limit);
        loop {
            match self.messages.try_recv() {
                Ok(message) => {
                    // The sender writes the byte of the message right after it.
                    let _ = (&self.bell).read_exact(&mut [0]);
                    return Ok(message);
                }
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                Err(TryRecvError::Empty) => {}
            }
            let left = deadline.remaining().ok_or(RecvTimeoutError::Timeout)?;
            rest::wait_for(&mut [PollFd::new(&self.bell, PollFlags::IN)], left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_in_order_until_the_end() {
        const HOUR: Duration = Duration::from_secs(3_600);
        let (sender, receiver) = channel().unwrap();
        assert_eq!(
            receiver.receive(Duration::from_millis(1)),
            Err(RecvTimeoutError::Timeout)
        );
        let thread = std::thread::spawn(move || (0..100).for_each(|at| assert!(sender.send(at))));
        for at in 0..100 {
            assert_eq!(receiver.receive(HOUR), Ok(at));
        }
        thread.join().unwrap();
        assert_eq!(receiver.receive(HOUR), Err(RecvTimeoutError::Disconnected));
    }
}
