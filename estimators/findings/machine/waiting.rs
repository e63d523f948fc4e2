//! The rules about what delays a thread that waits: timers and idle states.

use crate::findings::{ns, values};

/// The largest timer slack that has no visible effect on a wait, in nanoseconds. *Judgement*: a wake-up
/// takes longer.
const MAX_SLACK_NS: u64 = 1_000;
/// The longest exit latency of an idle state, in microseconds, that is small compared with the
/// lateness that the kernel itself causes. *Judgement*: some 50 µs of timer slack by default.
const MAX_EXIT_LATENCY_US: u64 = 20;

rules! {
    pub static RULES;
    "high-resolution-timers" about "the resolution of timers" {
        Problem "timers fire at ticks only<, {tick} apart>: every wait is rounded up to a tick, plus another tick"
            => "start the kernel without highres=off and nohz=off, and with a clock source that permits high resolution (tsc)",
            |machine| {
                let tick = machine.kernel.tick_hz.map(|hertz| ns(1e9 / f64::from(hertz)));
                (!machine.waiting.high_resolution?).then(|| values! { tick })
            };
    }
    "timer-slack" about "the timer slack" {
        Note "the timer slack is {slack}: threads without a real-time policy may wake that much later from sleeps, polls and futexes, but not from timerfd and POSIX timers"
            => "if waits must end in time, call prctl(PR_SET_TIMERSLACK, 1) in the thread that waits, or write 1 to /proc/PID/timerslack_ns",
            |machine| {
                let slack = machine.waiting.timer_slack_ns?;
                (slack > MAX_SLACK_NS).then(|| values! { slack: ns(slack as f64) })
            };
    }
    "idle-states" about "idle states (C-states)" {
        Note "an idle CPU may enter {state} and takes {exit} to leave it: waits on a quiet machine end that much later, and what follows runs slower at first"
            => "as root, `cpupower idle-set -D 20`, or hold /dev/cpu_dma_latency open with 0 written to it (as cyclictest does by default)",
            |machine| {
                let states = machine.waiting.idle_states.as_ref()?.iter();
                let slow = |us: u64| us > MAX_EXIT_LATENCY_US;
                let enabled = states.filter(|it| !it.disabled && slow(it.exit_latency_us));
                let deepest = enabled.max_by_key(|state| state.exit_latency_us);
                deepest.map(|it| values! { state: it.name.as_str(), exit: ns(it.exit_latency_us as f64 * 1e3) })
            };
    }
}
