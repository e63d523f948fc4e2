//! Which module imports which, and which know the system they are compiled for. CONTRIBUTING.md has
//! the table of rooms with what each may import, and the two boundaries; here the code is held to
//! both. And that no test is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A file of `src/`, `reporting/`, `probe/`, `judgement/` or `estimators/` by its module path, or a room as a path of one
/// part.
type Module = Vec<String>;
type Arrows = BTreeMap<Module, BTreeSet<Module>>;

/// The modules on cycles, or between two of them, with what each imports of these.
fn circles(mut arrows: Arrows) -> Arrows {
    loop {
        let left: BTreeSet<Module> = arrows.keys().cloned().collect();
        let imported: BTreeSet<Module> = arrows.values().flatten().cloned().collect();
        arrows.retain(|from, to| {
            to.retain(|to| left.contains(to));
            imported.contains(from) && !to.is_empty()
        });
        if arrows.len() == left.len() {
            return arrows;
        }
    }
}

/// The code of all files below a folder but tests, comments left out.
fn code(folder: &str) -> BTreeMap<Module, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().with_extension("");
            let parts = name.iter().map(|part| part.to_str().unwrap().to_owned());
            let module: Module = parts.filter(|part| part != "mod").collect();
            let is_test = module.last().is_some_and(|last| last == "tests");
            if path.is_dir() && !is_test {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") && !is_test {
                let text = fs::read_to_string(path).unwrap();
                let code = text.split("mod tests {").next().unwrap().lines();
                let lines = code.map(|line| line.split("//").next().unwrap());
                found.insert(module, lines.collect::<Vec<_>>().join("\n"));
            }
        }
    }
    found
}

/// The code of the crates that are not the timers, whose rooms have different names.
fn program() -> BTreeMap<Module, String> {
    let mut all = code("src");
    for folder in CRATES {
        let mut code = code(folder);
        code.remove(&vec!["lib".to_owned()]);
        all.extend(code);
    }
    all
}

/// The crates whose rooms the table lists.
const CRATES: [&str; 4] = ["estimators", "judgement", "probe", "reporting"];

/// All paths of the tree that `text` begins with, as in `a::{b, c::d}`.
fn paths(text: &str) -> Vec<Module> {
    let text = text.trim_start();
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if let Some(inner) = rest.strip_prefix("::") {
        return paths(inner)
            .into_iter()
            .map(|path| [vec![name.to_owned()], path].concat())
            .collect();
    }
    let Some(inner) = text.strip_prefix('{') else {
        return vec![vec![name.to_owned()]];
    };
    let (mut depth, mut starts, mut found) = (0, true, Vec::new());
    for (at, c) in inner.char_indices() {
        if starts && depth == 0 && (c.is_alphanumeric() || c == '{') {
            found.extend(paths(&inner[at..]));
        }
        starts = c == ',' || (starts && c.is_whitespace());
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth < 0 {
            break;
        }
    }
    found
}

/// The paths in `code` that begin with `word`.
fn beginning_with(code: &str, word: &str) -> Vec<Module> {
    let whole =
        |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    code.match_indices(word)
        .filter(|(at, _)| whole(*at))
        .flat_map(|(at, _)| paths(&code[at..]))
        .collect()
}

/// The file that a path from the root of the crate leads to, through what others, or the root,
/// re-export.
fn target(path: &[String], code: &BTreeMap<Module, String>) -> Option<Module> {
    let file = (1..=path.len())
        .rev()
        .map(|parts| path[..parts].to_vec())
        .find(|part| code.contains_key(part));
    let folder = file.clone().unwrap_or_default();
    let root = || vec!["lib".to_owned()];
    let name = path.get(folder.len());
    let exported = code
        .get(&file.clone().unwrap_or_else(root))?
        .split("pub use ")
        .skip(1)
        .flat_map(paths)
        .find(|path| path.last() == name);
    let deeper = exported.map(|path| [folder, path].concat());
    let deeper = deeper.filter(|path| code.contains_key(&path[..path.len() - 1]));
    deeper.map_or(file, |path| target(&path, code))
}

