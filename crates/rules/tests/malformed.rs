//! Messages and positions of malformed rules.

use candlewick_rules::{Rule, RuleError};
use candlewick_sdk::Interval;
use std::collections::BTreeMap;

/// Three lines per case: the rule, marks under the wrong part, and the message.
const TABLE: &str = include_str!("malformed.txt");

fn error_of(text: &str) -> Option<RuleError> {
    let parameters =
        BTreeMap::from([("period".to_owned(), 14.0), ("level".to_owned(), 30.5), ("zero".to_owned(), 0.0)]);
    match Rule::parse(Some(text), None) {
        Err((_, error)) => Some(error),
        Ok(rule) => rule.build(&parameters, Interval::MINUTE, None).err().map(|(_, error)| error),
    }
}

fn told(text: &str) -> String {
    match error_of(text) {
        Some(error) => format!("{}\n  {}", error.render(text), error.message),
        None => format!("{text}\n  (it is valid)"),
    }
}

#[test]
fn malformed_rules_have_message_and_position() {
    let cases: Vec<&str> = TABLE
        .split("\n\n")
        .map(|case| case.trim_matches('\n'))
        .filter(|case| !case.starts_with('#'))
        .collect();
    assert!(cases.len() >= 200, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let rule = case.lines().next().unwrap_or_default();
        let found = told(rule);
        if found != *case {
            wrong.push(format!("{found}\n--- expected:\n{case}\n"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
