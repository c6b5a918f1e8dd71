//! `strategy new --workspace`: adds the crate to the cargo workspace and its program.

use crate::failure::Failure;
use candlewick_history::write_whole_file;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, Item, Table, value};

pub(super) struct Workspace {
    root: PathBuf,
    manifest: DocumentMut,
    /// Folder of the crate relative to the root, with slashes.
    member: String,
}

impl Workspace {
    pub(super) fn around(folder: &Path, name: &str) -> Result<Self, Failure> {
        let here = folder.canonicalize().map_err(|error| {
            Failure::configuration(format!("the folder {} cannot be read: {error}", folder.display()))
        })?;
        for root in here.ancestors() {
            let file = root.join("Cargo.toml");
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let manifest: DocumentMut = text.parse().map_err(|error| {
                Failure::configuration(format!("{} cannot be read: {error}", file.display()))
            })?;
            if manifest.get("workspace").is_some_and(Item::is_table_like) {
                let inner = here.strip_prefix(root).unwrap_or(Path::new("")).join(name);
                let member = inner.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
                return Ok(Self { root: root.to_owned(), manifest, member });
            }
        }
        let problem = format!("there is no cargo workspace at {} or above", here.display());
        Err(Failure::configuration(problem).help(
            "leave --workspace out: the crate is a workspace of its own, and the next strategy can become a member of that",
        ))
    }

    pub(super) fn names_sdk(&self) -> bool {
        self.manifest["workspace"].get("dependencies").is_some_and(|all| all.get("candlewick-sdk").is_some())
    }

    pub(super) fn admit(mut self, name: &str, type_name: &str) -> Result<String, Failure> {
        self.name_member();
        let snake = name.replace('-', "_");
        let program = self.root.join("src/main.rs");
        let call = format!(".with_strategy::<{snake}::{type_name}>()");
        let source = std::fs::read_to_string(&program).ok();
        let registered = source.filter(|_| self.is_program()).and_then(|source| registered(&source, &call));
        if registered.is_some() {
            self.depend_on(name);
        }
        write(&self.root.join("Cargo.toml"), &self.manifest.to_string())?;
        let by_hand =
            format!("your program learns it by {call} before .run(), and by a dependency on {name}");
        let Some(source) = registered else { return Ok(by_hand) };
        write(&program, &source)?;
        Ok(format!("{} knows it", program.display()))
    }

    fn name_member(&mut self) {
        let members = self.manifest["workspace"]["members"].or_insert(value(Array::new()));
        let Some(members) = members.as_array_mut() else { return };
        let parent = self.member.rsplit_once('/').map_or("", |(parent, _)| parent);
        let covers = |pattern: &str| pattern == self.member || pattern.strip_suffix("/*") == Some(parent);
        if !members.iter().filter_map(|member| member.as_str()).any(covers) {
            members.push(self.member.as_str());
        }
    }

    fn is_program(&self) -> bool {
        let of = |section: &str| self.manifest.get(section);
        of("package").is_some() && of("dependencies").is_some_and(|all| all.get("candlewick-cli").is_some())
    }

    /// Adds a dependency to the root, optional if the program is behind a feature.
    fn depend_on(&mut self, name: &str) {
        let mut dependency = toml_edit::InlineTable::new();
        dependency.insert("path", self.member.as_str().into());
        let feature = self.manifest.get_mut("features").and_then(|all| all.get_mut("program"));
        if let Some(feature) = feature.and_then(Item::as_array_mut) {
            feature.push(format!("dep:{name}"));
            dependency.insert("optional", true.into());
        }
        let dependencies = self.manifest["dependencies"].or_insert(Item::Table(Table::new()));
        dependencies[name] = value(dependency);
    }
}

/// Returns the program source with one more strategy, `None` unless `.run()` occurs exactly once.
fn registered(source: &str, call: &str) -> Option<String> {
    let mut places = source.match_indices(".run()").map(|(at, _)| at);
    let at = places.next().filter(|_| places.next().is_none())?;
    Some(format!("{}{call}{}", &source[..at], &source[at..]))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    write_whole_file(file, |to| to.write_all(text.as_bytes()))
        .map_err(|error| Failure::configuration(format!("{} cannot be written: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_one_place_to_register() {
        let program = "fn main() -> ExitCode {\n    App::new().run()\n}\n";
        let expected = "fn main() -> ExitCode {\n    App::new().with_strategy::<a::B>().run()\n}\n";
        assert_eq!(registered(program, ".with_strategy::<a::B>()").as_deref(), Some(expected));
        assert_eq!(registered("a.run(); b.run()", "x"), None);
        assert_eq!(registered("", "x"), None);
    }

    #[test]
    fn members_keep_their_order_and_are_named_once() {
        for (before, member, expected) in [
            ("[workspace]\n", "momentum", "[workspace]\nmembers = [\"momentum\"]\n"),
            (
                "[workspace]\nmembers = [\"a\"] # ours\n",
                "b",
                "[workspace]\nmembers = [\"a\", \"b\"] # ours\n",
            ),
            ("[workspace]\nmembers = [\"a/*\"]\n", "a/b", "[workspace]\nmembers = [\"a/*\"]\n"),
            ("[workspace]\nmembers = [\"a/b\"]\n", "a/b", "[workspace]\nmembers = [\"a/b\"]\n"),
        ] {
            let manifest = before.parse().unwrap();
            let mut workspace = Workspace { root: PathBuf::new(), manifest, member: member.to_owned() };
            workspace.name_member();
            assert_eq!(workspace.manifest.to_string(), expected);
        }
    }
}
