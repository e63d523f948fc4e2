//! What a campaign finds out about the references of its hosts while it goes on: their rates, and
//! their steps.

use rand::rngs::StdRng;
use timers::Fault;

use super::subject::Subject;
use crate::campaign::calibration::Calibration;
use crate::campaign::choose::{Settings, choose_reference};
use crate::hosts::host::Host;
use crate::trace::Reference;

/// What the timers of a host know of their reference.
pub(super) fn references_of(
    subjects: &mut [Subject],
    host: usize,
) -> impl Iterator<Item = &mut Reference> {
    let subjects = subjects
        .iter_mut()
        .filter(move |subject| subject.host == host);
    subjects.filter_map(|subject| Some(&mut subject.outcome.as_mut().ok()?.reference))
}

/// Who watches the rate of the reference. Without one it stays what a first look found.
pub(super) fn calibrate<'a>(
    host: &Host,
    mut references: impl Iterator<Item = &'a mut Reference>,
    settings: &Settings,
    cpus: &[u32],
) -> Result<Option<Calibration>, Fault> {
    let Some(reference) = references.next() else {
        return Ok(None);
    };
    match Calibration::start(host, reference, settings, cpus) {
        Err(Fault::Interrupted) => Err(Fault::Interrupted),
        calibration => Ok(calibration.ok().flatten()),
    }
}

/// One more look; a process that is lost looks no more.
pub(super) fn look(calibration: &mut Option<Calibration>) -> Result<(), Fault> {
    match calibration.as_mut().map(Calibration::look) {
        Some(Err(Fault::Interrupted)) => Err(Fault::Interrupted),
        Some(Err(_)) => {
            *calibration = None;
            Ok(())
        }
        Some(Ok(())) | None => Ok(()),
    }
}

/// Looks at the reference of a host once more while its step is not known.
pub(super) fn clarify<'a>(
    host: &Host,
    references: impl Iterator<Item = &'a mut Reference>,
    settings: &Settings,
    random: &mut StdRng,
) -> Result<(), Fault> {
    let vague: Vec<&mut Reference> = references
        .filter(|known| known.step_at_most.is_some())
        .collect();
    if vague.is_empty() {
        return Ok(());
    }
    match choose_reference(host, settings, random) {
        Ok(found) => {
            // Another one would have another rate.
            for known in vague
                .into_iter()
                .filter(|known| known.id == found.id && found.step_at_most.is_none())
            {
                known.step = found.step;
                known.step_at_most = None;
            }
            Ok(())
        }
        Err(Fault::Interrupted) => Err(Fault::Interrupted),
        // It served before, so what came in between will pass.
        Err(_) => Ok(()),
    }
}
