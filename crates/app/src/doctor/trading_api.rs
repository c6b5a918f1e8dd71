//! Check of the token and its account at the trading token API.

use super::clock_skew::ClockSamples;
use super::finding::{Check, Finding};
use super::venue::{Api, Asked, Given, ask, remedy};
use crate::configuration::{Config, Mode};
use candlewick_broker::{Account, Balances, Broker, Identity};
use candlewick_runtime::counted_balance;
use candlewick_sdk::rust_decimal::Decimal;
use std::collections::BTreeSet;

pub(super) async fn check_user(asked: &Asked, samples: &mut ClockSamples) -> Finding {
    let url = &asked.base_url;
    if asked.token == Given::No {
        return Check::TradingApi.warn("not asked: there is no api-token", "give one first");
    }
    match ask(asked.venue.identity(), samples).await {
        Ok(user) => judge_user(&user, url),
        Err(error) => Check::TradingApi.fail(format!("{url}: {error}"), remedy(&error, Api::Trading)),
    }
}

fn judge_user(identity: &Identity, url: &str) -> Finding {
    let text = format!("{url} knows the token of user {}", identity.user);
    if identity.restrictions.is_empty() {
        Check::TradingApi.ok(text)
    } else {
        let text = format!("{text}, but the account is {}", identity.restrictions.join(", "));
        Check::TradingApi.fail(text, "ask the venue, or use the token of another account")
    }
}

pub(super) async fn check_wallets(asked: &Asked, config: &Config, samples: &mut ClockSamples) -> Finding {
    match ask(asked.venue.balances(), samples).await {
        Ok(balances) => judge_balances(&balances, config),
        Err(error) => Check::Wallets.fail(error.to_string(), remedy(&error, Api::Trading)),
    }
}

pub(super) fn wallets_not_asked() -> Finding {
    Check::Wallets.warn("not asked: the trading API comes first", "mend that")
}

fn judge_balances(balances: &Balances, config: &Config) -> Finding {
    let (account, name) = match config.account.mode {
        Mode::Demo => (Account::Demo, "DEMO"),
        Mode::Real => (Account::Real, "REAL"),
    };
    let Some(balance) = balances.of(account) else {
        let types: BTreeSet<&str> = balances.wallets.iter().map(|wallet| wallet.type_name.as_str()).collect();
        let types = types.into_iter().collect::<Vec<_>>().join(", ");
        let listed = if types.is_empty() { String::new() } else { format!("; the venue listed: {types}") };
        let text = format!("there is no {name} wallet{listed}");
        return Check::Wallets.fail(text, format!("open a {name} wallet at the venue, or set account.mode"));
    };
    let text = format!("the {name} wallet holds {}{}", balance.normalize(), bonus_words(balances));
    if balance < config.risk.min_stake.max(Decimal::new(1, config.account.money_scale.decimals())) {
        let remedy = "fill it at the venue: it does not cover the smallest stake (risk.min_stake)";
        return Check::Wallets.warn(text, remedy);
    }
    if counted_balance(balance, config.account.money_scale).is_err() {
        let decimals = balance.normalize().scale();
        return Check::Wallets
            .warn(text, format!("set account.money_scale = {decimals}, so that nothing is rounded"));
    }
    Check::Wallets.ok(text)
}

/// Describes the bonus wallet.
///
/// The ledger never stakes its money, but a venue may charge it.
fn bonus_words(balances: &Balances) -> String {
    let bonus = balances.bonus.map(|bonus| bonus.normalize());
    bonus.map_or(String::new(), |bonus| {
        format!("; a BONUS wallet holds {bonus}, which is not counted: the venue may pay a part of a stake from it")
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;
    use candlewick_broker::WalletName;

    fn check(demo: Option<&str>, real: Option<&str>, mode: Mode, mark: Mark, part: &str) {
        let amount = |text: &str| text.parse().unwrap();
        let balances = Balances { demo: demo.map(amount), real: real.map(amount), ..Balances::default() };
        let mut config = Config::default();
        config.account.mode = mode;
        let finding = judge_balances(&balances, &config);
        let shown = format!("{finding}");
        assert!(finding.mark == mark && shown.contains(part), "{shown}");
    }

    #[test]
    fn the_configured_account_must_cover_a_stake() {
        check(Some("10000.5"), Some("7"), Mode::Demo, Mark::Ok, "DEMO wallet holds 10000.5");
        check(Some("9000.5"), Some("7"), Mode::Real, Mark::Ok, "REAL wallet holds 7");
        check(None, Some("7"), Mode::Demo, Mark::Fail, "no DEMO wallet");
        check(None, None, Mode::Demo, Mark::Fail, "no DEMO wallet");
        check(Some("0.99"), None, Mode::Demo, Mark::Warn, "smallest stake");
        check(Some("10000.000000000002"), None, Mode::Demo, Mark::Ok, "DEMO wallet holds 10000");
        check(Some("10.12345"), None, Mode::Demo, Mark::Warn, "account.money_scale = 5");
    }

    #[test]
    fn a_bonus_wallet_and_other_types_are_named() {
        let wallet = |name: &str| WalletName { type_name: name.to_owned(), ..WalletName::default() };
        let balances = Balances {
            demo: Some(Decimal::TEN),
            bonus: Some(Decimal::from(50)),
            wallets: vec![wallet("GOLD"), wallet("DEMO")],
            ..Balances::default()
        };
        let mut config = Config::default();
        let shown = judge_balances(&balances, &config).to_string();
        assert!(shown.contains("a BONUS wallet holds 50, which is not counted"), "{shown}");
        config.account.mode = Mode::Real;
        let shown = judge_balances(&balances, &config).to_string();
        assert!(shown.contains("there is no REAL wallet; the venue listed: DEMO, GOLD"), "{shown}");
    }

    #[test]
    fn an_account_that_may_not_be_used_fails() {
        let sound = Identity { user: "01JU".to_owned(), restrictions: Vec::new() };
        assert_eq!(judge_user(&sound, "http://v").mark, Mark::Ok);
        let barred = Identity { restrictions: vec!["banned".to_owned(), "not active".to_owned()], ..sound };
        let found = judge_user(&barred, "http://v");
        assert!(found.mark == Mark::Fail && found.text.ends_with("is banned, not active"), "{found}");
    }
}
