//! Code that reads the counter with the rate that was found.

use serde::Serialize;

/// The same in two languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snippets {
    /// C.
    pub c: String,
    /// Rust.
    pub rust: String,
}

/// What reads a counter: its id, and the expression in C and in Rust with what they need before.
const READS: [(&str, [&str; 3]); 3] = [
    ("rdtsc", ["#include <x86intrin.h>", "__rdtsc()", "unsafe { core::arch::x86_64::_rdtsc() }"]),
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

/// As far as ticks are shifted after the multiplication: so a rate is kept to 10⁻⁹, and a difference of centuries does not overflow 128
/// bits.
const SHIFT: u32 = 32;

impl Snippets {
    /// For the counter of that id, of so many ticks a second, known to that share.
    #[must_use]
    pub fn of(id: &str, hz: f64, uncertainty: f64) -> Self {
        let (_, [include, in_c, in_rust]) = READS.iter().find(|(known, _)| *known == id).unwrap_or(&READS[0]);
        let scale = (1e9 / hz * 2.0_f64.powi(SHIFT as i32)).round();
        let rate = format!("{hz:.0} Hz ± {:.3} ppm", 1e6 * uncertainty);
        let fill = |text: &str| {
            text.replace("INCLUDE", include)
                .replace("IN_C", in_c)
                .replace("IN_RUST", in_rust)
                // In text only: no code here is of one processor.
                .replace("ASM", concat!("core::arch::asm", "!"))
                .replace("RATE", &rate)
                .replace("SCALE", &format!("{scale:.0}"))
                .replace("SHIFT", &SHIFT.to_string())
        };
        Self { c: fill(C), rust: fill(RUST) }
    }
}

const C: &str = "\
#include <stdint.h>
INCLUDE
/* of this machine: RATE; measure it anew on each start */
static const uint64_t ns_a_tick = SCALEull; /* times 2^SHIFT */
static inline uint64_t ticks(void) { return IN_C; }
static inline int64_t ns_since(uint64_t begin) {
    int64_t d = (int64_t)(ticks() - begin); /* never taken for 2^64 where it goes back */
    return d < 0 ? 0 : (int64_t)(((unsigned __int128)d * ns_a_tick) >> SHIFT);
}
";

const RUST: &str = "\
/// Of this machine: RATE; measure it anew on each start. Times 2^SHIFT.
const NS_A_TICK: u64 = SCALE;
fn ticks() -> u64 { IN_RUST }
fn ns_since(begin: u64) -> u64 {
    let ticks = (ticks().wrapping_sub(begin) as i64).max(0) as u128; // never taken for 2^64 where it goes back
    (ticks * u128::from(NS_A_TICK) >> SHIFT) as u64
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_stands_in_it() {
        let code = Snippets::of("rdtsc", 2_599_998_000.0, 3e-8);
        for text in [&code.c, &code.rust] {
            assert!(text.contains("2599998000 Hz ± 0.030 ppm") && text.contains("rdtsc"), "{text}");
            assert!(text.contains("1651911769"), "{text}");
        }
        let of_arm = Snippets::of("cntvct", 1e9, 0.0);
        let begins = concat!("core::arch::asm", "!(");
        assert!(of_arm.c.contains("cntvct_el0") && of_arm.rust.contains(begins), "{of_arm:?}");
    }
}
