//! How far the system clock is from the clocks on devices, `/dev/ptp0` and so on, and what that is worth.
//!
//! The clock of a host is a common time of all its guests. That of a network card is one only while ptp4l steers it: before, it
//! counts from any epoch, or from what its driver set it to.

use std::io;

use timers::os::{DeviceOffset, ptp};

use super::now;
use crate::model::{CommonTime, ComparedClock};
use crate::platform::Root;

/// Devices that are looked for. Servers have one a port of their network cards.
const MOST_DEVICES: u32 = 32;
/// Names of clocks that are those of the host of a virtual machine, in UTC (Linux: drivers/ptp/ptp_kvm_common.c, drivers/hv/hv_util.c).
const OF_HOST: [&str; 2] = ["KVM virtual PTP", "hyperv"];
/// Seconds by which TAI is ahead of UTC since 2017 (IERS, Bulletin C), for kernels that were not told.
/// *Definition*.
const TAI_AHEAD_S: i64 = 37;
/// A device that is nearer to UTC or to TAI than this keeps it, and one that is not does not: a clock that is set by hand is off by
/// seconds, and the two are 37 s apart.
/// *Judgement*.
const NEAR_NS: u64 = 1_000_000_000;
const SECOND_NS: i64 = 1_000_000_000;

/// All devices that are there.
pub(super) fn ask(root: &Root) -> Vec<CommonTime> {
    let told_by_kernel = timers::os::discipline::trim().map_or(0, |told| told.tai_offset_s);
    let tai_ahead_s = if told_by_kernel == 0 { TAI_AHEAD_S } else { told_by_kernel };
    let there = (0..MOST_DEVICES).map(|number| format!("ptp{number}"));
    let there = there.filter_map(|name| {
        let (device, class) = (format!("/dev/{name}"), format!("/sys/class/ptp/{name}"));
        if !root.has(&device) && !root.has(&class) {
            return None;
        }
        let clock_name = root.name(&format!("{class}/clock_name"));
        let found = ptp::offset(&root.file(&device)?);
        Some(CommonTime { asked: now(), ..told(&name, clock_name, found, tai_ahead_s) })
    });
    there.collect()
}

/// What one device says.
fn told(
    source: &str,
    clock_name: Option<String>,
    found: io::Result<DeviceOffset>,
    tai_ahead_s: i64,
) -> CommonTime {
    let of_host = clock_name.as_deref().is_some_and(|name| OF_HOST.contains(&name));
    let known = CommonTime {
        source: source.to_owned(),
        reference: clock_name,
        clock: ComparedClock::System,
        ..CommonTime::default()
    };
    let without = |why: String| CommonTime { reason: Some(why), ..known.clone() };
    let (offset_ns, uncertainty_ns) = match found.map(combined) {
        Ok(Some(found)) => found,
        Ok(None) => {
            return without(
                "the system clock was set while the device was read, or it gives no time".to_owned(),
            );
        }
        Err(error) => return without(format!("/dev/{source}: {error}")),
    };
    // A host's clock is what it is. Of others the nearer time scale is meant.
    let by_tai = offset_ns.checked_add(tai_ahead_s.saturating_mul(SECOND_NS));
    let near = |offset: &i64| of_host || offset.unsigned_abs() < NEAR_NS;
    let Some(offset_ns) = Some(offset_ns).filter(near).or(by_tai.filter(near)) else {
        let apart = offset_ns as f64 / SECOND_NS as f64;
        return without(format!(
            "the system clock is {apart:+.1} s from the device: it counts from an epoch of its own, or one of both is wrong"
        ));
    };
    let uncertainty_ns = uncertainty_ns.map(|ns| ns as f64);
    let reason = match (of_host, uncertainty_ns) {
        (false, _) => Some("nothing says that the device keeps a common time; it does where ptp4l steers it"),
        (true, None) => Some("the device does not tell how exactly both clocks were read at once"),
        (true, Some(_)) => None,
    };
    let bound = |uncertainty: f64| offset_ns.unsigned_abs() as f64 + uncertainty;
    CommonTime {
        offset_ns: Some(offset_ns as f64),
        uncertainty_ns,
        bound_ns: uncertainty_ns.filter(|_| of_host).map(bound),
        reason: reason.map(str::to_owned),
        ..known
    }
}

/// The offset, and what it may be off by. Hardware that takes both times at once does not say how exactly; a bracket beside
/// it does: the truth lies in there.
fn combined(found: DeviceOffset) -> Option<(i64, Option<u64>)> {
    match (found.cross_ns, found.bracket) {
        (Some(cross), Some(bracket)) => {
            Some((cross, Some(bracket.half_ns.saturating_add(cross.abs_diff(bracket.offset_ns)))))
        }
        (Some(cross), None) => Some((cross, None)),
        (None, bracket) => bracket.map(|bracket| (bracket.offset_ns, Some(bracket.half_ns))),
    }
}

