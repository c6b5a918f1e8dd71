//! Whether the trading token API knows the token, and the account can trade.

use super::clock_skew::Witnesses;
use super::finding::{Check, Finding};
use super::venue::{Api, Asked, Given, ask, remedy};
use crate::configuration::{Config, Mode};
use candlewick_api::Venue;
use candlewick_api::model::{User, Wallet, WalletType};
use candlewick_sdk::rust_decimal::Decimal;

/// Who the token belongs to. Nothing of the profile is shown but the identifier.
pub(super) async fn check_user(asked: &Asked, witnesses: &mut Witnesses) -> Finding {
    let url = &asked.base_url;
    if asked.token == Given::No {
        return Check::TradingApi.warn("not asked: there is no api-token", "give one first");
    }
    match ask(asked.venue.me(), witnesses).await {
        Ok(user) => judge_user(&user, url),
        Err(error) => Check::TradingApi.fail(format!("{url}: {error}"), remedy(&error, Api::Trading)),
    }
}

fn judge_user(user: &User, url: &str) -> Finding {
    let barred = [
        (user.banned == Some(true), "banned"),
        (user.deleted == Some(true), "deleted"),
        (user.active == Some(false), "not active"),
    ];
    let barred: Vec<&str> = barred.iter().filter(|(is_so, _)| *is_so).map(|(_, word)| *word).collect();
    let text = format!("{url} knows the token of user {}", user.id);
    if barred.is_empty() {
        Check::TradingApi.ok(text)
    } else {
        let text = format!("{text}, but the account is {}", barred.join(", "));
        Check::TradingApi.fail(text, "ask the venue, or use the token of another account")
    }
}

/// Whether there is a wallet of the configured kind, and what it holds.
pub(super) async fn check_wallets(asked: &Asked, config: &Config, witnesses: &mut Witnesses) -> Finding {
    match ask(asked.venue.wallets(), witnesses).await {
        Ok(wallets) => judge_wallets(&wallets, config),
        Err(error) => Check::Wallets.fail(error.to_string(), remedy(&error, Api::Trading)),
    }
}

/// What stands in the place of the wallets when the user could not be asked for.
pub(super) fn wallets_not_asked() -> Finding {
    Check::Wallets.warn("not asked: the trading API comes first", "mend that")
}

fn judge_wallets(wallets: &[Wallet], config: &Config) -> Finding {
    let (wanted, name) = match config.account.mode {
        Mode::Demo => (WalletType::Demo, "DEMO"),
        Mode::Real => (WalletType::Real, "REAL"),
    };
    let matching: Vec<&Wallet> = wallets.iter().filter(|wallet| wallet.wallet_type == wanted).collect();
    if matching.is_empty() {
        let text = format!("there is no {name} wallet among {}", wallets.len());
        return Check::Wallets.fail(text, format!("open a {name} wallet at the venue, or set account.mode"));
    }
    let balance: Decimal = matching.iter().map(|wallet| wallet.balance).sum();
    let text = format!("the {name} wallet holds {}", balance.normalize());
    if balance < config.risk.min_stake.max(Decimal::new(1, config.account.money_scale.decimals())) {
        let remedy = "fill it at the venue: it does not cover the smallest stake (risk.min_stake)";
        return Check::Wallets.warn(text, remedy);
    }
    if config.account.money_scale.exact(balance).is_err() {
        let decimals = balance.normalize().scale();
        return Check::Wallets
            .warn(text, format!("set account.money_scale = {decimals}, so that nothing is rounded"));
    }
    Check::Wallets.ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;

    fn check(wallets: &[(WalletType, &str)], mode: Mode, mark: Mark, part: &str) {
        let wallet = |(wallet_type, balance): &(WalletType, &str)| Wallet {
            id: String::new(),
            user_id: None,
            wallet_type: wallet_type.clone(),
            balance: balance.parse().unwrap(),
            created_at: None,
        };
        let wallets: Vec<Wallet> = wallets.iter().map(wallet).collect();
        let mut config = Config::default();
        config.account.mode = mode;
        let finding = judge_wallets(&wallets, &config);
        let shown = format!("{finding}");
        assert!(finding.mark == mark && shown.contains(part), "{shown}");
    }

    #[test]
    fn wallets_of_the_configured_kind_must_cover_a_stake() {
        use WalletType::{Demo, Real};
        check(&[(Demo, "9000.5"), (Real, "7"), (Demo, "1000")], Mode::Demo, Mark::Ok, "holds 10000.5");
        check(&[(Demo, "9000.5"), (Real, "7")], Mode::Real, Mark::Ok, "REAL wallet holds 7");
        check(&[(Real, "7")], Mode::Demo, Mark::Fail, "no DEMO wallet");
        check(&[], Mode::Demo, Mark::Fail, "no DEMO wallet");
        check(&[(Demo, "0.99")], Mode::Demo, Mark::Warn, "smallest stake");
        check(&[(Demo, "10.12345")], Mode::Demo, Mark::Warn, "account.money_scale = 5");
    }

    #[test]
    fn an_account_that_may_not_be_used_fails() {
        let sound =
            User { id: "01JU".to_owned(), email: Some("ann@example.com".to_owned()), ..User::default() };
        let found = judge_user(&sound, "http://v");
        assert!(found.mark == Mark::Ok && !found.text.contains("ann@"), "{found}");
        for user in [
            User { banned: Some(true), ..sound.clone() },
            User { deleted: Some(true), ..sound.clone() },
            User { active: Some(false), ..sound },
        ] {
            assert_eq!(judge_user(&user, "http://v").mark, Mark::Fail);
        }
    }
}
