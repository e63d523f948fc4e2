//! What changed, as JSON: everything, noise as well.

use serde_json::{Value, json};

use super::{Comparison, FAMILY_ERROR, SMALLEST, SMALLEST_QUALITY, SMALLEST_SPREAD, Verdict, sentences};

/// The comparison as a JSON object.
#[must_use]
pub fn render(comparison: &Comparison) -> Value {
    json!({
        "sentences": sentences(comparison),
        "runs": { "old": comparison.runs[0], "new": comparison.runs[1] },
        "family_error": FAMILY_ERROR,
        "core_hz": comparison.core_hz,
        "assumed_between_runs": comparison.assumed,
        "worse": comparison.count(Verdict::Worse),
        "better": comparison.count(Verdict::Better),
        "noise": comparison.count(Verdict::Noise),
        "unjudged": comparison.count(Verdict::Unjudged),
        "smallest": { "cost": SMALLEST, "accuracy": SMALLEST, "quality": SMALLEST_QUALITY, "spread": SMALLEST_SPREAD },
        "platform": comparison.platform,
        "figures": comparison.figures,
        "answers": comparison.answers,
        "one_sided": comparison.one_sided,
    })
}
