//! The venue's contract, line by line: each line names the tests that check it in the sandbox and in the client.

use crate::tidy::{read, root, tracked};
use std::collections::BTreeMap;

/// Number of lines of each section. Sections 6 (events) and 9 (versioning) promise nothing.
const SECTIONS: &str = "1 3, 2.1 2, 2.2 2, 2.3 11, 2.4 1, 2.5 2, 2.6 4, 2.7 1, 2.8 1, 3 3, 4.1 1, 4.1.1 4, \
                        4.1.2 8, 4.1.3 4, 4.1.4 12, 4.1.5 3, 4.2 2, 4.2.6 6, 4.2.7 3, 4.2.8 10, 5 3, 5.1 2, \
                        5.2 3, 5.3 2, 7 4";

/// Endpoint unused by the client: only the sandbox is tested for its lines.
const UNUSED_ENDPOINT: &str = "4.2.7";

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

fn lines() -> Vec<[String; 4]> {
    let mut reader = csv::Reader::from_path(root().join("tests/contract.csv")).unwrap();
    let header: Vec<&str> = reader.headers().unwrap().iter().collect();
    assert_eq!(header, ["section", "line", "sandbox_test", "client_test"]);
    reader.deserialize().map(Result::unwrap).collect()
}

fn sources(name: &str) -> String {
    let folder = root().join("crates").join(name);
    let files = tracked(".rs").into_iter().filter(|file| file.starts_with(&folder));
    files.map(|file| read(&file)).collect()
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
fn each_line_names_existing_tests() {
    let crates = ["sandbox", "api"].map(sources);
    for [section, text, sandbox, client] in lines() {
        let is_asked = |test: &&String| section != UNUSED_ENDPOINT || *test != "(not asked)";
        for (test, source) in [&sandbox, &client].into_iter().filter(is_asked).zip(&crates) {
            assert!(has_test(source, test), "section {section}, {text}: there is no test {test}");
        }
    }
}

#[test]
fn each_section_has_all_of_its_lines() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for [section, ..] in lines() {
        *found.entry(section).or_default() += 1;
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
            let stands = lines.iter().any(|[place, text, ..]| place == section && text.starts_with(start));
            assert!(stands, "section {section} has no line that begins with {start:?}");
        }
    }
}
