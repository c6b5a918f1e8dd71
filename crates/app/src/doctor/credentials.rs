//! Check that both credentials exist and are private.

use super::finding::{Check, Finding};
use crate::configuration::{Loaded, check_secrets, given_secrets};

const CREDENTIALS: [(&str, &str, &str); 2] = [
    ("api_token", "api-token", "`backtest`, `paper` and `live --sandbox` need none"),
    ("api_key", "api-key", "`backtest` and `live --sandbox` need none"),
];

pub(super) fn check(loaded: &Loaded) -> Vec<Finding> {
    let problems = check_secrets(loaded);
    if !problems.is_empty() {
        let fail = |problem: &crate::configuration::Problem| {
            Check::Credentials
                .fail(problem.to_string(), "give the credential in the environment, or in a file of mode 600")
        };
        return problems.iter().map(fail).collect();
    }
    let given = given_secrets(&loaded.config.broker);
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for (key, header, without) in CREDENTIALS {
        match given.iter().find(|(name, _)| *name == key) {
            Some((_, origin)) => found.push(format!("{header} from {origin}")),
            None => missing.push(Check::Credentials.fail(
                format!("there is no {header}"),
                format!("set CANDLEWICK_BROKER__{} or broker.{key}_file; {without}", key.to_uppercase()),
            )),
        }
    }
    if missing.is_empty() { vec![Check::Credentials.ok(found.join(", "))] } else { missing }
}
