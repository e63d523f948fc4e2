//! What chronyd says, by `chronyc -c tracking`.
//!
//! The fields are those of `chronyc tracking` in its order, separated by commas: reference ID, its name, stratum, reference time, system
//! time, last offset, RMS offset, frequency, residual frequency, skew, root delay, root dispersion, update interval, leap status
//! ([chronyc(1)]; `process_cmd_tracking` in chrony's client.c). Seconds have no unit, and the system time is positive where the system
//! clock is *slow*: the other way round than offsets are here.
//!
//! [chronyc(1)]: https://chrony-project.org/doc/4.6.1/chronyc.html

use super::{figure, name, silent};
use crate::model::{CommonTime, ComparedClock};

/// Fields for machines, and no names looked up in the network.
pub(super) const ARGS: [&str; 3] = ["-n", "-c", "tracking"];

const SOURCE: &str = "chrony";
/// The reference ID of a server that takes its own clock for the reference (the directive `local`): 127.127.1.1.
const LOCAL: &str = "7F7F0101";
const NS: f64 = 1e9;

/// What of the answer is needed. Later versions may have more fields behind.
struct Tracking<'a> {
    reference_id: &'a str,
    reference: &'a str,
    stratum: u32,
    slow_s: f64,
    root_delay_s: f64,
    root_dispersion_s: f64,
    leap: &'a str,
}

/// What chronyd says of the system clock.
pub(super) fn read(said: Result<&str, String>) -> CommonTime {
    let said = match said {
        Ok(said) => said,
        Err(why) => return silent(SOURCE, format!("chronyd does not answer: {why}")),
    };
    let Some(tracking) = tracking(said) else {
        return silent(
            SOURCE,
            "what `chronyc -c tracking` prints is not known to this version of timermeter",
        );
    };
    let unsynchronised = tracking.leap.eq_ignore_ascii_case("not synchronised") || tracking.stratum == 0;
    if unsynchronised {
        return silent(
            SOURCE,
            "chronyd is not synchronised: it has found no server yet, or none that it trusts",
        );
    }
    let known = CommonTime {
        source: SOURCE.to_owned(),
        reference: name(tracking.reference),
        reference_id: name(tracking.reference_id),
        stratum: Some(tracking.stratum),
        clock: ComparedClock::System,
        ..CommonTime::default()
    };
    if tracking.reference_id.eq_ignore_ascii_case(LOCAL) {
        let why = "chronyd takes this machine's own clock for the reference (`local`)";
        return CommonTime { reason: Some(why.to_owned()), ..known };
    }
    // Two zeros differ in their sign only, which is of no use to a reader.
    let offset_ns = 0.0 - tracking.slow_s * NS;
    let uncertainty_ns = (tracking.root_dispersion_s + tracking.root_delay_s / 2.0) * NS;
    CommonTime {
        offset_ns: Some(offset_ns),
        uncertainty_ns: Some(uncertainty_ns),
        bound_ns: Some(offset_ns.abs() + uncertainty_ns),
        ..known
    }
}

fn tracking(said: &str) -> Option<Tracking<'_>> {
    let line = said.lines().find(|line| !line.trim().is_empty())?;
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [reference_id, reference, stratum, _, slow, _, _, _, _, _, delay, dispersion, _, leap, ..] =
        fields[..]
    else {
        return None;
    };
    let length = |text| figure(text).filter(|length| *length >= 0.0);
    Some(Tracking {
        reference_id,
        reference,
        stratum: stratum.parse().ok()?,
        slow_s: figure(slow)?,
        root_delay_s: length(delay)?,
        root_dispersion_s: length(dispersion)?,
        leap,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// chrony 4.3, whose server was told to be 50 ms ahead (`offset 0.05`), and that leaves the clock alone (`-x`); `chronyc tracking`
    /// said "0.049998507 seconds slow of NTP time" beside it.
    const SLOW: &str = "7F000001,127.0.0.1,4,1795359031.994311246,0.049998507,-0.000000025,0.000000592,-0.006,-0.001,0.041,\
                        0.000006767,0.000002068,1.0,Normal\n";
    /// That server, whose reference is itself.
    const LOCAL: &str = "7F7F0101,,3,1795359018.166354857,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,0.000000000,\
                         0.000000000,0.0,Normal\n";
    /// A chronyd without servers.
    const NONE: &str = "00000000,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,1.000000000,1.000000000,\
                        0.0,Not synchronised\n";

    #[test]
    fn a_clock_that_is_slow_is_behind() {
        let told = read(Ok(SLOW));
        let near =
            |figure: Option<f64>, ns: f64| assert!((figure.expect("told") - ns).abs() < 0.5, "{told:?}");
        near(told.offset_ns, -49_998_507.0);
        near(told.uncertainty_ns, 2_068.0 + 3_383.5);
        near(told.bound_ns, 49_998_507.0 + 2_068.0 + 3_383.5);
        assert_eq!((told.stratum, told.clock, &told.reason), (Some(4), ComparedClock::System, &None));
        assert_eq!(told.origin(), "chrony from 127.0.0.1 (stratum 4)");
    }

    #[test]
    fn a_reference_of_its_own_bounds_nothing() {
        for said in [LOCAL, NONE] {
            let told = read(Ok(said));
            assert_eq!((told.offset_ns, told.bound_ns), (None, None), "{said}");
            assert!(told.reason.is_some() && !told.bounds_system_clock(), "{said}");
        }
        assert!(read(Err("506 Cannot talk to daemon".into())).reason.expect("told").contains("506"));
    }

    #[test]
    fn answers_that_make_no_sense_are_not_believed() {
        for (field, odd) in
            [(4, "nan"), (4, "1e300"), (4, "fast"), (10, "-1.0"), (11, "inf"), (2, "-3"), (2, "")]
        {
            let mut fields: Vec<&str> = SLOW.trim().split(',').collect();
            fields[field] = odd;
            let told = read(Ok(&fields.join(",")));
            assert_eq!((told.offset_ns, told.bound_ns), (None, None), "{odd}");
            assert!(told.reason.is_some());
        }
        for said in ["", "\n\n", "506 Cannot talk to daemon", "a,b,c"] {
            assert!(read(Ok(said)).reason.is_some(), "{said:?}");
        }
    }

    proptest! {
        #[test]
        fn anything_is_read_or_refused(said in any::<String>()) {
            let told = read(Ok(&said));
            prop_assert!(told.bound_ns.is_some() != told.reason.is_some());
        }

        #[test]
        fn fields_of_anything(fields in prop::collection::vec("[-+0-9.eEinfa]{0,12}|.{0,20}", 13..16)) {
            let told = read(Ok(&fields.join(",")));
            prop_assert!([told.offset_ns, told.uncertainty_ns, told.bound_ns].into_iter().flatten().all(f64::is_finite));
            prop_assert!(told.bound_ns.is_none_or(|bound| bound >= told.offset_ns.unwrap_or(0.0).abs()));
        }
    }
}
