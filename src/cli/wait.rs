//! Arguments of `wait` and `period`.

use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, Error};
use timers::os::Policy;

use super::RunArgs;
use super::values::{self, InvalidValue};
use crate::model::Nanos;
use crate::quantity;
use crate::requests::{ConditionsRequest, Cpus, PeriodRequest, WaitRequest};

/// Arguments of `wait`.
#[derive(Clone, Debug, Args)]
pub struct WaitArgs {
    /// The lengths among the timers.
    #[arg(skip)]
    pub lengths: Vec<Lengths>,
    /// Measure for this time, as in 5m
    ///
    /// A number without a unit is in seconds.
    #[arg(long, value_name = "TIME", value_parser = values::parse_seconds, allow_hyphen_values = true)]
    pub budget: Option<f64>,
    /// The flags that `wait` and `period` share.
    #[command(flatten)]
    pub common: WaitingArgs,
}

/// Arguments of `period`.
#[derive(Clone, Debug, Args)]
pub struct PeriodArgs {
    /// The period among the timers.
    #[arg(skip)]
    pub period_ns: Option<u64>,
    /// The flags that `wait` and `period` share.
    #[command(flatten)]
    pub common: WaitingArgs,
}

/// The flags that `wait` and `period` share.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("timers", |arg| arg.value_name("TIMER|LENGTH").help("Ids or globs [default: all]; lengths, as in 50us,1ms..100ms")))]
pub struct WaitingArgs {
    /// The flags of all runs.
    #[command(flatten)]
    pub run: RunArgs,
    /// Delay that the kernel may add to a wake-up to combine it with others (timer slack): default,
    /// or a time up to 4s as in 1ns
    ///
    /// Repeatable, or with commas.
    #[arg(long, value_name = "TIME", value_delimiter = ',', value_parser = parse_slack, allow_hyphen_values = true)]
    pub slack: Vec<Slack>,
    /// Scheduling policy of the waiting thread: other, fifo:PRIORITY or rr:PRIORITY
    ///
    /// The default priority is 80 (repeatable, or with commas).
    #[arg(long, value_name = "POLICY", value_delimiter = ',', value_parser = parse_policy)]
    pub policy: Vec<Policy>,
    /// Wait on this CPU, or on each CPU in turn (all) [default: the quietest]
    #[arg(long, value_name = "N|all", value_parser = parse_cpus, allow_negative_numbers = true)]
    pub cpu: Option<Cpus>,
}

/// Lengths of waits in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths(pub Vec<u64>);

/// The timer slack of a thread in nanoseconds; `None` keeps the default of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slack(pub Option<u64>);

impl WaitArgs {
    /// The request of these flags.
    #[must_use]
    pub fn request(&self) -> WaitRequest {
        let run = &self.common.run;
        let mut request = WaitRequest::new(run.request(), run.plan());
        request.conditions = self.common.conditions();
        request.waits.span = self.budget.map(Duration::from_secs_f64);
        if self.lengths.is_empty() {
            return request;
        }
        // A range asks for the granularity.
        let has_range = self.lengths.iter().any(|lengths| lengths.0.len() > 1);
        let lengths = self.lengths.iter().flat_map(|lengths| &lengths.0);
        request.of_lengths(lengths.copied().collect(), has_range)
    }

    /// Takes the lengths that stand among the timers.
    ///
    /// # Errors
    /// When one of them is invalid.
    pub(super) fn take_lengths(&mut self) -> Result<(), Error> {
        for word in self.common.take_times() {
            for text in word.split(',') {
                self.lengths.push(parse_lengths(text).map_err(invalid)?);
            }
        }
        Ok(())
    }
}

impl PeriodArgs {
    /// The request of these flags.
    #[must_use]
    pub fn request(&self) -> PeriodRequest {
        PeriodRequest {
            run: self.common.run.request(),
            conditions: self.common.conditions(),
            plan: self.common.run.plan(),
            every_ns: self.period_ns.unwrap_or(DEFAULT_PERIOD_NS),
        }
    }

    /// Takes the period that stands among the timers.
    ///
    /// # Errors
    /// When it is invalid, or there are several.
    pub(super) fn take_lengths(&mut self) -> Result<(), Error> {
        for word in self.common.take_times() {
            let period = values::parse_period(&word).map_err(invalid)?;
            if self.period_ns.replace(period).is_some() {
                return Err(invalid("period measures one period at a time"));
            }
        }
        Ok(())
    }
}

/// The period that is measured if none is given, in nanoseconds. *Definition*.
const DEFAULT_PERIOD_NS: u64 = 1_000_000;

/// The error for a word that is no valid length.
fn invalid(problem: impl std::fmt::Display) -> Error {
    Error::raw(ErrorKind::ValueValidation, problem)
}

impl WaitingArgs {
    /// Removes the words from the timers that are times, such as `100us` and `1ms..10ms,1s`.
    fn take_times(&mut self) -> Vec<String> {
        let is_time = |text: &str| quantity::parse_time(text).is_ok();
        let are_times =
            |word: &mut String| word.split(',').flat_map(|it| it.split("..")).all(is_time);
        self.run.timers.extract_if(.., are_times).collect()
    }

