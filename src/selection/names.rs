//! The names that people use for timers, and the ids that they mean.

use timers::agents::{RUNTIMES, Runtime, runtime};

/// Names that people use for timers, and the ids that each may mean, the most exact first. Ids and
/// names may be written in any case; names like `CLOCK_MONOTONIC` need no entry.
const NAMES: [(&str, &[&str]); 22] = [
    ("clock_gettime", &["monotonic"]),
    ("steady_clock", &["cpp:steady_clock", "monotonic"]),
    ("system_clock", &["cpp:system_clock", "realtime"]),
    (
        "high_resolution_clock",
        &["cpp:high_resolution_clock", "realtime"],
    ),
    ("sleep_for", &["cpp:sleep_for"]),
    ("SystemTime", &["system-time"]),
    ("thread::sleep", &["std-sleep"]),
    ("tsc", &["rdtsc"]),
    ("System.nanoTime", &["java:nanoTime"]),
    ("System.currentTimeMillis", &["java:currentTimeMillis"]),
    ("Thread.sleep", &["java:Thread.sleep"]),
    ("Stopwatch", &["dotnet:Stopwatch"]),
    ("perf_counter", &["python:perf_counter"]),
    ("perf_counter_ns", &["python:perf_counter_ns"]),
    ("time.time", &["python:time"]),
    ("time.monotonic", &["python:monotonic"]),
    ("time.sleep", &["python:time.sleep", "go:Sleep"]),
    ("process.hrtime", &["node:hrtime"]),
    ("process.hrtime.bigint", &["node:hrtime.bigint"]),
    ("performance.now", &["node:performance.now"]),
    ("Date.now", &["node:Date.now"]),
    ("time.Now", &["go:Now"]),
];

/// The ids that a name may mean, the most exact first: that of an entry of [`NAMES`], of a clock in C,
/// or of a timer of a runtime by any name of that runtime.
pub fn meanings(name: &str) -> Vec<String> {
    let is_separator = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let clock = name
        .split(is_separator)
        .find_map(|word| word.strip_prefix("CLOCK_"));
    if let Some(clock) = clock {
        return vec![
            clock
                .trim_end_matches("_ID")
                .to_lowercase()
                .replace('_', "-"),
        ];
    }
    let call = name.trim_end_matches("()").trim_end_matches("::now");
    let last = |separator: &str| call.rsplit(separator).next().unwrap_or(call);
    let entry = [call, last("::"), last(".")].into_iter().find_map(|call| {
        NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(call))
    });
    if let Some((_, ids)) = entry {
        return ids.iter().map(|&id| id.to_owned()).collect();
    }
    let of_runtime = name
        .split_once(':')
        .and_then(|(prefix, id)| Some(format!("{}:{id}", runtime(prefix)?.name)));
    vec![of_runtime.unwrap_or_else(|| last("::").to_owned())]
}

/// The runtimes that have to be started for these patterns: a name that no native timer may have.
pub fn named_runtimes(patterns: &[String]) -> impl Iterator<Item = &'static Runtime> {
    patterns.iter().filter_map(|pattern| {
        let ids = meanings(pattern);
        let prefixes: Option<Vec<_>> = ids.iter().map(|id| id.split_once(':')).collect();
        let (prefix, _) = *prefixes?.first()?;
        let has_prefix =
            |runtime: &&Runtime| runtime.agents.iter().any(|agent| agent.prefix == prefix);
        RUNTIMES.iter().find(has_prefix)
    })
}

/// The native clock with this id or name, or else the name.
pub fn native_clock(name: &str) -> String {
    [name.to_owned()]
        .into_iter()
        .chain(meanings(name))
        .find_map(|id| timers::find(&id.to_lowercase()))
        .map_or(name, |entry| entry.info.id)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::select;

    #[test]
    fn finds_names_that_people_use() {
        let ids = [
            "monotonic",
            "monotonic-raw",
            "process-cputime",
            "realtime",
            "instant",
            "system-time",
            "rdtsc",
            "java:nanoTime",
            "python:perf_counter",
            "node:hrtime",
            "node:hrtime.bigint",
            "go:Now",
            "dotnet:Stopwatch",
        ];
        for (name, id) in [
            ("clock_gettime", "monotonic"),
            ("CLOCK_MONOTONIC", "monotonic"),
            ("clock_gettime(CLOCK_MONOTONIC_RAW)", "monotonic-raw"),
            ("CLOCK_PROCESS_CPUTIME_ID", "process-cputime"),
            ("steady_clock", "monotonic"),
            ("std::chrono::steady_clock::now()", "monotonic"),
            ("Instant", "instant"),
            ("std::time::Instant::now()", "instant"),
            ("SystemTime::now()", "system-time"),
            ("System.nanoTime", "java:nanoTime"),
            ("System.nanoTime()", "java:nanoTime"),
            ("Java:nanotime", "java:nanoTime"),
            ("perf_counter", "python:perf_counter"),
            ("time.perf_counter()", "python:perf_counter"),
            ("process.hrtime", "node:hrtime"),
            ("process.hrtime.bigint()", "node:hrtime.bigint"),
            ("js:hrtime", "node:hrtime"),
            ("c#:Stopwatch", "dotnet:Stopwatch"),
            ("time.Now", "go:Now"),
            ("RDTSC", "rdtsc"),
        ] {
            assert_eq!(select(&[name.to_owned()], &ids), Ok(vec![id]), "{name}");
        }
        let exact = ["monotonic", "cpp:steady_clock"];
        let chosen = select(&["steady_clock".to_owned()], &exact);
        assert_eq!(chosen, Ok(vec!["cpp:steady_clock"]));
        assert_eq!(native_clock("steady_clock"), "monotonic");
        assert_eq!(native_clock("unknown"), "unknown");
    }

    #[test]
    fn names_mean_known_ids() {
        for (name, ids) in NAMES {
            for id in ids {
                let Some((prefix, own)) = id.split_once(':') else {
                    let is_known = timers::find(id).is_some() || timers::waits::find(id).is_some();
                    assert!(is_known || !cfg!(target_os = "linux"), "{name}: {id}");
                    continue;
                };
                let runtime = runtime(prefix).expect(prefix);
                let agent = &runtime.agents[0];
                let texts = agent
                    .sources
                    .iter()
                    .map(|source| source.text)
                    .chain(agent.clocks);
                let is_known = texts.into_iter().any(|text| text.contains(own));
                assert!(is_known, "{name}: {id}");
            }
        }
    }

    #[test]
    fn names_of_runtimes_start_them() {
        let started = |pattern: &str| {
            let patterns = [pattern.to_owned()];
            named_runtimes(&patterns).map(|runtime| runtime.name).next()
        };
        assert_eq!(started("java:nanoTime"), Some("java"));
        assert_eq!(started("JS:*"), Some("node"));
        assert_eq!(started("System.nanoTime()"), Some("java"));
        assert_eq!(started("erlang-warp:x"), Some("erlang"));
        for native in [
            "steady_clock",
            "CLOCK_MONOTONIC",
            "rdtsc",
            "*",
            "*:*",
            "mine:x",
        ] {
            assert_eq!(started(native), None, "{native}");
        }
    }
}
