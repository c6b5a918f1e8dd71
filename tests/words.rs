//! Words that were given up stay out: one word for each thing, the field's own where there is one (docs/glossary.md).

use crate::tidy::{root, tracked};
use std::collections::BTreeMap;
use std::fs;

/// What is not written any more, and what stands for it. A word of lower-case letters is also found as a part of a name
/// (`fate_of`, `FateTable`); others are found as they are.
const RETIRED: &[(&str, &str)] = &[
    ("foretold", "precomputed outcome"),
    ("foreseen", "precomputed"),
    ("fate", "outcome, or outcome table"),
    ("testimony", "clock sample"),
    ("chronicle", "journal reader, records"),
    ("census", "variant count"),
    ("conductor", "coordinator, or runner"),
    ("crew", "bot set"),
    ("likeness", "match"),
    ("sought", "query"),
    ("mood", "regime state"),
    ("scrutiny", "validation"),
    ("unheard", "suppressed"),
    ("shelf", "series cache"),
    ("revive", "reinstate"),
    ("torn", "corrupted, or cut short"),
    ("keeping", "journal session, or storing"),
    ("tap", "observer"),
    ("untold", "unstated, or missing"),
    ("put away", "evict"),
    ("put_away", "evict"),
    ("deepest fall", "max. drawdown"),
    ("sheet", "table"),
    ("sheets", "tables"),
    ("witness", "clock sample, source of a check, probe"),
    ("witnesses", "clock samples"),
    ("moods", "regimes"),
    ("shelves", "store"),
    ("keeper", "journal writer"),
    ("desk", "progress tracker"),
    ("per unit staked", "expectancy (% of stake)"),
    ("loads nothing", "self-contained"),
    ("come along", "built-in; or what they do"),
    ("drawn back", "mean-reverting"),
    ("ended as a trade or as none", "it is known whether a trade was opened"),
    ("GiveCandles", "NoCandles"),
    ("MendDeclaration", "DeclarationMismatch"),
    ("NameAnother", "JournalKindMismatch"),
    ("AwaitSweep", "SweepIncomplete"),
    ("MakeRoom", "DiskFull"),
];

fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in line.chars() {
        let begins = letter.is_uppercase() && !before.is_uppercase();
        if begins || !letter.is_alphabetic() {
            words.push(String::new());
        }
        if letter.is_alphabetic() {
            words.last_mut().expect("there is always a word").extend(letter.to_lowercase());
        }
        before = letter;
    }
    words
}

struct Retired {
    words: BTreeMap<&'static str, &'static str>,
    parts: Vec<(&'static str, &'static str)>,
}

impl Retired {
    fn new() -> Self {
        let is_word = |(retired, _): &(&str, &str)| retired.chars().all(|letter| letter.is_ascii_lowercase());
        let (words, parts): (Vec<_>, Vec<_>) = RETIRED.iter().copied().partition(is_word);
        Self { words: words.into_iter().collect(), parts }
    }

    fn of_line(&self, line: &str) -> Vec<(&'static str, &'static str)> {
        let words = words(line);
        let words = words.iter().filter_map(|word| self.words.get_key_value(word.as_str()));
        let parts = self.parts.iter().filter(|(retired, _)| line.contains(retired));
        words.map(|(retired, instead)| (*retired, *instead)).chain(parts.copied()).collect()
    }
}

#[test]
fn retired_words_stay_out() {
    let (retired, mut found) = (Retired::new(), Vec::new());
    for file in [".rs", ".md", ".toml", ".js", ".css"].into_iter().flat_map(tracked) {
        let name = file.strip_prefix(root()).expect("it lies below the root");
        // This list, and what was called so when it changed.
        if name.ends_with("tests/words.rs") || name.ends_with("CHANGELOG.md") {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a file of the repository is text");
        for (number, line) in (1..).zip(text.lines()) {
            for (word, instead) in retired.of_line(line) {
                found.push(format!("{}:{number}: \"{word}\", say {instead}", name.display()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_word_is_found_in_names_and_not_in_other_words() {
    let retired = Retired::new();
    for line in ["the fate of it", "FateTable", "fn fate_of()", "let fate = 1;", "see `Fate`"] {
        assert_eq!(retired.of_line(line), [("fate", "outcome, or outcome table")], "{line}");
    }
    assert_eq!(retired.of_line("Error::GiveCandles"), [("GiveCandles", "NoCandles")]);
    assert_eq!(
        retired.of_line("was put away, torn"),
        [("torn", "corrupted, or cut short"), ("put away", "evict")]
    );
    for line in ["fatefully", "sulfate", "a table"] {
        assert_eq!(retired.of_line(line), [], "{line}");
    }
}
