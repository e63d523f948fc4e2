//! What a command ends with, as its help says it.

macro_rules! statuses {
    ($($name:ident: $but:literal),* $(,)?) => {$(
        pub(super) const $name: &str = concat!(
            "Exit status:\n  0  done\n  1  the command failed\n  2  wrong usage\n  3  ", $but,
            "\n  130, 143, 129  SIGINT, SIGTERM or SIGHUP ended it"
        );
    )*};
}

/// Of commands that never end with 3.
pub(super) const PLAIN: &str = concat!(
    "Exit status:\n  0  done\n  1  the command failed\n  2  wrong usage\n",
    "  130, 143, 129  SIGINT, SIGTERM or SIGHUP ended it"
);

statuses! {
    ALL: "done, but not all of it, or a condition holds; the help of each command says which",
    TIMERS: "done, but a timer that was asked for by name could not be characterised",
    WAITED: "done, but a timer that was asked for by name could not be characterised, or a wait was later than --break",
    LISTED: "done, but what was named could not be asked for its timers",
    VALIDATED: "done, and one of the reports is refused",
    FLEET: "done, and something stands out, or some of the reports could not be read",
    REPORTS: "done, but some of the reports could not be read",
    COMPARED: "done, and a condition of --fail-if holds\n  4  that could not be told: a report could not be read, nothing is in both, or what may have changed could not have been seen",
    CHECKED: "done, and something is a problem; with --counter, a program may not read the counter, or that cannot be told; with --tune, some of it could not be changed or set back",
    AGENT: "done, and the agent does not keep to the protocol",
    PICKED: "no clock, or no method to wait with, suffices; the nearest is shown",
    MEASURED: "done, but something that was asked for could not be measured",
    REHEARSED: "done, but less than 95 % of what was promised was kept",
}
