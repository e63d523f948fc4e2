//! Handoffs between two threads, by which readings of the timer on two CPUs are compared.
//!
//! Two threads pass a baton back and forth. The thread that lets go reads the timer before it does,
//! the thread that takes over reads it afterwards: the second reading must not be earlier.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use super::rows;
use crate::affinity::{Pinned, cpus_before_pinning, current_cpu};
use crate::subject::{Answer, Fault};
use crate::{Counted, Info, Ticks, Timer};

/// Handoffs as of [`Subject::handoffs_between`], but for the fence before each reading: as programs
/// do that have none.
pub(crate) fn handoffs_unfenced<T: Timer>(
    timer: &T,
    cpus: &[[u32; 2]],
    count: u32,
) -> Answer<Vec<Vec<[i64; 2]>>> {
    handoffs_of_pairs(
        &T::INFO,
        cpus,
        &|part| play_behind(timer, part, || {}),
        count,
    )
}

/// What one of two threads does that pass a baton.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    /// Counts the passes, two a handoff.
    turn: &'a AtomicU32,
    /// How many handoffs.
    count: u32,
    /// It lets go first in handoffs whose number has this parity.
    parity: u32,
    cpu: Option<u32>,
}

/// Two threads pass a baton; the one that lets go reads before, the one that takes over reads
/// after.
///
/// They run on the two CPUs if those are given, as counters of different CPUs are what may
/// disagree.
pub(super) fn handoffs_on(
    info: &Info,
    play: &(dyn Fn(Part) -> Vec<Ticks> + Sync),
    [here, there]: [Option<u32>; 2],
    count: u32,
) -> Answer<Vec<[i64; 2]>> {
    if info.properties.counts.is_some_and(Counted::one_thread) {
        let only = "counts for one thread only; readings of two threads cannot be compared";
        return Err(Fault::Refused(format!("{} {only}", info.id)));
    }
    let turn = AtomicU32::new(0);
    let part = |parity, cpu| Part {
        turn: &turn,
        count,
        parity,
        cpu,
    };
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    side_by_side(&mut || theirs = play(part(1, there)), &mut || {
        mine = play(part(0, here))
    })
    .map_err(|error| Fault::Refused(format!("the second thread cannot be started: {error}")))?;
    // What was read first in one list was read second in the other.
    let pairs = mine.into_iter().zip(theirs).enumerate();
    rows(
        pairs
            .map(|(number, (mine, theirs))| {
                if number % 2 == 0 {
                    [mine, theirs]
                } else {
                    [theirs, mine]
                }
            })
            .collect(),
    )
}

/// Does the first on another thread and the second on this one.
fn side_by_side(there: &mut (dyn FnMut() + Send), here: &mut dyn FnMut()) -> std::io::Result<()> {
    thread::scope(|scope| {
        thread::Builder::new().spawn_scoped(scope, there)?;
        here();
        Ok(())
    })
}

/// Asks for the handoffs of all pairs of CPUs at once, each on a thread of its own.
pub(super) fn handoffs_of_pairs(
    info: &Info,
    cpus: &[[u32; 2]],
    play: &(dyn Fn(Part) -> Vec<Ticks> + Sync),
    count: u32,
) -> Answer<Vec<Vec<[i64; 2]>>> {
    let allowed = cpus_before_pinning();
    if let Some(cpu) = cpus.iter().flatten().find(|cpu| !allowed.contains(cpu)) {
        return Err(Fault::Refused(format!(
            "a thread cannot be pinned to CPU {cpu}: it is offline or not allowed"
        )));
    }
    thread::scope(|scope| {
        let ask = |pair: &[u32; 2]| handoffs_on(info, play, pair.map(Some), count);
        let pairs: Vec<_> = cpus
            .iter()
            .map(|pair| scope.spawn(move || ask(pair)))
            .collect();
        let lost = |_| Err(Fault::Refused("a thread ended before its time".into()));
        pairs
            .into_iter()
            .map(|pair| pair.join().unwrap_or_else(lost))
            .collect()
    })
}

/// The part of one of the two threads, with a reading for each handing-over: the first of the pair
/// when the number's parity is its own, else the second. Each keeps a list of its own, so that
/// nothing but the baton is shared.
#[inline(always)]
pub(super) fn play_behind<T: Timer>(
    timer: &T,
    Part {
        turn,
        count,
        parity,
        cpu,
    }: Part,
    held_back: impl Fn(),
) -> Vec<Ticks> {
    let _pinned = cpu.and_then(Pinned::to);
    let mut readings = vec![timer.ticks(timer.read()); count as usize];
    for (number, slot) in (0..count).zip(&mut readings) {
        let mine_first = number % 2 == parity;
        let awaited = number.wrapping_mul(2).wrapping_add(u32::from(!mine_first));
        wait_for(turn, awaited);
        // The one who holds the baton is alone in writing it. A bare `rdtsc` may run before the
        // load that brought the baton has completed, and then seems to go backwards by tens of
        // nanoseconds; that is the order of instructions and not the clock, so the fence keeps it
        // out of the question.
        held_back();
        let reading = timer.read();
        turn.store(awaited.wrapping_add(1), Ordering::Release);
        *slot = timer.ticks(reading);
    }
    readings
}

/// The CPU the calling thread is on and the one numbered farthest from it, which on most machines
/// belongs to another core and, where there are two, to another socket.
pub(super) fn two_cpus() -> Option<(u32, u32)> {
    let cpus = cpus_before_pinning();
    let here = current_cpu()
        .filter(|cpu| cpus.contains(cpu))
        .or(cpus.first().copied())?;
    let there = cpus
        .iter()
        .copied()
        .max_by_key(|cpu| cpu.abs_diff(here))
        .filter(|&cpu| cpu != here)?;
    Some((here, there))
}

fn wait_for(turn: &AtomicU32, value: u32) {
    let mut spins = 0_u32;
    while turn.load(Ordering::Acquire) != value {
        spins += 1;
        // On one CPU the other thread needs it to get on.
        if spins.is_multiple_of(1 << 10) {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}
