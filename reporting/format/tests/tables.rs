use proptest::prelude::*;

use crate::format::{Format, Render, Style, csv, latex, markdown};
use crate::table::{CellValue, Notation, Table, TableColumn};

#[test]
fn notation_determines_digits() {
    for (notation, cell, text) in [
        (Notation::Significant, 10.0149.into(), "10.01"),
        (Notation::Fixed(3), (-0.000_4).into(), "0.000"),
        (Notation::Fixed(3), (-1.200_4).into(), "-1.200"),
        (Notation::Significant, CellValue::AtMost(4e6), "≤ 4000000"),
        (Notation::Time, CellValue::AtMost(4e6), "≤ 4.000 ms"),
        (Notation::Fixed(2), 48.914.into(), "48.91"),
        (Notation::Fixed(3), 1.0.into(), "1.000"),
        (Notation::Count, f64::NAN.into(), "–"),
    ] {
        assert_eq!(TableColumn::right("", notation).format_cell(&cell), text);
    }
}

fn sample_table() -> Table<'static> {
    let mut table = Table::new(vec![
        TableColumn {
            folds: true,
            ..TableColumn::left("name")
        },
        TableColumn::right("cost", Notation::Time),
        TableColumn {
            folds: true,
            ..TableColumn::left("why")
        },
    ]);
    table.push(vec![
        "monotonic-coarse-syscall".into(),
        4e6.into(),
        "the kernel counts ticks | slowly".into(),
    ]);
    table.push(vec!["a".into()]);
    table
}

#[test]
fn narrow_terminal_folds_columns() {
    let style = |width, colour| Style {
        width: Some(width),
        colour,
        ..Style::default()
    };
    assert_eq!(
        sample_table().rendered(Format::Table, style(40, false)),
        "name               cost why
monotonic-     4.000 ms the kernel
coarse-syscall          counts ticks |
                        slowly
a                     – –
"
    );
    let wide = sample_table().rendered(Format::Table, style(200, true));
    for text in [
        "\u{1b}[1mname ",
        "\nmonotonic-coarse-syscall  4.000 ms  the kernel counts ticks | slowly\n",
    ] {
        assert!(wide.contains(text), "{wide}");
    }
}

/// A table of two columns of which the first is explained.
fn explained_table() -> Table<'static> {
    let mut table = Table::new(vec![
        TableColumn {
            about: "Median cost of a read: without the loop",
            ..TableColumn::right("cost %", Notation::Time)
        },
        TableColumn::left("±"),
    ]);
    table.push(vec![CellValue::AtMost(1_000.0), "→ …".into()]);
    table.push(vec![20.0.into(), "x".into()]);
    table
}

#[test]
fn ascii_table_stays_aligned() {
    let style = Style {
        ascii: true,
        ..Style::default()
    };
    assert_eq!(
        explained_table().rendered(Format::Table, style),
        "     cost %  +-\n<= 1.000 us  > ...\n   20.00 ns  x\n"
    );
}

/// A table without rows.
fn costs() -> Table<'static> {
    let cost = TableColumn::right("cost", Notation::Fixed(1));
    Table::new(vec![TableColumn::left("name"), cost])
}

#[test]
fn wide_characters_take_two_columns() {
    let mut table = costs();
    table.push(vec!["時計".into(), 1.0.into()]);
    table.push(vec!["clock".into(), 20.0.into()]);
    let expected = "name   cost\n時計    1.0\nclock  20.0\n";
    assert_eq!(table.rendered(Format::Table, Style::default()), expected);
}

#[test]
fn many_rows_are_written_without_layout() {
    let mut table = costs();
    for _ in 0..6_000 {
        table.push(vec!["a".into(), 1.0.into()]);
    }
    let text = table.rendered(Format::Table, Style::default());
    assert_eq!(text.lines().count(), 6_001);
    assert!(text.starts_with("name  cost\na  1.0\na  1.0\n"));
    let style = Style {
        width: Some(80),
        colour: true,
        ..Style::default()
    };
    assert_eq!(table.rendered(Format::Table, style), text);
}