/// The system clock from the master of ptp4l, where that steers the only device: the way over the device. With several devices it is
/// not known which one that is.
pub(super) fn chain(ptp4l: Option<&CommonTime>, devices: &[CommonTime]) -> Option<CommonTime> {
    let (ptp4l, [device]) = (ptp4l.filter(|told| told.clock == ComparedClock::Device)?, devices) else {
        return None;
    };
    let offset_ns = device.offset_ns? + ptp4l.offset_ns?;
    let uncertainty_ns = device.uncertainty_ns.zip(ptp4l.uncertainty_ns).map(|(one, other)| one + other);
    Some(CommonTime {
        source: format!("{}+{}", ptp4l.source, device.source),
        reference: ptp4l.reference.clone(),
        clock: ComparedClock::System,
        offset_ns: Some(offset_ns),
        uncertainty_ns,
        bound_ns: uncertainty_ns.map(|uncertainty| offset_ns.abs() + uncertainty),
        asked: ptp4l.asked.clone(),
        reason: ptp4l.reason.clone(),
        ..CommonTime::default()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use timers::os::Bracket;

    use super::*;

    fn bracketed(offset_ns: i64, half_ns: u64) -> io::Result<DeviceOffset> {
        Ok(DeviceOffset { cross_ns: None, bracket: Some(Bracket { offset_ns, half_ns }) })
    }

    fn of_card(found: io::Result<DeviceOffset>) -> CommonTime {
        told("ptp0", Some("00:1b:21:aa:bb:cc".into()), found, 37)
    }

    #[test]
    fn the_clock_of_a_host_bounds_whatever_it_says() {
        let name = || Some("KVM virtual PTP".to_owned());
        let found = told("ptp0", name(), bracketed(-3_600_000_000_000, 800), 37);
        assert_eq!((found.offset_ns, found.bound_ns), (Some(-3.6e12), Some(3.6e12 + 800.0)));
        let crossed =
            DeviceOffset { cross_ns: Some(150), bracket: Some(Bracket { offset_ns: 100, half_ns: 900 }) };
        let found = told("ptp0", name(), Ok(crossed), 37);
        assert_eq!(
            (found.offset_ns, found.uncertainty_ns, found.bound_ns),
            (Some(150.0), Some(950.0), Some(1_100.0))
        );
        let found = told("ptp0", name(), Ok(DeviceOffset { bracket: None, ..crossed }), 37);
        assert_eq!((found.offset_ns, found.bound_ns), (Some(150.0), None));
        assert!(found.reason.is_some());
    }

    #[test]
    fn a_card_keeps_utc_or_tai_or_nothing_and_bounds_nothing_alone() {
        let offset = |ns| of_card(bracketed(ns, 500)).offset_ns;
        assert_eq!(offset(-20_000), Some(-20_000.0));
        assert_eq!(offset(-37_000_000_000 + 42), Some(42.0));
        assert_eq!(offset(1_795_359_031_000_000_000), None);
        assert_eq!(offset(-18_000_000_000), None, "GPS time is neither");
        assert_eq!(offset(i64::MIN), None);
        let found = of_card(bracketed(-20_000, 500));
        assert_eq!(
            (found.uncertainty_ns, found.bound_ns, found.bounds_system_clock()),
            (Some(500.0), None, false)
        );
        assert!(found.reason.expect("told").contains("ptp4l"));
    }

    #[test]
    fn ptp4l_and_its_only_device_make_a_chain() {
        let device = of_card(bracketed(-37_000_000_000 + 2_000, 500));
        let ptp4l = CommonTime {
            source: "ptp4l".into(),
            clock: ComparedClock::Device,
            offset_ns: Some(-300.0),
            uncertainty_ns: Some(1_000.0),
            ..CommonTime::default()
        };
        let one = std::slice::from_ref(&device);
        let found = chain(Some(&ptp4l), one).expect("a chain");
        assert_eq!((found.offset_ns, found.bound_ns), (Some(1_700.0), Some(3_200.0)));
        assert_eq!((found.source.as_str(), found.bounds_system_clock()), ("ptp4l+ptp0", true));
        let of_system = CommonTime { clock: ComparedClock::System, ..ptp4l.clone() };
        let lost = CommonTime { offset_ns: None, ..ptp4l.clone() };
        for (ptp4l, devices) in
            [(None, one), (Some(&of_system), one), (Some(&lost), one), (Some(&ptp4l), &[][..])]
        {
            assert_eq!(chain(ptp4l, devices), None);
        }
        assert_eq!(chain(Some(&ptp4l), &[device.clone(), device]), None);
    }

    #[test]
    fn what_cannot_be_opened_says_why() {
        let found = of_card(Err(io::ErrorKind::PermissionDenied.into()));
        assert!(found.reason.expect("told").starts_with("/dev/ptp0: "));
        assert!(of_card(Ok(DeviceOffset::default())).reason.is_some());
    }

    proptest! {
        #[test]
        fn any_figures_give_figures(cross in any::<Option<i64>>(), offset_ns in any::<i64>(), half_ns in any::<u64>(), tai in any::<i64>()) {
            let found = DeviceOffset { cross_ns: cross, bracket: Some(Bracket { offset_ns, half_ns }) };
            for name in ["hyperv", "a card"] {
                let found = told("ptp0", Some(name.into()), Ok(found), tai);
                prop_assert!([found.offset_ns, found.bound_ns].into_iter().flatten().all(f64::is_finite));
            }
        }
    }
}
