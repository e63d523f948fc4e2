//! Starts every process that this program runs, and ends all of them when the program ends, for
//! whatever reason.
//!
//! - Each process leads its own process group, which is ended as a whole. A group is removed from
//!   the list of groups before its leader is reaped, because the system may reuse the number
//!   afterwards.
//! - The guard, a second process of this program, ends whatever is left when this program ends or is
//!   killed: the process groups, and every process that has this program's mark in its environment,
//!   because a descendant that starts a session leaves its group. A process that has its own session
//!   *and* a replaced environment escapes.
//! - A process outside the groups is only signalled after it was read that it has the mark. If
//!   `/proc` does not show other processes ([`why_descendants_unknown`]), only groups are ended.
//! - A process that does not end within a limit, because it runs as another user or a sandbox refuses
//!   kill(2), is left behind and reported by [`finish`]. Its pipes are closed, which ends an agent.

mod groups;
pub mod guard;
mod own_program;
mod placement;
mod running;
mod start_error;

pub use groups::{finish, interrupt, interrupted, own_descendants};
pub use own_program::this_program;
pub use placement::Placement;
pub use running::{ChildError, Ended, RunningProcess, run, start};
pub use start_error::{StartError, with_remedy};
/// The reason why the descendants of this process cannot be found, so that those that left their
/// group survive this program; `None` if they can be found.
pub use timers::os::process::why_descendants_unknown;
