//! The ways in which well-known programs find the rate of the counter when they start. Each recipe
//! repeats the steps of the program unchanged, including its weaknesses, so that a report can show
//! how good the resulting rate is.

use std::time::Duration;

use super::Machine;
use crate::clock_sources::ARM_COUNTER;
use crate::subject::Activity;

/// A way to find the rate of the counter.
#[derive(Clone, Copy, Debug)]
pub struct RateRecipe {
    /// Its name.
    pub id: &'static str,
    /// A summary of the steps, and the programs that use the recipe, with their versions.
    pub label: &'static str,
    /// Returns the nanoseconds per tick, or the reason why the recipe finds none.
    pub ns_per_tick: fn(&mut dyn Machine) -> Result<f64, RecipeError>,
}

/// The reason why a recipe finds no rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecipeError {
    /// The kernel has no rate for others.
    Unpublished,
    /// The program uses the counter with another clock source only.
    OtherClockSource(String),
    /// The counter stood or went backward.
    NotForward,
    /// The estimates of 50 ms differ.
    Disagree,
    /// So many windows differ.
    NoTwoAgree(u32),
}

texts! { RecipeError {
    Self::Unpublished => "the kernel does not publish the rate with which it converts the counter",
    Self::OtherClockSource(source) => "the clock source is `{source}`, not tsc; the program would not use the counter",
    Self::NotForward => "the counter did not go forward; the program would not use it",
    Self::Disagree => "the estimates did not agree within 50 ms; the program would not use the counter",
    Self::NoTwoAgree(count) => "no two successive windows of {count} agreed; the program would not start",
} }

impl RateRecipe {
    /// All recipes.
    pub const ALL: [Self; 8] = [
        // `monotonicInit_x86linux` of `monotonic.c`. Two steps are left out: the flag
        // `constant_tsc`, and a file with the rate (`tsc_freq_khz`) that no released kernel has.
        Self {
            id: "redis",
            label: "clock source tsc only; the rate in the CPU's name if 10 ms confirm it, else the median of three, in whole ticks a µs (Redis since #15018)",
            ns_per_tick: redis,
        },
        Self {
            id: "valkey",
            label: "the fastest of three times 10 ms that go forward (Valkey since #4346)",
            ns_per_tick: |machine| valkey(machine, true),
        },
        Self {
            id: "valkey-9.1.0",
            label: "the fastest of three times 10 ms (Valkey 9.1.0)",
            ns_per_tick: |machine| valkey(machine, false),
        },
        // `tsc_detect_frequency` of PostgreSQL's `instr_time.c`, in kHz.
        Self {
            id: "declared",
            label: "what is declared, else measured (PostgreSQL 19)",
            ns_per_tick: declared,
        },
        // `pg_tsc_calibrate_frequency` of PostgreSQL: estimates from up to 50 ms.
        Self {
            id: "converging",
            label: "ten estimates that agree to 1e-4 (PostgreSQL 19, nothing declared)",
            ns_per_tick: converging,
        },
        // `Calibration::calibrate` of quanta 0.13, at most 200 ms.
        Self {
            id: "quanta",
            label: "until the mean error is below 10 ns (quanta 0.13)",
            ns_per_tick: quanta,
        },
        // `_cycles_per_sec` of the crates minstant and fastant.
        Self {
            id: "two-windows",
            label: "two windows of 10 ms that agree to 1e-5 (minstant 0.1.7, fastant 0.1.11)",
            ns_per_tick: two_windows,
        },
        // `time_mult` and `time_shift` of perf_event_open(2), else the rate in the log.
        Self {
            id: "kernel",
            label: "the kernel's own figure (perf_event_open, else its log)",
            ns_per_tick: kernel,
        },
    ];
}

fn kernel(machine: &mut dyn Machine) -> Result<f64, RecipeError> {
    machine.kernel_ns_per_tick().ok_or(RecipeError::Unpublished)
}

/// The time in which Redis and Valkey count ticks.
const WINDOW: Duration = Duration::from_millis(10);

