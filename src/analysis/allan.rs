//! Allan deviation: how much the rate of a clock differs from one window to the next, by the length of the windows.

/// Phase samples at equal distances, from samples at any: linear between neighbours. `samples` are (time, phase) in ascending
/// time; the distance is their mean one, which is returned as well. `None` for fewer than three.
#[must_use]
pub fn evenly(samples: &[(f64, f64)]) -> Option<(f64, Vec<f64>)> {
    let (first, last) = (samples.first()?.0, samples.last()?.0);
    let steps = samples.len().checked_sub(1)?;
    let spacing = (last - first) / steps as f64;
    if steps < 2 || spacing <= 0.0 || !spacing.is_finite() {
        return None;
    }
    let mut left = 0;
    let phases = (0..=steps).map(|step| {
        let time = first + spacing * step as f64;
        while left + 2 < samples.len() && samples[left + 1].0 < time {
            left += 1;
        }
        let ((t0, x0), (t1, x1)) = (samples[left], samples[left + 1]);
        if t1 > t0 { x0 + (x1 - x0) * (time - t0) / (t1 - t0) } else { x0 }
    });
    Some((spacing, phases.collect()))
}

/// The overlapping Allan deviation of phases `spacing` apart, over windows of `stride` times that:
/// √(Σ (x[i+2n] − 2 x[i+n] + x[i])² / (2 (N − 2n))) / (n τ₀) (Riley, *Handbook of Frequency Stability Analysis*, NIST Special
/// Publication 1065, section 5.2.4). `None` where no two windows follow each other.
#[must_use]
pub fn deviation(phases: &[f64], spacing: f64, stride: usize) -> Option<f64> {
    let terms = phases.len().checked_sub(2 * stride).filter(|&terms| terms > 0 && stride > 0)?;
    let sum: f64 =
        (0..terms).map(|i| (phases[i + 2 * stride] - 2.0 * phases[i + stride] + phases[i]).powi(2)).sum();
    Some((sum / (2.0 * terms as f64)).sqrt() / (stride as f64 * spacing))
}

/// The deviation at windows of 1, 2, 4, … spacings, each with its length, as long as at least three terms tell it.
#[must_use]
pub fn deviations(phases: &[f64], spacing: f64) -> Vec<(f64, f64)> {
    let strides = (0..).map(|octave| 1_usize << octave).take_while(|stride| phases.len() >= 2 * stride + 3);
    strides.filter_map(|n| Some((n as f64 * spacing, deviation(phases, spacing, n)?))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_steady_rate_has_no_deviation() {
        let phases: Vec<f64> = (0..50).map(|i| 3.0 + 0.25 * f64::from(i)).collect();
        for (_, deviation) in deviations(&phases, 1.0) {
            assert!(deviation < 1e-12, "{deviation}");
        }
    }

    #[test]
    fn the_published_example() {
        // Nine frequencies whose overlapping Allan deviation Riley gives as 91.22945 at one spacing and 85.95287 at two
        // (NIST SP 1065, section 12.2, the suite of nine points).
        let frequencies = [892.0, 809.0, 823.0, 798.0, 671.0, 644.0, 883.0, 903.0, 677.0];
        let mut phases = vec![0.0];
        for frequency in frequencies {
            phases.push(phases[phases.len() - 1] + frequency);
        }
        let at = |stride| deviation(&phases, 1.0, stride).expect("long enough");
        assert!((at(1) - 91.22945).abs() < 1e-4, "{}", at(1));
        assert!((at(2) - 85.95287).abs() < 1e-4, "{}", at(2));
    }

    #[test]
    fn uneven_samples_are_made_even() {
        let samples = [(0.0, 0.0), (1.0, 2.0), (4.0, 8.0), (6.0, 12.0)];
        let (spacing, phases) = evenly(&samples).expect("four");
        assert_eq!((spacing, phases), (2.0, vec![0.0, 4.0, 8.0, 12.0]));
        assert_eq!(evenly(&samples[..2]), None);
        assert_eq!(evenly(&[]), None);
        assert_eq!(evenly(&[(1.0, 0.0); 4]), None);
    }

    proptest! {
        #[test]
        fn neither_offset_nor_rate_matters(phases in prop::collection::vec(-1e3..1e3_f64, 7..60), offset in -1e3..1e3_f64, rate in -1.0..1.0_f64) {
            let other: Vec<f64> =
                phases.iter().enumerate().map(|(i, x)| x + offset + rate * i as f64).collect();
            for ((_, a), (_, b)) in deviations(&phases, 1.0).into_iter().zip(deviations(&other, 1.0)) {
                prop_assert!((a - b).abs() < 1e-6 * (1.0 + a));
            }
        }
    }
}
