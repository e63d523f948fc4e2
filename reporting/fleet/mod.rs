//! What many nodes have in common and who of them differs: pure functions of figures with their uncertainties.

pub mod change;
pub mod groups;
pub mod node;
pub mod outliers;
pub mod random_effects;
mod robust;
pub mod roll;

#[cfg(test)]
mod tests;