/// On Arm, Redis and Valkey take what the firmware declares, in whole ticks a µs.
fn of_arm(machine: &mut dyn Machine) -> Option<f64> {
    let is_arm = machine.clock_source()? == ARM_COUNTER;
    let hz = machine.declared_hz().filter(|_| is_arm)?;
    Some(1e3 / (hz / 1e6).floor())
}

fn redis(machine: &mut dyn Machine) -> Result<f64, RecipeError> {
    if let Some(ns) = of_arm(machine) {
        return Ok(ns);
    }
    let source = machine.clock_source().unwrap_or_default();
    if !source.starts_with("tsc") {
        return Err(RecipeError::OtherClockSource(source));
    }
    let named = machine.named_mhz();
    let mut ticks_per_us = || {
        let (start, first) = (machine.clock(), machine.counter());
        machine.pass(WINDOW, Activity::Sleep);
        let (end, last) = (machine.clock(), machine.counter());
        let ticks = last.checked_sub(first)?.wrapping_mul(1_000);
        ticks
            .checked_div(end.saturating_sub(start))
            .filter(|ticks| *ticks > 0)
    };
    if let Some(named) = named {
        let confirms = |measured: u64| measured.abs_diff(named).saturating_mul(1_000) <= named;
        if ticks_per_us().is_some_and(confirms) {
            return Ok(1e3 / named as f64);
        }
    }
    let mut samples: Vec<u64> = (0..3).filter_map(|_| ticks_per_us()).collect();
    samples.sort_unstable();
    let median = match samples[..] {
        [] => return Err(RecipeError::NotForward),
        [one] | [_, one, _] => one,
        [low, high, ..] => low.midpoint(high),
    };
    Ok(1e3 / median as f64)
}

fn valkey(machine: &mut dyn Machine, only_forward: bool) -> Result<f64, RecipeError> {
    const SHIFT: f64 = (1_u64 << 24) as f64;
    if let Some(ns) = of_arm(machine) {
        return Ok(ns);
    }
    let mut least = u64::MAX;
    for _ in 0..3 {
        let (start, first) = (machine.clock(), machine.counter());
        machine.pass(WINDOW, Activity::Sleep);
        let (last, end) = (machine.counter(), machine.clock());
        let elapsed_us = end.saturating_sub(start) / 1_000;
        // Unsigned and wrapping: a counter that went back gives nearly 2⁶⁴ ticks, and a multiplier
        // of 0, with which the clock stands still.
        let ticks = last.wrapping_sub(first);
        let multiplier = (SHIFT / (ticks as f64 / elapsed_us as f64)) as u64;
        if !only_forward || (last > first && multiplier > 0) {
            least = least.min(multiplier);
        }
    }
    if least == u64::MAX {
        return Err(RecipeError::NotForward);
    }
    Ok(1e3 * least as f64 / SHIFT)
}

fn declared(machine: &mut dyn Machine) -> Result<f64, RecipeError> {
    let khz = machine.declared_hz().map_or(0.0, |hz| (hz / 1e3).floor());
    if khz >= 1.0 {
        Ok(1e6 / khz)
    } else {
        converging(machine)
    }
}

fn converging(machine: &mut dyn Machine) -> Result<f64, RecipeError> {
    const LONGEST_NS: i64 = 50_000_000;
    const MAX_TURNS: u32 = 1_000_000;
    const TURNS_PER_ESTIMATE: u32 = 100;
    const AGREEING_ESTIMATES: u32 = 10;
    let (start, first) = (machine.clock(), machine.counter());
    let (mut khz, mut previous_khz, mut previous_counter, mut agreed) = (0.0, 0.0, first, 0);
    for turn in 0..MAX_TURNS {
        let (now, counter) = (machine.clock(), machine.counter());
        let elapsed = now.wrapping_sub(start) as i64;
        if elapsed >= LONGEST_NS {
            break;
        }
        let ticks = counter.wrapping_sub(first) as i64;
        if counter == previous_counter
            || elapsed <= 0
            || ticks <= 0
            || turn % TURNS_PER_ESTIMATE != 0
        {
            continue;
        }
        khz = ticks as f64 / elapsed as f64 * 1e6;
        agreed = if previous_khz != 0.0 && (1.0_f64 - khz / previous_khz).abs() < 1e-4 {
            agreed + 1
        } else {
            0
        };
        if agreed >= AGREEING_ESTIMATES {
            break;
        }
        (previous_counter, previous_khz) = (counter, khz);
    }
    if agreed < AGREEING_ESTIMATES || khz < 1.0 {
        return Err(RecipeError::Disagree);
    }
    Ok(1e6 / khz.floor())
}

