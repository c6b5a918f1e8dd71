//! Comparison of two configurations, to find changes that need a restart.

use super::password::{MASK, cover, cover_path, has_secret_path};
use super::{Config, Loaded, Problem, Problems};
use crate::error::AppError;
use candlewick_engine::{SettingChange, changes_between};
use candlewick_runtime::RELOADABLE;
use serde_json::Value;

/// Keys of `[risk]` that are fixed at the start.
///
/// They are the terms of the verdict and the bounds of the day.
const FIXED_RISK: [&str; 4] = ["risk.verdict", "risk.day_start", "risk.day_timezone", "risk.session.of"];

pub fn check_reload(running: &Config, new: &Loaded) -> Result<(), AppError> {
    let json = |config| {
        serde_json::to_value(config).map_err(|error| AppError::system("the configuration is no JSON", error))
    };
    let changes = changes_between(&json(running)?, &json(&new.config)?);
    let fixed = changes.iter().filter(|change| !may_change(&change.key));
    Ok(Problems::check(fixed.map(|change| problem_of(change, new)).collect())?)
}

fn may_change(key: &str) -> bool {
    let is_below =
        |parent: &str| key.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    match key.split_once('.') {
        Some(("risk", _)) => !FIXED_RISK.iter().any(|fixed| is_below(fixed)),
        Some(("runtime", name)) => RELOADABLE.contains(&name),
        _ => false,
    }
}

fn problem_of(change: &SettingChange, new: &Loaded) -> Problem {
    let SettingChange { key, from, to } = change;
    let change = SettingChange { key: String::new(), from: masked(key, from), to: masked(key, to) };
    let change = change.to_string();
    let why = match key.split('.').next() {
        Some("bots") => "bots and their strategies are built at the start",
        Some("risk") => "it is fixed before the first trade that it judges, or with the day that has begun",
        _ => "it is fixed at the start",
    };
    let problem =
        format!("{} cannot change while the bot runs: {why}; restart the bot with it", change.trim());
    new.problem(key, problem)
}

fn masked(key: &str, value: &Value) -> Value {
    match value {
        Value::String(_) | Value::Object(_) if key.starts_with("broker.headers") => Value::from(MASK),
        Value::String(text) if has_secret_path(key) => Value::from(cover_path(text)),
        Value::String(text) => cover(text).map_or_else(|| value.clone(), Value::from),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Base, Flag};
    use super::*;

    const BOT: &str = "[[bots]]\nname = \"btc\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"rsi-reversal\"\n\
                       close_type = \"01:00\"\nparams = { period = 2 }\n";

    fn loaded(text: &str) -> Loaded {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bot.toml");
        std::fs::write(&file, text).unwrap();
        Loaded::read(&[file], Base::Bare, Vec::<Flag>::new()).unwrap()
    }

    /// A change of the configuration, and what is said of it; nothing where it may be.
    fn check(before: &str, after: &str, expected: &[&str]) {
        let running = loaded(&format!("{before}\n{BOT}")).config;
        let bots = if after.contains("[[bots]]") { "" } else { BOT };
        let checked = check_reload(&running, &loaded(&format!("{after}\n{bots}")));
        match (checked, expected) {
            (Ok(()), []) => {}
            (Ok(()), _) => panic!("{after} is taken"),
            (Err(error), _) => {
                let text = error.to_string();
                assert!(!expected.is_empty(), "{text}");
                for part in expected.iter().chain(&["restart the bot"]) {
                    assert!(text.contains(part), "no {part:?} in {text}");
                }
                assert!(!text.contains("hush"), "{text}");
            }
        }
    }

    #[test]
    fn limits_may_change_and_everything_else_is_refused_by_name() {
        check("", "", &[]);
        check(
            "",
            "[risk]\nmax_open_trades = 1\ndaily_loss_limit = 7.5\nmax_stake = 20\nenforce_verdict = true",
            &[],
        );
        check("", "[risk]\nhours = [{ days = [\"mon\"], from = \"08:00\", to = \"09:00\" }]", &[]);
        check("", "[risk.bots.btc]\nmax_open_trades = 1\ndaily_loss_limit = 5", &[]);
        check("[risk.bots.btc]\nmax_loss_streak = 1", "", &[]);
        check("", "[runtime]\nmax_payout_percent = 95\nstop_patience_s = 1\nsecond_trade = \"alarm\"", &[]);
        check("", "[risk]\nday_start = \"01:00\"", &["risk.day_start", "\"00:00\" -> \"01:00\""]);
        check("", "[risk.verdict]\ndelta = 0.05", &["risk.verdict.delta", "0.04 -> 0.05"]);
        check("", "[runtime]\nhold_ms = 5", &["runtime.hold_ms", "1000 -> 5"]);
        check("", "[account]\ninitial_balance = 5", &["account.initial_balance", "10000 -> 5"]);
        check("", "[broker]\nbase_url = \"http://127.0.0.1:9\"", &["broker.base_url", "http://127.0.0.1:9"]);
        check("", "[journal]\nurl = \"sqlite://other.db\"", &["journal.url", "other.db"]);
        let headers = |value: &str| format!("[broker.headers]\nx-api-key = \"{value}\"");
        check(&headers("hush"), &headers("hush2"), &["broker.headers.x-api-key"]);
    }

    #[test]
    fn a_bot_that_is_added_removed_or_changed_is_refused_by_its_name() {
        let other = |period: u32| BOT.replace("period = 2", &format!("period = {period}"));
        check("", &other(3), &["bots.btc.params.period", "2 -> 3", "built at the start"]);
        check("", &format!("{BOT}{}", BOT.replace("\"btc\"", "\"new\"")), &["bots.new", "(not set) ->"]);
        check("", &BOT.replace("\"btc\"", "\"new\""), &["bots.btc", "bots.new"]);
        check(
            "",
            &format!("{BOT}stake = {{ kind = \"fixed\", amount = 3 }}"),
            &["bots.btc.stake.amount", "-> 3"],
        );
    }
}
