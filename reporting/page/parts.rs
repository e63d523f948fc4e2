//! What pages show of timers of any kind, and of timers that wait; and Quality as colour, in which
//! the number always stands, so that colour is never all there is.

use std::collections::HashSet;

use super::Figures;
use crate::fields::{Kind, rows};
use crate::model::{Finding, Report};
use crate::plot::Plot;
use crate::report::{Detail, Fact, Section, facts};
use crate::table::Value;

/// A figure of a timer.
pub(super) struct FigureView {
    pub title: &'static str,
    pub across: String,
    pub up: String,
    pub caption: String,
    pub marks: String,
}

impl From<Plot> for FigureView {
    fn from(plot: Plot) -> Self {
        let marks = plot.marks();
        Self {
            title: plot.title,
            across: plot.across.label,
            up: plot.up.label,
            caption: plot.caption,
            marks,
        }
    }
}

/// A name for a place in the page: the id as far as it is fit for that, made unique.
pub(super) fn anchor(key: &str, id: &str, taken: &mut HashSet<String>) -> String {
    let fit = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':') {
            c
        } else {
            '-'
        }
    };
    let name: String = id.chars().take(80).map(fit).collect();
    let mut anchor = format!("{key}-{name}");
    let mut number = 2;
    while !taken.insert(anchor.clone()) {
        anchor = format!("{key}-{name}-{number}");
        number += 1;
    }
    anchor
}

/// A finding, as text that is ready to be escaped.
pub(super) struct FindingView {
    pub code: String,
    pub message: String,
    pub advice: String,
}

impl FindingView {
    pub fn from_finding(finding: &Finding) -> Self {
        Self {
            code: finding.code.to_string(),
            message: finding.message(),
            advice: finding.advice(),
        }
    }
}

/// A table, as text that is ready to be escaped.
pub(super) struct SectionView {
    pub title: String,
    pub caption: String,
    /// Each with whether it is aligned right.
    pub headings: Vec<(&'static str, bool)>,
    pub rows: Vec<Vec<CellView>>,
}

/// A cell, and what it sorts by; nothing where nothing was determined.
pub(super) struct CellView {
    pub text: String,
    pub sort: String,
    pub right: bool,
}

/// A timer that waits, with everything that is known of it.
pub(super) struct WaiterView {
    pub anchor: String,
    pub id: String,
    pub label: String,
    pub runtime: String,
    pub status: &'static str,
    pub facts: Vec<Fact>,
    pub warnings: Vec<FindingView>,
    pub figures: Vec<FigureView>,
}

impl SectionView {
    pub fn of(section: Section) -> Self {
        let (mut headings, mut rows) = (Vec::new(), Vec::new());
        if let Some(table) = &section.table {
            headings = table
                .columns
                .iter()
                .map(|column| (column.heading, column.right))
                .collect();
            let cell = |(column, cell): (&crate::table::TableColumn, &Value)| CellView {
                text: column.shown(cell),
                sort: match cell.number() {
                    Some(number) => number.to_string(),
                    None => cell.as_text().to_owned(),
                },
                right: column.right,
            };
            rows = table
                .rows
                .iter()
                .map(|row| table.columns.iter().zip(row.iter()).map(cell).collect())
                .collect();
        }
        Self {
            title: section.kind.in_words().to_owned(),
            caption: section.caption,
            headings,
            rows,
        }
    }
}

impl WaiterView {
    pub fn all_of(
        report: &Report,
        key: &str,
        figures: Figures,
        taken: &mut HashSet<String>,
    ) -> Vec<Self> {
        let rows = [Kind::Waits, Kind::Periods]
            .into_iter()
            .flat_map(|kind| rows(report, kind));
        rows.map(|row| Self {
            anchor: anchor(key, row.id(), taken),
            id: row.name(),
            label: row.label().clone(),
            runtime: row.runtime().clone(),
            status: row.status().name(),
            facts: facts(row, Detail::Full),
            warnings: row
                .warnings()
                .iter()
                .map(FindingView::from_finding)
                .collect(),
            figures: match figures {
                Figures::Drawn => Plot::of_row(row)
                    .into_iter()
                    .map(FigureView::from)
                    .collect(),
                Figures::LeftOut => Vec::new(),
            },
        })
        .collect()
    }
}

/// A colour, and the Quality that it stands for.
#[derive(Clone, Copy)]
pub(super) struct QualityColour {
    /// Its class.
    pub class: &'static str,
    /// The Quality it stands for, in percent.
    pub range: &'static str,
    /// Ground and ink where pages are light, and where they are dark.
    light: (u32, u32),
    dark: (u32, u32),
}

/// From unfit to very good: from pale to deep on light pages, from dim to bright on dark ones.
pub(super) const LEGEND: [QualityColour; 7] = [
    QualityColour {
        class: "q0",
        range: "0",
        light: (0x8f_1d_14, 0xff_ff_ff),
        dark: (0xff_9b_90, 0x2a_06_03),
    },
    QualityColour {
        class: "q1",
        range: "< 10",
        light: (0xfd_f3_c4, 0x2b_26_0f),
        dark: (0x33_30_1b, 0xef_e8_bf),
    },
    QualityColour {
        class: "q2",
        range: "10–20",
        light: (0xd6_ec_b4, 0x1c_2a_12),
        dark: (0x25_40_23, 0xdb_f0_cf),
    },
    QualityColour {
        class: "q3",
        range: "20–30",
        light: (0x9c_d6_b6, 0x0b_26_1c),
        dark: (0x17_4c_40, 0xd0_f3_e6),
    },
    QualityColour {
        class: "q4",
        range: "30–40",
        light: (0x5c_b8_c2, 0x04_20_26),
        dark: (0x14_5f_70, 0xe2_f7_fb),
    },
    QualityColour {
        class: "q5",
        range: "40–50",
        light: (0x1f_6c_9c, 0xff_ff_ff),
        dark: (0x3c_94_c9, 0x02_10_1a),
    },
    QualityColour {
        class: "q6",
        range: "≥ 50",
        light: (0x1c_3c_80, 0xff_ff_ff),
        dark: (0x9c_cd_ff, 0x04_12_22),
    },
];

/// The class for a Quality in [0, 1]; `none` where there is none.
pub(super) fn quality_class(quality: Option<f64>) -> &'static str {
    match quality {
        Some(0.0) => LEGEND[0].class,
        Some(quality) if quality > 0.0 => LEGEND[((quality * 10.0) as usize + 1).min(6)].class,
        _ => "none",
    }
}

