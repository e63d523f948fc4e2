//! What a machine makes of measurements, and how far its clock is from that of others: in one line for the header of every report, and in
//! full.

use crate::model::{CommonTime, ComparedClock, CoreKind, Cpu, Limits, Ntp, Platform, Tickless, Tsc};
use crate::text::clipped;
use crate::text::numbers::short_time;

/// More kinds of cores than any machine has; of a report that has more, no more are shown.
const MOST_KINDS: usize = 8;

const NOT_SHOWN: &str = "not shown by this machine";

/// The conditions in one line: only what is known and what matters to measurements.
#[must_use]
pub fn brief(platform: &Platform) -> String {
    let cpu = &platform.cpu;
    let parts = [
        cpu.threads_per_core.map(|threads| match threads {
            1 => "1 thread a core".to_owned(),
            threads => format!("{threads} threads a core"),
        }),
        cpu.turbo.map(|on| format!("turbo {}", if on { "on" } else { "off" })),
        cpu.power_plan.as_deref().map(|plan| format!("power plan {}", clipped(plan, 40))),
        listed(cpu.isolated.as_deref()).map(|list| format!("CPUs {list} isolated")),
        platform.kernel.tick_hz.map(|hertz| format!("tick {hertz} Hz")),
        platform.load.map(|load| format!("load {:.2}", load.one_minute)),
        platform.ntp.as_ref().map(steering),
        platform.limits.container.as_deref().map(|kind| format!("container marks ({})", clipped(kind, 40))),
        platform.limits.cpu.and_then(|quota| quota.cpus).map(|cpus| format!("quota {cpus:.2} CPUs")),
        platform.limits.time_namespace.map(|_| "time namespace".to_owned()),
    ];
    told(parts.into_iter().flatten().collect(), " · ")
}

/// All that is known of the machine beyond the header.
#[must_use]
pub fn details(platform: &Platform) -> Vec<Fact> {
    let told_or_not = |value: Option<String>| value.unwrap_or_else(|| NOT_SHOWN.to_owned());
    let load = platform.load.map(|load| {
        format!(
            "{:.2} over 1 min, {:.2} over 5 min, {:.2} over 15 min",
            load.one_minute, load.five_minutes, load.fifteen_minutes
        )
    });
    let steal = platform
        .steal_share
        .map(|share| format!("{:.3} % of the time in which CPUs had something to run", share * 100.0));
    let clocks = platform.hypervisor_clocks.as_ref().map(|clocks| {
        if clocks.is_empty() { "none".to_owned() } else { clipped(&clocks.join(", "), LONGEST) }
    });
    vec![
        ("CPUs", cpus(&platform.cpu)),
        ("SMT", smt(&platform.cpu)),
        ("kinds of cores", told_or_not(platform.cpu.core_kinds.as_deref().map(kinds))),
        ("turbo", told_or_not(platform.cpu.turbo.map(|on| if on { "on" } else { "off" }.to_owned()))),
        ("TSC", tsc(&platform.tsc)),
        ("hypervisor's clocks", told_or_not(clocks)),
        ("clock parameters", told_or_not(platform.clocksource.parameters.as_deref().map(parameters))),
        ("tick", tick(platform)),
        ("NTP", told_or_not(platform.ntp.as_ref().map(ntp))),
        ("offsets", told_or_not(time_services(platform))),
        ("load", told_or_not(load)),
        ("stolen", told_or_not(steal)),
        ("limits", limits(&platform.limits)),
        ("perf_event_paranoid", told_or_not(platform.perf_event_paranoid.map(|level| level.to_string()))),
    ]
}

fn told(parts: Vec<String>, between: &str) -> String {
    if parts.is_empty() { NOT_SHOWN.to_owned() } else { parts.join(between) }
}

/// A list of CPUs that has some.
fn listed(list: Option<&str>) -> Option<String> {
    list.filter(|list| !list.is_empty()).map(|list| clipped(list, 80))
}

