//! Arguments of `wait`.

use std::iter::successors;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, Error};
use timers::os::Policy;

use super::RunArgs;
use super::values::{self, expected};
use crate::quantity;
use crate::requests::{RunRequest, Task};
use estimators::model::Nanos;

/// Arguments of `wait`.
#[derive(Debug, Args)]
#[command(mut_arg("timers", |arg| arg.value_name("LENGTH|PRIMITIVE").help("Lengths [default: 1ms]; ids or globs [default: all]")))]
pub struct WaitArgs {
    /// The lengths among the timers, in nanoseconds.
    #[arg(skip)]
    pub lengths_ns: Vec<u64>,
    /// Whether one of the words is a range of lengths, which asks for the granularity.
    #[arg(skip)]
    pub has_range: bool,
    /// The flags of all runs.
    #[command(flatten)]
    pub run: RunArgs,
    /// Measure timers that wake a program every PERIOD
    ///
    /// Sleep primitives that are called in a loop are among them.
    #[arg(long, value_name = "PERIOD", value_parser = values::parse_period, allow_hyphen_values = true)]
    pub every: Option<u64>,
    /// Measure for this time, as in 5m
    ///
    /// A number without a unit is in seconds.
    #[arg(long, value_name = "TIME", value_parser = values::parse_seconds, allow_hyphen_values = true, conflicts_with = "every")]
    pub budget: Option<f64>,
    /// Delay up to 2s that the kernel may add to a wake-up to combine it with others (timer slack)
    #[arg(long, value_name = "TIME", value_parser = parse_slack, allow_hyphen_values = true)]
    pub slack: Option<u64>,
    /// Scheduling policy of the waiting thread: other, fifo:PRIORITY or rr:PRIORITY
    ///
    /// The default priority is 80.
    #[arg(long, value_name = "POLICY", value_parser = parse_policy)]
    pub policy: Option<Policy>,
    /// Wait on this CPU [default: the quietest]
    #[arg(long, value_name = "N", value_parser = values::parse_cpu, allow_negative_numbers = true)]
    pub cpu: Option<u32>,
}

impl WaitArgs {
    /// The request of these flags.
    pub fn request(&self) -> RunRequest {
        let mut request = self.run.request(self.cpu);
        request.plan.span = self.budget.map(Duration::from_secs_f64);
        request.plan.placement.slack_ns = self.slack;
        request.plan.placement.policy = self.policy;
        match self.every {
            Some(every_ns) => RunRequest {
                task: Task::Periods(every_ns),
                ..request
            },
            None => request.waiting(self.lengths_ns.clone(), self.has_range),
        }
    }

    /// Takes the words from the timers that are lengths, such as `100us` and `1ms..10ms,1s`.
    ///
    /// # Errors
    /// When one of them is invalid, or there is a period.
    pub(super) fn take_lengths(&mut self) -> Result<(), Error> {
        let is_time = |word: &mut String| word.starts_with(|first: char| first.is_ascii_digit());
        let words: Vec<String> = self.run.timers.extract_if(.., is_time).collect();
        for text in words.iter().flat_map(|word| word.split(',')) {
            let parsed = match self.every {
                Some(_) => Err(expected("one period, and no lengths")),
                None => parse_lengths(text),
            };
            let invalid = |problem| Error::raw(ErrorKind::ValueValidation, problem);
            self.lengths_ns.extend(parsed.map_err(invalid)?);
            self.has_range |= text.contains("..");
        }
        Ok(())
    }
}

/// Parses one length in nanoseconds, or a range `FROM..TO`, which stands for `FROM`, ten times `FROM`
/// and so on, and `TO`.
fn parse_lengths(text: &str) -> Result<Vec<u64>, String> {
    /// The longest wait in nanoseconds: one minute.
    const MAX_NS: f64 = 6e10;
    let length = |text: &str| match quantity::parse_time(text)? {
        // The analysis skips waits of 1 ns, by which earlier versions measured the shortest possible wait.
        Nanos(ns) if ns > 1.0 && ns <= MAX_NS => Ok(ns.ceil() as u64),
        _ => Err(expected("waits from 2ns to 60s")),
    };
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let (from, to) = (length(from)?, length(to)?);
    if from > to {
        return Err(expected(
            "the shorter length of a range first, as in 1us..50ms",
        ));
    }
    let decades = successors(Some(from), |ns| ns.checked_mul(10)).take_while(|ns| *ns < to);
    Ok(decades.chain([to]).collect())
}

/// Parses a timer slack in nanoseconds.
fn parse_slack(text: &str) -> Result<u64, String> {
    match quantity::parse_time(text)? {
        Nanos(ns) if ns <= 2e9 => Ok(ns.ceil() as u64),
        _ => Err(expected("a time up to 2s")),
    }
}

/// Parses a scheduling policy with its priority.
fn parse_policy(text: &str) -> Result<Policy, String> {
    /// Default priority: higher than that of most threads of the kernel, lower than that of the
    /// watchdogs of the kernel.
    const DEFAULT_PRIORITY: &str = "80";
    let (name, priority) = text.split_once(':').unwrap_or((text, DEFAULT_PRIORITY));
    match (name.trim(), priority.parse()) {
        ("other", _) if name == text => Ok(Policy::Other),
        ("fifo", Ok(priority @ 1..=99)) => Ok(Policy::Fifo(priority)),
        ("rr", Ok(priority @ 1..=99)) => Ok(Policy::RoundRobin(priority)),
        _ => Err(expected(
            "other, fifo or rr, the latter two with a priority from 1 to 99, as in fifo:80",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_and_ranges() {
        assert_eq!(parse_lengths("50us").unwrap(), [50_000]);
        assert_eq!(
            parse_lengths("1us..50ms").unwrap(),
            [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 50_000_000]
        );
        assert_eq!(parse_lengths("1ms..1ms").unwrap(), [1_000_000]);
        for wrong in [
            "-1ms", "0ms", "1", "2ms..1ms", "1ns", "61s", "1e300s", "..", "1ms..", "",
        ] {
            assert!(parse_lengths(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn reads_slack_and_policy() {
        assert_eq!(parse_slack("1ns"), Ok(1));
        assert_eq!(
            (parse_policy("fifo"), parse_policy("rr:5")),
            (Ok(Policy::Fifo(80)), Ok(Policy::RoundRobin(5)))
        );
        assert!(
            ["5s", "x", "-1ns"]
                .iter()
                .all(|text| parse_slack(text).is_err())
        );
        assert!(
            [
                "fifo:0", "fifo:100", "fifo:", "rr: ", "other:1", "other:", "idle", ""
            ]
            .iter()
            .all(|text| parse_policy(text).is_err())
        );
        assert!(
            ["0s", "999ns", "61s", "1"]
                .iter()
                .all(|text| values::parse_period(text).is_err())
        );
    }
}