/// Which file of `code` imports which, also by the names of its `crates`.
fn imports(code: &BTreeMap<Module, String>, crates: &[&str]) -> Arrows {
    let of = |module: &Module, text: &str| {
        let whole = beginning_with(text, "crate::")
            .into_iter()
            .map(|path| path[1..].to_vec());
        let above = beginning_with(text, "super::").into_iter().map(|path| {
            let up = path.iter().take_while(|part| *part == "super").count();
            [&module[..module.len() - up.min(module.len())], &path[up..]].concat()
        });
        let named = crates
            .iter()
            .flat_map(|name| beginning_with(text, &format!("{name}::")));
        whole
            .chain(above)
            .chain(named.map(|path| path[1..].to_vec()))
            .filter_map(|path| target(&path, code))
            .filter(|to| to != module)
            .collect()
    };
    let not_root = |module: &&Module| !["lib", "main"].contains(&module[0].as_str());
    code.iter()
        .filter(|(module, _)| not_root(module))
        .map(|(module, text)| (module.clone(), of(module, text)))
        .collect()
}

#[test]
fn rooms_import_only_listed_rooms() {
    let text = include_str!("../CONTRIBUTING.md");
    let table = text
        .split_once("| room | holds | may import |")
        .expect("the table of rooms")
        .1;
    let named = |cell: &str| {
        let names = cell.split('`').skip(1).step_by(2);
        names.map(|name| vec![name.to_owned()]).collect::<Vec<_>>()
    };
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let allowed: Arrows = rows
        .flat_map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            named(cells[1])
                .into_iter()
                .map(move |room| (room, named(cells[3]).into_iter().collect()))
        })
        .collect();
    let rooms = circles(allowed.clone());
    assert_eq!(rooms, Arrows::new(), "rooms of the table import each other");
    let mut others = Arrows::new();
    for (from, to) in imports(&program(), &CRATES) {
        let room = from[..1].to_vec();
        let listed = allowed.get(&room);
        let listed = listed.unwrap_or_else(|| panic!("{room:?} is not in the table"));
        let rooms = to.iter().map(|to| to[..1].to_vec());
        let rooms = rooms.filter(|other| *other != room && !listed.contains(other));
        others.entry(room.clone()).or_default().extend(rooms);
    }
    others.retain(|_, others| !others.is_empty());
    assert_eq!(others, Arrows::new(), "CONTRIBUTING.md does not list these");
}

/// A file and those of its own folder may speak of each other: they are one thing in several parts.
#[test]
fn no_files_import_each_other() {
    // Those of `dev/simulated` import its root only.
    const OTHERS: [&str; 3] = ["timers", "dev/simulate/src", "dev/xtask/src"];
    let others = OTHERS.map(|folder| (code(folder), [].as_slice()));
    for (code, crates) in [(program(), CRATES.as_slice())].into_iter().chain(others) {
        let mut arrows = imports(&code, crates);
        for (from, to) in &mut arrows {
            to.retain(|to| !to.starts_with(from) && !from.starts_with(to));
        }
        assert!(
            arrows.values().any(|to| !to.is_empty()),
            "nothing imports anything"
        );
        assert_eq!(circles(arrows), Arrows::new(), "files on a cycle");
    }
    let sources = code("timers").remove(&vec!["clock_sources".to_owned()]);
    assert!(
        sources.is_some_and(|table| beginning_with(&table, "crate::").is_empty()),
        "the table of clock sources, which `timers/os` and other crates use, imports something"
    );
}

