//! Finds the length below which a primitive that blocks does not sleep: it returns at once, or
//! computes until the time is over.

use super::{MIN_REQUEST_NS, observed_ns};
use crate::model::AwakeWaits;
use crate::statistics::median;
use crate::trace::{Wait, WaitRun, WaitTrace};

/// The least number of waits below the length, and above it. *Judgement*.
const MIN_WAITS: usize = 8;
/// The largest share of waits on one side of the length that belong to the other. *Judgement*:
/// interruptions and early wake-ups are rarer.
const MAX_EXCEPTIONS: f64 = 0.05;
/// The least share of its duration for which a wait computes that does not sleep, and the largest
/// share of the requested time after which it returns at once. *Judgement*.
const AWAKE_SHARES: (f64, f64) = (0.75, 0.25);

/// One wait, with times in nanoseconds.
struct Point {
    request: f64,
    duration: f64,
    cpu: Option<f64>,
}

impl Point {
    fn is_asleep(&self) -> bool {
        self.duration >= 0.5 * self.request && self.cpu.is_none_or(|cpu| cpu < 0.5 * self.duration)
    }
}

/// Returns the waits that do not sleep, if the requested length decides which do.
pub fn awake_waits(trace: &WaitTrace) -> Option<AwakeWaits> {
    let point = |wait: &Wait| Point {
        request: wait.request_ns as f64,
        duration: observed_ns(wait, &trace.reference),
        cpu: wait.cpu_ns.map(|cpu| cpu as f64),
    };
    let all = trace.runs.iter().flat_map(WaitRun::waits);
    let mut points: Vec<Point> = all
        .filter(|wait| trace.blocks && wait.request_ns > MIN_REQUEST_NS)
        .map(point)
        .collect();
    points.sort_by(|a, b| a.request.total_cmp(&b.request));
    // The split with the fewest waits on the wrong side: fewer of the shorter ones sleep, compared
    // with those that do not, than at any other.
    let (mut end, mut balance, mut split) = (0, 0, (0, 0));
    for equal in points.chunk_by(|a, b| a.request == b.request) {
        let asleep = equal.iter().filter(|point| point.is_asleep()).count() as i64;
        end += equal.len();
        balance += 2 * asleep - equal.len() as i64;
        split = split.min((balance, end));
    }
    let (short, long) = points.split_at(split.1);
    let exceptions = |points: &[Point], asleep: bool| {
        let wrong = points.iter().filter(|point| point.is_asleep() == asleep);
        points.len() < MIN_WAITS || wrong.count() as f64 > MAX_EXCEPTIONS * points.len() as f64
    };
    if exceptions(short, true) || exceptions(long, false) {
        return None;
    }
    // The longer half of the short waits.
    let near = &short[short.len() / 2..];
    let median_of = |points: &[Point], value: fn(&Point) -> Option<f64>| {
        median(points.iter().filter_map(value))
    };
    let returned = median_of(near, |point| Some(point.duration / point.request))?;
    let computed = median_of(near, |point| Some(point.cpu? / point.duration));
    let [request, cpu_asleep] = [
        median_of(near, |point| Some(point.request)),
        median_of(long, |point| point.cpu),
    ];
    // A sleep of a microsecond may consist of the CPU time of its system call.
    let computes = computed.is_some_and(|share| share > AWAKE_SHARES.0) && request > cpu_asleep;
    let returns = returned < AWAKE_SHARES.1;
    let asleep = long.iter().filter(|point| point.is_asleep());
    (computes || returns).then_some(AwakeWaits {
        below_ns: long.first()?.request,
        returns_after_ns: median_of(near, |point| Some(point.duration)).filter(|_| returns),
        shortest_sleep_ns: asleep.map(|point| point.duration).reduce(f64::min)?,
    })
}

/// Returns the observations without the waits of shorter requests.
pub fn without_shorter(trace: &WaitTrace, request_ns: f64) -> WaitTrace {
    let mut longer = trace.clone();
    for run in &mut longer.runs {
        for waits in run
            .scans
            .iter_mut()
            .chain([&mut run.lengths, &mut run.long])
        {
            waits.retain(|wait| wait.request_ns as f64 >= request_ns);
        }
    }
    longer
}
