//! How fast the CPU runs: what is declared, what its time stamp counter does, what a core really does.

mod effective;
mod nominal;
mod summary;
mod tsc;

pub use effective::{Chains, effective};
pub use nominal::{nominal, parse_frequency};
pub use summary::{CyclesFrom, NominalUnknown, Parts, UnknownCycles, summarise};
pub use tsc::tsc_hz;
