//! One timer in a few lines of text, each a name and a value, and the distribution of its single
//! invocations in words. Shared by the terminal and the page.

use super::conditions::Fact;
use crate::model::{
    Added, Context, Cost, Distribution, Interval, Mode, Observations, Resolution, ResolutionKind,
    Stable, TimerRow, Verdicts,
};
use crate::text::numbers::{
    count, percent, plus_minus, rate, resolution, share, significant, time,
};
use crate::text::plain;

/// All that is known of a timer.
#[must_use]
pub fn facts_of_timer(row: &TimerRow) -> Vec<Fact> {
    let mut facts = vec![("status", status(row))];
    let mut fact = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    fact("Quality", row.quality.map(quality));
    fact(
        "printed",
        row.printed_quality
            .map(|printed| format!("{} % in the source", percent(Some(printed)))),
    );
    fact(
        "resolution",
        row.resolution
            .map(|resolution| resolution_in_full(row, &resolution)),
    );
    fact(
        "cost",
        row.cost_ns.map(|median| cost(median, row.cost.as_ref())),
    );
    fact("in a row", row.cost.as_ref().and_then(in_a_row));
    for context in Context::ALL {
        let added = row.cost.as_ref().and_then(|cost| cost.adds?.of(context));
        fact(
            adds_to(context),
            added.map(|added| in_context(context, added)),
        );
    }
    let median = row.cost_ns.map(|median| median.value);
    fact(
        "single costs",
        row.distribution
            .as_ref()
            .map(|costs| in_words(costs, median)),
    );
    fact("as seen", row.cost.as_ref().and_then(singles));
    fact("spread", row.spread.map(spread));
    fact(
        "tick",
        row.ns_per_tick
            .map(|ns| format!("{} ({})", time(Some(ns)), rate(Some(1e9 / ns)))),
    );
    fact(
        "rate",
        row.verdicts
            .as_ref()
            .and_then(|verdicts| rate_error(&verdicts.stable)),
    );
    fact("rests on", row.observations.as_ref().map(observations));
    fact(
        "trust",
        row.verdicts.as_ref().map(|verdicts| {
            format!(
                "{}, by the first three of the following",
                verdicts.in_short()
            )
        }),
    );
    for answer in row.verdicts.iter().flat_map(Verdicts::answers) {
        let told = format!("{} — {}", answer.outcome.in_words(), answer.finding);
        fact(answer.question.name(), Some(told));
    }
    for (name, evidence) in row.verdicts.iter().flat_map(evidence) {
        fact(name, Some(evidence));
    }
    facts
}

/// Evidence that is more than a sentence.
fn evidence(verdicts: &Verdicts) -> Vec<(&'static str, String)> {
    let offsets = verdicts.thread_safe.offsets.iter().map(|offset| {
        let (ns, uncertainty) = (
            significant(offset.ns, 3),
            significant(offset.uncertainty_ns, 2),
        );
        format!("CPU {}: {ns} ± {uncertainty} ns", offset.cpu)
    });
    let allan = verdicts.stable.allan.get().unwrap_or_default();
    let allan = allan.iter().map(|point| {
        format!(
            "{:.1e} at {}",
            point.deviation,
            time(Some(point.window_s * 1e9))
        )
    });
    let told = [
        ("CPU offsets", offsets.collect::<Vec<_>>()),
        ("Allan deviation", allan.collect()),
    ];
    told.into_iter()
        .filter(|(_, parts)| !parts.is_empty())
        .map(|(name, parts)| (name, parts.join(" · ")))
        .collect()
}

/// How much faster than its reference it runs, and what that is known to.
fn rate_error(stable: &Stable) -> Option<String> {
    let (offset, half) = stable.offset_ppm.zip(stable.offset_uncertainty_ppm)?;
    let window = time(stable.longest_window_s.map(|s| s * 1e9));
    let processes = match stable.rate_processes {
        Some(1) => " and in a fresh process".to_owned(),
        Some(count) => format!(" and in {count} fresh processes"),
        None => String::new(),
    };
    let (offset, half) = (significant(offset, 3), significant(half, 2));
    Some(format!(
        "{offset} ± {half} ppm faster than its reference, over {window}{processes}"
    ))
}

fn status(row: &TimerRow) -> String {
    let said = |text: &Option<String>| text.clone().unwrap_or_default();
    let mut text = format!("{} ({})", row.status.name(), row.runtime);
    for (lead, part) in [(" — ", said(&row.reason)), (" → ", said(&row.remedy))] {
        if !part.is_empty() {
            text = text + lead + &part;
        }
    }
    text
}

fn quality(quality: Interval) -> String {
    let interval = match plus_minus(quality).is_empty() {
        true => String::new(),
        false => between(quality, |end| percent(Some(end))),
    };
    format!("{} %{interval}", percent(Some(quality.value)))
}

/// The ends of an interval, where they are known.
pub(super) fn between(interval: Interval, written: impl Fn(f64) -> String) -> String {
    interval.ends().map_or_else(String::new, |(low, high)| {
        format!(" (95 % interval {} to {})", written(low), written(high))
    })
}

