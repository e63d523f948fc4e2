//! What ptp4l says, by `pmc`, its management client: a name and a value a line, after a line that names the data set.
//!
//! `offsetFromMaster` is the clock that ptp4l steers less its master, both in nanoseconds (IEEE 1588, currentDS; pmc(8)). Which clock
//! that is follows from how packets are stamped: with `SOFTWARE` the system clock, with `HARDWARE` that of the network card.
//!
//! One-way delays are not known, only their mean. None is negative, so the offset is off by the mean path delay at most.

use super::{figure, name, silent};
use crate::model::{CommonTime, ComparedClock};

/// By the socket of the ptp4l on this machine, and no farther.
pub(super) const ARGS: [&str; 6] =
    ["-u", "-b", "0", "GET CURRENT_DATA_SET", "GET TIME_STATUS_NP", "GET PORT_PROPERTIES_NP"];

const SOURCE: &str = "ptp4l";

/// What ptp4l says of the clock that it steers.
pub(super) fn read(said: Result<&str, String>) -> CommonTime {
    let said = match said {
        Ok(said) => said,
        Err(why) => return silent(SOURCE, format!("ptp4l cannot be asked: {why}")),
    };
    let values = |wanted: &'static str| values(said, wanted);
    let first = |name: &'static str| values(name).next();
    let (Some(steps), Some(present)) = (first("stepsRemoved"), first("gmPresent")) else {
        return silent(SOURCE, "ptp4l does not answer");
    };
    if present != "true" || steps == "0" {
        return silent(
            SOURCE,
            "ptp4l follows no other clock: this machine is the grandmaster, or has found none yet",
        );
    }
    let known = CommonTime {
        source: SOURCE.to_owned(),
        reference: first("gmIdentity").and_then(name),
        clock: compared(values("timestamping")),
        ..CommonTime::default()
    };
    let unreadable = |known| CommonTime {
        reason: Some("what pmc prints is not known to this version of timermeter".to_owned()),
        ..known
    };
    let figures = (
        steps.parse::<u32>().ok(),
        first("offsetFromMaster").and_then(figure),
        first("meanPathDelay").and_then(figure),
    );
    let (Some(steps), Some(offset_ns), Some(delay_ns)) = figures else { return unreadable(known) };
    if delay_ns <= 0.0 {
        let why = "ptp4l has not measured the path delay yet";
        return CommonTime { reason: Some(why.to_owned()), ..known };
    }
    let near = steps == 1;
    let between = format!("{} boundary clocks stand between, which may be off themselves", steps - 1);
    CommonTime {
        offset_ns: Some(offset_ns),
        uncertainty_ns: near.then_some(delay_ns),
        bound_ns: near.then_some(offset_ns.abs() + delay_ns),
        reason: (!near).then_some(between),
        ..known
    }
}

fn compared<'a>(mut stamping: impl Iterator<Item = &'a str>) -> ComparedClock {
    let of = |stamping: &str| match stamping {
        "SOFTWARE" => ComparedClock::System,
        "HARDWARE" | "ONESTEP" | "P2P1STEP" => ComparedClock::Device,
        _ => ComparedClock::Unknown,
    };
    let first = stamping.next().map_or(ComparedClock::Unknown, of);
    // Ports of one ptp4l stamp alike.
    if stamping.all(|other| of(other) == first) { first } else { ComparedClock::Unknown }
}

/// The values of that name, of all data sets: names of those that are asked for differ.
fn values<'a>(said: &'a str, wanted: &str) -> impl Iterator<Item = &'a str> {
    said.lines().filter_map(move |line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(wanted)).then(|| words.next()).flatten().filter(|_| words.next().is_none())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// linuxptp 3.1.1 between two ends of a veth pair, by software time stamps (`-S --free_running 1`).
    const SLAVE: &str = include_str!("pmc/slave.txt");
    /// The other end.
    const MASTER: &str = include_str!("pmc/master.txt");
    /// No ptp4l there.
    const UNANSWERED: &str = "sending: GET CURRENT_DATA_SET\n";
    /// Red Hat Enterprise Linux 7, System Administrator's Guide, "Using the PTP Management Client".
    const RED_HAT: &str = "sending: GET CURRENT_DATA_SET
        90e2ba.fffe.20c7f8-0 seq 0 RESPONSE MANAGMENT CURRENT_DATA_SET
                stepsRemoved        1
                offsetFromMaster  -142.0
                meanPathDelay     9310.0