    /// The conditions of these flags.
    fn conditions(&self) -> ConditionsRequest {
        ConditionsRequest {
            cpus: self.cpu,
            slacks_ns: self.slack.iter().map(|slack| slack.0).collect(),
            policies: self.policy.clone(),
        }
    }
}

/// The longest accepted wait in nanoseconds: one minute.
const MAX_WAIT_NS: f64 = 6e10;

/// Parses one length, or a range `FROM..TO`, which stands for `FROM`, ten times `FROM` and so on,
/// and `TO`.
fn parse_lengths(text: &str) -> Result<Lengths, InvalidValue> {
    let length = |text: &str| {
        let Nanos(ns) = quantity::parse_time(text)?;
        if ns > MAX_WAIT_NS {
            let problem = format!("'{}' is longer than a minute", text.trim());
            return Err(InvalidValue::problem(problem, "give a shorter time"));
        }
        match ns.ceil() as u64 {
            ns @ 2.. => Ok(ns),
            _ => Err(InvalidValue::problem(
                "waits of 1 ns are always measured, as the floor",
                "give 2ns or more",
            )),
        }
    };
    let Some((from, to)) = text.split_once("..") else {
        return Ok(Lengths(vec![length(text)?]));
    };
    let (from, to) = (length(from)?, length(to)?);
    if from > to {
        return Err(InvalidValue::problem(
            "the range ends before it begins",
            "give it as in 1us..50ms",
        ));
    }
    let mut all: Vec<u64> = std::iter::successors(Some(from), |ns| ns.checked_mul(10))
        .take_while(|ns| *ns < to)
        .collect();
    all.push(to);
    Ok(Lengths(all))
}

/// Parses a timer slack: `default`, or a time up to 4 s.
fn parse_slack(text: &str) -> Result<Slack, InvalidValue> {
    if text.trim() == "default" {
        return Ok(Slack(None));
    }
    let time = quantity::parse_time(text).ok().filter(|time| time.0 <= 4e9);
    time.map(|time| Slack(Some(time.0.ceil() as u64)))
        .ok_or_else(|| InvalidValue::expected("default, or a time up to 4s, as in 1ns or 50us"))
}

/// Parses a scheduling policy with its priority.
fn parse_policy(text: &str) -> Result<Policy, InvalidValue> {
    /// Default priority: higher than that of most threads of the kernel, lower than that of the
    /// watchdogs of the kernel.
    const DEFAULT_PRIORITY: u32 = 80;
    let (name, priority) = match text.trim().split_once(':') {
        Some((name, priority)) => (
            name,
            priority
                .parse()
                .ok()
                .filter(|given| (1..=99).contains(given)),
        ),
        None => (text.trim(), Some(DEFAULT_PRIORITY)),
    };
    match (name, priority) {
        ("other", _) if !text.contains(':') => Ok(Policy::Other),
        ("fifo", Some(priority)) => Ok(Policy::Fifo(priority)),
        ("rr", Some(priority)) => Ok(Policy::RoundRobin(priority)),
        _ => Err(InvalidValue::expected(
            "other, fifo or rr, the latter two with a priority from 1 to 99, as in fifo:80",
        )),
    }
}

/// Parses the number of a CPU, or `all`.
fn parse_cpus(text: &str) -> Result<Cpus, InvalidValue> {
    if text.trim() == "all" {
        return Ok(Cpus::All);
    }
    values::parse_cpu(text)
        .map(Cpus::One)
        .map_err(|_| InvalidValue::expected("the number of a CPU, as in 0, or all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_and_ranges() {
        assert_eq!(parse_lengths("50us").unwrap().0, [50_000]);
        assert_eq!(
            parse_lengths("1us..50ms").unwrap().0,
            [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 50_000_000]
        );
        assert_eq!(parse_lengths("1ms..1ms").unwrap().0, [1_000_000]);
        for wrong in [
            "-1ms", "0ms", "1", "2ms..1ms", "1ns", "61s", "1e300s", "..", "1ms..", "",
        ] {
            assert!(parse_lengths(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn reads_slack_policy_and_cpu() {
        assert_eq!(
            (parse_slack("default"), parse_slack("1ns")),
            (Ok(Slack(None)), Ok(Slack(Some(1))))
        );
        assert_eq!(
            (parse_policy("fifo"), parse_policy("rr:5")),
            (Ok(Policy::Fifo(80)), Ok(Policy::RoundRobin(5)))
        );
        assert_eq!(
            (parse_cpus("all"), parse_cpus("3")),
            (Ok(Cpus::All), Ok(Cpus::One(3)))
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
        assert!(["-1", "every"].iter().all(|text| parse_cpus(text).is_err()));
        assert!(
            ["0s", "999ns", "61s", "1"]
                .iter()
                .all(|text| values::parse_period(text).is_err())
        );
    }
}
