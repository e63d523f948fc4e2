//! The cores on which can be measured, and which of them no other thread uses now.
//!
//! A thread of the runner (this program) samples any of their CPUs on request, while no process
//! measures. It times additions. Their number per second gives the frequency. Their number per
//! cycle (the width) drops if another hardware thread uses the same core, which may belong to
//! another virtual machine.

use std::sync::mpsc::channel;
use std::thread;

use timers::{CoreFrequencyMeter, CoreSpeed};

use estimators::model::MIN_ALONE_WIDTH;

/// Samples a CPU; `None` if this is impossible.
pub type Sampler = Box<dyn FnMut(u32) -> Option<CoreSpeed>>;

/// Largest relative difference between equal widths.
/// *Seen*: the widths of a free core differ by 2 % from their median, on Zen 3.
const MAX_WIDTH_DIFFERENCE: f64 = 0.02;
/// Number of samples of which one has to agree on the full width, and at least two besides.
/// *Seen*: 2 of 6000 widths are too large, because the core changed its frequency meanwhile.
const SAMPLES_PER_AGREEING: usize = 1_000;

/// What is known of the cores on which can be measured. All are of one kind.
pub struct Cores {
    sampler: Sampler,
    /// The CPUs: first those whose core was free when it was sampled last, the latest first.
    cpus: Vec<u32>,
    /// The CPU of the measuring process.
    current: u32,
    /// Whether the core of this CPU was free when it was sampled last.
    is_free: bool,
    /// All observed widths in ascending order.
    widths: Vec<f64>,
}

impl Cores {
    /// Knows these CPUs, of which a process uses the first. `None` if there are none or the first
    /// cannot be sampled.
    pub fn new(cpus: &[u32], sampler: Sampler) -> Option<Self> {
        let mut cores = Self {
            sampler,
            cpus: cpus.to_vec(),
            current: *cpus.first()?,
            is_free: false,
            widths: Vec::new(),
        };
        cores.sample(cores.current).map(|_| cores)
    }

    /// The CPU on which to measure.
    pub fn current(&self) -> u32 {
        self.current
    }

    /// The largest width on which several samples of any CPU agree. `None` if there is none.
    pub fn full_width(&self) -> Option<f64> {
        let agreeing = 3.max(self.widths.len() / SAMPLES_PER_AGREEING);
        let mut windows = self.widths.windows(agreeing).rev();
        let agree =
            |window: &&[f64]| window[0] >= (1.0 - MAX_WIDTH_DIFFERENCE) * window[agreeing - 1];
        windows.find(agree).map(|window| window[agreeing - 1])
    }

    /// Whether another thread ran on a core of this width. `false` if the full width is unknown.
    pub fn is_shared(&self, width: f64) -> bool {
        self.full_width()
            .is_some_and(|full| width < MIN_ALONE_WIDTH * full)
    }

    /// Adds a sample that the measuring process took on its CPU.
    pub fn add(&mut self, sample: CoreSpeed) {
        self.record(self.current, sample.width);
    }

    /// Makes sure that the current CPU is sampled by the next search.
    pub fn begin_process(&mut self) {
        self.is_free = false;
    }

    /// Records that another program of this system interrupted the measuring process: its CPU comes last in
    /// the next search.
    pub fn record_interruption(&mut self) {
        self.is_free = false;
        self.cpus.retain(|known| *known != self.current);
        self.cpus.push(self.current);
    }

    /// Makes a CPU whose core is free the current one, or else the widest. Samples each CPU at most once,
    /// until one is free or `has_time` denies it.
    pub fn search(&mut self, mut has_time: impl FnMut() -> bool) {
        let mut widest = 0.0;
        for cpu in self.cpus.clone() {
            if self.is_free || !has_time() {
                return;
            }
            let width = self.sample(cpu).map_or(0.0, |sample| sample.width);
            if width > widest {
                (self.current, self.is_free, widest) = (cpu, !self.is_shared(width), width);
            }
        }
    }

    /// Samples the CPUs in turn while `has_time`.
    pub fn explore(&mut self, mut has_time: impl FnMut() -> bool) {
        for cpu in self.cpus.clone().into_iter().cycle() {
            if !has_time() || self.sample(cpu).is_none() {
                return;
            }
        }
    }

    /// Samples a CPU now.
    pub fn sample(&mut self, cpu: u32) -> Option<CoreSpeed> {
        let sample = (self.sampler)(cpu)?;
        self.record(cpu, sample.width);
        Some(sample)
    }

    fn record(&mut self, cpu: u32, width: f64) {
        let place = self.widths.partition_point(|known| *known < width);
        self.widths.insert(place, width);
        let is_free = !self.is_shared(width);
        self.cpus.retain(|known| *known != cpu);
        self.cpus
            .insert(if is_free { 0 } else { self.cpus.len() }, cpu);
        if cpu == self.current {
            self.is_free = is_free;
        }
    }
}

