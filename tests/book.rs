//! The table of contents and the pages of the book are the same set, and pages stand by themselves.

use crate::tidy::{root, tracked};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn read(file: &Path) -> String {
    fs::read_to_string(file).expect("a page of the book is text")
}

/// The pages that the table of contents lists, in its order.
fn listed() -> Vec<PathBuf> {
    let docs = root().join("docs");
    let summary = read(&docs.join("SUMMARY.md"));
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.map(|link| docs.join(link)).collect()
}

#[test]
fn the_table_of_contents_lists_every_page_once() {
    let docs = root().join("docs");
    let listed = listed();
    let set: BTreeSet<PathBuf> = listed.iter().cloned().collect();
    assert_eq!(set.len(), listed.len(), "a page is listed twice: {listed:?}");
    let pages: BTreeSet<PathBuf> = tracked(".md")
        .into_iter()
        .filter(|file| file.starts_with(&docs) && !file.ends_with("SUMMARY.md"))
        .collect();
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

/// The terms that a text links to in the glossary.
fn linked_terms(text: &str) -> Vec<&str> {
    let links = text.split("](glossary.md#").skip(1);
    links.filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn terms_that_pages_link_to_stand_in_the_glossary() {
    let glossary = read(&root().join("docs/glossary.md"));
    let rows: Vec<&str> = glossary.lines().filter(|line| line.starts_with("| <a id=\"")).collect();
    let term_of = |row: &&str| {
        let (anchor, term) = row.strip_prefix("| <a id=\"")?.split_once("\"></a>")?;
        let term = term.split(" |").next()?.to_lowercase();
        assert_eq!(anchor, term.replace(' ', "-"), "the anchor of a term is its words");
        Some(anchor.to_owned())
    };
    let terms: BTreeSet<String> = rows.iter().filter_map(term_of).collect();
    assert_eq!(terms.len(), rows.len(), "a term stands there twice");
    let mut links = 0;
    for page in listed() {
        let text = read(&page);
        let linked = linked_terms(&text);
        for term in &linked {
            assert!(terms.contains(*term), "{} links to #{term}, which the glossary has not", page.display());
        }
        let once: BTreeSet<&&str> = linked.iter().collect();
        assert_eq!(once.len(), linked.len(), "{} links to a term twice", page.display());
        links += linked.len();
    }
    assert!(links > 40, "only {links} links to terms were found");
}
