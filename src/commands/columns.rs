//! Typed columns, where this build has them.

#[cfg(feature = "dataset")]
mod with;
#[cfg(not(feature = "dataset"))]
mod without;

#[cfg(feature = "dataset")]
pub use with::{ALL_CLOCKS, collect, table};
#[cfg(not(feature = "dataset"))]
pub use without::{ALL_CLOCKS, collect, table};
