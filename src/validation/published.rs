//! Reports of publications. Nothing of them was observed, so that nothing holds them against anything: those are sound that this project
//! made of the printed tables.

use sha2::{Digest, Sha256};

use super::Flaw;
use crate::model::Report;
use crate::report::json;

/// SHA-256 of the kept documents of Kuperberg, Krogmann and Reussner (ICPE 2011), as `tests/published.rs` makes them.
const KNOWN: [&str; 4] = [
    "7fc7f259c147b6f1dd82ae21e8e63f985f88acf322b3921811270586860d5ecc",
    "4fb6668fcb809c4bdc85c2747463eff154d26d22733c09d94734f47f5f0cff9e",
    "05e8d9ae4e6d42f74870c0f4528756caaf7b52ac20638557faa354f22230bdc6",
    "3bc95631b38980bff1005649986e61c159c23dabcdbe426e63a257b1c930a890",
];

/// Why a published report is not one of these.
pub(super) fn flaw(report: &Report) -> Option<Flaw> {
    let digest = digest(report);
    (!KNOWN.contains(&digest.as_str())).then(|| {
        Flaw::of(
            "provenance.kind",
            format!(
                "it says `published`, and is none of the reports that this project made of printed tables: nothing of it can be checked. Figures of \
                 a publication are added with their table, the test that makes the report of it, and its digest ({digest})"
            ),
        )
    })
}

/// That of what the report says, however it is written.
pub(super) fn digest(report: &Report) -> String {
    Sha256::digest(json::dense(report)).iter().map(|byte| format!("{byte:02x}")).collect()
}
