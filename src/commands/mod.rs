//! What the program does: one verb a file. Only these files and `main` print.

pub mod agent;
pub mod score;

/// Why a command ended without doing what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// It was asked the wrong way.
    #[error("{0}")]
    Usage(String),
    /// It could not be done.
    #[error("{0}")]
    Failed(String),
    /// Nobody reads the output any more, as in `timermeter list | head -1`.
    #[error("the reader of the output went away")]
    Closed,
}

impl CommandError {
    /// The exit status that tells scripts about it.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
        }
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Failed(format!("cannot write the output: {error}")),
        }
    }
}
