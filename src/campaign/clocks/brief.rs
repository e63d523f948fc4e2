//! Runs brief processes: each measures many timers and, for most of them, only times their calls.
//! They show how much results differ between processes.

use rand::seq::SliceRandom;
use timers::{Answer, Fault};

use super::Campaign;
use super::cost_in_context::measure_contexts;
use super::examiner::Series;
use super::own_process::compare_in_process;
use crate::campaign::disturbances::{ProcessWatch, Watch};
use crate::campaign::unless_interrupted;
use crate::cost;
use crate::hosts::connection::SharedConnection;
use crate::hosts::host::{bench, connect};
use crate::model::Family;
use crate::prober::{CallsPlan, search_step, time_calls};
use crate::trace::Batches;

impl Campaign<'_> {
    /// Runs one brief process for those of the `targets` that belong to this host. `searches` says
    /// whether it searches for steps. Returns the indices of the timers that were measured. If the
    /// process is lost, its timers do not fail, because each also has processes of its own.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub(super) fn measure_briefly(
        &mut self,
        host: usize,
        mut targets: Vec<usize>,
        searches: bool,
    ) -> Result<Vec<usize>, Fault> {
        let subjects = &self.rounds.subjects;
        targets.retain(|&index| subjects[index].host == host && subjects[index].outcome.is_ok());
        targets.shuffle(&mut self.rounds.random);
        // Perf events come last: while one is open, the kernel saves and restores its counter on
        // every thread switch, which disturbs the timers after it.
        targets.sort_by_key(|&index| {
            subjects[index].timer.properties.family == Some(Family::PerfEvent)
        });
        let ids: Vec<&str> = (targets.iter())
            .map(|&index| &*subjects[index].timer.id)
            .collect();
        let (host, settings) = (&self.rounds.hosts[host], self.rounds.settings);
        let cpu = self.watch.borrow_mut().begin_process();
        let connected = connect(host, &ids, cpu, settings.timeout);
        let Ok(connection) = unless_interrupted(connected)? else {
            return Ok(Vec::new());
        };
        let (mut measured, mut floor) = (Vec::new(), None);
        // A runtime may determine the rate of its clocks when it opens them, for the whole process.
        // The rate is therefore measured by comparisons at the start and at the end of the process.
        let mut first_comparisons = Vec::new();
        for &index in &targets {
            match unless_interrupted(compare_in_process(
                host,
                &connection,
                &self.rounds.subjects[index],
            ))? {
                Ok(first) => first_comparisons.extend(first.map(|first| (index, first))),
                Err(_) => break,
            }
        }
        for index in targets {
            match unless_interrupted(self.measure_timer_briefly(
                &connection,
                index,
                searches,
                &mut floor,
            ))? {
                Ok(()) => measured.push(index),
                Err(Fault::Refused(_)) => {}
                Err(_) => break,
            }
        }
        for (index, first) in first_comparisons {
            let last = compare_in_process(host, &connection, &self.rounds.subjects[index]);
            let last = unless_interrupted(last)?;
            let stored = self.rounds.subjects[index].stored_mut();
            if let (Ok(Some(last)), Some(stored)) = (last, stored) {
                stored.evidence.process_comparisons.push([first, last]);
            }
        }
        // All timers of all hosts are compared after each process, because comparisons that follow
        // each other sooner show smaller jumps.
        self.compare(Series::Sparse, self.rounds.all())?;
        Ok(measured)
    }

    /// Times the calls of a timer, searches for its step if `searches` is set, and measures its
    /// cost in context unless as many processes as planned have already measured that cost. `floor`
    /// is the floor of the process, if it is known.
    fn measure_timer_briefly(
        &mut self,
        connection: &SharedConnection,
        index: usize,
        searches: bool,
        floor: &mut Option<Batches>,
    ) -> Answer<()> {
        let subject = &mut self.rounds.subjects[index];
        let (timer, Ok(measured)) = (&subject.timer, &mut subject.outcome) else {
            return Ok(());
        };
        let (plan, slow) = (&self.rounds.settings.plan, measured.is_found_slow());
        let (watch, waits) = (&self.watch, measured.lacks_undisturbed());
        let (id, reference) = (&*timer.id, &measured.stored.reference);
        let mut window = ProcessWatch::marking(watch, connection, waits);
        let mut bench = bench(connection, timer, &reference.id);
        let mut time = |window: &mut ProcessWatch| {
            time_calls(&mut bench, window, reference, &CallsPlan::BRIEF, floor)
        };
        let mut run = time(&mut window)?;
        // What was measured beside another thread is kept too: it shows what that adds.
        let mut disturbed = None;
        if waits && !run.is_calm() && window.may_repeat() {
            let repeated = Watch::spend(watch, || time(&mut window))?;
            disturbed = Some(std::mem::replace(&mut run, repeated));
        }
        let (limits, random) = (plan.search_limits(), &mut self.rounds.random);
        let found = (searches)
            .then(|| search_step(&mut bench, reference, limits, random, slow, &mut run))
            .transpose()?;
        let in_context = if measured.stored.adds.len() < plan.brief as usize {
            let cost_ns = cost::approximate_cost_ns(&run, reference);
            measure_contexts(
                connection,
                Some(&mut window),
                [id, &reference.id],
                cost_ns,
                plan,
            )
        } else {
            Ok(Vec::new())
        };
        let (dropped, valid) = window.end();
        measured.stored.count_dropped(dropped);
        if !valid {
            disturbed
                .into_iter()
                .chain([run])
                .for_each(|run| measured.stored.set_aside(run));
            return in_context.map(|_| ());
        }
        let full_width = watch.borrow().full_width();
        for run in disturbed.into_iter().chain([run]) {
            measured.add_run(run, full_width);
        }
        let rows = in_context?;
        let adds = &mut measured.stored.adds;
        adds.extend((!rows.is_empty()).then_some(rows));
        if let Some(found) = found {
            measured.add_search(found);
        }
        Ok(())
    }
}
