//! Decides which clocks of a kernel are wrong if it corrects their rate by more than an intact
//! oscillator needs.
//!
//! The kernel makes its clocks of one counter. CLOCK_MONOTONIC_RAW runs at the rate that the kernel
//! found or was given at boot; the *corrected* clocks (CLOCK_MONOTONIC, CLOCK_REALTIME and those
//! made of them) run faster by the correction (adjtimex(2)). One of the two rates is therefore wrong
//! by at least a large correction. docs/check.md says what can prove which.

use crate::model::{MAX_SLEW, Ntp};
use crate::numbers::significant;

/// The clocks that run at a wrong rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongClocks {
    /// CLOCK_MONOTONIC_RAW, and the counter at the rate that the kernel or a hypervisor gives for
    /// it.
    Uncorrected,
    /// The corrected clocks, until the kernel has corrected an offset.
    Corrected,
    /// Either; nothing tells which.
    Unknown,
}

/// A correction of the rate of the kernel's clocks by more than [`MAX_SLEW`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargeCorrection {
    /// The share by which the corrected clocks run faster than CLOCK_MONOTONIC_RAW.
    pub share: f64,
    /// The clocks that are wrong.
    pub wrong: WrongClocks,
}

impl LargeCorrection {
    /// Returns the correction; `None` if it is not larger than an intact oscillator may need.
    ///
    /// A correction that ends with an offset makes the corrected clocks wrong meanwhile. One that
    /// lasts makes them right if a time service vouches for it: it keeps the clock synchronised and
    /// estimates an error that this rate would remove within a second. A larger error may be an
    /// offset that the service corrects at this rate, because it counts such an offset as an error.
    pub fn of(ntp: &Ntp) -> Option<Self> {
        let is_usual = |ppm: f64| ppm.abs() <= 1e6 * MAX_SLEW;
        let ppm = ntp.rate_ppm;
        let lasting_ppm = ntp.frequency_ppm + ntp.tick_ppm();
        // Parts per million are microseconds per second.
        let is_vouched = ppm.is_finite()
            && ntp.synchronised
            && (ntp.estimated_error_us as f64) < lasting_ppm.abs();
        let wrong = if ppm.is_finite() && is_usual(lasting_ppm) {
            WrongClocks::Corrected
        } else if is_vouched {
            WrongClocks::Uncorrected
        } else {
            WrongClocks::Unknown
        };
        (!is_usual(ppm)).then_some(Self {
            share: 1e-6 * ppm,
            wrong,
        })
    }

    /// Returns the correction from the share by which corrected clocks were seen to run faster, and
    /// from what the kernel reports, if it does; `None` if the share is not large.
    pub fn measured(share: f64, ntp: Option<&Ntp>) -> Option<Self> {
        let reported = ntp.and_then(Self::of);
        let wrong = reported.map_or(WrongClocks::Unknown, |reported| reported.wrong);
        (share.abs() > MAX_SLEW).then_some(Self { share, wrong })
    }

    /// Says how large the correction is, and which clocks are wrong.
    pub fn in_words(self) -> String {
        let why = match self.wrong {
            WrongClocks::Uncorrected => {
                "a time service vouches for them, so that the others are wrong"
            }
            WrongClocks::Corrected => "until an offset is corrected, so that they are wrong",
            WrongClocks::Unknown => {
                "either these or the others are wrong: nothing here shows which"
            }
        };
        let ppm = significant(1e6 * self.share, 3);
        format!("the clocks that the kernel corrects run {ppm} ppm faster than the others; {why}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(ntp: Ntp) -> Option<WrongClocks> {
        LargeCorrection::of(&ntp).map(|correction| correction.wrong)
    }

    #[test]
    fn a_vouched_correction_shows_a_wrong_counter() {
        let vouched = Ntp {
            synchronised: true,
            rate_ppm: 41_700.0,
            tick_us: 10_417,
            estimated_error_us: 900,
            ..Ntp::default()
        };
        assert_eq!(wrong(vouched.clone()), Some(WrongClocks::Uncorrected));
        let unvouched = Ntp {
            synchronised: false,
            ..vouched.clone()
        };
        assert_eq!(wrong(unvouched.clone()), Some(WrongClocks::Unknown));
        assert_eq!(LargeCorrection::measured(1e-5, Some(&vouched)), None);
        // The service corrects an offset of a second at this rate.
        let catching_up = Ntp {
            estimated_error_us: 1_000_000,
            ..vouched
        };
        assert_eq!(wrong(catching_up), Some(WrongClocks::Unknown));
    }

    #[test]
    fn a_correction_of_an_offset_makes_corrected_clocks_wrong() {
        let slewing = Ntp {
            synchronised: true,
            slewing: true,
            rate_ppm: 789.0,
            frequency_ppm: -11.0,
            offset_ns: 3_200_000,
            tick_us: 10_000,
            ..Ntp::default()
        };
        assert_eq!(wrong(slewing.clone()), Some(WrongClocks::Corrected));
        let usual = Ntp {
            rate_ppm: 489.0,
            ..slewing
        };
        assert_eq!(wrong(usual), None);
    }
}
