//! A timer of an agent that waits: three questions, sent over the connection.

use std::cell::RefCell;
use std::rc::Rc;

use timers::Answer;
use timers::waits::{Expiration, Wait, WaitRequest, WaitSubject};

use crate::hosts::connection::Connection;
use crate::hosts::hosted::{Hosted, off};
use crate::hosts::protocol::{Arms, Periods, Request, Waits};

/// A timer that waits and that the agent hosts, as the prober sees all of them.
#[must_use]
pub fn waiter(connection: &Rc<RefCell<Connection>>, id: &str) -> Box<dyn WaitSubject> {
    Box::new(Hosted::new(Rc::clone(connection), id))
}

impl WaitSubject for Hosted {
    fn waits(&mut self, reference: &str, request: WaitRequest) -> Answer<Vec<Vec<Wait>>> {
        let WaitRequest {
            lengths_ns,
            repeat,
            pause_ns,
            break_ns,
        } = request;
        let (timer, reference) = (self.id.clone(), reference.into());
        let asked = Request::Waits {
            timer,
            reference,
            request_ns: lengths_ns.into(),
            repeat,
            pause_ns,
            break_ns,
        };
        let rows = lengths_ns.len();
        let expected = format!(
            r#"{{"waits":[…]}} with {rows} rows of {repeat} lists [before, after, CPU time, run-queue delay], of which the last two may be left out"#
        );
        let objection = |answer: &Waits| {
            let miscounted = answer
                .waits
                .iter()
                .find_map(|row| off(row.len(), repeat as usize, "waits in a row"));
            // The thread that was to stop may have stopped.
            let miscounted = miscounted.filter(|_| break_ns.is_none());
            off(answer.waits.len(), rows, "rows")
                .or(miscounted)
                .or_else(|| {
                    let odd = answer
                        .waits
                        .iter()
                        .flatten()
                        .find(|wait| !(2..=4).contains(&wait.len()))?;
                    Some(format!(
                        "there are {} integers for a wait, not 2, 3 or 4",
                        odd.len()
                    ))
                })
        };
        let answer = self.ask(&asked, &expected, objection)?;
        let wait = |told: &[i64]| Wait {
            before: told[0],
            after: told[1],
            cpu_ns: told.get(2).copied(),
            run_delay_ns: told.get(3).copied(),
        };
        Ok(answer
            .waits
            .iter()
            .map(|row| row.iter().map(|told| wait(told)).collect())
            .collect())
    }

    fn arms(&mut self, reference: &str, repeat: u32) -> Answer<Vec<i64>> {
        let request = Request::Arms {
            timer: self.id.clone(),
            reference: reference.into(),
            repeat,
        };
        let expected = format!(r#"{{"arms":[…]}} with {repeat} integers"#);
        let objection = |answer: &Arms| off(answer.arms.len(), repeat as usize, "pairs");
        Ok(self.ask(&request, &expected, objection)?.arms)
    }

    fn periods(
        &mut self,
        reference: &str,
        period_ns: u64,
        count: u32,
        stalls: &[u32],
    ) -> Answer<Vec<Expiration>> {
        let (timer, reference) = (self.id.clone(), reference.into());
        let request = Request::Periods {
            timer,
            reference,
            period_ns,
            count,
            stalls: stalls.into(),
        };
        let expected = format!(r#"{{"periods":[…]}} with {count} pairs of integers"#);
        let objection = |answer: &Periods| {
            off(answer.periods.len(), count as usize, "wake-ups").or_else(|| {
                let negative = answer
                    .periods
                    .iter()
                    .find(|[_, expirations]| *expirations < 0)?;
                Some(format!("a wake-up stands for {} expirations", negative[1]))
            })
        };
        let answer = self.ask(&request, &expected, objection)?;
        let expiration = |[at, expirations]: [i64; 2]| Expiration {
            at,
            expirations: expirations as u64,
        };
        Ok(answer.periods.into_iter().map(expiration).collect())
    }
}
