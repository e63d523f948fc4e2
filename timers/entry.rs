//! A row of the catalogue: how a native timer is described, opened and visited, and the tables of
//! such rows that each family of clocks writes.

use crate::{Info, Native, Subject, Timer, Unavailable};

/// A native timer as the catalogue knows it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name, label, unit, and what it is.
    pub info: Info,
    /// Nanoseconds in one tick, as declared.
    pub ns_per_tick: fn() -> Option<f64>,
    /// The resolution that the system declares for it, in nanoseconds.
    pub declared_resolution: fn() -> Option<f64>,
    /// Whether it can be read on this machine, and if not, why.
    pub availability: fn() -> Result<(), Unavailable>,
    /// Opens it for the calling thread.
    pub open: fn() -> Result<Box<dyn Subject>, Unavailable>,
}

impl Entry {
    pub(crate) const fn opening<T: Timer>() -> Self {
        Self {
            info: T::INFO,
            ns_per_tick: T::ns_per_tick,
            declared_resolution: T::declared_resolution,
            availability: T::availability,
            open: || Ok(Box::new(Native::open::<T>()?)),
        }
    }
}

/// A table of clocks: type, id, label, nanoseconds in a tick, properties. The types are there where
/// `$here` holds; all others know the rows, as clocks of `$place` only. What a table does not know is
/// visited by the next.
macro_rules! clocks {
    ($place:literal, $here:meta; $($timer:ty, $id:literal, $label:expr, $ns_per_tick:expr, $properties:expr;)*) => {
        $(#[cfg($here)]
        impl $crate::Described for $timer {
            const INFO: $crate::Info = $crate::Info {
                id: $id,
                label: $label,
                ns_per_tick: $ns_per_tick,
                properties: $properties,
            };
        })*

        pub(crate) const ALL: &[$crate::Entry] = &[$(
            #[cfg($here)]
            $crate::Entry::opening::<$timer>(),
            #[cfg(not($here))]
            $crate::Entry {
                info: $crate::Info {
                    id: $id,
                    label: $label,
                    ns_per_tick: $ns_per_tick,
                    properties: $properties,
                },
                ns_per_tick: || None,
                declared_resolution: || None,
                availability: || Err($crate::Unavailable::elsewhere(concat!($place, " only"))),
                open: || Err($crate::Unavailable::elsewhere(concat!($place, " only"))),
            },
        )*];

        pub(crate) fn visit_own<V: $crate::Visitor>(
            id: &str,
            visitor: V,
        ) -> Result<Result<V::Output, $crate::Unavailable>, V> {
            match id {
                $(#[cfg($here)]
                $id => Ok(<$timer as $crate::Timer>::open().map(|timer| visitor.visit(timer))),)*
                _ => Err(visitor),
            }
        }
    };
}
pub(crate) use clocks;

/// Something to be done with a timer whose type is not known beforehand.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<T: Timer>(self, timer: T) -> Self::Output;
}