fn cpus(cpu: &Cpu) -> String {
    let part = |name: &str, list: Option<&str>| match list {
        None => format!("{name} {NOT_SHOWN}"),
        Some(list) => format!("{name} {}", listed(Some(list)).as_deref().unwrap_or("none")),
    };
    [
        part("online", cpu.online_list.as_deref()),
        part("allowed", cpu.allowed_list.as_deref()),
        part("isolated", cpu.isolated.as_deref()),
        part("nohz_full", cpu.nohz_full.as_deref()),
    ]
    .join(" · ")
}

fn smt(cpu: &Cpu) -> String {
    let mut parts: Vec<String> =
        cpu.smt.map(|on| if on { "on" } else { "off" }.to_owned()).into_iter().collect();
    parts.extend(cpu.threads_per_core.map(|threads| format!("threads a core: {threads}")));
    parts.extend(listed(cpu.core_list.as_deref()).map(|list| format!("CPUs of this core: {list}")));
    told(parts, " · ")
}

fn kinds(kinds: &[CoreKind]) -> String {
    let kind = |kind: &CoreKind| {
        let which = listed(kind.list.as_deref()).map(|list| format!(": {list}")).unwrap_or_default();
        format!("{} × {}{which}", kind.cpus, clipped(&kind.name, 40))
    };
    let all: Vec<String> = kinds.iter().take(MOST_KINDS).map(kind).collect();
    told(all, " · ")
}

fn tsc(tsc: &Tsc) -> String {
    let flags = [
        ("constant", tsc.constant),
        ("nonstop", tsc.nonstop),
        ("adjustable", tsc.adjust),
        ("scalable", tsc.scaling),
        ("of known frequency", tsc.known_frequency),
        ("vouched for", tsc.reliable),
    ];
    let known = flags.iter().filter_map(|(name, flag)| {
        flag.map(|yes| if yes { (*name).to_owned() } else { format!("not {name}") })
    });
    told(known.collect(), " · ")
}

fn parameters(parameters: &[String]) -> String {
    if parameters.is_empty() { "none".to_owned() } else { clipped(&parameters.join(" "), LONGEST) }
}

fn tick(platform: &Platform) -> String {
    let kernel = &platform.kernel;
    let mut parts: Vec<String> = kernel.tick_hz.map(|hertz| format!("{hertz} Hz")).into_iter().collect();
    if let (Some(first), Some(source)) = (parts.first_mut(), &kernel.tick_source) {
        *first += &format!(" ({})", clipped(source, 80));
    }
    parts.extend(kernel.tickless.map(|tickless| {
        match tickless {
            Tickless::Never => "never stopped",
            Tickless::WhenIdle => "stopped on idle CPUs",
            Tickless::WhenAlone => "stopped on idle CPUs, and on those of nohz_full while one thread runs",
        }
        .to_owned()
    }));
    told(parts, ", ")
}

fn ntp(ntp: &Ntp) -> String {
    let mut text = format!(
        "{} · rate {:+.3} ppm, {:+.3} of them by frequency",
        steering(ntp).trim_start_matches("NTP "),
        ntp.rate_ppm,
        ntp.frequency_ppm
    );
    if ntp.slewing {
        text += &format!(" · {} ns to go, tick of {} µs", ntp.offset_ns, ntp.tick_us);
    }
    if ntp.synchronised {
        text += &format!(" · estimated error {} µs", ntp.estimated_error_us);
    }
    text
}

fn steering(ntp: &Ntp) -> String {
    match (ntp.slewing, ntp.synchronised) {
        (true, _) => format!("NTP slewing by {:+.1} ppm", ntp.rate_ppm),
        (false, true) => "clock disciplined by NTP".to_owned(),
        (false, false) => "clock not disciplined by NTP".to_owned(),
    }
}

fn limits(limits: &Limits) -> String {
    let container = limits.container.as_deref().map(|kind| clipped(kind, 40));
    let cpu = limits.cpu.map(|quota| {
        let throttled = quota.throttled_periods.filter(|periods| *periods > 0);
        let throttled = throttled.map(|periods| format!(", stopped {periods} times")).unwrap_or_default();
        quota.cpus.map_or("none".to_owned(), |cpus| format!("{cpus:.2} CPUs{throttled}"))
    });
    let memory = limits.memory.map(|memory| {
        memory.bytes.map_or("none".to_owned(), |bytes| format!("{:.0} MiB", bytes as f64 / 1_048_576.0))
    });
    let or_not = |value: Option<String>| value.unwrap_or_else(|| NOT_SHOWN.to_owned());
    [
        container
            .map_or("no marks of a container".to_owned(), |kind| format!("marks of a container ({kind})")),
        format!("CPU quota {}", or_not(cpu)),
        format!("CPU set {}", or_not(listed(limits.cpuset.as_deref()))),
        format!("memory limit {}", or_not(memory)),
    ]
    .join(" · ")
}

