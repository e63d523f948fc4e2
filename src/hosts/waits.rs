//! A timer of an agent that waits: three questions, sent over the connection.

use std::cell::RefCell;
use std::rc::Rc;

use timers::Answer;
use timers::waits::{Expiration, Wait, WaitRequest, WaitSubject};

use crate::hosts::connection::Connection;
use crate::hosts::hosted::Hosted;
use crate::hosts::protocol::questions::{Arms, Periods, Waits};

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
        let answer = self.ask(&Waits {
            timer: self.id.clone(),
            reference: reference.into(),
            request_ns: lengths_ns.into(),
            repeat,
            pause_ns,
            break_ns,
        })?;
        let wait = |values: &[i64]| Wait {
            before: values[0],
            after: values[1],
            cpu_ns: values.get(2).copied(),
            run_delay_ns: values.get(3).copied(),
        };
        Ok(answer
            .waits
            .iter()
            .map(|row| row.iter().map(|values| wait(values)).collect())
            .collect())
    }

    fn arms(&mut self, reference: &str, repeat: u32) -> Answer<Vec<i64>> {
        let (timer, reference) = (self.id.clone(), reference.into());
        let answer = self.ask(&Arms {
            timer,
            reference,
            repeat,
        })?;
        Ok(answer.arms)
    }

    fn periods(
        &mut self,
        reference: &str,
        period_ns: u64,
        count: u32,
        stalls: &[u32],
    ) -> Answer<Vec<Expiration>> {
        let answer = self.ask(&Periods {
            timer: self.id.clone(),
            reference: reference.into(),
            period_ns,
            count,
            stalls: stalls.into(),
        })?;
        let expiration = |[at, expirations]: [i64; 2]| Expiration {
            at,
            expirations: expirations as u64,
        };
        Ok(answer.periods.into_iter().map(expiration).collect())
    }
}