/// A word has one meaning. The types of systems that replace each other have the same names.
#[test]
fn no_two_types_share_a_name() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for folder in CRATES.into_iter().chain(["src", "timers"]) {
        for (module, text) in code(folder) {
            let place = match module[0].as_str() {
                "os" => "timers/os".to_owned(),
                _ => format!("{folder}/{}", module.join("/")),
            };
            for line in text.lines() {
                let words = line.split(|c: char| !c.is_alphanumeric());
                let mut words =
                    words.skip_while(|word| ["", "pub", "crate", "super"].contains(word));
                let kind = words.next().unwrap_or_default();
                let name = words.next().unwrap_or_default();
                let is_type = ["struct", "enum", "trait", "union"].contains(&kind);
                if is_type && name.starts_with(char::is_uppercase) {
                    places.entry(name.into()).or_default().insert(place.clone());
                }
            }
        }
    }
    assert!(places.len() > 300, "only {} types", places.len());
    places.retain(|_, places| places.len() > 1);
    assert_eq!(places, BTreeMap::new());
}

/// What only `timers/arch` and `timers/os` may say: which system this is compiled for, and what
/// only one has.
const BOUND: [&str; 13] = [
    "target_os",
    "target_arch",
    "target_family",
    "target_env",
    "(unix",
    "(windows)",
    "std::os::",
    "std::arch",
    "asm!",
    "libc::",
    "rustix::",
    "signal_hook::",
    "raw_cpuid::",
];

#[test]
fn only_arch_and_os_know_target() {
    let timers = code("timers");
    let boundary = |module: &Module| ["arch", "os"].contains(&module[0].as_str());
    let seen: BTreeSet<&str> = timers
        .iter()
        .filter(|(module, _)| boundary(module))
        .flat_map(|(_, code)| BOUND.into_iter().filter(|word| code.contains(word)))
        .collect();
    let sure = ["target_os", "target_arch", "libc::", "asm!"];
    assert!(sure.iter().all(|word| seen.contains(word)), "{seen:?}");
    for (module, code) in program()
        .iter()
        .chain(timers.iter().filter(|(module, _)| !boundary(module)))
    {
        let said: Vec<&str> = BOUND
            .into_iter()
            .filter(|word| code.contains(word))
            .collect();
        assert_eq!(
            said, [""; 0],
            "{module:?}: that belongs into timers/arch or timers/os"
        );
    }
}

/// What `reporting`, which works on existing reports, and `judgement`, which judges values, may ask of
/// the timers: files and limits of this system; their declarations; what tables say of them.
const OF_TIMERS: [(&str, &[&str]); 2] = [
    (
        "reporting",
        &["clock_sources", "os::files", "os::limits", "pause"],
    ),
    (
        "judgement",
        &[
            "Properties",
            "agents::Runtime",
            "agents::runtime",
            "clock_sources",
            "find",
            "parts",
        ],
    ),
];

#[test]
fn reporting_and_judgement_measure_nothing() {
    for (folder, allowed) in OF_TIMERS {
        let code = code(folder);
        let all = code.values();
        let asked = all.flat_map(|text| beginning_with(text, "timers::"));
        let asked: BTreeSet<String> = asked.map(|path| path[1..].join("::")).collect();
        let is_allowed = |path: &&String| allowed.iter().any(|begin| path.starts_with(begin));
        assert_eq!(
            asked.iter().find(|path| !is_allowed(path)),
            None,
            "{folder}"
        );
        assert!(!asked.is_empty(), "{folder} asks nothing");
    }
    for (module, text) in code("judgement") {
        // Generated code reads clocks, this crate does not.
        let is_code = |file: &String| file == "language" || file == "wait_snippet";
        for outside in ["env", "fs", "io", "process", "time"] {
            let found = beginning_with(&text, &format!("std::{outside}"));
            let is_pure = found.is_empty() || module.last().is_some_and(is_code);
            assert!(is_pure, "{module:?}: {outside}");
        }
    }
}

/// Cargo does not look for tests itself: a file that is not named would never be run.
#[test]
fn all_tests_belong_to_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (manifest, main) = (include_str!("../Cargo.toml"), include_str!("main.rs"));
    for entry in fs::read_dir(root.join("tests")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_file = path.extension().is_some_and(|ending| ending == "rs");
        let holds_code = is_file
            || ["mod.rs", "main.rs"]
                .iter()
                .any(|it| path.join(it).exists());
        if name == "main" || !holds_code {
            continue;
        }
        let is_program = manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
        let is_module = main.lines().any(|line| line == format!("mod {name};"));
        assert!(
            is_program != is_module,
            "tests/{name}: a line in tests/main.rs, or a [[test]] in Cargo.toml"
        );
    }
}

