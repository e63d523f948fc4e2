//! Paths: does a clock that is to be had in several ways say the same in each?
//!
//! A reading between two of the same clock in the usual way is neither below the first nor above the last, but for what its unit cuts off
//! and for the lag of a clock that only the timer interrupt moves.

use super::Case;
use crate::model::{Outcome, Paths, PathsBeside};
use crate::text::numbers::time;
use crate::trace::Beside;

/// By so many of its declared steps a clock that the timer interrupt moves may lag: it may come late.
/// *Judgement*: as many as of clocks that are updated late.
const LATE: i64 = 10;

pub(super) fn judge(case: &Case) -> Option<Paths> {
    let beside = &case.evidence().beside;
    let rows: Vec<PathsBeside> = beside.iter().map(row).collect();
    let worst = rows.iter().zip(beside).filter(|(row, _)| row.ahead_ns > 0.0 || row.behind_ns > 0.0);
    let worst =
        worst.max_by(|a, b| a.0.ahead_ns.max(a.0.behind_ns).total_cmp(&b.0.ahead_ns.max(b.0.behind_ns)));
    let all: u64 = beside.iter().map(|one| u64::from(one.readings)).sum();
    let first = beside.first()?;
    let (outcome, finding) = match worst {
        Some((row, seen)) => {
            let (by, side) = if row.ahead_ns >= row.behind_ns {
                (row.ahead_ns, "after the next one")
            } else {
                (row.behind_ns, "before the last one")
            };
            let busy = if row.busy { " while another CPU was busy" } else { "" };
            let by = time(Some(by));
            (Outcome::Fail, format!("a reading of it lay {side} of {}, by up to {by}{busy}", seen.within))
        }
        None => {
            let sees = rows.iter().map(|row| row.sees_ns).fold(0.0, f64::max);
            let busy =
                if rows.iter().any(|row| row.busy) { ", idle and while another CPU was busy" } else { "" };
            let finding = format!(
                "{all} readings lay between those of {} around them{busy}; a difference of {} would have shown",
                first.within,
                time(Some(sees))
            );
            (Outcome::Pass, finding)
        }
    };
    Some(Paths { outcome, finding, beside: rows })
}

fn row(seen: &Beside) -> PathsBeside {
    // What may be cut off, or come late.
    let allowed = seen.unit_ns + LATE * seen.lag_ns;
    let behind = seen.behind_ns - allowed + 1;
    PathsBeside {
        within: seen.within.clone(),
        busy: seen.busy,
        readings: seen.readings,
        ahead_ns: seen.ahead_ns.max(0) as f64,
        behind_ns: behind.max(0) as f64,
        sees_ns: (seen.narrowest_ns + allowed) as f64,
    }
}
