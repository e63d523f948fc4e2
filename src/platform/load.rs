//! How busy the machine is, and what a hypervisor takes of it (proc(5)).

use timers::os::Told;

use super::Root;
use crate::model::Load;

/// The means of runnable threads.
#[must_use]
pub fn load(root: &Root, told: &Told) -> Option<Load> {
    let [one_minute, five_minutes, fifteen_minutes] = match root.content("/proc/loadavg") {
        Some(text) => return parse_loadavg(&text),
        None => told.load?,
    };
    Some(Load { one_minute, five_minutes, fifteen_minutes })
}

/// Share of the time in which CPUs had something to run that the hypervisor gave to others.
#[must_use]
pub fn steal_share(root: &Root) -> Option<f64> {
    // The sum over all CPUs is the first line.
    parse_steal(&root.beginning("/proc/stat", 1 << 10)?)
}

fn parse_loadavg(text: &str) -> Option<Load> {
    let mut words = text.split_whitespace();
    let mut mean = || words.next()?.parse().ok().filter(|mean: &f64| mean.is_finite() && *mean >= 0.0);
    let load = Load { one_minute: mean()?, five_minutes: mean()?, fifteen_minutes: mean()? };
    // Two more words follow; without them the last mean may have been cut off.
    words.next().map(|_| load)
}

fn parse_steal(stat: &str) -> Option<f64> {
    // Where it is cut off, the last figure may be short.
    let (line, _) = stat.split_once('\n')?;
    let mut words = line.split_whitespace();
    words.next().filter(|name| *name == "cpu")?;
    let times = words.map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
    // user, nice, system, idle, iowait, irq, softirq, steal; the guest times after them are part of user and nice.
    let (&steal, wanted) = (times.get(7)?, [0, 1, 2, 5, 6, 7].map(|at| times[at] as f64).iter().sum::<f64>());
    (wanted > 0.0).then(|| steal as f64 / wanted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn load_averages() {
        let load = Load { one_minute: 1.13, five_minutes: 1.41, fifteen_minutes: 0.77 };
        assert_eq!(parse_loadavg("1.13 1.41 0.77 1/89 14921\n"), Some(load));
        for odd in ["", "1.13 1.41", "1.13 1.41 0.7", "nan 1 1 1/2 3", "-1 1 1 1/2 3", "a b c d e"] {
            assert_eq!(parse_loadavg(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn stolen_time() {
        // Of 1000 ticks that were wanted, 10 were stolen; idle ones and guests do not count.
        let stat = "cpu  900 10 50 417596 471 20 10 10 7 0\ncpu0 300 0 547 209231 23 0 9 56 7 0\n";
        assert_eq!(parse_steal(stat), Some(0.01));
        for odd in [
            "",
            "cpu",
            "cpu 1 2 3\n",
            "cpu 0 0 0 5 0 0 0 0\n",
            "cpu0 1 1 1 1 1 1 1 1\n",
            "cpu 1 1 1 1 1 1 1 1",
        ] {
            assert_eq!(parse_steal(odd), None, "{odd:?}");
        }
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in any::<String>(), times in prop::collection::vec(any::<u64>(), 0..12)) {
            let _ = parse_loadavg(&text);
            let _ = parse_steal(&text);
            let words: Vec<String> = times.iter().map(u64::to_string).collect();
            if let Some(share) = parse_steal(&format!("cpu  {}\ncpu0", words.join(" "))) {
                prop_assert!((0.0..=1.0).contains(&share));
            }
        }
    }
}
