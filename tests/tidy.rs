//! Repository rules: crate dependencies, length of functions, headings, words.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Allowed dependencies of each crate. A crate missing in a list must not be named.
const ARROWS: &[(&str, &str)] = &[
    ("sdk", ""),
    ("statistics", ""),
    ("engine", "sdk statistics"),
    ("simulator", "sdk"),
    ("history", "sdk"),
    ("broker", "sdk"),
    ("api", "sdk broker"),
    ("backtest", "sdk engine simulator statistics"),
    ("search", "sdk engine simulator statistics backtest"),
    ("sandbox", "sdk simulator history broker"),
    ("journal", "sdk engine"),
    ("notify", ""),
    ("storage", ""),
    ("rules", "sdk engine statistics"),
    ("runtime", "sdk engine broker journal simulator statistics"),
    ("records", "sdk engine statistics journal backtest simulator broker"),
    ("report", "sdk engine simulator statistics backtest search records"),
    ("tui", "sdk engine statistics runtime records"),
    (
        "app",
        "sdk engine simulator statistics history backtest search broker api journal notify records \
         rules runtime sandbox storage",
    ),
    ("dashboard", "sdk engine statistics journal records report runtime app"),
    (
        "cli",
        "app dashboard sdk engine simulator statistics history backtest search broker journal records \
         report rules sandbox runtime tui strategies",
    ),
    ("python", "app cli engine history records report sdk"),
];

const MAX_FUNCTION_LINES: usize = 70;
const MAX_TUPLE_VALUES: usize = 3;

pub(crate) fn root() -> PathBuf {
    let cli = Path::new(env!("CARGO_MANIFEST_DIR"));
    cli.ancestors().nth(2).expect("the cli lies two folders below the root").to_owned()
}

pub(crate) fn read(file: &Path) -> String {
    fs::read_to_string(file).expect("a file of the repository is text")
}

pub(crate) fn tracked(ending: &str) -> Vec<PathBuf> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let output = output.expect("git must be installed to check the files of the repository");
    assert!(output.status.success(), "git ls-files failed: {}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).expect("file names are text");
    let files: Vec<PathBuf> =
        names.split('\0').filter(|name| name.ends_with(ending)).map(|name| root().join(name)).collect();
    assert!(!files.is_empty(), "git tracks no {ending} file");
    files.into_iter().filter(|file| file.exists()).collect()
}

fn sources() -> Vec<(PathBuf, String)> {
    let with_text = |file: PathBuf| {
        let text = read(&file);
        (file.strip_prefix(root()).expect("it is below the root").to_owned(), text)
    };
    tracked(".rs").into_iter().map(with_text).collect()
}

fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs these tests");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a workspace has packages");
    let is_ours = |entry: &&serde_json::Value| entry["path"].is_string() && entry["kind"].is_null();
    let short = |package: &serde_json::Value| {
        let name = package["name"].as_str().unwrap_or_default();
        let folder = package["manifest_path"].as_str().or(package["path"].as_str()).unwrap_or_default();
        let is_strategy = Path::new(folder).components().any(|part| part.as_os_str() == "strategies");
        if is_strategy { "strategies".to_owned() } else { name.trim_start_matches("candlewick-").to_owned() }
    };
    let arrows = |package: &serde_json::Value| {
        let named = package["dependencies"].as_array().into_iter().flatten().filter(is_ours).map(short);
        (package["name"].as_str().unwrap_or_default().to_owned(), named.collect())
    };
    packages.iter().map(arrows).collect()
}

#[test]
fn crates_depend_only_on_allowed_crates() {
    let dependencies = dependencies();
    for (name, allowed) in ARROWS {
        let used = &dependencies[&format!("candlewick-{name}")];
        let is_allowed = |other: &&String| allowed.split(' ').any(|name| name == *other);
        let strangers: Vec<_> = used.iter().filter(|other| !is_allowed(other)).collect();
        assert!(strangers.is_empty(), "{name} must not depend on {strangers:?}");
    }
    let strategies = crates_in("strategies");
    assert!(strategies.len() >= 3, "{strategies:?}");
    for strategy in &strategies {
        let expected = BTreeSet::from(["sdk".to_owned()]);
        assert_eq!(dependencies[strategy.as_str()], expected, "{strategy} may only depend on the sdk");
    }
    assert!(dependencies.values().all(|names| !names.contains("xtask")));
    let known = ARROWS.len() + strategies.len() + crates_in("examples").len() + 1;
    assert_eq!(dependencies.len(), known, "a crate was added or removed: {:?}", dependencies.keys());
}

