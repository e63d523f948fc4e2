//! Times an operation with a timer of the catalogue. This code is part of the crate `timers`, so
//! that the timed region and the built-in operations are compiled with the same optimisation as the
//! other hot loops; the rest of the program may be compiled differently.

pub mod clock;
#[cfg(feature = "operations")]
pub mod operations;
pub mod window;
