//! What pages show of timers of any kind.

use std::collections::HashSet;

use crate::model::Warning;
use crate::report::plot::Plot;
use crate::report::plot::svg::DrawError;
use crate::text::{clipped, plain};

/// Longest text from elsewhere that is shown.
pub(super) const LONGEST: usize = 600;
/// Longest name from elsewhere that is shown.
pub(super) const LONGEST_NAME: usize = 200;

/// A figure of a timer.
pub(super) struct FigureView {
    pub title: &'static str,
    pub across: String,
    pub up: String,
    pub caption: String,
    pub marks: String,
}

impl FigureView {
    pub(super) fn of(plot: Plot) -> Result<Self, DrawError> {
        let marks = plot.svg_marks()?;
        let Plot { title, caption, across, up, .. } = plot;
        Ok(Self { title, across: across.label, up: up.label, caption, marks })
    }
}

/// A name for a place in the page: the id as far as it is fit for that, made unique.
pub(super) fn anchor(key: &str, id: &str, taken: &mut HashSet<String>) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':') { c } else { '-' };
    let name: String = id.chars().take(80).map(fit).collect();
    let mut anchor = format!("{key}-{name}");
    let mut number = 2;
    while !taken.insert(anchor.clone()) {
        anchor = format!("{key}-{name}-{number}");
        number += 1;
    }
    anchor
}

pub(super) fn plain_warning(warning: &Warning) -> Warning {
    Warning {
        code: plain(&warning.code),
        message: clipped(&warning.message, LONGEST),
        advice: clipped(&warning.advice, LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use super::anchor;
    use std::collections::HashSet;

    #[test]
    fn anchors_are_plain_and_unique() {
        let mut taken = HashSet::new();
        let ids = ["java:nanoTime", "a b", "a\"b", "<script>", "a-b"];
        let anchors = ids.map(|id| anchor("r0", id, &mut taken));
        assert_eq!(anchors, ["r0-java:nanoTime", "r0-a-b", "r0-a-b-2", "r0--script-", "r0-a-b-3"]);
    }
}
