//! Adds to a case what real machines do to timed calls: phases that the core and the reference keep,
//! calls that begin before the read of the reference completes, an empty loop that is other code,
//! threads of others on the core, and processes at other frequencies. The ranges are *Seen* in the
//! stored traces of Zen 3, Zen 4, Zen 5 and Emerald Rapids.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use simulated::{Neighbours, Surroundings, whole_cycles};

use super::log_uniform;
use crate::Case;

/// The longest overlap as a share of the call: 0 to 0.1 for counters, 0.02 to 0.2 for clocks of the
/// vDSO, 0.01 to 0.06 for system calls.
const MAX_OVERLAP: f64 = 0.2;

/// Adds each of overlap, another empty loop, locked phases and differing frequencies to one case in
/// four.
pub(super) fn add_some(case: &mut Case) {
    let random = &mut StdRng::seed_from_u64(case.seed);
    for apply in [
        overlap,
        vary_empty_loop,
        vary_between_processes,
        lock_phases,
    ] {
        if random.random_bool(0.25) {
            apply(case, random);
        }
    }
}

/// Calls begin while the read of the reference before them completes.
pub(super) fn overlap(case: &mut Case, random: &mut StdRng) {
    case.surroundings.overlap = log_uniform(0.3, 6.0, random).min(MAX_OVERLAP * case.timer.base);
}

/// The host is a runtime, which subtracts an empty loop from each call. A turn of it takes up to a cycle more or less than one of the loop of calls, or ten
/// cycles more in most processes, as on Zen 4.
pub(super) fn vary_empty_loop(case: &mut Case, random: &mut StdRng) {
    let cycle = 0.33;
    case.surroundings.unrolled = false;
    case.surroundings.empty_turn = if random.random_bool(0.25) {
        [2.0 * cycle, 10.0 * cycle]
    } else {
        [cycle * random.random_range(-1.0..1.0); 2]
    };
}

/// Another thread uses the core for some milliseconds at a time.
pub(super) fn share_briefly(case: &mut Case, random: &mut StdRng) {
    let shared = random.random_range(0.1..0.6);
    case.surroundings.neighbours = Some(Neighbours {
        shares: [shared / 2.0; 2],
        factors: [random.random_range(1.3..1.5), random.random_range(1.5..1.8)],
        period: log_uniform(1e6, 1e7, random),
        seed: random.random(),
        start: 0.0,
    });
}

/// Each process runs at a frequency of its own.
pub(super) fn vary_between_processes(case: &mut Case, random: &mut StdRng) {
    case.surroundings.between_processes = log_uniform(0.003, 0.05, random);
}

/// The core runs at a multiple of a quarter of the frequency of a step of 10 ns, exactly or nearly,
/// and all code takes whole cycles.
pub(super) fn lock_phases(case: &mut Case, random: &mut StdRng) {
    const GRID_NS: f64 = 10.015;
    let quarters: i32 = random.random_range(88..=170);
    let drift = if random.random() {
        log_uniform(1e-7, 1e-4, random)
    } else {
        0.0
    };
    let cycle = 4.0 * GRID_NS / f64::from(quarters) * (1.0 + drift);
    case.timer.follows_core = true;
    for clock in [&mut case.timer, &mut case.reference] {
        clock.base = whole_cycles(clock.base, cycle);
    }
    case.surroundings = Surroundings {
        locked_cycle: cycle,
        turn: cycle,
        wander: 0.0,
        level: 0.0,
        apart: 0.0,
        between_processes: 0.0,
        ..case.surroundings
    };
}
