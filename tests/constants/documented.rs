//! Generates docs/constants.md from the doc comments of the constants.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use super::{files_below, root};

/// The kinds of reasons for a constant: the first word of the last sentence of its doc comment, and
/// the meaning of that word.
const KINDS: [(&str, &str); 7] = [
    (
        "Definition",
        "by definition, by convention, or the aim that was set",
    ),
    ("Computed", "what follows from a definition"),
    ("Chance", "what a law of statistics gives"),
    ("Seen", "what was observed on a machine"),
    (
        "Judgement",
        "none of these; the result should not hang on the exact value",
    ),
    ("Numerical", "what a search costs, and where it ends"),
    (
        "Default",
        "the default of a search: halved or doubled it moves no figure of `simulate`",
    ),
];

/// A named number.
pub struct Constant {
    pub name: String,
    /// The function that contains the constant; `None` outside of functions.
    within: Option<String>,
    /// The path relative to `src/`, `reporting/`, `probe/`, `judgement/` or `estimators/`; paths in `timers/`
    /// begin with `timers/`.
    pub file: String,
    pub value: String,
    /// The doc comment up to the reason.
    pub is: String,
    /// The sentence that begins with one of the kinds; `None` if there is none.
    pub rests_on: Option<String>,
}

/// The constants that decide something, which are those with a reason.
pub fn constants() -> Vec<Constant> {
    all()
        .into_iter()
        .filter(|constant| constant.rests_on.is_some())
        .collect()
}

/// All named numbers of the six crates.
pub fn all() -> Vec<Constant> {
    let folders = [
        "estimators",
        "judgement",
        "probe",
        "reporting",
        "src",
        "timers",
    ];
    let mut files: Vec<_> = folders
        .iter()
        .flat_map(|folder| files_below(&root().join(folder)))
        .collect();
    files.sort();
    let shown = files.iter().map(|path| {
        path.strip_prefix(root())
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/")
    });
    let pairs = files
        .iter()
        .zip(shown)
        .filter(|(_, file)| !file.contains("/tests"));
    pairs
        .flat_map(|(path, file)| {
            let code = fs::read_to_string(path).unwrap().replace("\r\n", "\n");
            let file = ["src/", "reporting/", "probe/", "judgement/", "estimators/"]
                .iter()
                .find_map(|of| file.strip_prefix(of))
                .unwrap_or(&file);
            of_file(&code, file)
        })
        .collect()
}

/// The named numbers of a file, except those of its tests.
fn of_file(code: &str, file: &str) -> Vec<Constant> {
    let written: Vec<&str> = code.split("#[cfg(test)]").next().unwrap().lines().collect();
    let lines: Vec<&str> = written.iter().map(|line| line.trim()).collect();
    let named = lines.iter().enumerate().filter_map(|(at, line)| {
        let (name, of) = line
            .trim_start_matches("pub(super) ")
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub ")
            .strip_prefix("const ")?
            .split_once(": ")?;
        let number = of.trim_start_matches(['(', '[']);
        let numbers = [
            "f64",
            "usize",
            "u32",
            "u64",
            "i64",
            "Duration",
            "Range<u32>",
        ];
        if !numbers.iter().any(|of| number.starts_with(of)) {
            return None;
        }
        let value = of
            .split_once(" = ")
            .map_or("", |(_, value)| value.trim_end_matches(';'));
        let (is, rests_on) = said(&lines[..at]);
        let within = written[at]
            .starts_with(' ')
            .then(|| function(&lines[..at]))
            .flatten();
        Some(Constant {
            name: name.into(),
            within,
            file: file.into(),
            value: value.into(),
            is,
            rests_on,
        })
    });
    named.collect()
}

/// The name of the last function that begins in `lines`.
fn function(lines: &[&str]) -> Option<String> {
    let after_fn = |line: &&str| {
        let comment = line.starts_with("//");
        let (before, name) = line.split_once("fn ").filter(|_| !comment)?;
        let begins = before.is_empty() || before.ends_with(' ');
        begins.then(|| name.split(['(', '<']).next().unwrap_or_default().to_owned())
    };
    lines.iter().rev().find_map(after_fn)
}

/// The description and the reason in the doc comment at the end of `lines`.
fn said(lines: &[&str]) -> (String, Option<String>) {
    let comment = lines
        .iter()
        .rev()
        .take_while(|line| line.starts_with("///") || line.starts_with("#["));
    let mut comment: Vec<&str> = comment
        .filter_map(|line| line.strip_prefix("///"))
        .map(str::trim)
        .collect();
    comment.reverse();
    let comment = comment.join(" ");
    let at = KINDS
        .iter()
        .filter_map(|(kind, _)| comment.find(&format!("*{kind}*")))
        .min();
    let (is, rests_on) = comment.split_at(at.unwrap_or(comment.len()));
    let rests_on = Some(rests_on.to_owned()).filter(|text| !text.is_empty());
    (is.trim_end().to_owned(), rests_on)
}

/// The text of docs/constants.md.
pub fn page() -> String {
    let mut rooms = BTreeMap::<String, Vec<Constant>>::new();
    for constant in constants() {
        let room = constant.file.split(['/', '.']).next().unwrap_or_default();
        rooms.entry(room.to_owned()).or_default().push(constant);
    }
    let mut page = "# Constants of judgement\n\n\
        Numbers that decide something and do not follow from a definition, each with what its doc comment says. The page is written from the \n\
        code (`TIMERMETER_UPDATE=1 cargo test --test constants`), and the test holds it to that. The amounts of a plan stand in\n\
        [probe.md](probe.md#plans).\n\n| rests on | means |\n|---|---|\n"
        .replace(" \n", "\n");
    for (kind, means) in KINDS {
        writeln!(page, "| *{kind}* | {means} |").unwrap();
    }
    for (room, constants) in rooms {
        write!(
            page,
            "\n## {room}\n\n| name | file | value | is | rests on |\n|---|---|---|---|---|\n"
        )
        .unwrap();
        for Constant {
            name,
            within,
            file,
            value,
            is,
            rests_on,
        } in constants
        {
            let name = within.map_or(name.clone(), |function| format!("{function}::{name}"));
            let rests_on = rests_on.unwrap_or_default();
            let cells = [value, is, rests_on].map(|cell| cell.replace('|', "\\|"));
            writeln!(
                page,
                "| `{name}` | `{file}` | `{}` | {} | {} |",
                cells[0], cells[1], cells[2]
            )
            .unwrap();
        }
    }
    page
}
