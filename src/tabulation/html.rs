//! A page with one table and nothing else: no script, nothing from the network.

use std::io::{self, Write};

use super::Grid;
use crate::text::escape::html as escape;

const BEFORE: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Timers</title>
<style>
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif }
div { overflow-x: auto }
table { border-collapse: collapse }
th, td { padding: .2em .7em; text-align: left; border-bottom: 1px solid #8884 }
.n { text-align: right; font-variant-numeric: tabular-nums }
.p { text-align: center }
</style>
</head>
<body>
<div>
<table>
<thead>
";
const AFTER: &str = "</tbody>\n</table>\n</div>\n</body>\n</html>\n";

pub(super) fn write(grid: &Grid<'_>, output: &mut dyn Write) -> io::Result<()> {
    output.write_all(BEFORE.as_bytes())?;
    if !grid.platforms.is_empty() {
        let span = |(width, platform): (usize, Option<usize>)| match platform {
            Some(platform) => format!(
                "<th scope=\"colgroup\" class=\"p\" colspan=\"{width}\">{}</th>",
                escape(&grid.platforms[platform])
            ),
            None => "<td></td>".to_owned(),
        };
        writeln!(output, "<tr>{}</tr>", grid.spans().into_iter().map(span).collect::<String>())?;
    }
    let class: Vec<&str> =
        grid.heads.iter().map(|head| if head.column.is_figure() { " class=\"n\"" } else { "" }).collect();
    let heads = grid.heads.iter().zip(&class);
    let heads: String = heads
        .map(|(head, class)| format!("<th scope=\"col\"{class}>{}</th>", escape(head.column.heading())))
        .collect();
    writeln!(output, "<tr>{heads}</tr>\n</thead>\n<tbody>")?;
    for row in &grid.rows {
        let cells = grid.heads.iter().zip(row.iter()).zip(&class);
        let cells: String = cells
            .map(|((head, cell), class)| format!("<td{class}>{}</td>", escape(&head.column.shown(cell))))
            .collect();
        writeln!(output, "<tr>{cells}</tr>")?;
    }
    output.write_all(AFTER.as_bytes())
}
