//! References of code and documents: cited sections, named paths and links exist in the repository.

use crate::tidy::{read, root, tracked};
use candlewick_engine::Rule;
use std::path::Path;

/// Document cited by a word and a section: `contract 4.1`, `observed: expiry`, `domain 5.2`.
struct CitedDocument {
    word: &'static str,
    text: String,
}

impl CitedDocument {
    fn read(word: &'static str, document: &str) -> Self {
        Self { word, text: read(&root().join(document)) }
    }

    fn sections_in(&self, text: &str) -> Vec<String> {
        let is_named = self.word.ends_with(':');
        let section = |rest: &str| -> String {
            let is_part = |letter: &char| match letter {
                'a'..='z' => is_named,
                '0'..='9' | '.' => !is_named,
                _ => false,
            };
            let part: String = rest.trim_start().chars().take_while(is_part).collect();
            part.trim_end_matches('.').to_owned()
        };
        let word = format!("{} ", self.word);
        let starts = text.match_indices(&word).map(|(start, found)| start + found.len());
        starts.map(|start| section(&text[start..])).filter(|section| !section.is_empty()).collect()
    }

    fn has(&self, section: &str) -> bool {
        let is_heading = |line: &str| {
            let title = line.trim_start_matches('#').trim_start().to_lowercase();
            let rest = title.strip_prefix(section);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(". ") || rest.starts_with(' '))
        };
        self.text.lines().filter(|line| line.starts_with('#')).any(is_heading) || self.has_rule(section)
    }

    /// Returns whether `5.2` is the second item of a numbered list in section 5.
    fn has_rule(&self, section: &str) -> bool {
        let Some((section, rule)) = section.split_once('.') else { return false };
        let (chapter, rule) = (format!("## {section}. "), format!("{rule}. "));
        let lines = self.text.lines().skip_while(|line| !line.starts_with(&chapter)).skip(1);
        lines.take_while(|line| !line.starts_with("## ")).any(|line| line.starts_with(&rule))
    }
}

fn documents() -> [CitedDocument; 4] {
    [
        CitedDocument::read("contract", "docs/api/contract.md"),
        CitedDocument::read("observed:", "docs/api/observed.md"),
        CitedDocument::read("domain", "docs/domain.md"),
        CitedDocument::read("performance:", "docs/performance.md"),
    ]
}

#[test]
fn guide_names_every_risk_rule_in_order() {
    let text = read(&root().join("docs/domain.md"));
    let table =
        text.lines().skip_while(|line| !line.starts_with("## 4. ")).filter(|line| line.starts_with("| `"));
    let names =
        table.filter_map(|line| line.split(" | ").next()).flat_map(|cell| cell.split('`').skip(1).step_by(2));
    assert_eq!(names.collect::<Vec<_>>(), Rule::ALL.map(Rule::as_str));
}

#[test]
fn cited_sections_exist() {
    let documents = documents();
    let mut citations = 0;
    for file in [".rs", ".md", ".toml"].into_iter().flat_map(tracked) {
        let text = read(&file);
        for document in &documents {
            for section in document.sections_in(&text) {
                citations += 1;
                let word = document.word;
                assert!(document.has(&section), "{}: there is no section {word} {section}", file.display());
            }
        }
    }
    assert!(citations > 100, "only {citations} citations were found");
}

#[test]
fn detects_a_missing_section() {
    let [contract, observed, domain, _] = documents();
    let is_there = [contract.has("4.1"), contract.has("2"), observed.has("expiry"), domain.has("5.8")];
    let is_not = [contract.has("4.3"), contract.has("10"), observed.has("expire"), domain.has("5.99")];
    assert_eq!((is_there, is_not), ([true; 4], [false; 4]));
    assert_eq!(contract.sections_in("(contract 4.1). The contract, contract 5: contract of"), ["4.1", "5"]);
    assert_eq!(observed.sections_in("(observed: expiry), observed: Nothing"), ["expiry"]);
}

fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    const ROOMS: &str = "crates/ tests/ strategies/ examples/ config/ docs/ benches/ backtest-data/ .ci/";
    let is_path = |path: &&str| {
        let is_plain = |letter: char| !letter.is_whitespace() && !"*<>{}".contains(letter);
        ROOMS.split(' ').any(|room| path.starts_with(room)) && path.chars().all(is_plain)
    };
    text.split('`').skip(1).step_by(2).filter(is_path)
}

#[test]
fn paths_named_in_documents_exist() {
    let mut named = 0;
    // Paths in the changelog need not exist any more.
    for file in tracked(".md").into_iter().filter(|file| !file.ends_with("CHANGELOG.md")) {
        let text = read(&file);
        for path in named_paths(&text) {
            named += 1;
            assert!(root().join(path).exists(), "{} names {path}, which is not there", file.display());
        }
        let folder = file.parent().expect("every file has a folder");
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for link in links.filter(|link| !link.is_empty() && !link.contains("://")) {
            assert!(folder.join(link).exists(), "{} links to {link}, which is not there", file.display());
        }
    }
    assert!(named > 20, "only {named} paths were found");
}

fn blocks(page: &Path) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in read(page).lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(word), None) => open = Some((word.to_owned(), String::new())),
            (Some(word), Some(_)) => {
                assert_eq!(word, "", "{}: a block begins inside of another", page.display());
                blocks.extend(open.take());
            }
            (None, Some((_, block))) => block.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{}: the last block is not closed", page.display());
    blocks
}

#[test]
fn every_code_block_of_a_page_is_closed() {
    let blocks: usize = tracked(".md").iter().map(|page| blocks(page).len()).sum();
    assert!(blocks > 100, "only {blocks} blocks were found");
}

#[test]
fn code_of_the_first_strategies_is_the_compiled_example() {
    let source = root().join("examples/own-bot/src");
    let example = read(&source.join("main.rs")) + &read(&source.join("band_return.rs"));
    let blocks = blocks(&root().join("docs/first-strategy.md"));
    let parts: Vec<_> = blocks.iter().filter(|(kind, _)| kind == "rust").collect();
    assert_eq!(parts.len(), 8);
    for (_, part) in parts {
        assert!(example.contains(part.as_str()), "examples/own-bot does not have:\n{part}");
    }
}
