//! What many nodes have in common and who of them differs: pure functions of figures with their uncertainties.

pub mod change;
pub mod random_effects;