sending: GET TIME_STATUS_NP
        90e2ba.fffe.20c7f8-0 seq 0 RESPONSE MANAGMENT TIME_STATUS_NP
                master_offset              310
                ingress_time               1361545089345029441
                cumulativeScaledRateOffset   +1.000000000
                scaledLastGmPhaseChange    0
                gmTimeBaseIndicator        0
                lastGmPhaseChange          0x0000'0000000000000000.0000
                gmPresent                  true
                gmIdentity                 00a069.fffe.0b552d
";

    #[test]
    fn a_slave_tells_its_offset_and_what_the_path_leaves_open() {
        let told = read(Ok(SLAVE));
        assert_eq!(told.clock, ComparedClock::System, "{told:?}");
        assert_eq!(
            (told.offset_ns, told.uncertainty_ns, told.bound_ns),
            (Some(-260.0), Some(2_183.0), Some(2_443.0))
        );
        assert_eq!(told.reference.as_deref(), Some("c2478b.fffe.f0843f"));
        let told = read(Ok(RED_HAT));
        assert_eq!((told.offset_ns, told.bound_ns), (Some(-142.0), Some(9_452.0)));
        assert_eq!(
            (told.clock, told.origin().as_str()),
            (ComparedClock::Unknown, "ptp4l from 00a069.fffe.0b552d")
        );
        assert!(!told.bounds_system_clock(), "it is not said which clock that is");
    }

    #[test]
    fn the_clock_follows_from_how_packets_are_stamped() {
        let stamped = |way: &str| read(Ok(&SLAVE.replace("SOFTWARE", way))).clock;
        assert_eq!(stamped("HARDWARE"), ComparedClock::Device);
        assert_eq!(stamped("TELEPATHY"), ComparedClock::Unknown);
        let both = format!("{SLAVE}\t\ttimestamping            HARDWARE\n");
        assert_eq!(read(Ok(&both)).clock, ComparedClock::Unknown);
    }

    #[test]
    fn nobody_to_follow_and_nobody_there() {
        for said in [MASTER, UNANSWERED, ""] {
            let told = read(Ok(said));
            assert!(told.offset_ns.is_none() && told.bound_ns.is_none() && told.reason.is_some(), "{told:?}");
        }
        assert!(read(Err("it did not end within 3 s".into())).reason.is_some());
    }

    #[test]
    fn boundary_clocks_between_leave_no_bound() {
        let told = read(Ok(&SLAVE.replace("stepsRemoved     1", "stepsRemoved     3")));
        assert_eq!((told.offset_ns, told.bound_ns), (Some(-260.0), None));
        assert!(told.reason.expect("told").starts_with("2 boundary clocks"));
        let unmeasured = read(Ok(&SLAVE.replace("2183.0", "0.0")));
        assert_eq!((unmeasured.offset_ns, unmeasured.bound_ns), (None, None));
    }

    proptest! {
        #[test]
        fn anything_is_read_or_refused(said in any::<String>()) {
            let told = read(Ok(&said));
            prop_assert!(told.bound_ns.is_some() || told.reason.is_some());
        }

        #[test]
        fn values_of_anything(offset in "[-+0-9.eEinfa]{1,12}|.{0,12}", delay in "[-+0-9.eEinfa]{1,12}", steps in "[-0-9]{1,12}") {
            let said = SLAVE.replace("-260.0", &offset).replace("2183.0", &delay).replace("Removed     1", &format!("Removed {steps}"));
            let told = read(Ok(&said));
            prop_assert!([told.offset_ns, told.bound_ns].into_iter().flatten().all(f64::is_finite));
            prop_assert!(told.bound_ns.is_none_or(|bound| bound >= told.offset_ns.unwrap_or(0.0).abs()));
        }
    }
}
