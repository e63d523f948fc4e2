//! How much production code there is: lines without blanks, comments and tests, and files.

use std::fs;
use std::path::{Path, PathBuf};

use super::Outcome;

/// What is counted where nothing is named.
const PACKAGES: [&str; 4] = ["src", "reporting", "estimators", "timers"];
/// Files below this many lines have little to say for themselves.
const SMALL: usize = 40;

/// What there is of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Count {
    files: usize,
    small: usize,
    lines: usize,
}

/// A line for each of these folders and files below `root`, or for each package, and one for all of
/// them.
pub fn tell(root: &Path, named: &[PathBuf]) -> Outcome<()> {
    let mut all = Count::default();
    let packages = PACKAGES.map(PathBuf::from);
    for place in if named.is_empty() { &packages } else { named } {
        let whole = root.join(place);
        if !whole.try_exists()? {
            return Err(format!("there is no {}", whole.display()).into());
        }
        let count = of(&whole)?;
        println!("{}: {count}", place.display());
        all.files += count.files;
        all.small += count.small;
        all.lines += count.lines;
    }
    println!("all: {all}");
    Ok(())
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            files,
            small,
            lines,
        } = self;
        write!(
            f,
            "{lines} lines in {files} files, {small} of them below {SMALL}"
        )
    }
}

fn of(place: &Path) -> Outcome<Count> {
    let mut count = Count::default();
    if place.is_dir() {
        for path in fs::read_dir(place)?.map(|entry| entry.map(|entry| entry.path())) {
            let path: PathBuf = path?;
            if path.file_stem().is_none_or(|name| name != "tests") {
                let below = of(&path)?;
                count.files += below.files;
                count.small += below.small;
                count.lines += below.lines;
            }
        }
    } else if place.extension().is_some_and(|ending| ending == "rs") {
        let text = fs::read_to_string(place)?;
        count.files += 1;
        count.small += usize::from(text.lines().count() < SMALL);
        count.lines += production(&text);
    }
    Ok(count)
}

/// Lines of a file, as rustfmt sets it: a module of tests ends with the first bracket that stands
/// where it began.
fn production(text: &str) -> usize {
    let mut lines = text.lines().peekable();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let code = line.trim();
        if code == "#[cfg(test)]"
            && lines
                .peek()
                .is_some_and(|next| next.trim_start().contains("mod "))
        {
            let module = lines.next().unwrap_or_default();
            let end = line.replace("#[cfg(test)]", "}");
            if module.ends_with('{') {
                lines
                    .by_ref()
                    .take_while(|line| *line != end)
                    .for_each(drop);
            }
            continue;
        }
        count += usize::from(!code.is_empty() && !code.starts_with("//"));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::production;

    #[test]
    fn tests_comments_and_blanks_are_no_production_code() {
        let text = "//! About.\n\nfn a() {\n    // Why.\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n    fn c() {\n    }\n}\n\nfn d() {}\n";
        assert_eq!(production(text), 4);
        assert_eq!(
            production("#[cfg(test)]\nmod tests;\nfn a() {}\n#[cfg(test)]\nfn helper() {}\n"),
            3
        );
    }
}
