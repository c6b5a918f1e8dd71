//! The pages of the book and its table of contents, settings and glossary agree.

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
fn the_table_of_contents_lists_every_page_once() {
    let docs = root().join("docs");
    let listed = listed();
    let set: BTreeSet<PathBuf> = listed.iter().cloned().collect();
    assert_eq!(set.len(), listed.len(), "a page is listed twice: {listed:?}");
    let is_page = |file: &PathBuf| file.starts_with(&docs) && !file.ends_with("SUMMARY.md");
    let pages: BTreeSet<PathBuf> = tracked(".md").into_iter().filter(is_page).collect();
    assert!(pages.len() > 40, "only {} pages were found", pages.len());
    assert_eq!(set, pages);
}

/// A repository's own pages show a directive of the book as it is written.
#[test]
fn pages_include_no_other_file() {
    let with_directive: Vec<PathBuf> =
        listed().into_iter().filter(|page| read(page).contains("{{#")).collect();
    assert!(with_directive.is_empty(), "{with_directive:?}");
}

#[test]
fn the_page_of_settings_shows_the_file_of_defaults() {
    let page = read(&root().join("docs/reference/settings.md"));
    let shown = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    assert_eq!(shown, Some(&*read(&root().join("config/default.toml"))), "run .ci/book BINARY --write");
}

#[test]
fn terms_that_pages_link_to_stand_in_the_glossary() {
    let glossary = read(&root().join("docs/glossary.md"));
    let mut terms = BTreeSet::new();
    for row in glossary.lines().filter_map(|line| line.strip_prefix("| <a id=\"")) {
        let (anchor, term) = row.split_once("\"></a>").unwrap();
        let term = term.split(" |").next().unwrap().to_lowercase();
        assert_eq!(anchor, term.replace(' ', "-"), "the anchor of a term is its words");
        assert!(terms.insert(anchor), "{anchor} stands there twice");
    }
    let mut count = 0;
    for page in listed() {
        let text = read(&page);
        let linked = links(&text, "](glossary.md#");
        let once: BTreeSet<&str> = linked.iter().copied().collect();
        assert!(
            once.is_subset(&terms),
            "{} links to terms that the glossary has not: {once:?}",
            page.display()
        );
        assert_eq!(once.len(), linked.len(), "{} links to a term twice", page.display());
        count += linked.len();
    }
    assert!(count > 40, "only {count} links to terms were found");
}
