//! `strategy new`: creates a crate with a strategy, a program, tests and a bot, and adds it to a workspace.

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{print, print_json, write_folder};
use candlewick_history::write_whole_file;
use clap::Args;
use serde_json::json;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// Files of a new crate. Placeholders: `my-strategy` for the name, `CHECKOUT` for the Candlewick folder.
const CRATE_FILES: [(&str, &str); 10] = [
    ("Cargo.toml", include_str!("template/manifest.toml")),
    ("src/lib.rs", include_str!("template/lib.rs")),
    ("src/main.rs", include_str!("template/program.rs")),
    ("tests/signals.rs", include_str!("template/signals.rs")),
    ("benches/candle.rs", include_str!("template/bench.rs")),
    ("bot.toml", include_str!("template/bot.toml")),
    ("README.md", include_str!("template/readme")),
    ("rustfmt.toml", include_str!("../../../../../rustfmt.toml")),
    (".gitignore", include_str!("template/gitignore")),
    (CARGO_CONFIG, include_str!("template/cargo_config.toml")),
];

/// Files of a workspace member, except the manifest. The member uses the program of the workspace.
const MEMBER_FILES: [&str; 4] = ["src/lib.rs", "tests/signals.rs", "benches/candle.rs", "bot.toml"];
const MEMBER_MANIFEST: (&str, &str) = ("Cargo.toml", include_str!("template/member.toml"));

/// Cargo configuration with the path of the checkout; omitted for crates that build against a Git repository.
const CARGO_CONFIG: &str = ".cargo/config.toml";
const VERSION_TAG: &str = concat!("v", env!("CARGO_PKG_VERSION"));
const MAX_NAME_LENGTH: usize = 64;

const RESERVED_CRATE_NAMES: &str = "abstract alloc as async await become box break build const continue core crate deps do dyn else enum \
    examples extern false final fn for gen if impl in incremental let loop macro match mod move mut override priv proc-macro pub \
    ref return self static std struct super test trait true try type typeof unsafe unsized use virtual where while yield";

/// Type names that the template uses, in kebab case. A strategy must not have one of these names.
const RESERVED_TYPE_NAMES: &str = "app bot-context build-error candle clone counting-allocator debug default deserialize err exit-code \
    json-schema none ok option params partial-eq result serialize signal some strategy strategy-factory string vec";

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick strategy new momentum\n  candlewick strategy new momentum --path ../candlewick\n  candlewick strategy \
                  new breakout --workspace\n\nThe crate is created in a new folder and is not part of a workspace. The \
                  crate builds against the source of Candlewick: a checkout (with a shared build folder) or a Git \
                  repository. A program inside a checkout (such as target/release/candlewick) finds the checkout; an installed \
                  program needs --path or --git.\n\nWith --workspace, the crate becomes a member of the enclosing \
                  cargo workspace. The root manifest gets a new member, and src/main.rs registers the strategy if the \
                  file contains a single .run()."
)]
pub(crate) struct NewArguments {
    /// Name of the strategy, crate and folder: lower-case letters, digits and hyphens
    name: String,
    /// Add the crate to the enclosing cargo workspace and register the strategy in its program
    #[arg(long)]
    workspace: bool,
    /// Candlewick checkout to build against
    #[arg(long, value_name = "DIR", conflicts_with = "git")]
    path: Option<PathBuf>,
    /// Candlewick Git repository to build against, at the tag of this version
    #[arg(long, value_name = "URL")]
    git: Option<String>,
}

#[derive(Debug, PartialEq)]
enum Source {
    Checkout(String),
    Git(String),
}

