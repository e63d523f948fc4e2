//! A recording without what tells whose machine it is of. The report is analysed from it, so that both say the same.

use super::{Observed, Recording};
use crate::model::{ClockSource, CommonTime, CoreKind, Cpu, Kernel, Limits, Os, Platform, TimerRow};
use crate::trace::{Stored, Trace};

/// What stands where the words of a host stood, which may name folders and users.
const LEFT_OUT: &str = "left out with the names of the machine";

impl Recording {
    /// The same without the name of the machine, its servers of time, what distributions and users add to the name of a kernel, lists of
    /// its cores, what agents said of their failures, and the time of day.
    #[must_use]
    pub fn anonymous(self) -> Self {
        let created = self.created.get(..10).map_or_else(String::new, |day| format!("{day}T00:00:00Z"));
        let unasked = self.unasked.into_iter().filter(|row| row.runtime == "native");
        Self {
            created,
            node: None,
            platform: platform(self.platform),
            timers: self.timers.into_iter().map(observed).collect(),
            unasked: unasked.map(|row| TimerRow { reason: row.reason.map(without_paths), ..row }).collect(),
            ..self
        }
    }
}

/// All members are named, so that a new one has to be thought of here.
fn platform(platform: Platform) -> Platform {
    let Platform {
        cpu,
        os: Os { family, name },
        kernel,
        hypervisor,
        hypervisor_clocks,
        product,
        clocksource,
        tsc,
        ntp,
        common_time,
        load,
        steal_share,
        limits,
        waiting,
        perf_event_paranoid,
    } = platform;
    let Kernel { name: kernel_name, release, version: _, tick_hz, tick_source, tickless } = kernel;
    let ClockSource { current, available, vdso, parameters } = clocksource;
    let Limits { container, cgroup, cpu: quota, cpuset: _, memory, time_namespace } = limits;
    Platform {
        cpu: processor(cpu),
        os: Os { family, name },
        kernel: Kernel {
            name: kernel_name,
            release: release.and_then(|release| numbers(&release)),
            version: None,
            tick_hz,
            tick_source,
            tickless,
        },
        hypervisor,
        hypervisor_clocks,
        product,
        clocksource: ClockSource { current, available, vdso, parameters },
        tsc,
        ntp,
        common_time: common_time.map(|all| all.into_iter().map(served).collect()),
        load,
        steal_share,
        limits: Limits { container, cgroup, cpu: quota, cpuset: None, memory, time_namespace },
        waiting,
        perf_event_paranoid,
    }
}

fn processor(cpu: Cpu) -> Cpu {
    let kinds =
        cpu.core_kinds.map(|kinds| kinds.into_iter().map(|kind| CoreKind { list: None, ..kind }).collect());
    Cpu {
        online_list: None,
        allowed_list: None,
        core_list: None,
        isolated: None,
        nohz_full: None,
        power_plan: None,
        core_kinds: kinds,
        ..cpu
    }
}

/// How far the clock is off, and not from whom.
fn served(told: CommonTime) -> CommonTime {
    let CommonTime {
        source, stratum, clock, offset_ns, uncertainty_ns, bound_ns, estimated_error_ns, ..
    } = told;
    CommonTime {
        source,
        stratum,
        clock,
        offset_ns,
        uncertainty_ns,
        bound_ns,
        estimated_error_ns,
        ..CommonTime::default()
    }
}

/// The version that a release begins with: `6.1.0` of `6.1.0-28-amd64`.
fn numbers(release: &str) -> Option<String> {
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
    Some(release[..end].trim_end_matches('.').to_owned()).filter(|numbers| !numbers.is_empty())
}

fn observed(observed: Observed) -> Observed {
    let native = observed.runtime == "native";
    let outcome = match observed.outcome {
        Ok(stored) => Ok(Stored::from(trace(stored.open(), native))),
        Err(reason) if native => Err(without_paths(reason)),
        Err(_) => Err(LEFT_OUT.to_owned()),
    };
    Observed { outcome, ..observed }
}

