//! Quality as colour. The number always stands in it, so colour is never all there is.

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
pub(super) fn of(quality: Option<f64>) -> &'static str {
    match quality {
        Some(0.0) => LEGEND[0].class,
        Some(quality) if quality > 0.0 => LEGEND[((quality * 10.0) as usize + 1).min(6)].class,
        _ => "none",
    }
}

/// The rules for a style sheet.
pub(super) fn style() -> String {
    let rules = |colours: fn(&QualityColour) -> (u32, u32)| -> String {
        let rule = |quality_colour: &QualityColour| {
            let (ground, ink) = colours(quality_colour);
            format!(".{} {{ background: #{ground:06x}; color: #{ink:06x}; }}\n", quality_colour.class)
        };
        LEGEND.iter().map(rule).collect()
    };
    let (light, dark) =
        (rules(|quality_colour| quality_colour.light), rules(|quality_colour| quality_colour.dark));
    format!("{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

#[cfg(test)]
mod tests {
    use super::{LEGEND, of};

    /// WCAG 2.2, relative luminance.
    fn luminance(colour: u32) -> f64 {
        let channel = |shift: u32| {
            let share = f64::from((colour >> shift) & 0xff) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
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
        for (quality, class) in
            [(0.0, "q0"), (0.01, "q1"), (0.0999, "q1"), (0.1, "q2"), (0.4999, "q5"), (0.5, "q6"), (1.0, "q6")]
        {
            assert_eq!(of(Some(quality)), class);
        }
        assert_eq!([of(None), of(Some(f64::NAN)), of(Some(-1.0))], ["none"; 3]);
    }
}
