//! What the distribution of single invocations is, in words.

use crate::model::{Distribution, Mode};
use crate::text::numbers::{significant, time};

/// More costs than this are not listed one by one.
const LISTED: usize = 6;

/// One cost, several or none; the tail; and what lies between processes. `median_ns` is the cost that invocations without
/// a single cost lie around.
#[must_use]
pub fn in_words(distribution: &Distribution, median_ns: Option<f64>) -> String {
    let varied = varied(distribution.within_ns);
    let costs = match distribution.modes.as_slice() {
        [] => {
            let around = median_ns.map_or_else(String::new, |ns| format!(" around {}", time(Some(ns))));
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
        format!("{} far above, as interrupted calls are", percent(distribution.tail_share))
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
    if ns < SEEN { "no variation seen".to_owned() } else { format!("SD {}", deviation(ns)) }
}

/// A standard deviation is not known to more than two digits.
fn deviation(ns: f64) -> String {
    if ns < 1000.0 { format!("{} ns", significant(ns, 2)) } else { time(Some(ns)) }
}

fn written(mode: &Mode) -> String {
    format!("{} ({})", time(Some(mode.ns)), percent(mode.share))
}

/// Costs with their shares, the last after "and".
fn listed(modes: &[Mode]) -> String {
    let mut each: Vec<String> = modes.iter().take(LISTED).map(written).collect();
    let more = modes.len().saturating_sub(LISTED);
    if more > 0 {
        each.push(format!("{more} more"));
    }
    let last = each.pop().unwrap_or_default();
    if each.is_empty() { last } else { format!("{} and {last}", each.join(", ")) }
}

fn number(count: usize) -> String {
    match count {
        2 => "two".to_owned(),
        3 => "three".to_owned(),
        4 => "four".to_owned(),
        more => more.to_string(),
    }
}

/// A share in percent, with as many decimals as tell it from none and from all: `18 %`, `0.9 %`, `99.97 %`.
fn percent(share: f64) -> String {
    const MOST: f64 = 6.0;
    let percent = share * 100.0;
    // 0.1 left over may come out a hair below it.
    let edge = percent.min(100.0 - percent) * (1.0 + 1e-9);
    let decimals = if edge > 0.0 { (-edge.log10().floor()).clamp(0.0, MOST) as usize } else { 0 };
    format!("{percent:.decimals$} %")
}

#[cfg(test)]
mod tests {
    use super::{in_words, percent};
    use crate::model::{Distribution, Mode};

    fn of(modes: &[(f64, f64)], within_ns: f64, between_ns: Option<f64>, tail_share: f64) -> Distribution {
        let modes = modes.iter().map(|&(ns, share)| Mode { ns, share }).collect();
        Distribution { modes, within_ns, between_ns, tail_share }
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
        assert!(told.starts_with("1000, ") && told.contains(" and 994 more;") && told.len() < 400, "{told}");
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
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn what_is_no_number_is_no_distribution() {
        assert!(of(&[(1.0, 1.0)], 0.0, None, 0.0).is_finite());
        assert!(!of(&[(f64::NAN, 1.0)], 0.0, None, 0.0).is_finite());
        assert!(!of(&[], f64::INFINITY, None, 0.0).is_finite());
    }
}
