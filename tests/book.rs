//! Consistency of the book with its table of contents, settings, glossary and indicators.

use crate::tidy::{read, root, tracked};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn links<'a>(text: &'a str, opening: &str) -> Vec<&'a str> {
    text.split(opening).skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

fn listed() -> Vec<PathBuf> {
    let docs = root().join("docs");
    links(&read(&docs.join("SUMMARY.md")), "](").into_iter().map(|link| docs.join(link)).collect()
}

#[test]
fn table_of_contents_lists_every_page_once() {
    let docs = root().join("docs");
    let listed = listed();
    let set: BTreeSet<PathBuf> = listed.iter().cloned().collect();
    assert_eq!(set.len(), listed.len(), "a page is listed twice: {listed:?}");
    let is_page = |file: &PathBuf| file.starts_with(&docs) && !file.ends_with("SUMMARY.md");
    let pages: BTreeSet<PathBuf> = tracked(".md").into_iter().filter(is_page).collect();
    assert!(pages.len() > 40, "only {} pages were found", pages.len());
    assert_eq!(set, pages);
}

/// Pages of the repository show a directive of the book literally.
#[test]
fn pages_include_no_other_file() {
    let with_directive: Vec<_> = listed().into_iter().filter(|page| read(page).contains("{{#")).collect();
    assert!(with_directive.is_empty(), "{with_directive:?}");
}

#[test]
fn settings_page_shows_the_default_file() {
    let page = read(&root().join("docs/reference/settings.md"));
    let shown = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    assert_eq!(shown, Some(&*read(&root().join("config/default.toml"))), "run .ci/book BINARY --write");
}

#[test]
fn glossary_has_every_linked_term() {
    let glossary = read(&root().join("docs/glossary.md"));
    let mut terms = BTreeSet::new();
    for row in glossary.lines().filter_map(|line| line.strip_prefix("| <a id=\"")) {
        let (anchor, term) = row.split_once("\"></a>").unwrap();
        let term = term.split(" |").next().unwrap().to_lowercase();
        assert_eq!(anchor, term.replace(' ', "-"), "the anchor of a term is its words");
        assert!(terms.insert(anchor), "{anchor} is defined twice");
    }
    let mut count = 0;
    for page in listed() {
        let text = read(&page);
        let linked = links(&text, "](glossary.md#");
        let once: BTreeSet<&str> = linked.iter().copied().collect();
        assert!(once.is_subset(&terms), "{} links to unknown terms: {once:?}", page.display());
        assert_eq!(once.len(), linked.len(), "{} links to a term twice", page.display());
        count += linked.len();
    }
    assert!(count > 40, "only {count} links to terms were found");
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

fn cells(row: &str) -> Vec<&str> {
    let cells = row.trim_matches('|').split('|').map(str::trim);
    cells.map(|cell| cell.trim_matches(['`', '[', ']'])).collect()
}

#[test]
fn book_lists_every_indicator_of_the_source() {
    let folder = root().join("crates/sdk/src/indicator");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let source: String = files.map(|path| read(&path)).collect();
    let module = read(&folder.join("mod.rs"));
    let page = read(&root().join("docs/indicators.md"));
    let mut listed = page.lines().filter(|line| line.starts_with("| `")).map(cells);
    let indicators: Vec<Vec<&str>> =
        module.lines().filter_map(|line| line.strip_prefix("//! | [")).map(cells).collect();
    assert_eq!(indicators.len(), 20);
    for row in &indicators {
        let [name, _, usual, first, stable] = row[..] else { panic!("{row:?}") };
        let usual = if usual.is_empty() { "-" } else { usual };
        let listed = listed.next().unwrap();
        assert_eq!([&listed[..1], &listed[2..]].concat(), [name, usual, first, stable]);
    }
    for row in &indicators {
        let name = row[0];
        let methods = source.split_once(&format!("\nimpl {name} {{")).unwrap().1;
        let update = between(methods, "pub fn update(&mut self, ", "> {");
        let (taken, answered) = update.split_once(") -> Option<").unwrap();
        let takes = if taken.ends_with("&Candle") { "a candle" } else { "a number" };
        let answers = match answered {
            "f64" => "a number".to_owned(),
            "Candle" => "a candle".to_owned(),
            lines => {
                let fields = between(&source, &format!("\npub struct {lines} {{"), "\n}");
                let fields = fields.lines().filter_map(|line| line.strip_prefix("    pub ")?.split_once(':'));
                fields.map(|(field, _)| field).collect::<Vec<_>>().join(", ")
            }
        };
        let listed = listed.next().unwrap().join(" | ").replace('`', "");
        assert_eq!(listed, format!("{name} | {takes} | {answers}"));
    }
    assert_eq!(listed.next(), None);
}
