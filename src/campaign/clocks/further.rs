//! Starts further processes for the timers that are known least.

use timers::Fault;

use super::Campaign;
use super::narrowing::Narrowing;
use super::references::look;
use crate::statistics::nine_tenths;

impl Campaign<'_> {
    /// Further processes where timers are known least.
    pub(super) fn narrow(&mut self) -> Result<(), Fault> {
        let plan = self.settings.plan;
        if plan.most_processes <= plan.processes + plan.brief {
            return Ok(());
        }
        let hertz = nine_tenths(self.watch.borrow().frequencies()).map(|hertz| hertz.value);
        let mut narrowing = Narrowing::new(self.subjects, hertz);
        let mut asked = 0;
        while let Some(left) = self.over.remaining() {
            let wide = narrowing.wide(self.subjects, &plan);
            let Some(&widest) = wide.first() else { break };
            // Processes of its own ask one timer each.
            let most = if self.hosts[self.subjects[widest].host].takes_ids {
                plan.block
            } else {
                1
            };
            let mut block = 0;
            while block < most && self.over.remaining().is_some() {
                block += 1;
                let again = self.ask_again(&wide)?;
                if again.is_empty() {
                    narrowing.give_up(widest);
                    break;
                }
                narrowing.update(self.subjects, &again);
                asked += again.len();
            }
            let taken = left.saturating_sub(self.over.remaining().unwrap_or_default());
            narrowing.afford(left, taken / block.max(1));
            if asked >= self.subjects.len() {
                asked = 0;
                self.calibrations.iter_mut().try_for_each(look)?;
            }
        }
        Ok(())
    }

    /// One more process for the first of these timers, and a brief one for others of its host where
    /// it can be visited.
    fn ask_again(&mut self, wide: &[usize]) -> Result<Vec<usize>, Fault> {
        let widest = &self.subjects[wide[0]];
        let host = widest.host;
        (self.progress)(&format!("{}, to narrow its interval", widest.timer.id));
        if self.hosts[host].takes_ids {
            return self.visit(host, wide.to_vec(), false);
        }
        self.ask(wide[0])?;
        Ok(vec![wide[0]])
    }
}
