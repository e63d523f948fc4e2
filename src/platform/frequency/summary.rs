//! Summarises the frequencies for the report, and selects the frequency that converts time to
//! cycles.

use std::borrow::Cow;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Chains;
use crate::quantity::parse_frequency;
use estimators::model::{Estimate, Frequency, Hertz};
use estimators::statistics::mean;

/// The frequency that converts time to cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CyclesFrom {
    /// The measured frequency of the core. In traces of earlier versions it may be the declared one.
    #[default]
    #[serde(alias = "nominal")]
    Effective,
    /// A frequency given by the user.
    Given(Hertz),
}

impl FromStr for CyclesFrom {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "effective" => Ok(Self::Effective),
            value => parse_frequency(value).map(Self::Given),
        }
    }
}

/// The frequencies of the CPU that are known.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownFrequencies {
    /// The effective frequency before the measurement.
    pub before: Option<Chains>,
    /// The effective frequency after the measurement.
    pub after: Option<Chains>,
    /// The effective frequency in hertz during the measurement of the timers: the median of all
    /// windows, and the range of the middle nine tenths.
    pub during: Option<Estimate>,
    /// The rate of the time stamp counter.
    pub tsc: Option<Hertz>,
    /// The nominal frequency and its source.
    pub nominal: Option<(Hertz, Cow<'static, str>)>,
}

impl KnownFrequencies {
    /// The measurements of the effective frequency before and after.
    fn chains(&self) -> impl Iterator<Item = Chains> {
        self.before.into_iter().chain(self.after)
    }

    /// How many times as long as an addition a multiplication took, if that is implausible.
    ///
    /// An addition plausibly takes one cycle: a multiplication takes three cycles on x86-64 and two to
    /// four on 64-bit Arm, and the chain may hold one more simple operation. Emulators have other
    /// ratios.
    pub fn doubtful_multiplication(&self) -> Option<f64> {
        let mut ratios = self.chains().filter_map(|each| each.multiplication_cycles);
        ratios.find(|ratio| !(1.8..=5.5).contains(ratio))
    }
}