pub(super) fn run(arguments: &NewArguments, context: &Context<'_>) -> Result<(), Failure> {
    let NewArguments { name, workspace, path, git } = arguments;
    check_name(name)?;
    if context.registry.find(name).is_some() {
        let problem = format!("this program already has a strategy \"{name}\"");
        return Err(Failure::configuration(problem).hint("choose another name"));
    }
    let folder = Path::new(name);
    if fs::symlink_metadata(folder).is_ok() {
        let problem = format!("{name} already exists in this folder");
        return Err(Failure::configuration(problem).hint("choose another name, or work in another folder"));
    }
    let source = match git {
        Some(url) => Source::Git(url.clone()),
        None => Source::Checkout(locate_checkout(path.as_deref())?),
    };
    let workspace = workspace.then(|| Workspace::find(Path::new("."), name)).transpose()?;
    let files = match &workspace {
        Some(workspace) => member_files(name, &source, workspace),
        None => crate_files(name, &source)?,
    };
    write_folder(folder, &files).map_err(|error| {
        Failure::configuration(format!("cannot write the crate here: {error}"))
            .hint("work in a writable folder; no files were left behind")
    })?;
    let admitted = workspace.map(|workspace| workspace.add_member(name, &to_camel_case(name))).transpose();
    let admitted = admitted.inspect_err(|_| {
        // The workspace cannot be changed, so the new crate is removed. Further errors are ignored.
        let _ = fs::remove_dir_all(folder);
    })?;
    if context.global.json {
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let (checkout, git) = match &source {
            Source::Checkout(folder) => (Some(folder), None),
            Source::Git(url) => (None, Some(url)),
        };
        return print_json(
            &json!({ "name": name, "folder": name, "checkout": checkout, "git": git, "files": names }),
        );
    }
    if let Some(admitted) = admitted {
        return print(&format!(
            "Created {name}/ as a member of the workspace; {admitted}.\n\n  cargo fmt\n  cargo test -p {name}\n  cargo bench -p {name}"
        ));
    }
    let origin = match &source {
        Source::Checkout(folder) => format!("The crate builds against {folder}."),
        Source::Git(url) => format!("The crate builds against tag {VERSION_TAG} of {url}."),
    };
    print(&format!(
        "Created {name}/ with the strategy in src/lib.rs, tests, a program, and a bot in bot.toml. {origin}\n\n  cd {name}\n  \
         cargo test\n  cargo run --release -F program -- backtest --config bot.toml --html report.html"
    ))
}

fn check_name(name: &str) -> Result<(), Failure> {
    let refuse = |problem: String| {
        let suggestion = suggest_name(name).map(|name| format!("did you mean {name}? ")).unwrap_or_default();
        let help = format!(
            "{suggestion}names consist of lower-case letters, digits and hyphens, and start with a letter, such as momentum or three-in-a-row"
        );
        Err(Failure::configuration(problem).hint(help))
    };
    let is_known = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-');
    let is_whole = name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && !name.ends_with('-')
        && !name.contains("--");
    if !name.chars().all(is_known) || !is_whole {
        return refuse(format!("\"{name}\" is not a valid strategy name"));
    }
    if name.len() > MAX_NAME_LENGTH {
        return refuse(format!("the name has {} characters, but the limit is {MAX_NAME_LENGTH}", name.len()));
    }
    let mut reserved = RESERVED_CRATE_NAMES.split_whitespace().chain(RESERVED_TYPE_NAMES.split_whitespace());
    if name.starts_with("candlewick") || reserved.any(|reserved| reserved == name) {
        return refuse(format!("\"{name}\" is reserved in Rust or Candlewick"));
    }
    Ok(())
}

/// Suggests a valid name, such as `band-return` for `BandReturn`, `Band_Return` or `band return`.
fn suggest_name(name: &str) -> Option<String> {
    let mut meant = String::with_capacity(name.len());
    let mut was_small = false;
    for letter in name.chars() {
        let is_break = !letter.is_ascii_alphanumeric() || (was_small && letter.is_ascii_uppercase());
        if is_break && !meant.is_empty() && !meant.ends_with('-') {
            meant.push('-');
        }
        was_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        meant.extend(letter.is_ascii_alphanumeric().then(|| letter.to_ascii_lowercase()));
    }
    let meant = meant.trim_matches('-').to_owned();
    (meant != name && meant.starts_with(|letter: char| letter.is_ascii_lowercase())).then_some(meant)
}

fn locate_checkout(named: Option<&Path>) -> Result<String, Failure> {
    let program = std::env::current_exe().ok();
    let folder = match named {
        Some(folder) if !is_checkout(folder) => {
            let problem = format!(
                "{} is not a checkout of Candlewick: crates/sdk and crates/cli not found",
                folder.display()
            );
            return Err(Failure::configuration(problem));
        }
        Some(folder) => folder,
        None => program.as_deref().and_then(find_enclosing_checkout).ok_or_else(|| {
            let problem = "cannot find the source of Candlewick: this program is not inside a checkout";
            let help = format!(
                "clone the repository at {VERSION_TAG} and pass --path DIR, or let cargo clone it with --git URL"
            );
            Failure::configuration(problem.to_owned()).hint(help)
        })?,
    };
    let canonical = fs::canonicalize(folder).map_err(|error| {
        Failure::configuration(format!("cannot read folder {}: {error}", folder.display()))
    })?;
    let text = canonical.into_os_string().into_string().map_err(|path| {
        Failure::configuration(format!("the path {} is not valid UTF-8", path.display()))
            .hint("manifests require UTF-8 paths: move or link the folder")
    })?;
    Ok(text)
}

fn is_checkout(folder: &Path) -> bool {
    ["sdk", "cli"].iter().all(|part| folder.join("crates").join(part).join("Cargo.toml").is_file())
}

/// Finds the checkout that contains `program`. Searches at run time, so that packages contain no build paths.
fn find_enclosing_checkout(program: &Path) -> Option<&Path> {
    program.ancestors().find(|folder| is_checkout(folder))
}

