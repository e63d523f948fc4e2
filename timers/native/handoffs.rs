//! Handoffs: two threads pass a baton back and forth and read the timer at each pass, which shows
//! whether the readings of two CPUs agree.
//!
//! In a handoff one thread reads the timer and lets go of the baton, the other takes over and reads
//! the timer: the second reading must not be less than the first.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use super::{no_second_thread, signed_rows};
use crate::affinity::{Pinned, cpus_before_pinning, current_cpu};
use crate::arch::BareInstruction;
use crate::counters::InstructionCounter;
use crate::{Answer, Counted, Described, Fault, Info, Ticks, Timer};

/// Hands readings of the CPU counter between distant CPUs without a fence before each reading, as
/// programs do that use none; `None` if the counter or the CPUs are not available.
pub fn unfenced_handoffs(count: u32) -> Option<Vec<[i64; 2]>> {
    let counter = InstructionCounter::<BareInstruction>::open().ok()?;
    let run_side = |side: Side| read_at_handoffs(&counter, side, || {});
    let cpus = distant_cpus()?.map(Some);
    handoffs_on_pair(
        &InstructionCounter::<BareInstruction>::INFO,
        &run_side,
        cpus,
        count,
    )
    .ok()
}

/// The task of one of the two threads.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    /// The baton: the number of times that a thread let go or took over, two per handoff.
    baton: &'a AtomicU32,
    /// The number of handoffs.
    count: u32,
    /// 0 or 1: this thread lets go in the handoffs whose number has this parity and takes over in
    /// the others.
    parity: u32,
    /// The CPU to run on; any if `None`.
    cpu: Option<u32>,
}

/// Runs the handoffs of one pair of threads. `run_side` does the reads of a thread. The threads are
/// pinned to the given CPUs, because counters of different CPUs may disagree. The caller has checked
/// that they are allowed; if one goes offline meanwhile, the kernel moves the thread.
pub(super) fn handoffs_on_pair(
    info: &Info,
    run_side: &(dyn Fn(Side) -> Vec<Ticks> + Sync),
    [here, there]: [Option<u32>; 2],
    count: u32,
) -> Answer<Vec<[i64; 2]>> {
    if info.properties.counts.is_some_and(Counted::is_per_thread) {
        let reason = "counts for one thread only; readings of two threads cannot be compared";
        return Err(Fault::Refused(format!("{} {reason}", info.id)));
    }
    let baton = AtomicU32::new(0);
    let side = |parity, cpu| Side {
        baton: &baton,
        count,
        parity,
        cpu,
    };
    let (mut own, mut other) = (Vec::new(), Vec::new());
    run_on_two_threads(&mut || other = run_side(side(1, there)), &mut || {
        own = run_side(side(0, here))
    })
    .map_err(no_second_thread)?;
    // The calling thread read first in handoffs with an even number.
    let readings = own.into_iter().zip(other).enumerate();
    let rows = readings.map(|(number, (own, other))| {
        if number % 2 == 0 {
            [own, other]
        } else {
            [other, own]
        }
    });
    Ok(signed_rows(rows.collect()))
}

/// Runs `there` on a new thread and, at the same time, `here` on the calling thread.
fn run_on_two_threads(
    there: &mut (dyn FnMut() + Send),
    here: &mut dyn FnMut(),
) -> std::io::Result<()> {
    thread::scope(|scope| {
        thread::Builder::new().spawn_scoped(scope, there)?;
        here();
        Ok(())
    })
}

/// Runs the handoffs of all pairs of CPUs at the same time; a list per pair.
pub(super) fn handoffs_on_pairs(
    info: &Info,
    cpus: &[[u32; 2]],
    run_side: &(dyn Fn(Side) -> Vec<Ticks> + Sync),
    count: u32,
) -> Answer<Vec<Vec<[i64; 2]>>> {
    let allowed = cpus_before_pinning();
    // The first CPU shows whether threads can be bound at all.
    if let Some(cpu) = cpus
        .iter()
        .flatten()
        .find(|&&cpu| !allowed.contains(&cpu) || cpu == cpus[0][0] && Pinned::to(cpu).is_none())
    {
        return Err(Fault::Refused(format!(
            "a thread cannot be pinned to CPU {cpu}: it is offline or not allowed"
        )));
    }
    if cpus.len() > allowed.len() {
        return Err(Fault::Refused("there are more pairs than CPUs".into()));
    }
    thread::scope(|scope| {
        let run_pair = |pair: &[u32; 2]| handoffs_on_pair(info, run_side, pair.map(Some), count);
        let pairs: Vec<_> = cpus
            .iter()
            .map(|pair| thread::Builder::new().spawn_scoped(scope, move || run_pair(pair)))
            .collect();
        let panicked = |_| Err(Fault::Refused("a thread of the handoffs panicked".into()));
        let join = |pair: thread::ScopedJoinHandle<'_, _>| pair.join().unwrap_or_else(panicked);
        pairs
            .into_iter()
            .map(|pair| pair.map_err(no_second_thread).and_then(join))
            .collect()
    })
}

/// Does the reads of one thread and returns a reading per handoff. Each thread has its own list, so
/// that the threads share nothing but the baton. `fence` is called before each read.
#[inline(always)]
pub(super) fn read_at_handoffs<T: Timer>(
    timer: &T,
    Side {
        baton,
        count,
        parity,
        cpu,
    }: Side,
    fence: impl Fn(),
) -> Vec<Ticks> {
    let _pinned = cpu.and_then(Pinned::to);
    let mut readings = vec![timer.ticks(timer.read()); count as usize];
    for (number, slot) in (0..count).zip(&mut readings) {
        let lets_go = number % 2 == parity;
        let awaited = number.wrapping_mul(2).wrapping_add(u32::from(!lets_go));
        wait_for(baton, awaited);
        // A bare `rdtsc` may run before the load that brought the baton has completed. It then
        // seems to go backwards by tens of nanoseconds, which is an effect of the order of
        // instructions and not of the clock. The fence prevents it.
        fence();
        let reading = timer.read();
        // Only the thread whose turn it is writes the baton.
        baton.store(awaited.wrapping_add(1), Ordering::Release);
        *slot = timer.ticks(reading);
    }
    readings
}

/// The CPU of the calling thread, and the CPU whose number is farthest from it: on most machines
/// that one belongs to another core and, if there are two sockets, to the other socket. `None` if
/// the process has one CPU only.
pub(super) fn distant_cpus() -> Option<[u32; 2]> {
    let cpus = cpus_before_pinning();
    let here = current_cpu()
        .filter(|cpu| cpus.contains(cpu))
        .or(cpus.first().copied())?;
    let there = cpus
        .iter()
        .copied()
        .max_by_key(|cpu| cpu.abs_diff(here))
        .filter(|&cpu| cpu != here)?;
    Some([here, there])
}

/// Waits in a loop until the baton has the given value.
fn wait_for(baton: &AtomicU32, value: u32) {
    let mut spins = 0_u32;
    while baton.load(Ordering::Acquire) != value {
        spins += 1;
        // If both threads share one CPU, the other thread can continue only after a yield.
        if spins.is_multiple_of(1 << 10) {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}
