//! Waiting: what makes threads wake late.
//!
//! What a watch of this machine saw.

use super::Finding;
use crate::model::Platform;
use crate::text::numbers::{time, trimmed};

/// A state that takes longer to leave than this, in microseconds, shows beside the lateness that
/// the kernel itself makes.
const SLOW_EXIT_US: u64 = 20;

pub(super) fn findings(platform: &Platform) -> Vec<Finding> {
    vec![
        high_resolution(platform),
        timer_slack(platform),
        idle_states(platform),
    ]
}

fn high_resolution(platform: &Platform) -> Finding {
    const CODE: &str = "high-resolution-timers";
    match platform.waiting.high_resolution {
        None => Finding::unknown(CODE, "whether timers have a high resolution is not shown"),
        Some(true) => Finding::ok(
            CODE,
            "timers have a high resolution: waits do not go by the tick",
        ),
        Some(false) => {
            let tick = platform.kernel.tick_hz.map_or_else(
                || "a tick".to_owned(),
                |hertz| trimmed(&time(Some(1e9 / f64::from(hertz.max(1))))),
            );
            Finding::problem(
                CODE,
                format!("timers go by the tick: every wait is rounded up to {tick} and one more"),
                "start the kernel without highres=off and nohz=off, and with a clock source that permits high resolution (tsc)",
            )
        }
    }
}

fn timer_slack(platform: &Platform) -> Finding {
    const CODE: &str = "timer-slack";
    match platform.waiting.timer_slack_ns {
        None => Finding::unknown(CODE, "the timer slack of threads is not shown"),
        Some(ns @ 0..=1_000) => {
            Finding::ok(CODE, format!("the timer slack is {ns} ns: the kernel does not put off waking to wake several at once"))
        }
        Some(ns) => Finding::note(
            CODE,
            format!(
                "the timer slack is {}: sleeps, polls and futexes of threads that are not of a real-time policy may wake that \
                 much later; timerfd and POSIX timers do not",
                trimmed(&time(Some(ns as f64)))
            ),
        )
        .advice(
            "where waits have to end in time, call prctl(PR_SET_TIMERSLACK, 1) in the thread that waits, or write 1 to \
             /proc/PID/timerslack_ns",
        ),
    }
}

fn idle_states(platform: &Platform) -> Finding {
    const CODE: &str = "idle-states";
    let Some(states) = &platform.waiting.idle_states else {
        let decider = if platform.hypervisor.is_some() {
            "; the host decides"
        } else {
            ""
        };
        return Finding::unknown(
            CODE,
            format!("which idle states (C-states) CPUs enter is not shown{decider}"),
        );
    };
    let slowest = states
        .iter()
        .filter(|state| !state.disabled)
        .max_by_key(|state| state.exit_latency_us);
    match slowest {
        Some(state) if state.exit_latency_us > SLOW_EXIT_US => Finding::note(
            CODE,
            format!(
                "an idle CPU may enter {} and takes {} µs to leave it: waits on a quiet machine end that much later, and what \
                 follows runs slower at first",
                state.name, state.exit_latency_us
            ),
        )
        .advice(
            "as root, `cpupower idle-set -D 20`, or hold /dev/cpu_dma_latency open with 0 written to it while it matters (as \
             cyclictest does unless told --default-system)",
        ),
        _ => Finding::ok(
            CODE,
            format!("no idle state (C-state) that is in use takes longer than {SLOW_EXIT_US} µs to leave"),
        ),
    }
}

/// What a watch saw, in words of others.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// When it began, as RFC 3339.
    pub date: String,
    /// How long it lasted, as in `8h`; none where it did not end by itself.
    pub lasted: Option<String>,
    /// How many events of each kind; none where there were none.
    pub events: Option<String>,
}

/// Whether something happened.
#[must_use]
pub fn watched(saw: &Watched) -> Finding {
    let Watched {
        date,
        lasted,
        events,
    } = saw;
    let lasted = lasted
        .as_deref()
        .unwrap_or("a watch that was not ended or goes on");
    match events {
        None => Finding::ok("watched", format!("nothing happened to the clocks in {lasted} from {date} on")),
        Some(events) => Finding::note("watched", format!("in {lasted} from {date} on: {events}"))
            .advice("`timermeter watch 8h --save` watches again; the file that it appends to has each event with its cause"),
    }
}
