//! Times at one frequency of the core.
//!
//! What a call costs is mostly a number of core cycles, and cores change their frequency from one moment to the next: the
//! same 45 cycles take 16.3 ns at 2.76 GHz and 18.3 ns at 2.46 GHz. So every window of measurement knows the frequency that it
//! ran at, and its times are reported as they would be at the frequency of the whole campaign.

use crate::analysis::statistics::{quantile, sorted};
pub use crate::model::Following;

/// The frequency of the core that times are told at, in hertz; without one they are told as they were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoreFrequency(pub Option<f64>);

impl CoreFrequency {
    /// What a time has to be multiplied by that was measured while the core ran at `core_hz`.
    #[must_use]
    pub fn scale(self, core_hz: Option<f64>) -> f64 {
        match (core_hz, self.0) {
            (Some(core), Some(common)) if core > 0.0 && common > 0.0 => core / common,
            _ => 1.0,
        }
    }
}

/// Whether the figures of processes follow the core: those that agree clearly better are the right ones, reported at one frequency
/// (`at_core_frequency`) or as they were measured.
#[must_use]
pub fn following(at_core_frequency: &[f64], measured: &[f64]) -> Following {
    /// With fewer processes nothing can be told.
    /// *Judgement*: quartiles of fewer are single figures.
    const FEWEST: usize = 4;
    /// The scatter of the right figures is at most this part of that of the wrong ones.
    /// *Judgement*.
    const CLEARLY: f64 = 0.6;
    let (Some(of_core_frequency), Some(of_measured)) = (scatter(at_core_frequency), scatter(measured)) else {
        return Following::Unknown;
    };
    if at_core_frequency.len() < FEWEST {
        Following::Unknown
    } else if of_core_frequency < CLEARLY * of_measured {
        Following::Core
    } else if of_measured < CLEARLY * of_core_frequency {
        Following::Device
    } else {
        Following::Unknown
    }
}

/// How far apart the quartiles of figures lie, as a share of their middle.
fn scatter(figures: &[f64]) -> Option<f64> {
    let sorted = sorted(figures);
    Some((quantile(&sorted, 0.75)? - quantile(&sorted, 0.25)?) / quantile(&sorted, 0.5)?.abs().max(1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_at_one_frequency() {
        assert_eq!(CoreFrequency(Some(2e9)).scale(Some(3e9)), 1.5);
        assert_eq!(CoreFrequency(None).scale(Some(3e9)), 1.0);
        assert_eq!(CoreFrequency(Some(2e9)).scale(None), 1.0);
    }

    #[test]
    fn what_does_not_follow_the_core_is_left_as_it_is() {
        let frequencies = [2.4, 2.5, 2.6, 2.7, 2.8, 2.45, 2.75];
        let of_core: Vec<f64> = frequencies.iter().map(|ghz| 100.0 / ghz).collect();
        let at_core_frequency: Vec<f64> =
            of_core.iter().zip(frequencies).map(|(ns, ghz)| ns * ghz / 2.6).collect();
        assert_eq!(following(&at_core_frequency, &of_core), Following::Core);
        let of_device = [500.0; 7];
        let at_core_frequency: Vec<f64> =
            of_device.iter().zip(frequencies).map(|(ns, ghz)| ns * ghz / 2.6).collect();
        assert_eq!(following(&at_core_frequency, &of_device), Following::Device);
        assert_eq!(
            following(&at_core_frequency[..2], &of_device[..2]),
            Following::Unknown,
            "too few to tell"
        );
        assert_eq!(following(&of_device, &of_device), Following::Unknown, "the core kept its frequency");
    }
}
