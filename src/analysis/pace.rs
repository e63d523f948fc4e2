//! Times at one frequency of the core.
//!
//! What a call costs is mostly a number of core cycles, and cores change their frequency from one moment to the next: the
//! same 45 cycles take 16.3 ns at 2.76 GHz and 18.3 ns at 2.46 GHz. So every window of measurement knows the frequency that it
//! ran at, and its times are told as they would be at the frequency of the whole campaign.

use crate::analysis::statistics::{quantile, sorted};

/// The frequency of the core that times are told at, in hertz; without one they are told as they were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace(pub Option<f64>);

impl Pace {
    /// What a time has to be multiplied by that was measured while the core ran at `core_hz`.
    #[must_use]
    pub fn scale(self, core_hz: Option<f64>) -> f64 {
        match (core_hz, self.0) {
            (Some(core), Some(common)) if core > 0.0 && common > 0.0 => core / common,
            _ => 1.0,
        }
    }
}

/// Figures at the pace of the core, unless they clearly do not follow it: what waits for something else than the core (a
/// device, another machine) agrees better between processes as it was measured.
#[must_use]
pub fn follows_core(paced: &[f64], measured: &[f64]) -> bool {
    /// With fewer processes nothing can be told.
    const FEWEST: usize = 3;
    /// By this much the figures as measured have to agree better.
    const CLEARLY: f64 = 0.6;
    let scatter = |figures: &[f64]| {
        let sorted = sorted(figures);
        Some((quantile(&sorted, 0.75)? - quantile(&sorted, 0.25)?) / quantile(&sorted, 0.5)?.abs().max(1e-9))
    };
    match (scatter(paced), scatter(measured)) {
        (Some(paced_scatter), Some(measured_scatter)) if paced.len() >= FEWEST => {
            measured_scatter >= CLEARLY * paced_scatter
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_at_one_frequency() {
        assert_eq!(Pace(Some(2e9)).scale(Some(3e9)), 1.5);
        assert_eq!(Pace(None).scale(Some(3e9)), 1.0);
        assert_eq!(Pace(Some(2e9)).scale(None), 1.0);
    }

    #[test]
    fn what_does_not_follow_the_core_is_left_as_it_is() {
        let frequencies = [2.4, 2.5, 2.6, 2.7, 2.8, 2.45, 2.75];
        let of_core: Vec<f64> = frequencies.iter().map(|ghz| 100.0 / ghz).collect();
        let paced: Vec<f64> = of_core.iter().zip(frequencies).map(|(ns, ghz)| ns * ghz / 2.6).collect();
        assert!(follows_core(&paced, &of_core));
        let of_device = [500.0; 7];
        let paced: Vec<f64> = of_device.iter().zip(frequencies).map(|(ns, ghz)| ns * ghz / 2.6).collect();
        assert!(!follows_core(&paced, &of_device));
        assert!(follows_core(&paced[..2], &of_device[..2]), "too few to tell");
    }
}
