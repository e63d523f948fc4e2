//! The references: the timers that time the other timers.

use super::Loops;
use crate::counters::Counter;
use crate::os::{Common, Undistorted};
use crate::subject::{Answer, Fault};
use crate::{Described, Ticks, Timer, Visitor, arch};

/// The counter of the processor, held back by a fence and bare.
type Fenced = Counter<arch::Fenced>;
type Bare = Counter<arch::Bare>;

/// The timers that batches can be bracketed with, best first. Few, because the loop is compiled for
/// each pair.
pub const REFERENCES: [&str; 4] = [
    Fenced::INFO.id,
    Common::INFO.id,
    Undistorted::INFO.id,
    Bare::INFO.id,
];

/// A timer that batches can be bracketed with, opened.
pub(super) enum Reference {
    Fenced(Fenced),
    Common(Common),
    Undistorted(Undistorted),
    Bare(Bare),
}

/// What an expression gives with a reference, whatever its type.
macro_rules! with_reference {
    ($reference:expr, |$typed:ident| $what:expr) => {
        match $reference {
            Reference::Fenced($typed) => $what,
            Reference::Common($typed) => $what,
            Reference::Undistorted($typed) => $what,
            Reference::Bare($typed) => $what,
        }
    };
}
pub(super) use with_reference;

impl Reference {
    pub(super) fn open(id: &str) -> Answer<Self> {
        fn opened<R: Timer>(variant: fn(R) -> Reference) -> Answer<Reference> {
            R::open().map(variant).map_err(|why| {
                Fault::Refused(format!(
                    "the reference {} cannot be read: {why}",
                    R::INFO.id
                ))
            })
        }
        match id {
            id if id == Fenced::INFO.id => opened(Self::Fenced),
            id if id == Common::INFO.id => opened(Self::Common),
            id if id == Undistorted::INFO.id => opened(Self::Undistorted),
            id if id == Bare::INFO.id => opened(Self::Bare),
            id => Err(Fault::Refused(format!(
                "`{id}` is no reference here; there are {}",
                REFERENCES.join(", ")
            ))),
        }
    }

    /// Reads it, for any caller.
    pub(super) fn now(&self) -> Ticks {
        with_reference!(self, |reference| Loops::now(reference))
    }
}

/// Has a loop compiled for each reference, and run with the one of that id.
#[inline(never)]
pub(crate) fn by_reference<V: Visitor>(id: &str, visitor: V) -> Answer<V::Output> {
    Ok(with_reference!(Reference::open(id)?, |reference| visitor.visit(reference)))
}
