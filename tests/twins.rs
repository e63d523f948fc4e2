//! Checks that no fact is held by two structs: no two of them have more than five equal fields.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Fields, Item, ItemStruct, Type};

/// More equal fields than this are one fact in two places.
/// *Judgement*: an id, a label and a unit stand next to each other in many types.
const MOST_EQUAL_FIELDS: usize = 5;

/// Pairs that have more, for a reason: CPUID reports part of what a report says of a CPU, and
/// `timers` knows no report; a trace file and a report are two documents with a schema each; what is
/// required of a clock comes from flags, which `judgement` does not know; what an agent says of a
/// timer has the keys of the protocol, what a trace holds of it those of a report.
const KNOWN: [[&str; 2]; 4] = [
    ["Cpu", "Identity"],
    ["HostedTimer", "Timer"],
    ["PickArgs", "Requirement"],
    ["Recording", "Report"],
];

/// A struct of production code, with the names and types of its fields.
struct Fielded {
    name: String,
    fields: Vec<(String, Type)>,
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|condition| condition.is_ident("test"))
    })
}

fn fielded(item: ItemStruct) -> Option<Fielded> {
    let Fields::Named(fields) = item.fields else {
        return None;
    };
    let fields = fields
        .named
        .into_iter()
        .filter_map(|field| Some((field.ident?.to_string(), field.ty)));
    Some(Fielded {
        name: item.ident.to_string(),
        fields: fields.collect(),
    })
}

/// The structs of these items and of the modules in them.
fn collect(items: Vec<Item>, found: &mut Vec<Fielded>) {
    for item in items {
        match item {
            Item::Struct(item) if !is_for_tests(&item.attrs) => found.extend(fielded(item)),
            Item::Mod(module) if !is_for_tests(&module.attrs) => {
                if let Some((_, items)) = module.content {
                    collect(items, found);
                }
            }
            _ => {}
        }
    }
}

/// All files of Rust below a folder but tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("an entry").path();
        let is_test = path.file_stem().is_some_and(|name| name == "tests");
        if path.is_dir() && !is_test {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !is_test {
            found.push(path);
        }
    }
}

fn equal_fields(one: &Fielded, other: &Fielded) -> usize {
    one.fields
        .iter()
        .filter(|field| other.fields.contains(field))
        .count()
}

#[test]
fn structs_share_at_most_five_fields() {
    let mut files = Vec::new();
    for folder in [
        "timers",
        "estimators",
        "judgement",
        "probe",
        "reporting",
        "src",
    ] {
        sources(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut files,
        );
    }
    let mut structs = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source can be read");
        let parsed = syn::parse_file(&text);
        let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        collect(parsed.items, &mut structs);
    }
    assert!(structs.len() > 200, "only {} structs", structs.len());
    structs.retain(|one| one.fields.len() > MOST_EQUAL_FIELDS);
    let mut twins = BTreeSet::new();
    for (index, one) in structs.iter().enumerate() {
        for other in &structs[index + 1..] {
            if equal_fields(one, other) > MOST_EQUAL_FIELDS {
                let mut pair = [one.name.as_str(), other.name.as_str()];
                pair.sort_unstable();
                twins.insert(pair);
            }
        }
    }
    assert_eq!(
        twins,
        BTreeSet::from(KNOWN),
        "structs that hold the same facts"
    );
}
