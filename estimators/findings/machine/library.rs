//! The rules about the C library's clocks, and about what is loaded before it.

use crate::findings::{ns, number, values};
use crate::model::{Defect, DefectKind, Interval, LibraryClock, Platform, Unit, Values};

rules! {
    pub static RULES: Platform;
    "libc-clock" {
        Problem "<as the C library gives them, these clocks are wrong: {clocks}><a program that reads clocks by the C library fails: {why}>"
            => "find what intercepts or forbids the reads: a preloaded library (<{libraries}; >LD_PRELOAD, /etc/ld.so.preload, faketime), a sandbox, or prctl(PR_SET_TSC)",
            |machine| {
                let libraries = listed(machine.preloaded.iter().cloned(), ", ");
                let wrong = |clock: &LibraryClock| {
                    Some(format!("{} {}", clock.id, library_defect(clock)?.in_short()))
                };
                let clocks = listed(compared(machine).filter_map(wrong), ", ");
                let why = clocks.is_none().then(|| {
                    listed(compared(machine).filter_map(|clock| clock.failure.clone()), "; ")
                });
                let why = why.flatten();
                (clocks.is_some() || why.is_some()).then(|| values! { clocks, why, libraries })
            };
        Note "{clocks} could be compared with nothing, because a sandbox forbids their system calls: they work only while the kernel keeps the vDSO; if the clock source changes, every program here fails to read them"
            => "allow clock_gettime in the sandbox (its seccomp filter), or make sure that the clock source stays",
            |machine| {
                let alone = compared(machine).filter(|clock| clock.offset_ns.is_none());
                let clocks = listed(alone.map(|clock| clock.id.clone()), ", ")?;
                Some(values! { clocks })
            };
        Ok "clocks as the C library reads them agree with their system calls",
            |machine| machine.library_clocks.as_ref().map(|_| Values::new());
        Unknown "whether clocks as the C library reads them are right could not be tested: a preloaded library may replace the system calls of this processor too"
            => "compare without it (LD_PRELOAD, /etc/ld.so.preload)",
            |machine| (!machine.preloaded.is_empty()).then(Values::new);
    }
    "preload" {
        Note "programs load {libraries} before the C library: it may replace the functions that read clocks"
            => "compare without it (LD_PRELOAD, /etc/ld.so.preload)",
            |machine| {
                let libraries = listed(machine.preloaded.iter().cloned(), ", ")?;
                Some(values! { libraries })
            };
    }
}

fn compared(machine: &Platform) -> impl Iterator<Item = &LibraryClock> {
    machine.library_clocks.iter().flatten()
}

/// By how much a clock that the C library reads differs from its system call. A rate of less than
/// 1 ppm and an offset of less than 1 µs are not reported: the two calls read the clock at different
/// times, on CPUs whose counters differ.
pub fn library_defect(clock: &LibraryClock) -> Option<Defect> {
    let proven = |it: Option<Interval>, least: f64| {
        Some(it.filter(|by| by.low > least || by.high < -least)?.value)
    };
    let defect = |kind, size| Defect {
        kind,
        size: Some(size),
    };
    let rate = proven(clock.rate_ppm, 1.0).map(|ppm| defect(DefectKind::Rate, ppm));
    rate.or_else(|| Some(defect(DefectKind::Offset, proven(clock.offset_ns, 1e3)?)))
}

/// A list in words; `None` if it is empty.
fn listed(parts: impl Iterator<Item = String>, between: &str) -> Option<String> {
    Some(parts.collect::<Vec<_>>().join(between)).filter(|all| !all.is_empty())
}

/// The largest ratio of a read by the C library to a fenced read of the counter.
/// *Judgement*: 1.2 on Zen 4, up to 2 where the vDSO reads a page of the hypervisor.
const MAX_READ_RATIO: f64 = 3.0;

rules! {
    /// The rules about the costs of a read by the C library and of the counter with a fence, in
    /// nanoseconds.
    pub static READ_COST: Option<[f64; 2]>;
    "read-cost" {
        Problem "a read of CLOCK_MONOTONIC takes {read}, {ratio} times as long as a fenced read of the counter ({counter})"
            => "find what slows the vDSO: the clock source, a preloaded library, a sandbox, a tracer, an emulator",
            |costs| {
                let [read, counter] = (*costs)?;
                (read > MAX_READ_RATIO * counter).then(|| read_cost([read, counter]))
            };
        Ok "a read of CLOCK_MONOTONIC takes {read}, {ratio} times as long as a fenced read of the counter ({counter})",
            |costs| costs.map(read_cost);
    }
}

fn read_cost(costs_ns: [f64; 2]) -> Values {
    let [read, counter] = costs_ns.map(ns);
    let ratio = number(costs_ns[0] / costs_ns[1], Unit::Ratio);
    values! { read, ratio, counter }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::apply_rules;
    use crate::model::Severity;

    #[test]
    fn expensive_vdso_is_a_problem() {
        let severity = |costs_ns| {
            let found = apply_rules(READ_COST, &costs_ns);
            found.first().map(|finding| finding.severity)
        };
        assert_eq!(severity(Some([22.0, 18.0])), Some(Severity::Ok));
        assert_eq!(severity(Some([170.0, 18.0])), Some(Severity::Problem));
        assert_eq!(severity(None), None);
    }
}
