//! What was observed, a finding each: what is wrong, or from what size on it would have shown.

use crate::rate::counter::{CounterFindings, CpuOffset, SHOWS, Tested};
use crate::suitability::Finding;
use crate::text::counted;
use crate::text::numbers::{significant, time};

/// Findings, the cause before what follows from it.
pub(super) fn findings(found: &CounterFindings) -> Vec<Finding> {
    if found.stuck {
        let message = format!(
            "it stood still while {} passed",
            time(Some(found.watched_ns))
        );
        return vec![problem("stuck", message)];
    }
    let mut all = vec![rate(found), order(found)];
    all.extend(cpu_rates(found));
    all.push(offsets(found));
    all.extend(between(found));
    all.extend(asleep(found.asleep));
    all.extend(at_once(
        "leap",
        "leapt ahead of the kernel's clock",
        found.leap,
    ));
    all.extend(at_once(
        "freeze",
        "stood still, or fell behind the kernel's clock,",
        found.freeze,
    ));
    all.extend(change(found.change));
    all.extend(declared(found.declared));
    all.extend(unfenced(found));
    all.extend(cost(found.costs));
    all
}

fn problem(code: &str, message: String) -> Finding {
    Finding::problem(
        code,
        message,
        "read the kernel's clock instead (clock_gettime, CLOCK_MONOTONIC)",
    )
}

fn ppm(value: f64) -> String {
    format!("{} ppm", significant(value, 3))
}

fn rate(found: &CounterFindings) -> Finding {
    const CODE: &str = "rate";
    match found.rate {
        None => Finding::unknown(
            CODE,
            "its rate could not be found: there were too few looks, or it went back between them",
        ),
        Some(rate) => Finding::ok(
            CODE,
            format!(
                "it counts {} times a second by the kernel's clock, ± {}, over {}",
                significant(1e9 / rate.ns_per_tick, 10),
                ppm(1e6 * rate.uncertainty),
                time(Some(found.watched_ns))
            ),
        ),
    }
}

fn order(found: &CounterFindings) -> Finding {
    const CODE: &str = "order";
    let (backward, readings, largest_ns) = found.backward;
    match readings {
        0 => Finding::unknown(CODE, "the order of its readings could not be looked at"),
        _ if backward > 0 => {
            let by = time(Some(largest_ns));
            problem(
                CODE,
                format!(
                    "it went back {backward} times in {readings} readings of one thread, by up to {by}"
                ),
            )
        }
        _ => Finding::ok(
            CODE,
            format!(
                "{readings} readings of a thread that went from CPU to CPU never went back; a share of {:.0e} would have shown",
                SHOWS / readings as f64
            ),
        ),
    }
}

fn cpu_rates(found: &CounterFindings) -> Option<Finding> {
    const CODE: &str = "one-rate";
    let worst = found
        .cpu_rates
        .iter()
        .max_by(|a, b| beyond(&a.tested).total_cmp(&beyond(&b.tested)))?;
    let sees = found
        .cpu_rates
        .iter()
        .map(|rate| rate.tested.sees)
        .fold(0.0, f64::max);
    Some(if worst.tested.is_found() {
        let (value, uncertainty) = (ppm(worst.tested.value), ppm(worst.tested.uncertainty));
        problem(
            CODE,
            format!(
                "CPU {} counts {value} ± {uncertainty} faster than the first one",
                worst.cpu
            ),
        )
    } else {
        Finding::ok(
            CODE,
            format!(
                "all CPUs count at one rate; a difference of {} would have shown",
                ppm(sees)
            ),
        )
    })
}

fn beyond(tested: &Tested) -> f64 {
    tested.value.abs() - tested.uncertainty
}

fn offsets(found: &CounterFindings) -> Finding {
    const CODE: &str = "cpus";
    let beyond = |offset: &&CpuOffset| offset.ns.abs() - offset.uncertainty_ns;
    let Some(worst) = found
        .offsets
        .iter()
        .max_by(|a, b| beyond(a).total_cmp(&beyond(b)))
    else {
        let why = match &found.between {
            Some(_) => "single readings went back between CPUs, so that no offset is known",
            None => {
                "the counters of several CPUs could not be compared: this process may use one CPU only, or cannot choose"
            }
        };
        return Finding::unknown(CODE, why);
    };
    let described = |offset: &CpuOffset| {
        let (ns, uncertainty) = (
            time(Some(offset.ns.abs())),
            time(Some(offset.uncertainty_ns)),
        );
        let side = if offset.ns < 0.0 {
            "behind"
        } else {
            "ahead of"
        };
        format!(
            "the counter of CPU {} is {ns} ± {uncertainty} {side} that of the first one",
            offset.cpu
        )
    };
    if worst.apart && worst.shows {
        problem(
            CODE,
            format!(
                "{}: time goes back for a thread that is moved",
                described(worst)
            ),
        )
    } else if worst.apart {
        let message = format!(
            "{}; a move from CPU to CPU takes longer, so that no thread can see it",
            described(worst)
        );
        Finding::note(CODE, message)
    } else {
        let within = found
            .offsets
            .iter()
            .map(|offset| offset.ns.abs() + offset.uncertainty_ns)
            .fold(0.0, f64::max);
        let sees = found
            .offsets
            .iter()
            .map(|offset| 2.0 * offset.uncertainty_ns)
            .fold(0.0, f64::max);
        Finding::ok(
            CODE,
            format!(
                "the counters of {} agree within {}; an offset of {} would have shown",
                counted(found.offsets.len(), "CPU"),
                time(Some(within)),
                time(Some(sees))
            ),
        )
    }
}