fn fill_template(text: &str, name: &str, source: &Source) -> String {
    let (snake, camel) = (name.replace('-', "_"), to_camel_case(name));
    let toml_escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let text = text.replace("my-strategy", name).replace("my_strategy", &snake).replace("MyStrategy", &camel);
    match source {
        Source::Checkout(folder) => text.replace("CHECKOUT", &toml_escaped(folder)),
        Source::Git(url) => ["sdk", "cli"].iter().fold(text, |text, part| {
            let tag = format!("git = \"{}\", tag = \"{VERSION_TAG}\"", toml_escaped(url));
            text.replace(&format!("path = \"CHECKOUT/crates/{part}\""), &tag)
        }),
    }
}

fn member_files(name: &str, source: &Source, workspace: &Workspace) -> Vec<(String, String)> {
    let of_all = |text: &str| {
        let own = "path = \"CHECKOUT/crates/sdk\"";
        if workspace.has_sdk_dependency() { text.replace(own, "workspace = true") } else { text.to_owned() }
    };
    let rest = CRATE_FILES.into_iter().filter(|(file, _)| MEMBER_FILES.contains(file));
    let all = std::iter::once(MEMBER_MANIFEST).chain(rest);
    all.map(|(file, text)| (file.to_owned(), fill_template(&of_all(text), name, source))).collect()
}

fn crate_files(name: &str, source: &Source) -> Result<Vec<(String, String)>, Failure> {
    let wanted =
        CRATE_FILES.iter().filter(|(file, _)| matches!(source, Source::Checkout(_)) || *file != CARGO_CONFIG);
    let mut files: Vec<_> =
        wanted.map(|(file, text)| ((*file).to_owned(), fill_template(text, name, source))).collect();
    let Source::Checkout(folder) = source else { return Ok(files) };
    // The file contains the tested versions of the dependencies. Cargo removes unused entries.
    let lock = Path::new(folder).join("Cargo.lock");
    if lock.is_file() {
        let text = fs::read_to_string(&lock)
            .map_err(|error| Failure::configuration(format!("cannot read {}: {error}", lock.display())))?;
        files.push(("Cargo.lock".to_owned(), text));
    }
    Ok(files)
}

fn to_camel_case(name: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    name.split('-').map(capital).collect()
}

pub(super) struct Workspace {
    root: PathBuf,
    manifest: DocumentMut,
    /// Path of the crate relative to the workspace root, with forward slashes.
    member: String,
}

impl Workspace {
    fn find(folder: &Path, name: &str) -> Result<Self, Failure> {
        let here = folder.canonicalize().map_err(|error| {
            Failure::configuration(format!("cannot read folder {}: {error}", folder.display()))
        })?;
        for root in here.ancestors() {
            let file = root.join("Cargo.toml");
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let manifest: DocumentMut = text.parse().map_err(|error| {
                Failure::configuration(format!("cannot read {}: {error}", file.display()))
            })?;
            if manifest.get("workspace").is_some_and(Item::is_table_like) {
                let inner = here.strip_prefix(root).unwrap_or(Path::new("")).join(name);
                let member = inner.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
                return Ok(Self { root: root.to_owned(), manifest, member });
            }
        }
        let problem = format!("no cargo workspace found at {} or above", here.display());
        Err(Failure::configuration(problem).hint(
            "omit --workspace to create a workspace with this crate; you can add more strategies to it later",
        ))
    }

    fn has_sdk_dependency(&self) -> bool {
        self.manifest["workspace"].get("dependencies").is_some_and(|all| all.get("candlewick-sdk").is_some())
    }

    pub(super) fn add_member(mut self, name: &str, type_name: &str) -> Result<String, Failure> {
        self.add_to_members();
        let snake = name.replace('-', "_");
        let program = self.root.join("src/main.rs");
        let call = format!(".with_strategy::<{snake}::{type_name}>()");
        let source = std::fs::read_to_string(&program).ok();
        let registered =
            source.filter(|_| self.has_program()).and_then(|source| add_registration(&source, &call));
        if registered.is_some() {
            self.add_dependency(name);
        }
        write(&self.root.join("Cargo.toml"), &self.manifest.to_string())?;
        let by_hand =
            format!("to register the strategy, add {call} before .run() and a dependency on {name}");
        let Some(source) = registered else { return Ok(by_hand) };
        write(&program, &source)?;
        Ok(format!("registered in {}", program.display()))
    }

    fn add_to_members(&mut self) {
        let members = self.manifest["workspace"]["members"].or_insert(value(Array::new()));
        let Some(members) = members.as_array_mut() else { return };
        let parent = self.member.rsplit_once('/').map_or("", |(parent, _)| parent);
        let covers = |pattern: &str| pattern == self.member || pattern.strip_suffix("/*") == Some(parent);
        if !members.iter().filter_map(|member| member.as_str()).any(covers) {
            members.push(self.member.as_str());
        }
    }