fn in_cycles(cycles: Option<f64>) -> String {
    cycles.map_or_else(String::new, |cycles| {
        format!(", {} cycles", count(Some(cycles)))
    })
}

fn resolution_in_full(row: &TimerRow, step: &Resolution) -> String {
    let resolved = row
        .resolution_ns
        .filter(|_| step.kind == ResolutionKind::Resolved);
    let interval = resolved.map_or_else(String::new, |ns| between(ns, |end| time(Some(end))));
    let rule = row.observations.as_ref();
    let rule = rule.and_then(|observations| observations.resolution_rule.as_deref());
    let rule = rule.map_or_else(String::new, |rule| format!(", found by the rule `{rule}`"));
    let ticks = significant(step.ticks, 5);
    format!(
        "{}{interval}{}, {ticks} ticks{rule}",
        resolution(row),
        in_cycles(step.cycles)
    )
}

/// What a call costs alone.
fn cost(median: Interval, cost: Option<&Cost>) -> String {
    let by = cost.map_or_else(String::new, |cost| plain(&cost.reference));
    let by = if by.is_empty() {
        String::new()
    } else {
        format!(", timed by {by}")
    };
    format!(
        "{}{}{}, the median of calls alone{by}",
        time(Some(median.value)),
        between(median, |end| time(Some(end))),
        in_cycles(cost.and_then(|cost| cost.median_cycles))
    )
}

fn in_a_row(cost: &Cost) -> Option<String> {
    cost.amortised_ns.map(|ns| {
        format!(
            "{} a call in a row of many, in which calls may overlap",
            time(Some(ns))
        )
    })
}

fn adds_to(context: Context) -> &'static str {
    match context {
        Context::Latency => "adds to latency",
        Context::Throughput => "to throughput",
        Context::Memory => "to a miss",
        Context::Ahead => "far ahead",
        Context::Cold => "cold",
        Context::Contended => "contended",
    }
}

/// What a read adds there, and what that code is.
fn in_context(context: Context, added: Added) -> String {
    let code = match context {
        Context::Latency => "16 multiplications, each of which waits for the one before",
        Context::Throughput => "four such chains side by side",
        Context::Memory => "a load that misses the caches of the core",
        Context::Ahead => "calls, loads and branches that are predicted well",
        Context::Cold => "after a millisecond of other work",
        Context::Contended => "four chains, while all other CPUs read it too",
    };
    let interval = added.ns.ends().map_or_else(String::new, |(low, high)| {
        format!(
            " (95 % interval {} to {} ns)",
            significant(low, 3),
            significant(high, 3)
        )
    });
    let takes = if context == Context::Cold {
        "the bracket around it"
    } else {
        "which take"
    };
    format!(
        "{} ns{interval}: {code}, {takes} {}",
        significant(added.ns.value, 3),
        time(Some(added.work_ns))
    )
}

fn spread(spread: Interval) -> String {
    let written = |figure: f64| share(Some(figure));
    format!(
        "{}{} of single invocations lie within one resolution of the median",
        written(spread.value),
        between(spread, written)
    )
}

fn singles(cost: &Cost) -> Option<String> {
    (cost.single_median_ns.is_some() || cost.p99_ns.is_some()).then(|| {
        let (median, p99) = (time(cost.single_median_ns), time(cost.p99_ns));
        format!("invocations as the reference shows them: median {median}, 99th percentile {p99}")
    })
}

fn observations(rests_on: &Observations) -> String {
    let disturbed = match rests_on.disturbed_processes {
        0 => String::new(),
        count => format!(" ({count} of them disturbed and left out)"),
    };
    let backward = match rests_on.backward_steps {
        0 => "none went backwards".to_owned(),
        1 => "1 step went backwards".to_owned(),
        count => format!("{count} steps went backwards"),
    };
    format!(
        "{} processes{disturbed}, {} intervals, {} single and {} batched invocations; {backward}",
        rests_on.processes, rests_on.intervals, rests_on.single_calls, rests_on.batched_calls
    )
}

/// More costs than this are not listed one by one.
const LISTED: usize = 6;

/// One cost, several or none; the tail; and what lies between processes. `median_ns` is the cost
/// that invocations without a single cost lie around.
#[must_use]
pub fn in_words(distribution: &Distribution, median_ns: Option<f64>) -> String {
    let varied = varied(distribution.within_ns);
    let costs = match distribution.modes.as_slice() {
        [] => {
            let around =
                median_ns.map_or_else(String::new, |ns| format!(" around {}", time(Some(ns))));
            format!("no single cost: they lie{around}, {varied}")
        }
        [mode] => format!("one, {}, {varied}", written(mode)),
        modes => format!(
            "{}, {}; {varied} around the one that holds the median",
            number(modes.len()),
            listed(modes)
        ),
    };
    let tail = if distribution.tail_share > 0.0 {
        format!(
            "{} far above, as interrupted calls are",
            in_percent(distribution.tail_share)
        )
    } else {
        "none far above".to_owned()
    };
    let between = match distribution.between_ns {
        Some(ns) => format!("processes differ by {} (SD)", deviation(ns)),
        None => "one process, so nothing is known of others".to_owned(),
    };
    [costs, tail, between].join("; ")
}