fn between(found: &CounterFindings) -> Option<Finding> {
    const CODE: &str = "between-cpus";
    let between = found.between?;
    Some(if between.backward > 0 {
        let (count, all, by) = (
            between.backward,
            between.handoffs,
            time(Some(between.largest_ns)),
        );
        problem(
            CODE,
            format!(
                "it went back {count} times in {all} handoffs from CPU to CPU, by up to {by}, and no offset explains it"
            ),
        )
    } else {
        let shows = significant(SHOWS / between.handoffs as f64, 2);
        let by = time(Some(between.usual_ns));
        let all = between.handoffs;
        Finding::ok(
            CODE,
            format!(
                "{all} handoffs from CPU to CPU showed no step back but by offsets; a share of {shows} by more than {by} would have shown"
            ),
        )
    })
}

fn asleep(tested: Option<Tested>) -> Option<Finding> {
    const CODE: &str = "asleep";
    let tested = tested?;
    let (value, uncertainty) = (ppm(tested.value.abs()), ppm(tested.uncertainty));
    let slower = if tested.value > 0.0 {
        "slower"
    } else {
        "faster"
    };
    Some(if tested.is_found() {
        problem(
            CODE,
            format!(
                "it counts {value} ± {uncertainty} {slower} while the thread sleeps than while it computes"
            ),
        )
    } else {
        let sees = ppm(tested.sees);
        Finding::ok(
            CODE,
            format!(
                "it counts alike while the thread sleeps and computes; a difference of {sees} would have shown"
            ),
        )
    })
}

fn at_once(code: &str, what: &str, tested: Option<Tested>) -> Option<Finding> {
    let tested = tested?;
    Some(if tested.is_found() && tested.value > 0.0 {
        let (value, uncertainty) = (time(Some(tested.value)), time(Some(tested.uncertainty)));
        problem(
            code,
            format!("it {what} by {value} ± {uncertainty} at once"),
        )
    } else {
        Finding::ok(
            code,
            format!(
                "it never {what} at once; {} would have shown",
                time(Some(tested.sees))
            ),
        )
    })
}

fn change(tested: Option<Tested>) -> Option<Finding> {
    const CODE: &str = "change";
    let tested = tested?;
    let (value, uncertainty) = (ppm(tested.value), ppm(tested.uncertainty));
    Some(if tested.is_found() {
        problem(
            CODE,
            format!("its rate changed by {value} ± {uncertainty} while it was watched"),
        )
    } else {
        let sees = ppm(tested.sees);
        Finding::ok(
            CODE,
            format!(
                "its rate did not change while it was watched; a change of {sees} for an eighth of the time would have shown"
            ),
        )
    })
}

fn declared(tested: Option<Tested>) -> Option<Finding> {
    const CODE: &str = "declared";
    let tested = tested?;
    let (value, uncertainty) = (ppm(tested.value), ppm(tested.uncertainty));
    Some(if tested.is_found() {
        Finding::note(
            CODE,
            format!(
                "it counts {value} ± {uncertainty} faster than is declared, by the kernel's clock"
            ),
        )
        .advice("measure its rate; a program that believes the declared one is off by that")
    } else {
        let sees = ppm(tested.sees);
        Finding::ok(
            CODE,
            format!("it counts as fast as is declared; {sees} would have shown"),
        )
    })
}

fn unfenced(found: &CounterFindings) -> Option<Finding> {
    const CODE: &str = "unfenced";
    let unfenced = found.unfenced?;
    let all = unfenced.handoffs;
    Some(if unfenced.backward > 0 {
        let (count, by) = (unfenced.backward, time(Some(unfenced.largest_ns)));
        Finding::note(
            CODE,
            format!("without a fence it went back {count} times in {all} handoffs, by up to {by}: the bare instruction is carried out before what stands before it"),
        )
        .advice("put a fence before a reading whose order to other threads matters (lfence, isb)")
    } else {
        Finding::ok(
            CODE,
            format!(
                "without a fence it never went back in {all} handoffs, though no manual promises that"
            ),
        )
    })
}

fn cost(costs: Option<[f64; 2]>) -> Option<Finding> {
    const CODE: &str = "cost";
    let [counter, clock] = costs?;
    let said = format!(
        "a read in a row takes {}, one of the kernel's clock {}",
        time(Some(counter)),
        time(Some(clock))
    );
    Some(if counter >= clock {
        Finding::note(CODE, format!("{said}: reading it gains nothing"))
            .advice("read the kernel's clock")
    } else {
        Finding::ok(CODE, format!("{said}; what costs as much would have shown"))
    })
}
