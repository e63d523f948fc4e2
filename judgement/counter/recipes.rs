//! Evaluates calibration methods with which programs find the rate of the counter at their start,
//! and generates code that reads the counter with the measured rate.

use serde::Serialize;

use crate::statistics::{quantile, sorted};

/// The result of a method in one new process: nanoseconds per tick, or the reason why the method
/// rejects the counter.
pub type RecipeOutcome = Result<f64, String>;

/// Results of a calibration method over many processes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecipeRow {
    /// The id of the method.
    pub id: &'static str,
    /// A description of the method, and the program that uses it.
    pub label: &'static str,
    /// Number of new processes that ran the method.
    pub processes: u32,
    /// Number of processes in which the method rejected the counter or failed to start.
    pub without: u32,
    /// The reason in the first of these processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Median over all processes of the relative error of a second, in ppm, positive if too long.
    pub median_ppm: Option<f64>,
    /// The largest error in absolute value, in ppm.
    pub worst_ppm: Option<f64>,
    /// Uncertainty of the true rate, in ppm: smaller errors are not significant.
    pub known_to_ppm: f64,
}

impl RecipeRow {
    /// Summarises the results of processes. `truth` is the length of a tick in nanoseconds
    /// according to the clock with which the methods compare the counter, and its relative
    /// uncertainty.
    pub fn from_outcomes(
        id: &'static str,
        label: &'static str,
        outcomes: &[RecipeOutcome],
        truth: (f64, f64),
    ) -> Self {
        let error = |ns: &f64| 1e6 * (ns / truth.0 - 1.0);
        let errors: Vec<f64> = outcomes
            .iter()
            .flatten()
            .map(error)
            .filter(|ppm| ppm.is_finite())
            .collect();
        let why = outcomes.iter().find_map(|outcome| outcome.as_ref().err());
        Self {
            id,
            label,
            processes: outcomes.len() as u32,
            without: outcomes.iter().filter(|outcome| outcome.is_err()).count() as u32,
            why: why.cloned(),
            median_ppm: quantile(&sorted(&errors), 0.5),
            worst_ppm: errors
                .iter()
                .copied()
                .max_by(|a, b| a.abs().total_cmp(&b.abs())),
            known_to_ppm: 1e6 * truth.1,
        }
    }
}

/// Code that reads the counter, in two languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snippets {
    /// The code in C.
    pub c: String,
    /// The code in Rust.
    pub rust: String,
}

/// Counters that can be read: the id, then the prerequisite in C, the expression in C and the
/// expression in Rust.
const COUNTER_READS: [(&str, [&str; 3]); 3] = [
    (
        "rdtsc",
        [
            "#include <x86intrin.h>",
            "__rdtsc()",
            "unsafe { core::arch::x86_64::_rdtsc() }",
        ],
    ),
    (
        "cntvct",
        [
            "static inline uint64_t cntvct(void) { uint64_t t; __asm__ volatile(\"mrs %0, cntvct_el0\" : \"=r\"(t)); return t; }",
            "cntvct()",
            "{ let t: u64; unsafe { ASM(\"mrs {}, cntvct_el0\", out(reg) t) }; t }",
        ],
    ),
    (
        "rdtime",
        [
            "static inline uint64_t rdtime(void) { uint64_t t; __asm__ volatile(\"rdtime %0\" : \"=r\"(t)); return t; }",
            "rdtime()",
            "{ let t: u64; unsafe { ASM(\"rdtime {}\", out(reg) t) }; t }",
        ],
    ),
];

/// Number of bits by which the generated code shifts the product of ticks and scale to the right.
/// With 32 bits the rate is exact to 10⁻⁹, and a difference of centuries does not overflow 128
/// bits.
const SHIFT: u32 = 32;

impl Snippets {
    /// Generates the code for the counter with this id; `hz` is its rate, and `uncertainty` the
    /// relative uncertainty of that rate.
    pub fn for_counter(id: &str, hz: f64, uncertainty: f64) -> Self {
        let (_, [include, in_c, in_rust]) = COUNTER_READS
            .iter()
            .find(|(counter, _)| *counter == id)
            .unwrap_or(&COUNTER_READS[0]);
        let scale = (1e9 / hz * 2.0_f64.powi(SHIFT as i32)).round();
        let rate = format!("{hz:.0} Hz ± {:.3} ppm", 1e6 * uncertainty);
        let fill = |text: &str| {
            text.replace("INCLUDE", include)
                .replace("IN_C", in_c)
                .replace("IN_RUST", in_rust)
                // The macro call is only text in the generated code: this crate contains no code
                // for a specific processor.
                .replace("ASM", concat!("core::arch::asm", "!"))
                .replace("RATE", &rate)
                .replace("SCALE", &format!("{scale:.0}"))
                .replace("SHIFT", &SHIFT.to_string())
        };
        Self {
            c: fill(C_TEMPLATE),
            rust: fill(RUST_TEMPLATE),
        }
    }
}

/// The code in C; words in capitals are replaced.
const C_TEMPLATE: &str = "\
#include <stdint.h>
INCLUDE
/* the rate on this machine: RATE; measure it at each start */
static const uint64_t ns_per_tick = SCALEull; /* times 2^SHIFT */
static inline uint64_t ticks(void) { return IN_C; }
static inline int64_t ns_since(uint64_t begin) {
    int64_t d = (int64_t)(ticks() - begin); /* signed: the counter may go back */
    return d < 0 ? 0 : (int64_t)(((unsigned __int128)d * ns_per_tick) >> SHIFT);
}
";

/// The code in Rust; words in capitals, except `NS_PER_TICK`, are replaced.
const RUST_TEMPLATE: &str = "\
/// The rate on this machine: RATE; measure it at each start. Times 2^SHIFT.
const NS_PER_TICK: u64 = SCALE;
fn ticks() -> u64 { IN_RUST }
fn ns_since(begin: u64) -> u64 {
    let ticks = (ticks().wrapping_sub(begin) as i64).max(0) as u128; // signed: the counter may go back
    (ticks * u128::from(NS_PER_TICK) >> SHIFT) as u64
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summarises_median_and_worst() {
        let outcomes = [Ok(0.5), Ok(0.500_01), Err("no".to_owned()), Ok(0.499_95)];
        let row = RecipeRow::from_outcomes("quanta", "", &outcomes, (0.5, 1e-8));
        assert_eq!(
            (row.processes, row.without, row.why.as_deref()),
            (4, 1, Some("no"))
        );
        assert!(row.median_ppm.unwrap().abs() < 1e-6);
        assert!((row.worst_ppm.unwrap() + 100.0).abs() < 1e-6);
        let none = RecipeRow::from_outcomes("quanta", "", &[], (0.5, 0.0));
        assert_eq!((none.median_ppm, none.worst_ppm), (None, None));
    }

    #[test]
    fn snippets_contain_the_rate() {
        let code = Snippets::for_counter("rdtsc", 2_599_998_000.0, 3e-8);
        for text in [&code.c, &code.rust] {
            assert!(
                text.contains("2599998000 Hz ± 0.030 ppm") && text.contains("rdtsc"),
                "{text}"
            );
            assert!(text.contains("1651911769"), "{text}");
        }
        let of_arm = Snippets::for_counter("cntvct", 1e9, 0.0);
        let begins = concat!("core::arch::asm", "!(");
        assert!(
            of_arm.c.contains("cntvct_el0") && of_arm.rust.contains(begins),
            "{of_arm:?}"
        );
    }
}
