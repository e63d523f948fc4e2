//! The loop around a wait.

use super::{Countdown, Wait, WaitRequest, WaitSubject};
use crate::native::reference_now;
use crate::subject::Answer;

/// A countdown timer that is watched.
pub struct Observed<T>(pub T);

impl<T: Countdown> WaitSubject for Observed<T> {
    fn waits(&mut self, reference: &str, request: WaitRequest) -> Answer<Vec<Vec<Wait>>> {
        let now = reference_now(reference)?;
        let mut rows = vec![Vec::with_capacity(request.repeat as usize); request.lengths_ns.len()];
        for _ in 0..request.repeat {
            for (row, &length) in rows.iter_mut().zip(request.lengths_ns) {
                let before = now();
                self.0.wait(length);
                let after = now();
                row.push(Wait {
                    before: before.0 as i64,
                    after: after.0 as i64,
                    cpu_ns: None,
                    run_delay_ns: None,
                });
            }
        }
        Ok(rows)
    }
}