#[test]
fn detects_import_cycle() {
    let of = |code: &str| {
        let files = [
            ("a", "use crate::{b::{x, y as z}, c};"),
            ("b", code),
            ("c", ""),
            ("lib", "pub use a::{f, g};"),
        ];
        let files = files.map(|(name, code)| (vec![name.to_owned()], code.to_owned()));
        circles(imports(&files.into(), &[]))
            .into_keys()
            .collect::<Vec<_>>()
    };
    assert_eq!(of("crate::c::f(x)"), [[""; 0]; 0]);
    assert_eq!(of("crate::a::f(x)"), [["a"], ["b"]]);
    assert_eq!(of("crate::f(x)"), [["a"], ["b"]], "through the root");
}

/// What opens, creates or moves a file by a path that somebody may have replaced by a link.
const WRITERS: [&str; 11] = [
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    "fs::create_dir(",
    "fs::create_dir_all(",
    "DirBuilder",
    "File::create",
    "File::options",
    "OpenOptions",
    "tempfile_in(",
    "tempdir_in(",
];

/// The files that may do so, and where: in a temporary folder of this process or below an open
/// folder ([`Folder`](timers::os::files::Folder)).
const WRITING: [&str; 5] = [
    "reporting/scratch",
    "reporting/report/archive",
    "reporting/page/site",
    "src/agents/browser",
    "src/agents/runtimes",
];

#[test]
fn outputs_are_opened_in_one_place() {
    let folders = ["src", "reporting", "probe", "judgement", "estimators"];
    let writing: BTreeSet<String> = folders
        .iter()
        .flat_map(|folder| {
            let writes = |text: &str| WRITERS.iter().any(|call| text.contains(call));
            let files = code(folder)
                .into_iter()
                .filter(move |(_, text)| writes(text));
            files.map(move |(module, _)| format!("{folder}/{}", module.join("/")))
        })
        .collect();
    assert_eq!(writing, WRITING.map(str::to_owned).into());
}

/// The standard library hides that standard output cannot be written, and its macros panic if
/// standard error cannot.
#[test]
fn one_type_writes_standard_output() {
    let writes = [
        "print!(",
        "println!(",
        "stdout().write",
        "stdout().lock",
        "stdout())",
    ];
    for (module, text) in code("src").iter().chain(&code("reporting")) {
        let found: Vec<_> = writes.iter().filter(|word| text.contains(**word)).collect();
        let is_type = *module == ["report", "output"];
        assert!(found.is_empty() != is_type, "{module:?}: {found:?}");
    }
}

/// Nothing waits by a clock of the C library, from which the standard library computes when its waits
/// end: only the timers that are measured, and the code that is printed, name such waits.
#[test]
fn nothing_waits_by_the_clock_under_test() {
    const WAITS: [&str; 6] = [
        "recv_timeout",
        "park_timeout",
        "wait_timeout",
        "thread::sleep",
        "Instant::now",
        ".elapsed()",
    ];
    let mut all = program();
    all.extend(code("timers"));
    let is_measured = |module: &Module| {
        let place = module.join("/");
        [
            "std_time",
            "waits/portable",
            "os/windows",
            "choice/",
            "selection/names",
        ]
        .iter()
        .any(|measured| place.contains(measured))
    };
    let others = all.iter().filter(|(module, _)| !is_measured(module));
    let found: Vec<_> = others
        .flat_map(|(module, text)| {
            let lines = text
                .lines()
                .filter(|line| WAITS.iter().any(|wait| line.contains(wait)));
            lines.map(|line| format!("{}: {line}", module.join("/")))
        })
        .collect();
    assert!(found.is_empty(), "use timers::Deadline: {found:#?}");
}
