//! The type of a catalogue entry, and the macro `clocks!`, by which each family of clocks defines
//! its table of entries.

use crate::{Available, Info, Native, Subject, Timer};

/// An entry of the catalogue: a native timer.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Id, label, unit and declared properties.
    pub info: Info,
    /// The declared nanoseconds per tick, also if only the system knows them; `None` if not declared.
    pub ns_per_tick: fn() -> Option<f64>,
    /// The resolution in nanoseconds that the system declares; `None` if not declared.
    pub declared_resolution: fn() -> Option<f64>,
    /// Checks that the timer can be read on this machine.
    pub availability: fn() -> Available,
    /// Opens the timer for the calling thread.
    pub open: fn() -> Available<Box<dyn Subject>>,
}

impl Entry {
    /// The entry of a timer type.
    pub(crate) const fn of_type<T: Timer + 'static>() -> Self {
        Self {
            info: T::INFO,
            ns_per_tick: T::ns_per_tick,
            declared_resolution: T::declared_resolution,
            availability: T::availability,
            open: || Ok(Box::new(Native::from_timer(T::open()?))),
        }
    }
}

/// Defines a table of clocks: type, id, label, nanoseconds per tick, properties. The types exist
/// only on targets for which `$here` holds. Other targets list the same rows as unavailable, with
/// the reason "`$place` only". `visit_own` returns the visitor if the id is not in the table.
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
            $crate::Entry::of_type::<$timer>(),
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
        ) -> Result<$crate::Available<V::Output>, V> {
            match id {
                $(#[cfg($here)]
                $id => Ok(<$timer as $crate::Timer>::open().map(|timer| visitor.visit(timer))),)*
                _ => Err(visitor),
            }
        }
    };
}
pub(crate) use clocks;

/// An operation on a timer that is chosen at run time; its code is compiled for each timer type.
pub trait Visitor {
    /// The result of the operation.
    type Output;

    /// Performs the operation.
    fn visit<T: Timer + 'static>(self, timer: T) -> Self::Output;
}