/// A line: what it is about, and what is known.
pub type Fact = (&'static str, String);

/// Longest text from elsewhere that is printed.
pub(super) const LONGEST: usize = 300;

/// By the first who bounds it; `None` where none was asked.
#[must_use]
pub fn common_time(platform: &Platform) -> Option<String> {
    let all = platform.common_time.as_ref()?;
    Some(platform.bounded_time().map_or_else(
        || match all.first() {
            Some(told) => format!("not told: {}", clipped(reason(told), LONGEST)),
            None => "no service of this machine reports one".to_owned(),
        },
        |told| clipped(&service(told), LONGEST),
    ))
}

/// By each service, one after the other.
#[must_use]
pub(super) fn time_services(platform: &Platform) -> Option<String> {
    let all = platform.common_time.as_ref()?;
    let each = |told: &CommonTime| match told.offset_ns.or(told.bound_ns) {
        Some(_) => service(told),
        None => format!("{}: {}", told.source, reason(told)),
    };
    let text = all.iter().map(|told| clipped(&each(told), LONGEST)).collect::<Vec<_>>().join(" · ");
    Some(if text.is_empty() { "none".to_owned() } else { text })
}

fn reason(told: &CommonTime) -> &str {
    told.reason.as_deref().unwrap_or("no reason given")
}

/// As in `12.3 µs ahead, at most 1.2 ms off, by chrony from 192.0.2.1 (stratum 2)`.
fn service(told: &CommonTime) -> String {
    let way = |offset: f64| if offset < 0.0 { "behind" } else { "ahead" };
    let offset = told.offset_ns.map(|offset| format!("{} {}", short_time(offset.abs()), way(offset)));
    let whose = match told.clock {
        ComparedClock::System => "",
        ComparedClock::Device => "the device ",
        ComparedClock::Unknown => "a clock ",
    };
    let bound = told.bound_ns.map(|bound| format!("at most {} off", short_time(bound)));
    let figures = [offset, bound].into_iter().flatten().collect::<Vec<_>>().join(", ");
    format!("{whose}{figures}, by {}", told.origin())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(source: &str, clock: ComparedClock, offset_ns: Option<f64>, bound_ns: Option<f64>) -> CommonTime {
        let reason = Some("it does not say".to_owned());
        CommonTime { source: source.into(), clock, offset_ns, bound_ns, reason, ..CommonTime::default() }
    }

    fn machine(common_time: Option<Vec<CommonTime>>) -> Platform {
        Platform { common_time, ..Platform::default() }
    }

    #[test]
    fn the_first_who_bounds_the_system_clock_is_shown() {
        let silent = told("chrony", ComparedClock::Unknown, None, None);
        let card = told("ptp4l", ComparedClock::Device, Some(3.0), Some(4_000.0));
        let kernel = told("adjtimex", ComparedClock::System, Some(-1_500.0), Some(2e6));
        let all = machine(Some(vec![silent.clone(), card, kernel]));
        assert_eq!(common_time(&all).as_deref(), Some("1.5 µs behind, at most 2 ms off, by adjtimex"));
        let details = time_services(&all).expect("asked");
        assert_eq!(details.matches(" · ").count(), 2, "{details}");
        assert!(details.starts_with("chrony: it does not say · the device 3 ns ahead"), "{details}");
        assert_eq!(common_time(&machine(Some(vec![silent]))).as_deref(), Some("not told: it does not say"));
        assert_eq!(
            common_time(&machine(Some(Vec::new()))).as_deref(),
            Some("no service of this machine reports one")
        );
        assert_eq!(common_time(&machine(None)), None);
    }
}
