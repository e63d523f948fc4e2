//! What many nodes have in common and which of them differ: pure functions of figures with their uncertainties.

pub mod attribution;
pub mod change;
pub mod random_effects;
mod robust;
pub mod roll;
pub mod strays;
pub mod trend;
