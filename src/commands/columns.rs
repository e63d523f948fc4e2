//! Typed columns, where this build has them.

#[cfg(feature = "dataset")]
mod with;
#[cfg(not(feature = "dataset"))]
mod without;

#[cfg(feature = "dataset")]
pub use with::{collect, table};
#[cfg(not(feature = "dataset"))]
pub use without::{collect, table};