/// Starts the thread that samples CPUs.
pub fn sampler() -> Option<Sampler> {
    let (requests, requested) = channel::<u32>();
    let (sender, samples) = channel();
    let work = move || {
        let mut meter = None;
        for cpu in requested {
            let sample = timers::pin_to(cpu).ok().and_then(|()| {
                meter = meter.or_else(|| CoreFrequencyMeter::new().ok());
                meter?.measure()
            });
            if sender.send(sample).is_err() {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("core".into())
        .spawn(work)
        .ok()?;
    Some(Box::new(move |cpu| {
        requests.send(cpu).ok()?;
        samples.recv().ok()?
    }))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// Made-up CPUs, by number, and the CPUs that were sampled.
    type Widths = Rc<RefCell<(Vec<f64>, Vec<u32>)>>;

    /// Cores of these widths, of which the first is 4 wide, so that the full width is known.
    fn cores(widths: &[f64]) -> (Cores, Widths) {
        let state: Widths = Rc::new(RefCell::new((vec![4.0; widths.len()], Vec::new())));
        let sampled = Rc::clone(&state);
        let sampler = move |cpu: u32| {
            let (widths, asked) = &mut *sampled.borrow_mut();
            asked.push(cpu);
            let width = *widths.get(cpu as usize)?;
            Some(CoreSpeed { hertz: 3e9, width })
        };
        let cpus: Vec<u32> = (0..widths.len() as u32).collect();
        let mut cores = Cores::new(&cpus, Box::new(sampler)).expect("CPU 0 exists");
        let mut rest = 3;
        cores.explore(|| {
            rest -= 1;
            rest >= 0
        });
        *state.borrow_mut() = (widths.to_vec(), Vec::new());
        cores.begin_process();
        (cores, state)
    }

    fn full_width(widths: &[f64]) -> Option<f64> {
        let mut cores = cores(&[4.0]).0;
        cores.widths.clear();
        widths.iter().for_each(|&width| cores.record(0, width));
        cores.full_width()
    }

    #[test]
    fn full_width_ignores_outliers() {
        assert_eq!(full_width(&[]), None);
        assert_eq!(full_width(&[3.9, 3.91]), None, "too few agree");
        assert_eq!(
            full_width(&[3.9, 11.9, 3.91, 5.3, 3.92, 2.1, 2.1, 2.1]),
            Some(3.92)
        );
        assert_eq!(full_width(&[2.5; 100]), Some(2.5), "none was wider");
        let mut many = vec![2.5; 5_990];
        many.extend([3.9; 6]);
        assert_eq!(full_width(&many), Some(3.9), "a thousandth is free");
        many.extend([9.0; 4]);
        assert_eq!(full_width(&many), Some(3.9));
    }

    #[test]
    fn unknown_full_width_is_not_shared() {
        let mut cores = cores(&[4.0]).0;
        cores.widths.clear();
        assert!(!cores.is_shared(1.0));
        (0..3).for_each(|_| cores.record(0, 4.0));
        assert!(cores.is_shared(3.5) && !cores.is_shared(3.7));
    }

    #[test]
    fn finds_free_core() {
        let (mut cores, state) = cores(&[2.0, 2.5, 3.9, 3.9]);
        let search = |cores: &mut Cores| {
            state.borrow_mut().1.clear();
            cores.search(|| true);
            (cores.current(), state.borrow().1.len())
        };
        let (found, _) = search(&mut cores);
        assert!(found >= 2, "{found}");
        assert_eq!(search(&mut cores), (found, 0), "it is free");
        // The core that was free last is sampled first.
        cores.begin_process();
        assert_eq!(search(&mut cores), (found, 1));
        // The CPU on which another program runs comes last.
        cores.record_interruption();
        assert_eq!(search(&mut cores).0, 5 - found);
    }

    #[test]
    fn takes_the_widest_core_in_time() {
        let (mut shared, state) = cores(&[2.0, 3.0]);
        shared.search(|| true);
        assert_eq!((shared.current(), state.borrow().1.len()), (1, 2));
        let (mut hurried, state) = cores(&[2.0, 4.0]);
        hurried.search(|| state.borrow().1.is_empty());
        assert_eq!((hurried.current(), state.borrow().1.len()), (0, 1));
    }

    #[test]
    fn samples_existing_cpus_only() {
        let mut sampler = sampler().expect("a thread can be started");
        assert!(sampler(u32::MAX).is_none());
        if let Some(sample) = sampler(timers::allowed_cpus().expect("some CPU")[0]) {
            assert!(sample.hertz > 0.0 && sample.width > 0.0);
        }
    }
}
