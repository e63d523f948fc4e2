//! Reports what makes waits late: the timer slack, timers with the resolution of the tick, and idle
//! states of the CPU with a long exit latency ([cpuidle], [prctl(2)], [hrtimers]).
//!
//! [cpuidle]: https://docs.kernel.org/admin-guide/pm/cpuidle.html
//! [prctl(2)]: https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html
//! [hrtimers]: https://docs.kernel.org/timers/hrtimers.html

use timers::os::scheduling;

use super::Root;
use estimators::model::{IdleState, Waiting};

/// Maximum number of idle states of a CPU (CPUIDLE_STATE_MAX is 10).
const MAX_IDLE_STATES: u32 = 64;

/// The settings for the calling thread and for `cpu`, by default the first CPU.
pub fn waiting(root: &Root, cpu: Option<u32>) -> Waiting {
    Waiting {
        timer_slack_ns: scheduling::timer_slack().ok(),
        high_resolution: high_resolution(),
        idle_states: idle_states(root, cpu.unwrap_or(0)),
    }
}

/// Whether the kernel has high-resolution timers: it then declares a resolution of 1 ns for its
/// clocks, otherwise the length of the tick (hrtimer_get_res).
fn high_resolution() -> Option<bool> {
    /// Resolution in nanoseconds between that of high-resolution timers and that of ticks.
    const MAX_FINE_RESOLUTION_NS: f64 = 1e5;
    let clock = timers::find(timers::waits::REFERENCE_ID)?;
    (clock.declared_resolution)().map(|ns| ns < MAX_FINE_RESOLUTION_NS)
}

fn idle_states(root: &Root, cpu: u32) -> Option<Vec<IdleState>> {
    let read_property = |state: u32, name: &str| {
        root.read_name(&format!(
            "/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}/{name}"
        ))
    };
    let states: Vec<IdleState> = (0..MAX_IDLE_STATES)
        .map_while(|state| {
            Some(IdleState {
                name: read_property(state, "name")?,
                exit_latency_us: read_property(state, "latency")?.parse().ok()?,
                disabled: read_property(state, "disable").is_some_and(|disabled| disabled != "0"),
            })
        })
        .collect();
    (!states.is_empty()).then_some(states)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::tests::test_root;

    #[test]
    fn idle_states_of_the_cpu() {
        let folder = "sys/devices/system/cpu/cpu1/cpuidle";
        let [name, latency, off] =
            ["name", "latency", "disable"].map(|name| format!("{folder}/state0/{name}"));
        let cut = format!("{folder}/state1/name");
        let (_folder, root) = test_root(&[
            (&name, "C1\n"),
            (&latency, "2\n"),
            (&off, "1\n"),
            (&cut, "C6\n"),
        ]);
        let c1 = IdleState {
            name: "C1".into(),
            exit_latency_us: 2,
            disabled: true,
        };
        assert_eq!(waiting(&root, Some(1)).idle_states, Some(vec![c1]));
        assert_eq!(waiting(&root, None).idle_states, None);
    }
}
