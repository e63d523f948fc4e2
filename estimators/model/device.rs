//! A device whose processor reads timers in place of a CPU of the machine.

use super::{Estimate, Hertz};

/// A device, such as a GPU, whose processor reads timers.
#[apply(wire, Default)]
#[serde(default)]
pub struct Device {
    /// The name of the processor.
    pub name: String,
    /// The number of places of the device, such as multiprocessors, at which its agent can read its
    /// timers; absent if the agent chooses them itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<u32>,
    /// The id of the timer that counts the cycles of the processor; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<String>,
    /// The declared frequency of the processor, in hertz; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hertz: Option<f64>,
    /// The frequency that converts time to cycles of the processor, in hertz: that of `cycles`, or else
    /// `hertz`; absent if neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles_hz: Option<Estimate>,
}

impl Device {
    /// Whether it has a name, and numbers that a device can have.
    pub fn is_valid(&self) -> bool {
        /// The largest number of places: more than any device has.
        const MAX_PLACES: u32 = 4096;
        let are_possible = |places| (1..=MAX_PLACES).contains(&places);
        !self.name.trim().is_empty()
            && self.places.is_none_or(are_possible)
            && self.hertz.is_none_or(|hertz| Hertz::new(hertz).is_some())
    }
}
