//! What holds for the pure functions: by properties, and for machines that do not exist.

mod machines;
mod properties;
