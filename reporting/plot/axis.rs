//! The axis of a plot: which value is at which pixel, and which numbers are written.

/// The least distance of two numbers in pixels.
const NUMBER_DISTANCE: f64 = 50.0;

/// An axis.
#[derive(Clone)]
pub(super) struct Axis {
    /// The quantity.
    pub label: &'static str,
    /// Formats a value with its unit.
    pub write: fn(f64) -> String,
    /// The values at the ends.
    pub ends: [f64; 2],
    /// Whether equal distances are equal ratios.
    pub is_log: bool,
    /// The pixels at the ends.
    pub pixels: [f64; 2],
}

impl Axis {
    /// An axis on which equal distances are equal differences.
    pub fn new(label: &'static str, write: fn(f64) -> String, ends: [f64; 2]) -> Self {
        Self {
            label,
            write,
            ends,
            is_log: false,
            pixels: [0.0; 2],
        }
    }

    /// Whether it is neither empty nor infinite.
    pub fn is_valid(&self) -> bool {
        self.length().is_finite() && self.length() > self.ends[1].abs() * 1e-9
    }

    /// The difference of the values at the ends.
    pub fn length(&self) -> f64 {
        self.ends[1] - self.ends[0]
    }

    /// The pixel of a value, with one decimal; that of the nearest end if it is outside.
    pub fn pixel(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.is_log { value.ln() } else { value };
        let [[from, to], [start, end]] = [self.ends.map(scaled), self.pixels];
        let share = (scaled(value) - from) / (to - from);
        let pixel = start + share.clamp(0.0, 1.0) * (end - start);
        (10.0 * pixel).round() / 10.0
    }

    /// The multiples of `step` between the ends.
    pub fn multiples(&self, step: f64) -> Vec<f64> {
        let [from, to] = self.ends.map(|end| end / step);
        let multiples = from.ceil() as i64..=to.floor() as i64;
        multiples.map(|multiple| multiple as f64 * step).collect()
    }

    /// The pixels and texts of as many round numbers as there is room for.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let most = (self.pixels[1] - self.pixels[0]).abs() / NUMBER_DISTANCE;
        let decades = (-18..=18).map(|power| 10_f64.powi(power));
        let round = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * decade));
        let is_within = |value: &f64| (self.ends[0]..=self.ends[1]).contains(value);
        let candidates: Vec<Vec<f64>> = if self.is_log {
            // All of them, or powers of 10, or of 1000.
            let every = |nth| round.clone().step_by(nth).filter(is_within).collect();
            [1, 3, 9].map(every).into()
        } else {
            let mut steps = round.filter(|step| self.length() / step <= most);
            steps
                .next()
                .map(|step| self.multiples(step))
                .into_iter()
                .collect()
        };
        let fitting = candidates
            .into_iter()
            .find(|all| all.len() as f64 <= most + 1.0);
        let values = fitting.unwrap_or_default().into_iter();
        values
            .map(|value| (self.pixel(value), (self.write)(value)))
            .collect()
    }
}
