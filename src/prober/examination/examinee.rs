//! The examination of one timer: the process that is asked, kept as long as it lives, and what its end means.

use timers::Fault;

use super::{Known, Session};
use crate::prober::host::{Host, Settings, connect};
use crate::prober::outside::Moment;
use crate::prober::protocol::HostedTimer;
use crate::trace::{Claims, Trace};

/// Whom to examine, and how.
#[derive(Clone, Copy)]
pub struct Examinee<'a> {
    /// Where the timer lives.
    pub host: &'a Host,
    /// The timer.
    pub timer: &'a HostedTimer,
    /// How the campaign is run.
    pub settings: &'a Settings,
}

/// One timer's.
#[derive(Default)]
pub struct Examination {
    session: Option<Session>,
    /// The clock of this process before and after the first sparse comparison.
    began: Option<[Moment; 2]>,
}

impl Examination {
    /// A look at how far the timer and its reference have come, by a process that lives as long as the campaign. Hosts that
    /// cannot compare them are not asked, nor is a process that ended before.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub fn compare_sparsely(&mut self, whom: Examinee, trace: &mut Trace) -> Result<(), Fault> {
        let before = Moment::now();
        let compared = self.look(whom, trace)?;
        let Some(compared) = compared else { return Ok(()) };
        trace.evidence.sparse_comparisons.push(compared);
        let around = before.zip(Moment::now()).filter(|_| trace.reference.keeps_time);
        if let Some((before, after)) = around {
            let [began, ended] = *self.began.get_or_insert([before, after]);
            // At least what lies between the two looks, at most what lies around them.
            let (least, most) = (before.since(ended).0, after.since(began).1);
            trace.evidence.passed_ns = Some([least as u64, most as u64]);
        }
        Ok(())
    }

    /// The same where such looks follow each other closely.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub fn compare_closely(&mut self, whom: Examinee, trace: &mut Trace) -> Result<(), Fault> {
        /// Enough to tell windows of a second; a host may have a thousand timers.
        const MOST: usize = 128;
        if trace.evidence.close_comparisons.len() >= MOST {
            return Ok(());
        }
        let compared = self.look(whom, trace)?;
        trace.evidence.close_comparisons.extend(compared);
        Ok(())
    }

    fn look(&mut self, whom: Examinee, trace: &mut Trace) -> Result<Option<[i64; 3]>, Fault> {
        if !whom.host.compares || trace.evidence.refusals.contains_key("comparisons") {
            return Ok(None);
        }
        let session = match self.session.take() {
            Some(session) => Ok(session),
            None => whom.session(trace),
        };
        let compared = session.and_then(|mut session| {
            let comparison = session.compare_sparsely()?;
            Ok((session, comparison))
        });
        let Some((session, comparison)) = unless_lost(compared, "comparisons", trace)? else {
            return Ok(None);
        };
        self.session = Some(session);
        Ok(comparison)
    }

    /// All other questions.
    ///
    /// # Errors
    /// Only [`Fault::Interrupted`].
    pub fn complete(self, whom: Examinee, known: &Known, trace: &mut Trace) -> Result<(), Fault> {
        trace.evidence.claims =
            Claims { counts: whom.timer.properties.counts, resolution_ns: whom.timer.resolution_ns };
        let session = match self.session {
            Some(session) => Ok(session),
            None => whom.session(trace),
        };
        let reference = trace.reference.clone();
        let examined =
            session.and_then(|mut session| session.examine(known, &reference, &mut trace.evidence));
        unless_lost(examined, "process", trace)?;
        Ok(())
    }
}

impl Examinee<'_> {
    fn session(&self, trace: &Trace) -> Result<Session, Fault> {
        let connection = connect(self.host, &[&self.timer.id], None, self.settings.timeout)?;
        Ok(Session::new(connection, &self.timer.id, &trace.reference.id))
    }
}

/// The end of the process that was to be asked is no end of its timer: the question stays open.
fn unless_lost<T>(asked: Result<T, Fault>, question: &str, trace: &mut Trace) -> Result<Option<T>, Fault> {
    match asked {
        Ok(answer) => Ok(Some(answer)),
        Err(Fault::Interrupted) => Err(Fault::Interrupted),
        Err(fault) => {
            trace.evidence.refusals.insert(question.into(), fault.to_string());
            Ok(None)
        }
    }
}