#[test]
fn formats_have_all_cells() {
    for (format, cells) in [
        (
            Format::Markdown,
            "| name | cost | why |\n|:--|--:|:--|\n\
             | monotonic-coarse-syscall | 4.000 ms | the kernel counts ticks \\| slowly |\n| a | – | – |\n",
        ),
        (
            Format::Csv,
            "name,cost,why\nmonotonic-coarse-syscall,4000000.0,the kernel counts ticks | slowly\na,,\n",
        ),
        (
            Format::Json,
            "{\"name\":\"a\",\"cost\":null,\"why\":null}\n]\n",
        ),
        (
            Format::Html,
            "<tr><td>a</td><td class=\"num\">–</td><td>–</td></tr>",
        ),
        (Format::Latex, "a & \\textendash{} & \\textendash{}\\\\\n"),
    ] {
        let text = sample_table().rendered(format, Style::default());
        assert!(text.contains(cells), "{text}");
    }
}

#[test]
fn links_are_relative_or_of_the_web() {
    let mut table = Table::new(vec![TableColumn::left("source")]);
    for href in [
        "r/a (1).json",
        "https://x.org/?a=1&b",
        "java\nscript:alert(1)",
        "data:,x",
    ] {
        let (text, href) = ("a|b".into(), href.into());
        table.push(vec![CellValue::Link { text, href }]);
    }
    for (format, lines) in [
        (
            Format::Markdown,
            [
                "| [a\\|b](r/a%20%281%29.json) |",
                "| [a\\|b](https://x.org/?a=1&b) |",
                "| a\\|b |",
            ],
        ),
        (
            Format::Html,
            [
                "<td><a href=\"r/a%20%281%29.json\">a|b</a></td>",
                "<td><a href=\"https://x.org/?a=1&#38;b\">a|b</a></td>",
                "<td>a|b</td>",
            ],
        ),
        (
            Format::Csv,
            ["\nr/a (1).json\n", "\nhttps://x.org/?a=1&b\n", "data:,x"],
        ),
        (Format::Table, ["source\na|b\na|b\na|b\na|b\n"; 3]),
    ] {
        let text = table.rendered(format, Style::default());
        for line in lines {
            assert!(text.contains(line), "{text}");
        }
        assert!(format == Format::Csv || !text.contains("alert"), "{text}");
    }
}

fn latex_escaped(text: &str) -> String {
    crate::format::escape_with(text, latex::escape)
}

#[test]
fn escapes_known_attacks() {
    for (text, written) in [
        ("=1+1", "'=1+1"),
        ("\t=1+1", "'=1+1"),
        ("\u{202e}@SUM(A1)\r\n", "'@SUM(A1)"),
        ("a\u{1b}[31mred", "ared"),
        ("monotonic", "monotonic"),
    ] {
        assert_eq!(csv::escape(text), written);
    }
    assert_eq!(
        markdown::escape("| `a`\n<b> & [x](y)"),
        "\\| \\`a\\` &lt;b&gt; &amp; \\[x\\](y)"
    );
    assert_eq!(
        latex_escaped("a_b & 50% $x$ \\input{/etc/passwd}"),
        "a\\_b \\& 50\\% \\$x\\$ \\textbackslash{}input\\{/etc/passwd\\}"
    );
    assert_eq!(latex_escaped("≤ 1 µs 時"), "$\\le$ 1 \\textmu{}s U+6642");
}

proptest! {
    #[test]
    fn csv_cells_are_no_formulas(text in "[=+@\t\r\n \u{200b}\u{1b}-]{0,4}\\PC{0,20}") {
        let text = csv::escape(&text);
        prop_assert!(!text.starts_with(['=', '+', '-', '@']) && !text.contains(['\n', '\r', '\t']));
    }

    #[test]
    fn markdown_has_no_bare_pipe(text in "[|\\\\`a\n<]{0,30}") {
        let text = markdown::escape(&text);
        let mut escaped = false;
        for c in text.chars() {
            prop_assert!(escaped || !matches!(c, '|' | '`' | '<'), "{}", text);
            escaped = !escaped && c == '\\';
        }
        prop_assert!(!escaped && !text.contains('\n'));
    }

    #[test]
    fn latex_is_balanced_latin1(text in any::<String>()) {
        let text = latex_escaped(&text);
        let is_latin1 = |c: char| c.is_ascii() && !c.is_control() || ('\u{a1}'..='\u{ff}').contains(&c);
        prop_assert!(text.chars().all(is_latin1), "{}", text);
        let unescaped = ["\\{", "\\}", "\\%", "\\#", "\\&"].iter().fold(text.clone(), |text, it| text.replace(it, ""));
        prop_assert_eq!(unescaped.matches('{').count(), unescaped.matches('}').count());
        prop_assert!(!unescaped.contains(['%', '#', '&']), "{}", text);
    }
}
