//! Words that were given up stay out: one word for each thing, the field's own where there is one (docs/glossary.md).

use crate::tidy::{read, root, tracked};

/// Words of lower-case letters, which are also found as parts of names (`fate_of`, `FateTable`).
const WORDS: &str = "foretold foreseen fate testimony chronicle census conductor crew likeness sought mood moods \
                     scrutiny unheard shelf shelves revive torn keeping keeper tap untold sheet sheets witness \
                     witnesses desk";
const TEXTS: &str = "put away|put_away|deepest fall|per unit staked|loads nothing|come along|drawn back|\
                     ended as a trade or as none|GiveCandles|MendDeclaration|NameAnother|AwaitSweep|MakeRoom";

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

fn retired_in(line: &str) -> Vec<String> {
    let retired = words(line).into_iter().filter(|word| WORDS.split_whitespace().any(|one| one == word));
    let texts = TEXTS.split('|').filter(|text| line.contains(text));
    retired.chain(texts.map(str::to_owned)).collect()
}

#[test]
fn retired_words_stay_out() {
    let mut found = Vec::new();
    for file in [".rs", ".md", ".toml", ".js", ".css"].into_iter().flat_map(tracked) {
        let name = file.strip_prefix(root()).expect("it lies below the root");
        // This list, and what was called so when it changed.
        if name.ends_with("tests/words.rs") || name.ends_with("CHANGELOG.md") {
            continue;
        }
        for (number, line) in (1..).zip(read(&file).lines()) {
            let retired = retired_in(line).into_iter();
            found.extend(retired.map(|word| format!("{}:{number}: {word}", name.display())));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_word_is_found_in_names_and_not_in_other_words() {
    for line in ["the fate of it", "FateTable", "fn fate_of()", "see `Fate`", "fatefully fate"] {
        assert_eq!(retired_in(line), ["fate"], "{line}");
    }
    assert_eq!(retired_in("Error::GiveCandles: was put away, torn"), ["torn", "put away", "GiveCandles"]);
}
