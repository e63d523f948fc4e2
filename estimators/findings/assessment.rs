//! The words of an assessment.

use crate::model::{Answer, Assessment, Defect, DefectKind, Fit, Question, Trust, Wrong};
use crate::numbers::{significant, time};

/// What a clock does whose rate error is −10⁶ ppm, up to the error of the rate of what it is compared
/// with, or below.
const STILL: &str = "stands still";
const BACKWARDS: &str = "runs backwards";

impl Defect {
    /// Whether another clock is wrong in the same way, and by as much if it has a rate or an offset.
    pub fn is_like(&self, other: &Self) -> bool {
        let has_size = matches!(self.kind, DefectKind::Rate | DefectKind::Offset);
        let sizes = self.size.zip(other.size).filter(|_| has_size);
        self.kind == other.kind && sizes.is_none_or(|(a, b)| (a - b).abs() <= 0.1 * a.abs())
    }

    /// The defect in a table cell.
    pub fn in_short(&self) -> String {
        match (self.kind, self.size) {
            (DefectKind::Rate, Some(ppm)) => speed(ppm),
            (DefectKind::Offset, Some(ns)) => {
                let side = if ns < 0.0 { "behind" } else { "ahead" };
                format!("{} {side}", time(ns.abs()))
            }
            (DefectKind::Rate, None) => "wrong rate".to_owned(),
            (kind, _) => kind.name().to_owned(),
        }
    }

    /// The defect in words that follow the name of a clock.
    pub fn in_words(&self) -> String {
        let by = |word: &str| match self.size {
            Some(ns) => format!("{word} by up to {}", time(ns.abs())),
            None => word.to_owned(),
        };
        let short = self.in_short();
        match self.kind {
            DefectKind::Rate if [STILL, BACKWARDS].contains(&&*short) => short,
            DefectKind::Rate if self.size.is_none() => "runs at a wrong rate".to_owned(),
            DefectKind::Rate | DefectKind::Offset => format!("is {short}"),
            DefectKind::Jumps => by("jumps or stands still"),
            DefectKind::StepsBack => by("steps backwards"),
            DefectKind::CpusDiffer => by("differs between CPUs"),
            DefectKind::Counts => "counts something else than it declares".to_owned(),
        }
    }
}

/// A rate error in words: in percent from 0.1 % on, in ppm below.
fn speed(ppm: f64) -> String {
    let side = if ppm < 0.0 { "slow" } else { "fast" };
    match ppm.abs() {
        // *Judgement*: no clock in use runs at less than 1/2000 of its rate.
        _ if (ppm + 1e6).abs() < 500.0 => STILL.to_owned(),
        _ if ppm < -1e6 => BACKWARDS.to_owned(),
        large if large >= 1e3 => format!("{} % {side}", significant(large / 1e4, 3)),
        small => format!("{} ppm {side}", significant(small, 3)),
    }
}

impl Trust {
    /// The answer in a table cell: `yes`, `yes, settable`, `untested rate`, `no: 1.00 % fast`.
    pub fn in_short(&self) -> String {
        match (self.answer, self.defect, self.open, self.caution) {
            (Answer::No, Some(defect), ..) => format!("no: {}", defect.in_short()),
            (Answer::Open, _, Some(open), _) => {
                let claim = match open {
                    Question::Monotonic => "order",
                    Question::ThreadSafe => "CPUs",
                    Question::Stable => "rate",
                    _ => "unit",
                };
                format!("untested {claim}")
            }
            (answer, .., Some(caution)) => format!("{}, {}", answer.name(), caution.name()),
            (answer, ..) => answer.name().to_owned(),
        }
    }
}

impl Wrong {
    /// A sentence: what is wrong, by how much, who proves it, and the cause.
    pub fn in_words(&self) -> String {
        let mut text = format!("{} {}", self.name(), self.defect.in_words());
        if let Some((last, others)) = self.witnesses.split_last() {
            let (between, show) = match others.len() {
                0 => ("", "shows"),
                _ => (" and ", "show"),
            };
            text += &format!(", as {}{between}{last} {show}", others.join(", "));
        }
        if let Some(cause) = &self.cause {
            text += &format!(". Cause: {cause}");
        }
        text + "."
    }

    /// Whether the same cause changes both by as much.
    fn is_like(&self, other: &Self) -> bool {
        self.cause.is_some() && self.cause == other.cause && self.defect.is_like(&other.defect)
    }

    /// The part, or the parts of which one is wrong.
    pub fn name(&self) -> String {
        match self.parts.as_slice() {
            [part] => part.clone(),
            parts => format!("one of {}", parts.join(", ")),
        }
    }
}

impl Assessment {
    /// Whether the portable clock is fit, and why not.
    pub fn fit_in_words(&self) -> String {
        match self.fit {
            Fit::No => format!("not fit: {}", self.fit_reason),
            Fit::Unknown => self.fit_reason.clone(),
            Fit::Yes => "fit".to_owned(),
        }
    }

    /// Sentences that say what is wrong: one for all that a cause changes alike, of
    /// which those after the first are the ids of the clocks that show it.
    pub fn wrong_in_words(&self) -> Vec<String> {
        let mut groups: Vec<(&Wrong, Vec<&str>)> = Vec::new();
        for one in &self.wrong {
            match groups.iter_mut().find(|(first, _)| first.is_like(one)) {
                Some((_, others)) => others.extend(one.clocks.first().map(String::as_str)),
                None => groups.push((one, Vec::new())),
            }
        }
        let sentence = |(one, others): (&Wrong, Vec<&str>)| match others.is_empty() {
            true => one.in_words(),
            false => format!(
                "{} The same holds for {}.",
                one.in_words(),
                others.join(", ")
            ),
        };
        groups.into_iter().map(sentence).collect()
    }

    /// The lines that precede every answer: what is wrong, and what disturbed the measurement.
    pub fn warnings(&self) -> Vec<String> {
        let busy = self
            .busy
            .iter()
            .map(|finding| format!("Busy machine: {}.", finding.message()));
        self.wrong_in_words().into_iter().chain(busy).collect()
    }
}
