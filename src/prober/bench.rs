//! What stands on the bench: a timer, the reference that times it, and the floor of the loops, all of one host.

use timers::Subject;

/// A timer with all that is needed to question it.
pub struct Bench {
    /// The timer.
    pub timer: Box<dyn Subject>,
    /// Nanoseconds in its tick, where declared.
    pub ns_per_tick: Option<f64>,
    /// The reference, and the id by which its host knows it.
    pub reference: Box<dyn Subject>,
    /// The id of the reference.
    pub reference_id: String,
    /// The timer that reads nothing, where the host has one.
    pub floor: Option<Box<dyn Subject>>,
}