/// How much a cost varies within a process.
fn varied(ns: f64) -> String {
    /// Less cannot be told from none by any reference there is.
    const SEEN: f64 = 0.005;
    if ns < SEEN {
        "no variation seen".to_owned()
    } else {
        format!("SD {}", deviation(ns))
    }
}

/// A standard deviation is not known to more than two digits.
fn deviation(ns: f64) -> String {
    if ns < 1000.0 {
        format!("{} ns", significant(ns, 2))
    } else {
        time(Some(ns))
    }
}

fn written(mode: &Mode) -> String {
    format!("{} ({})", time(Some(mode.ns)), in_percent(mode.share))
}

/// Costs with their shares, the last after "and".
fn listed(modes: &[Mode]) -> String {
    let mut each: Vec<String> = modes.iter().take(LISTED).map(written).collect();
    let more = modes.len().saturating_sub(LISTED);
    if more > 0 {
        each.push(format!("{more} more"));
    }
    let last = each.pop().unwrap_or_default();
    if each.is_empty() {
        last
    } else {
        format!("{} and {last}", each.join(", "))
    }
}

fn number(count: usize) -> String {
    match count {
        2 => "two".to_owned(),
        3 => "three".to_owned(),
        4 => "four".to_owned(),
        more => more.to_string(),
    }
}

/// A share in percent, with as many decimals as tell it from none and from all: `18 %`, `0.9 %`,
/// `99.97 %`.
fn in_percent(share: f64) -> String {
    const MOST: f64 = 6.0;
    let percent = share * 100.0;
    // 0.1 left over may come out a hair below it.
    let edge = percent.min(100.0 - percent) * (1.0 + 1e-9);
    let decimals = if edge > 0.0 {
        (-edge.log10().floor()).clamp(0.0, MOST) as usize
    } else {
        0
    };
    format!("{percent:.decimals$} %")
}

#[cfg(test)]
mod tests {
    use crate::model::{Distribution, Mode};
    use crate::report::facts::{in_percent, in_words};

    fn of(
        modes: &[(f64, f64)],
        within_ns: f64,
        between_ns: Option<f64>,
        tail_share: f64,
    ) -> Distribution {
        let modes = modes
            .iter()
            .map(|&(ns, share)| Mode { ns, share })
            .collect();
        Distribution {
            modes,
            within_ns,
            between_ns,
            tail_share,
        }
    }

    #[test]
    fn one_cost_several_and_none_are_told_apart() {
        let told = |costs: Distribution| in_words(&costs, Some(30.0));
        assert_eq!(
            told(of(&[(22.5, 0.999)], 0.4, Some(0.3), 0.001)),
            "one, 22.50 ns (99.9 %), SD 0.40 ns; 0.1 % far above, as interrupted calls are; processes differ by 0.30 ns (SD)"
        );
        assert_eq!(
            told(of(&[(22.5, 0.81), (41.0, 0.181)], 0.4, Some(0.3), 0.009)),
            "two, 22.50 ns (81 %) and 41.00 ns (18 %); SD 0.40 ns around the one that holds the median; 0.9 % far above, \
             as interrupted calls are; processes differ by 0.30 ns (SD)"
        );
        assert_eq!(
            told(of(&[], 5.0, None, 0.0)),
            "no single cost: they lie around 30.00 ns, SD 5.0 ns; none far above; one process, so nothing is known \
             of others"
        );
        let still = told(of(&[(9.0, 1.0)], 0.0, Some(0.5), 0.0));
        assert_eq!(
            still,
            "one, 9.000 ns (100 %), no variation seen; none far above; processes differ by 0.50 ns (SD)"
        );
        let three = told(of(&[(1.0, 0.3), (2.0, 0.3), (3.0, 0.4)], 0.1, None, 0.0));
        assert!(
            three.starts_with("three, 1.000 ns (30 %), 2.000 ns (30 %) and 3.000 ns (40 %); "),
            "{three}"
        );
    }

    #[test]
    fn a_list_has_an_end() {
        let told = in_words(&of(&[(1.0, 0.001); 1000], 0.1, None, 0.0), None);
        assert!(
            told.starts_with("1000, ") && told.contains(" and 994 more;") && told.len() < 400,
            "{told}"
        );
    }

    #[test]
    fn shares_are_told_from_none_and_from_all() {
        for (share, text) in [
            (0.0, "0 %"),
            (1.0, "100 %"),
            (0.18, "18 %"),
            (0.009, "0.9 %"),
            (0.0001, "0.01 %"),
            (0.9997, "99.97 %"),
            (1e-12, "0.000000 %"),
        ] {
            assert_eq!(in_percent(share), text);
        }
    }

    #[test]
    fn what_is_no_number_is_no_distribution() {
        assert!(of(&[(1.0, 1.0)], 0.0, None, 0.0).is_finite());
        assert!(!of(&[(f64::NAN, 1.0)], 0.0, None, 0.0).is_finite());
        assert!(!of(&[], f64::INFINITY, None, 0.0).is_finite());
    }
}