/// Summarises the frequencies for the report; cycles are counted at the frequency that `source`
/// selects. The effective frequency is the frequency during the measurement, or the mean of the
/// frequencies before and after; its range covers all of these.
pub fn summarise(parts: &KnownFrequencies, source: CyclesFrom) -> Frequency {
    // Frequencies vary; many values during the measurement are more informative than the values
    // before and after.
    let mean = mean(parts.chains().map(|each| each.hertz.0));
    let effective = parts.during.map(|hertz| hertz.value).or(mean);
    let ends = parts.chains().map(|each| (each.low.0, each.high.0));
    let ends = ends.chain(parts.during.map(|hertz| (hertz.low, hertz.high)));
    let (low, high): (Vec<f64>, Vec<f64>) = ends.unzip();
    let low = low.into_iter().min_by(f64::total_cmp);
    let ends = low.zip(high.into_iter().max_by(f64::total_cmp));
    let (cycles_from, cycles) = match source {
        // A later measurement runs at one of the frequencies in this range.
        CyclesFrom::Effective => {
            let ends = parts.during.and_then(|hertz| hertz.ends());
            let hertz = effective.map(|hertz| Estimate::with_ends(hertz, ends));
            ("effective", hertz)
        }
        CyclesFrom::Given(hertz) => ("given", Some(Estimate::with_ends(hertz.0, None))),
    };
    let nominal = parts.nominal.as_ref();
    Frequency {
        nominal_hz: nominal.map(|(hertz, _)| hertz.0),
        nominal_source: nominal.map(|(_, source)| source.clone().into_owned()),
        tsc_hz: parts.tsc.map(|hertz| hertz.0),
        effective_hz: effective.map(|hertz| Estimate::with_ends(hertz, ends)),
        effective_hz_before: parts.before.map(|each| each.hertz.0),
        effective_hz_after: parts.after.map(|each| each.hertz.0),
        cycles_from: cycles_from.to_owned(),
        cycles_hz: cycles,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use estimators::findings::{Facts, RUN, apply};
    use estimators::model::{Finding, Report, value_of};

    fn chains(gigahertz: f64) -> Option<Chains> {
        Some(Chains {
            hertz: Hertz(gigahertz * 1e9),
            low: Hertz((gigahertz - 0.01) * 1e9),
            high: Hertz((gigahertz + 0.01) * 1e9),
            multiplication_cycles: Some(3.0),
            samples: 60,
        })
    }

    /// The frequencies of the core before and after a run, in GHz.
    fn changed(before: f64, after: f64) -> KnownFrequencies {
        KnownFrequencies {
            before: chains(before),
            after: chains(after),
            ..KnownFrequencies::default()
        }
    }

    /// The findings about the frequencies on a machine with this hypervisor.
    fn findings(
        parts: &KnownFrequencies,
        source: CyclesFrom,
        hypervisor: Option<&str>,
    ) -> Vec<Finding> {
        let mut run = Report {
            frequency: summarise(parts, source),
            ..Report::default()
        };
        run.platform.hypervisor = hypervisor.map(str::to_owned);
        let facts = Facts {
            run: Some(&run),
            ..Facts::default()
        };
        apply(RUN, &facts)
    }

    fn codes(parts: &KnownFrequencies, source: CyclesFrom) -> Vec<String> {
        let found = findings(parts, source, None).into_iter();
        found.map(|finding| finding.code).collect()
    }

    #[test]
    fn reports_change_above_three_percent() {
        for (after, reported) in [(3.09, false), (3.1, true), (2.92, false), (2.9, true)] {
            let found = codes(&changed(3.0, after), CyclesFrom::Effective);
            assert_eq!(found == ["frequency-changed"], reported, "{after}");
        }
        let message = findings(&changed(3.0, 2.4), CyclesFrom::Effective, None)[0].message();
        for figure in ["2.4 GHz to 3 GHz", "those at 2.7 GHz"] {
            assert!(message.contains(figure), "{message}");
        }
    }

    #[test]
    fn intermediate_frequencies_count() {
        let during = |low: f64, high: f64| {
            Some(Estimate {
                value: 2.6e9,
                low,
                high,
            })
        };
        let parts = KnownFrequencies {
            during: during(2.59e9, 2.61e9),
            ..changed(3.0, 2.5)
        };
        let frequency = summarise(&parts, CyclesFrom::Effective);
        assert_eq!(
            codes(&parts, CyclesFrom::Effective),
            [""; 0],
            "the ends do not count"
        );
        assert_eq!(
            frequency.effective_hz,
            Some(Estimate::with_ends(2.6e9, Some((2.49e9, 3.01e9))))
        );
        let parts = KnownFrequencies {
            during: during(2.4e9, 2.8e9),
            ..parts
        };
        assert_eq!(codes(&parts, CyclesFrom::Effective), ["frequency-changed"]);
        for (host, has_governor) in [(None, true), (Some("KVM"), false)] {
            let found = findings(&parts, CyclesFrom::Effective, host);
            let advice = found[0].advice().expect("there is some");
            assert_eq!(advice.contains("governor"), has_governor);
        }
    }

    #[test]
    fn the_chosen_frequency() {
        let parts = KnownFrequencies {
            nominal: Some((Hertz(2.5e9), "brand string".into())),
            ..KnownFrequencies::default()
        };
        for (source, name, hertz) in [
            (CyclesFrom::Given(Hertz(1e9)), "given", Some(1e9)),
            (CyclesFrom::Effective, "effective", None),
        ] {
            let all = summarise(&parts, source);
            assert_eq!((&*all.cycles_from, value_of(all.cycles_hz)), (name, hertz));
        }
        assert_eq!(
            codes(&parts, CyclesFrom::Effective),
            ["effective-frequency-unknown"]
        );
        assert_eq!(codes(&parts, CyclesFrom::Given(Hertz(1e9))), [""; 0]);
    }
}