    fn has_program(&self) -> bool {
        let of = |section: &str| self.manifest.get(section);
        of("package").is_some() && of("dependencies").is_some_and(|all| all.get("candlewick-cli").is_some())
    }

    fn add_dependency(&mut self, name: &str) {
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

/// Adds a strategy to the program source. Returns `None` unless `.run()` occurs exactly once.
fn add_registration(source: &str, call: &str) -> Option<String> {
    let mut places = source.match_indices(".run()").map(|(at, _)| at);
    let at = places.next().filter(|_| places.next().is_none())?;
    Some(format!("{}{call}{}", &source[..at], &source[at..]))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    write_whole_file(file, |to| to.write_all(text.as_bytes()))
        .map_err(|error| Failure::configuration(format!("cannot write {}: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_valid_names() {
        for (name, meant) in [
            ("Band_Return", Some("band-return")),
            ("BandReturn2", Some("band-return2")),
            ("RSI dips", Some("rsi-dips")),
            ("a--b-", Some("a-b")),
            ("2nd", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(suggest_name(name).as_deref(), meant, "{name}");
        }
    }

    #[test]
    fn accepts_only_names_of_crates_and_strategies() {
        for name in ["momentum", "three-in-a-row", "rsi2", "a-1"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        let wrong = "|Momentum|my_strategy|../x|a b|2nd|-a|a-|a--b|match|test|signal|é|candlewick-sdk";
        for name in wrong.split('|').chain([&*"a".repeat(65)]) {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn spells_the_name_as_crate_module_and_type() {
        let files = crate_files("three-in-a-row", &Source::Checkout("/a \"b\"".to_owned())).unwrap();
        let text = |name: &str| &files.iter().find(|(file, _)| file == name).expect("the file exists").1;
        assert!(text("src/main.rs").contains("use three_in_a_row::ThreeInARow;"));
        assert!(text("src/lib.rs").contains("\"three-in-a-row\""));
        let manifest: toml::Table = text("Cargo.toml").parse().unwrap();
        assert_eq!(manifest["dependencies"]["candlewick-sdk"]["path"].as_str(), Some("/a \"b\"/crates/sdk"));
        assert_eq!(manifest["package"]["name"].as_str(), Some("three-in-a-row"));
        let workspace: toml::Table = include_str!("../../../../../Cargo.toml").parse().unwrap();
        for profile in ["dev", "release"] {
            assert_eq!(manifest["profile"][profile], workspace["profile"][profile]);
        }
        for (file, text) in &files {
            for left in ["my-strategy", "my_strategy", "MyStrategy", "CHECKOUT"] {
                assert!(!text.contains(left), "{file} holds {left}");
            }
        }
    }

    #[test]
    fn git_dependencies_use_the_tag_of_this_version() {
        let files = crate_files("momentum", &Source::Git("https://example.com/\"x\"".to_owned())).unwrap();
        let manifest: toml::Table = files[0].1.parse().unwrap();
        for table in
            [&manifest["dependencies"]["candlewick-cli"], &manifest["dev-dependencies"]["candlewick-sdk"]]
        {
            assert_eq!(table["git"].as_str(), Some("https://example.com/\"x\""));
            assert_eq!(table["tag"].as_str(), Some(concat!("v", env!("CARGO_PKG_VERSION"))));
        }
        assert!(files.iter().all(|(file, text)| file != CARGO_CONFIG && !text.contains("CHECKOUT")));
    }

    #[test]
    fn registers_only_at_a_single_run_call() {
        let program = "fn main() -> ExitCode {\n    App::new().run()\n}\n";
        let expected = "fn main() -> ExitCode {\n    App::new().with_strategy::<a::B>().run()\n}\n";
        assert_eq!(add_registration(program, ".with_strategy::<a::B>()").as_deref(), Some(expected));
        assert_eq!(add_registration("a.run(); b.run()", "x"), None);
        assert_eq!(add_registration("", "x"), None);
    }

    #[test]
    fn adds_members_once_and_keeps_their_order() {
        for (before, member, expected) in [
            ("", "momentum", "members = [\"momentum\"]\n"),
            ("members = [\"a\"] # ours\n", "b", "members = [\"a\", \"b\"] # ours\n"),
            ("members = [\"a/*\"]\n", "a/b", "members = [\"a/*\"]\n"),
            ("members = [\"a/b\"]\n", "a/b", "members = [\"a/b\"]\n"),
        ] {
            let manifest = format!("[workspace]\n{before}").parse().unwrap();
            let mut workspace = Workspace { root: PathBuf::new(), manifest, member: member.to_owned() };
            workspace.add_to_members();
            assert_eq!(workspace.manifest.to_string(), format!("[workspace]\n{expected}"));
        }
    }
}