fn two_windows(machine: &mut dyn Machine) -> Result<f64, RecipeError> {
    const WINDOW_NS: u64 = 10_000_000;
    /// The crates themselves have no limit and would continue forever.
    const MAX_WINDOWS: u32 = 100;
    let mut previous_hz = 0.0;
    for _ in 0..MAX_WINDOWS {
        let (start, first) = (machine.clock(), machine.counter());
        let hz = loop {
            let (now, counter) = (machine.clock(), machine.counter());
            let elapsed = now.saturating_sub(start);
            if elapsed > WINDOW_NS {
                break counter.wrapping_sub(first) as f64 * 1e9 / elapsed as f64;
            }
        };
        if (hz - previous_hz).abs() / hz < 1e-5 {
            return Ok(1e9 / hz.round());
        }
        previous_hz = hz;
    }
    Err(RecipeError::NoTwoAgree(MAX_WINDOWS))
}

fn quanta(machine: &mut dyn Machine) -> Result<f64, RecipeError> {
    const LONGEST_NS: u64 = 200_000_000;
    const ROUND_NS: u64 = 1_000;
    const MIN_ROUNDS: u64 = 500;
    const MAX_ERROR_NS: f64 = 10.0;
    let deadline = machine.clock() + LONGEST_NS;
    let (start, first) = (machine.clock(), machine.counter());
    let mut scale = (1_u64, 0_u32);
    let mut differences = RunningMean::default();
    loop {
        let mut now = machine.clock();
        let target = now + ROUND_NS;
        while now < target {
            now = machine.clock();
        }
        if now >= deadline {
            break;
        }
        let (now, counter) = (machine.clock(), machine.counter());
        scale = as_fraction(now.wrapping_sub(start), counter.wrapping_sub(first));
        let (now, counter) = (machine.clock(), machine.counter());
        let scaled = (u128::from(counter.saturating_sub(first)) * u128::from(scale.0)) >> scale.1;
        differences.add((scaled as u64).wrapping_add(start) as f64 - now as f64);
        let (mean, error) = (differences.mean.abs(), differences.error());
        if differences.count > MIN_ROUNDS && mean + error < MAX_ERROR_NS && error <= mean {
            break;
        }
    }
    Ok(scale.0 as f64 / 2.0_f64.powi(scale.1 as i32))
}

/// The ratio clock / counter as a numerator and the exponent of a power of two as the denominator.
/// A counter that went back gives nearly 2⁶⁴, so that the ratio is close to 0.
fn as_fraction(clock: u64, counter: u64) -> (u64, u32) {
    let power = counter.checked_next_power_of_two().unwrap_or(1 << 63);
    (
        (clock as f64 * (power as f64 / counter as f64)) as u64,
        power.trailing_zeros(),
    )
}

/// The mean of samples and its standard error, updated with each sample as in the crate quanta.
#[derive(Default)]
struct RunningMean {
    mean: f64,
    /// The sum of the squared deviations from the mean.
    squares: f64,
    count: u64,
}

impl RunningMean {
    fn add(&mut self, sample: f64) {
        self.count += 1;
        let count = self.count as f64;
        self.squares += (count - 1.0) * (sample - self.mean).powi(2) / count;
        self.mean += (sample - self.mean) / count;
    }

    fn error(&self) -> f64 {
        let count = self.count as f64;
        if self.count < 2 {
            0.0
        } else {
            (self.squares / (count - 1.0)).sqrt() / count.sqrt()
        }
    }
}
