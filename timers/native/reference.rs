//! The references: the clocks that the other timers are compared with.

use super::Loops;
use crate::counters::InstructionCounter;
use crate::os::{CommonClock, UndistortedClock};
use crate::{Answer, Described, Fault, Ticks, Timer, Visitor, arch};

/// The processor's counter, read behind a fence.
type Fenced = InstructionCounter<arch::FencedInstruction>;

/// The ids of all references, best first. They are few, because the loops are compiled for each
/// pair of timer and reference.
pub const REFERENCES: [&str; 3] = [
    Fenced::INFO.id,
    CommonClock::INFO.id,
    UndistortedClock::INFO.id,
];

/// A reference that is open.
pub(super) enum OpenReference {
    Fenced(Fenced),
    CommonClock(CommonClock),
    UndistortedClock(UndistortedClock),
}

/// Evaluates an expression, compiled for the type of each reference.
macro_rules! with_reference {
    ($reference:expr, |$typed:ident| $expression:expr) => {
        match $reference {
            OpenReference::Fenced($typed) => $expression,
            OpenReference::CommonClock($typed) => $expression,
            OpenReference::UndistortedClock($typed) => $expression,
        }
    };
}
pub(super) use with_reference;

impl OpenReference {
    /// Opens the reference with the given id.
    pub(super) fn open(id: &str) -> Answer<Self> {
        fn open_as<R: Timer>(variant: fn(R) -> OpenReference) -> Answer<OpenReference> {
            R::open().map(variant).map_err(|why| {
                Fault::Refused(format!(
                    "the reference {} cannot be read: {why}",
                    R::INFO.id
                ))
            })
        }
        match id {
            id if id == Fenced::INFO.id => open_as(Self::Fenced),
            id if id == CommonClock::INFO.id => open_as(Self::CommonClock),
            id if id == UndistortedClock::INFO.id => open_as(Self::UndistortedClock),
            id => Err(Fault::Refused(format!(
                "`{id}` is not a reference on this machine; the references are {}",
                REFERENCES.join(", ")
            ))),
        }
    }

    /// Reads the reference once, in ticks.
    pub(super) fn now(&self) -> Ticks {
        with_reference!(self, |reference| Loops::now(reference))
    }
}

/// Opens the reference with the given id and passes it to the visitor, which is compiled for the
/// type of each reference.
#[inline(never)]
pub(crate) fn visit_reference<V: Visitor>(id: &str, visitor: V) -> Answer<V::Output> {
    Ok(with_reference!(OpenReference::open(id)?, |reference| {
        visitor.visit(reference)
    }))
}
