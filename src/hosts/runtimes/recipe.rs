//! Hosts that are made ready by what the list of runtimes says of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use timers::agents::{Recipe, Source};

use super::{Book, Ready, command, write};
use crate::hosts::children;
use crate::hosts::tool;

/// What stands for the settings that the user wants, each after its flag.
const SETTINGS: &str = "$settings";

/// Whether hosts take settings of the user.
pub(super) fn takes_settings(hosts: &[&[Recipe]]) -> bool {
    hosts
        .iter()
        .flat_map(|recipes| *recipes)
        .any(|recipe| recipe.run.contains(&SETTINGS))
}

/// The first of each host's recipes that works, of those hosts that have one.
/// `settings` go to those that take any.
pub(super) fn prepare(
    hosts: &[&[Recipe]],
    folder: &Path,
    settings: &[String],
) -> Result<Vec<Ready>, String> {
    let (mut all, mut absent) = (Vec::new(), None);
    for (at, recipes) in hosts.iter().enumerate() {
        match first(recipes, &folder.join(at.to_string()), settings) {
            Ok(ready) => all.push(ready),
            Err(why) => {
                absent.get_or_insert(why);
            }
        }
    }
    match absent {
        Some(why) if all.is_empty() => Err(why),
        _ => Ok(all),
    }
}

/// What the first that works makes; else why the last one does not whose programs are there.
fn first(recipes: &[Recipe], folder: &Path, settings: &[String]) -> Result<Ready, String> {
    let (mut why, mut absent) = (None, None);
    for (at, recipe) in recipes.iter().enumerate() {
        let programs: Result<Vec<PathBuf>, String> =
            recipe.programs.iter().copied().map(program).collect();
        let programs = match programs {
            Ok(programs) => programs,
            // The last recipe needs least.
            Err(why) => {
                absent = Some(why);
                continue;
            }
        };
        match make(recipe, programs, &folder.join(at.to_string()), settings) {
            Ok(ready) => return Ok(ready),
            Err(failed) => why = Some(failed),
        }
    }
    Err(why
        .or(absent)
        .unwrap_or_else(|| "there is no recipe for it".into()))
}

fn program(names: &[&str]) -> Result<PathBuf, String> {
    tool::find(names).ok_or_else(|| format!("there is no `{}`", names.join("` or `")))
}

fn make(
    recipe: &Recipe,
    programs: Vec<PathBuf>,
    folder: &Path,
    settings: &[String],
) -> Result<Ready, String> {
    let book = recipe
        .clocks
        .map(Book::parse)
        .transpose()
        .map_err(|why| format!("its list of clocks: {why}"))?;
    let expanded = |source: &Source| {
        book.as_ref()
            .map_or(source.text.to_owned(), |book| book.expand(source.text))
    };
    write(
        recipe
            .sources
            .iter()
            .map(|source| (source, expanded(source))),
        folder,
    )?;
    let mut words = Words {
        said: programs[0].clone(),
        programs,
        folder: folder.into(),
        settings,
    };
    for step in recipe.steps {
        let line = words.filled(step);
        let [program, args @ ..] = line.as_slice() else {
            continue;
        };
        let said = tool::run(Path::new(program), args).map_err(|why| {
            let name = words.programs[0].display();
            format!("`{name}` cannot be used: {why}")
        })?;
        let said = PathBuf::from(said.trim());
        if tool::is_program(&said) {
            words.said = said;
        }
    }
    let mut line = words.filled(recipe.run);
    if recipe.run.first() == Some(&"$self") {
        let (program, own) = children::this_program().map_err(|error| error.to_string())?;
        line.splice(..1, [program].into_iter().chain(own));
    }
    let mut line = line.into_iter();
    let program = line
        .next()
        .ok_or("its recipe does not say how it is started")?;
    let mut command = command(
        &format!("{} host", recipe.prefix),
        Path::new(&program),
        line.collect(),
    );
    command.book = book.map(Arc::new);
    Ok(Ready {
        prefix: recipe.prefix,
        command,
        log: None,
    })
}

/// What stands for words in a recipe.
struct Words<'a> {
    settings: &'a [String],
    programs: Vec<PathBuf>,
    folder: PathBuf,
    said: PathBuf,
}

impl Words<'_> {
    fn filled(&self, line: &[&str]) -> Vec<OsString> {
        let filled = |word: &&str| match *word {
            SETTINGS => self
                .settings
                .iter()
                .flat_map(|one| ["--setting".into(), one.into()])
                .collect(),
            word => vec![self.word(word)],
        };
        line.iter().flat_map(filled).collect()
    }

    fn word(&self, word: &str) -> OsString {
        if word == "$said" {
            return self.said.clone().into();
        }
        if let Some(program) = word
            .strip_prefix('$')
            .and_then(|at| at.parse::<usize>().ok())
        {
            return self
                .programs
                .get(program)
                .cloned()
                .unwrap_or_default()
                .into();
        }
        let Some((before, after)) = word.split_once("$here") else {
            return word.into();
        };
        let mut filled = OsString::from(before);
        filled.push(&self.folder);
        filled.push(after);
        filled
    }
}
