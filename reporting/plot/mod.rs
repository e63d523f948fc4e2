//! Draws plots of a clock, and a plot of all clocks of a report, as SVG. A [`Canvas`] has two axes and
//! draws shapes at their values; `templates/plot.css` colours the shapes.

mod canvas;
mod clock;
mod ranking;

use crate::text::numbers::{count, trimmed};

use canvas::{Axis, Canvas, Point};
pub use clock::plots;
pub use ranking::{NARROW, WIDE, ranking};

/// A drawn plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The title.
    pub title: &'static str,
    /// What it shows, also for readers who cannot see it.
    pub caption: String,
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// The content of an `svg` element of this size.
    pub marks: String,
    /// The labels that stand for several clocks, with their names.
    pub shared: Vec<(String, String)>,
}

/// Writes a number of cycles, ticks or observations on an axis.
fn number(value: f64) -> String {
    trimmed(&count(Some(value)))
}