/// What the system said of its own files stays; what names another folder does not.
fn without_paths(reason: String) -> String {
    let of_system = |word: &str| {
        let path = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
        !path.contains('/') || ["/dev/", "/proc/", "/sys/"].iter().any(|known| path.starts_with(known))
    };
    if reason.split_whitespace().all(of_system) { reason } else { LEFT_OUT.to_owned() }
}

/// Readings without the time of day: whole seconds are taken off, which no step or grid of a clock is longer than.
fn trace(mut trace: Trace, native: bool) -> Trace {
    for reason in trace.evidence.refusals.values_mut() {
        *reason = if native { without_paths(std::mem::take(reason)) } else { LEFT_OUT.to_owned() };
    }
    let first =
        trace.runs.iter().chain(&trace.set_aside).find_map(|run| run.readings.values.first().copied());
    let first = first.or_else(|| trace.evidence.series.first().map(|three| three[1]));
    let Some(off) = first.zip(trace.ns_per_tick).and_then(|(first, tick)| whole_seconds(first, tick)) else {
        return trace;
    };
    for run in trace.runs.iter_mut().chain(&mut trace.set_aside) {
        // Those of windows that were dropped are readings, too, where they are of no calls.
        let dropped = run.dropped.iter_mut().filter(|window| window.calls.is_none());
        let readings = dropped.flat_map(|window| &mut window.values);
        run.readings.values.iter_mut().chain(readings).for_each(|value| *value = value.wrapping_sub(off));
    }
    let evidence = &mut trace.evidence;
    let threes = [&mut evidence.sparse_comparisons, &mut evidence.close_comparisons, &mut evidence.series];
    let of_processes = evidence.process_comparisons.iter_mut().flatten();
    for three in threes.into_iter().flatten().chain(of_processes) {
        three[1] = three[1].wrapping_sub(off);
    }
    trace
}

/// The whole seconds of a reading, in its ticks; nothing where a second is no whole number of these.
fn whole_seconds(reading: i64, ns_per_tick: f64) -> Option<i64> {
    let ticks = 1e9 / ns_per_tick;
    let whole = ticks.round();
    let is_whole = (1.0..=1e12).contains(&whole) && (ticks - whole).abs() < 1e-6;
    is_whole.then(|| reading.wrapping_sub(reading.rem_euclid(whole as i64)))
}

#[cfg(test)]
mod tests {
    use super::{LEFT_OUT, numbers, whole_seconds, without_paths};

    #[test]
    fn what_names_a_place_is_left_out_and_what_the_system_says_of_itself_is_not() {
        for kept in
            ["/dev/ptp0: No such file or directory", "perf_event_open: Permission denied", "'/proc/stat'"]
        {
            assert_eq!(without_paths(kept.to_owned()), kept);
        }
        for left in ["cannot run /home/alice/bin/java", "~/x/y is no program", "\"/srv/acme\" is full"] {
            assert_eq!(without_paths(left.to_owned()), LEFT_OUT);
        }
    }

    #[test]
    fn releases_are_their_numbers() {
        for (release, number) in [
            ("6.1.0-28-amd64", Some("6.1.0")),
            ("5.15.167.4-microsoft", Some("5.15.167.4")),
            ("acme", None),
            ("6.", Some("6")),
        ] {
            assert_eq!(numbers(release).as_deref(), number, "{release}");
        }
    }

    #[test]
    fn seconds_are_whole_or_stay() {
        assert_eq!(whole_seconds(1_763_000_000_123_456_789, 1.0), Some(1_763_000_000_000_000_000));
        assert_eq!(whole_seconds(1_763_000_000, 1e9), Some(1_763_000_000));
        assert_eq!(whole_seconds(133_000_000_012_345_678, 100.0), Some(133_000_000_010_000_000));
        assert_eq!(
            whole_seconds(i64::MIN, 1.0).map(|off| i64::MIN.wrapping_sub(off) >= 0),
            None.or(Some(true))
        );
        // A raw counter, whose rate is found.
        assert_eq!(whole_seconds(1_234_567, 0.385_208_01), None);
    }
}
