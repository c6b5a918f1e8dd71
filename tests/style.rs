//! Writing style that regular expressions can check: phrases to avoid, retired terms and commit subjects.

use crate::tidy::{read, root, tracked};
use regex::Regex;
use std::process::Command;

/// Phrase to avoid, exceptions to remove before the search, and the replacement.
struct Phrase {
    pattern: &'static str,
    except: &'static str,
    instead: &'static str,
}

const fn phrase(pattern: &'static str, instead: &'static str) -> Phrase {
    Phrase { pattern, except: "$^", instead }
}

const PHRASES: &[Phrase] = &[
    Phrase {
        pattern: r"\b(?:is|are|was|were) no [a-z]",
        except: r"(?i)\b(?:there|here) (?:is|are|was|were) no\b|\b(?:is|are) no (?:longer|more|less|later)\b",
        instead: "is not a",
    },
    phrase(r"(?i)\b(?:nobody|somebody|whoever)\b", "the operator, no one, another process"),
    phrase(r"\banew\b", "again"),
    phrase(r"\bnone (?:where|of yet|yet of)\b|\bwhere none\b", "`None` if there is none"),
    phrase(
        r"^\s*//[/!] (?:Of|With|For|Until|From|Since|By|At|In|On|To) (?:what|which|whom|how|when|where)\b",
        "a noun",
    ),
    phrase(r"^\s*//[/!] (?:What|Whose|Who|How|Where|Why|Which)\b", "a noun phrase or a verb"),
    phrase(r"\bfn (?:of|words)\b", "`from_*`, `new`, `describe`, `render`"),
    phrase(r"\b(?:stands|stand) (?:in the way|there|beside|before|between|behind)\b", "is"),
    phrase(r"\b(?:is|are|was|were) told\b", "reported, notified"),
    phrase(r"\b(?:is|are) held (?:to|against)\b", "compared with, checked against"),
    phrase(r"\bcures?\b", "fix, hint"),
    phrase(r"\bpassed over\b", "skipped"),
    phrase(r"\bin place of\b", "instead of"),
    phrase(r"\bbeside\b", "with, next to, in addition to"),
    phrase(r"\ba person\b", "the operator, manually"),
    phrase(r"\b(?:comes|came|come) of (?:it|them|that|this)\b", "the result"),
];

const RETIRED: &str = r"(?i)\b(?:foretold|foreseen|testimony|chronicle|likeness|scrutiny|unheard|keeper|untold|deepest fall|put away)\b";

/// Unchecked files, each with its reason.
const EXEMPT: &[(&str, &str)] = &[
    ("tests/style.rs", "names the phrases"),
    ("tests/golden/base/", "recorded outputs, never rewritten"),
    ("docs/api/", "the venue's own documents"),
    ("LICENSE", "legal text"),
    ("crates/records/src/explain/doubt.rs", "matches texts of recorded journals"),
    ("crates/report/src/run/caveats.rs", "contains a label of documents"),
];

const ENDINGS: [&str; 8] = [".rs", ".md", ".toml", ".py", ".pyi", ".js", ".css", ".html"];

/// Commit after which subjects are checked.
const FIRST_COMMIT: &str = "063c61fc";
const MAX_SUBJECT_LENGTH: usize = 72;

struct Checks(Vec<(Regex, Regex, &'static str)>);

impl Checks {
    fn new() -> Self {
        let retired = phrase(RETIRED, "a standard term");
        let compile = |pattern: &str| Regex::new(pattern).expect("a pattern of this file is valid");
        let rows = PHRASES.iter().chain([&retired]);
        Self(rows.map(|row| (compile(row.pattern), compile(row.except), row.instead)).collect())
    }

    fn find(&self, line: &str) -> Vec<String> {
        let find = |(pattern, except, instead): &(Regex, Regex, &str)| {
            let line = except.replace_all(line, "");
            let found = pattern.find(&line)?;
            Some(format!("{:?}; write: {instead}", found.as_str().trim()))
        };
        self.0.iter().filter_map(find).collect()
    }
}

fn subject_problem(subject: &str) -> Option<&'static str> {
    let first = subject.split(' ').next().unwrap_or_default();
    let is_third_person = first.ends_with('s') && !["ss", "us", "as"].iter().any(|end| first.ends_with(end));
    if subject.chars().count() > MAX_SUBJECT_LENGTH {
        Some("longer than 72 characters")
    } else if !first.starts_with(char::is_uppercase) {
        Some("does not start with an upper-case letter")
    } else if subject.ends_with('.') {
        Some("ends with a period")
    } else if is_third_person
        || (first.ends_with("ed") && !["Embed", "Feed", "Need", "Seed", "Shed"].contains(&first))
        || first.ends_with("ing")
    {
        Some("is not imperative")
    } else {
        None
    }
}

#[test]
fn avoids_unidiomatic_phrases_and_retired_terms() {
    let checks = Checks::new();
    let mut found = Vec::new();
    for file in ENDINGS.into_iter().flat_map(tracked) {
        let name = file.strip_prefix(root()).expect("the file is in the repository").display().to_string();
        if EXEMPT.iter().any(|(exempt, _)| name.starts_with(exempt)) {
            continue;
        }
        for (number, line) in (1..).zip(read(&file).lines()) {
            found.extend(checks.find(line).into_iter().map(|problem| format!("{name}:{number}: {problem}")));
        }
    }
    assert!(found.is_empty(), "{} phrases\n{}", found.len(), found.join("\n"));
}

#[test]
fn commit_subjects_are_imperative_and_short() {
    let range = format!("{FIRST_COMMIT}..HEAD");
    let output = Command::new("git").args(["log", "--format=%s", &range]).current_dir(root()).output();
    let output = output.expect("git must be installed to check commit subjects");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the history must reach back to {FIRST_COMMIT}: {error}");
    let subjects = String::from_utf8(output.stdout).expect("subjects are text");
    let problem = |subject: &str| subject_problem(subject).map(|problem| format!("{subject:?} {problem}"));
    let found: Vec<String> = subjects.lines().filter_map(problem).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn finds_each_phrase_and_accepts_its_replacement() {
    let checks = Checks::new();
    for (line, count) in [
        ("1.5 is no whole number", 1),
        ("there is no bot, and it is no longer open", 0),
        ("/// Of how many lines; none where of none yet.", 2),
        ("/// What is asked of the market, and when.", 1),
        ("/// Schedules market requests.", 0),
        ("fn of<T>(rows: &[T]) -> Self {", 1),
        ("fn offer(rows: &[Row]) -> Self {", 0),
        ("an open trade stands in the way", 1),
        ("nobody is told", 2),
    ] {
        assert_eq!(checks.find(line).len(), count, "{line}: {:?}", checks.find(line));
    }
}

#[test]
fn finds_each_problem_of_a_subject() {
    for (subject, is_good) in [
        ("Add per-bot daily loss limits", true),
        ("Pass the clock to the runner", true),
        ("Added per-bot loss limits", false),
        ("Adds per-bot loss limits", false),
        ("Adding per-bot loss limits", false),
        ("add per-bot loss limits", false),
        ("Add per-bot loss limits.", false),
        ("Add per-bot loss limits for each of the bots of a run and for all of them", false),
    ] {
        assert_eq!(subject_problem(subject).is_none(), is_good, "{subject}");
    }
}
