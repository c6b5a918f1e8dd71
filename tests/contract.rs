//! The venue's contract, line by line: each line names the test that holds it in the sandbox and in the client.

use crate::candlewick::repository;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

struct Line {
    section: String,
    text: String,
    tests: [String; 2],
}

/// How many lines each section has. Sections 6 (events) and 9 (versioning) promise nothing.
const SECTIONS: &str = "1 3, 2.1 2, 2.2 2, 2.3 11, 2.4 1, 2.5 2, 2.6 4, 2.7 1, 2.8 1, 3 3, 4.1 1, 4.1.1 4, \
                        4.1.2 8, 4.1.3 4, 4.1.4 12, 4.1.5 3, 4.2 2, 4.2.6 6, 4.2.7 3, 4.2.8 10, 5 3, 5.1 2, \
                        5.2 3, 5.3 2, 7 4";

/// The endpoint that the client makes no use of: only the sandbox holds its lines.
const NOT_ASKED: &str = "4.2.7";

const DEFAULTS: [&str; 4] = ["page default 1", "pageSize default 10", "skip default 0", "limit default 1000"];

const MUST_STAND: [(&str, &str); 12] = [
    ("4.1.1", "GET /token/wallets|header api-token required|header x-timestamp required"),
    ("4.1.2", "GET /token/trades|header api-token required|header x-timestamp required"),
    ("4.1.3", "GET /token/trades/{id}|header api-token required"),
    ("4.1.4", "POST /token/trades/open|header api-token required"),
    ("4.1.5", "GET /token/users/me|header api-token required"),
    ("4.2.6", "GET /symbol-price/last"),
    ("4.2.7", "GET /symbol-price/default/{pair}"),
    ("4.2.8", "GET /aggregated-prices/prices"),
    ("4.1", "success status is 200"),
    ("4.2", "success status is 200|header api-key required on all three"),
    ("7", "400 Bad Request|401 Unauthorized|404 Not Found|500 Internal Server Error"),
    ("5", "credential header api-token|credential header api-key"),
];

fn lines() -> Vec<Line> {
    let mut reader = csv::Reader::from_path(repository().join("tests/contract.csv")).unwrap();
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(header, ["section", "line", "sandbox_test", "client_test"]);
    let read = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.unwrap();
        let [section, text, sandbox, client] = [0, 1, 2, 3].map(|index| record[index].to_owned());
        Line { section, text, tests: [sandbox, client] }
    };
    reader.records().map(read).collect()
}

fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    text
}

fn has_test(source: &str, name: &str) -> bool {
    let signature = format!("fn {name}(");
    source.match_indices(&signature).any(|(place, _)| {
        let before: Vec<&str> = source[..place].lines().rev().take(4).collect();
        before.iter().any(|line| {
            let line = line.trim();
            line == "#[test]" || line.starts_with("#[tokio::test")
        })
    })
}

#[test]
fn each_line_is_held_by_tests_that_exist() {
    let crates = ["sandbox", "api"].map(|name| sources(&repository().join("crates").join(name)));
    for Line { section, text, tests } in lines() {
        let is_asked = |test: &&String| section != NOT_ASKED || *test != "(not asked)";
        for (test, source) in tests.iter().filter(is_asked).zip(&crates) {
            assert!(has_test(source, test), "section {section}, {text}: there is no test {test}");
        }
    }
}

#[test]
fn each_section_has_all_of_its_lines() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines() {
        *found.entry(line.section).or_default() += 1;
    }
    let section = |section: &str| {
        let (name, count) = section.split_once(' ').unwrap();
        (name.to_owned(), count.parse().unwrap())
    };
    let expected = SECTIONS.split(", ").map(section).chain([("8".to_owned(), DEFAULTS.len())]);
    assert_eq!(found, expected.collect());
}

#[test]
fn each_endpoint_header_status_and_default_has_a_line() {
    let lines = lines();
    let defaults = DEFAULTS.map(|default| ("8", default));
    for (section, starts) in MUST_STAND.iter().chain(&defaults) {
        for start in starts.split('|') {
            let stands = lines.iter().any(|line| line.section == *section && line.text.starts_with(start));
            assert!(stands, "section {section} has no line that begins with {start:?}");
        }
    }
}
