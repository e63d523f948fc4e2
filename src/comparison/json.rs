//! What changed, as JSON: everything, noise as well.

use serde_json::{Value, json};

use super::{Comparison, SMALLEST, SMALLEST_QUALITY, Verdict};

/// The comparison as a JSON object.
#[must_use]
pub fn render(comparison: &Comparison) -> Value {
    json!({
        "worse": comparison.count(Verdict::Worse),
        "better": comparison.count(Verdict::Better),
        "noise": comparison.count(Verdict::Noise),
        "unjudged": comparison.count(Verdict::Unjudged),
        "smallest": { "cost": SMALLEST, "accuracy": SMALLEST, "quality": SMALLEST_QUALITY },
        "platform": comparison.platform,
        "figures": comparison.figures,
        "answers": comparison.answers,
        "one_sided": comparison.one_sided,
    })
}