fn crates_in(folder: &str) -> Vec<String> {
    let folders = std::fs::read_dir(root().join(folder)).unwrap().map(|folder| folder.unwrap());
    // The `rules` entry under strategies is not a crate.
    let crates = folders.filter(|folder| folder.path().join("Cargo.toml").exists());
    crates.map(|folder| folder.file_name().into_string().unwrap()).collect()
}

fn production(text: &str) -> Vec<&str> {
    text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).collect()
}

fn functions<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = &'a [&'a str]> {
    let starts = lines.iter().enumerate().filter(|(_, line)| {
        let words = line.trim_start().split(' ').take_while(|word| !word.contains('('));
        !line.trim_start().starts_with("//") && words.clone().any(|word| word == "fn")
            || line.trim_start().starts_with("fn ")
    });
    starts.filter_map(|(start, line)| {
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        let length = lines[start..].iter().position(|line| *line == end)?;
        Some(&lines[start..=start + length])
    })
}

fn for_functions(mut check: impl FnMut(&str, &[&str])) -> usize {
    let mut count = 0;
    for (file, text) in sources().into_iter().filter(|(file, _)| !is_test(file)) {
        let lines = production(&text);
        for function in functions(&lines) {
            check(&format!("{}: {}", file.display(), function[0].trim()), function);
            count += 1;
        }
    }
    count
}

#[test]
fn functions_fit_on_a_screen() {
    let count = for_functions(|place, function| {
        let is_code = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        let code = function.iter().filter(is_code).count();
        assert!(code <= MAX_FUNCTION_LINES, "{place} has {code} lines");
    });
    assert!(count > 5_000, "only {count} functions were found");
}

#[test]
fn functions_take_small_tuples() {
    let mut count = 0;
    for_functions(|place, function| {
        let head = function.iter().copied().take_while(|line| !line.ends_with('{'));
        let head: Vec<&str> = head.chain([function[0]]).collect();
        for parameter in head.join(" ").split("): (").skip(1) {
            let depth_ends = |(depth, values): (i32, usize), letter: char| match letter {
                '(' | '<' | '[' => Ok((depth + 1, values)),
                ')' if depth == 0 => Err(values),
                ')' | '>' | ']' => Ok((depth - 1, values)),
                ',' if depth == 0 => Ok((depth, values + 1)),
                _ => Ok((depth, values)),
            };
            let values = parameter.chars().try_fold((0, 1), depth_ends).err().unwrap_or(1);
            assert!(values <= MAX_TUPLE_VALUES, "{place} takes {values} values in a tuple");
            count += 1;
        }
    });
    assert!(count > 100, "only {count} tuples were found");
}

#[test]
fn files_have_headings_and_no_stubs() {
    let vague = ["utils", "util", "common", "helpers", "helper", "types", "misc"];
    // Built from parts, so that this file does not contain them.
    let stubs = [["todo!", "("], ["unimplemented!", "("], ["#[ignore", "]"]].map(|parts| parts.concat());
    for (file, text) in sources() {
        assert!(
            is_test(&file) || text.starts_with("//! "),
            "{} does not begin with a heading",
            file.display()
        );
        let names: Vec<_> = file.iter().map(|part| part.to_string_lossy().replace(".rs", "")).collect();
        assert!(!names.iter().any(|name| vague.contains(&name.as_str())), "{}", file.display());
        for word in &stubs {
            assert!(!text.contains(word), "{} holds {word}", file.display());
        }
    }
}

#[test]
fn repository_describes_only_the_product() {
    let mut files = sources();
    let endings = [".md", ".toml", ".yaml", ".sh", ".py", "run"];
    let is_read = |file: &PathBuf| endings.iter().any(|ending| file.to_string_lossy().ends_with(ending));
    let read = |file: PathBuf| Some((file.clone(), fs::read_to_string(file).ok()?));
    files.extend(tracked("").into_iter().filter(is_read).filter_map(read));
    let words = [format!("/{}/", "work"), format!("issue {}", "#"), format!("{}.md", "DEVELOPERS")];
    for (file, text) in files {
        for word in &words {
            assert!(!text.contains(word), "{} holds {word:?}", file.display());
        }
    }
}

fn is_test(file: &Path) -> bool {
    file.iter().any(|part| part == "tests" || part == "benches" || part == "tests.rs")
}