/// The rules for a style sheet.
pub(super) fn quality_style() -> String {
    let rules = |colours: fn(&QualityColour) -> (u32, u32)| -> String {
        let rule = |quality_colour: &QualityColour| {
            let (ground, ink) = colours(quality_colour);
            format!(
                ".{} {{ background: #{ground:06x}; color: #{ink:06x}; }}\n",
                quality_colour.class
            )
        };
        LEGEND.iter().map(rule).collect()
    };
    let (light, dark) = (
        rules(|quality_colour| quality_colour.light),
        rules(|quality_colour| quality_colour.dark),
    );
    format!("{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{LEGEND, anchor, quality_class};

    #[test]
    fn anchors_are_plain_and_unique() {
        let mut taken = HashSet::new();
        let ids = ["java:nanoTime", "a b", "a\"b", "<script>", "a-b"];
        let anchors = ids.map(|id| anchor("r0", id, &mut taken));
        assert_eq!(
            anchors,
            [
                "r0-java:nanoTime",
                "r0-a-b",
                "r0-a-b-2",
                "r0--script-",
                "r0-a-b-3"
            ]
        );
    }

    /// WCAG 2.2, relative luminance.
    fn luminance(colour: u32) -> f64 {
        let channel = |shift: u32| {
            let share = f64::from((colour >> shift) & 0xff) / 255.0;
            if share <= 0.040_45 {
                share / 12.92
            } else {
                ((share + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    #[test]
    fn numbers_can_be_read_on_their_colour() {
        for quality_colour in LEGEND {
            for (ground, ink) in [quality_colour.light, quality_colour.dark] {
                let (a, b) = (luminance(ground), luminance(ink));
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "{}: {contrast:.2}", quality_colour.class);
            }
        }
    }

    #[test]
    fn every_quality_has_its_colour() {
        for (quality, expected) in [
            (0.0, "q0"),
            (0.01, "q1"),
            (0.0999, "q1"),
            (0.1, "q2"),
            (0.4999, "q5"),
            (0.5, "q6"),
            (1.0, "q6"),
        ] {
            assert_eq!(quality_class(Some(quality)), expected);
        }
        assert_eq!(
            [
                quality_class(None),
                quality_class(Some(f64::NAN)),
                quality_class(Some(-1.0))
            ],
            ["none"; 3]
        );
    }
}
