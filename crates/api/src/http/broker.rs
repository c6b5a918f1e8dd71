//! [`Broker`] implementation for the trading token API.

use super::HttpBroker;
use super::pages::{MergedList, PageMerger};
use super::read::GET_TRADE;
use crate::model::{TradeRecord, Wallet, WalletType, to_one_line};
use crate::report::build_report;
use async_trait::async_trait;
use candlewick_broker::{
    Account, Balances, Broker, BrokerError, DetailLevel, Identity, OpenOutcome, Reply, TradeListing,
    TradeOrder, TradeProgress, TradeReport, WalletIdentity,
};
use candlewick_sdk::Millis;
use candlewick_sdk::Outcome;
use rust_decimal::Decimal;

#[async_trait]
impl Broker for HttpBroker {
    async fn open(&self, order: &TradeOrder, leave_by: Millis) -> OpenOutcome {
        self.open_once(order, leave_by).await
    }

    async fn trade(&self, id: &str, detail: DetailLevel) -> Result<Reply<TradeReport>, BrokerError> {
        let short = match self.fetch_trade(id).await {
            Ok(reply) => reply.map(|record| self.to_report(record)),
            // The list may contain trades that a request by id cannot find.
            Err(BrokerError::NotFound { .. }) if detail != DetailLevel::ById => {
                return self.find_in_list(id).await;
            }
            Err(BrokerError::Credentials { .. })
                if detail != DetailLevel::ById && self.credentials.is_rejected_at(GET_TRADE) =>
            {
                return self.find_in_list(id).await;
            }
            Err(error) => return Err(error),
        };
        if detail != DetailLevel::ById && self.account_proof.awaits_trade(id) {
            // Only the full record names the account.
            return Ok(self.find_in_list(id).await.unwrap_or(short));
        }
        match detail {
            // A request by id may return the short projection, which lacks the result (contract 4.1, endpoint 3).
            DetailLevel::Progress if lacks_result(&short.value) => match self.find_in_list(id).await {
                // The trade exists, but the list does not contain it yet, so its result remains unknown.
                Err(BrokerError::NotFound { .. }) => Ok(short),
                found => found,
            },
            DetailLevel::Everything if lacks_order_details(&short.value) || lacks_result(&short.value) => {
                Ok(self.find_in_list(id).await.unwrap_or(short))
            }
            DetailLevel::ById | DetailLevel::Progress | DetailLevel::Everything => Ok(short),
        }
    }

    async fn trades(&self) -> TradeListing {
        let began = self.clock.now();
        let (MergedList { is_complete, trades }, ended_early) = match self.user_id().await {
            Ok(user_id) => self.read_pages(user_id).await,
            Err(error) => (MergedList::default(), Some(error)),
        };
        if is_complete {
            self.account_proof.apply_complete_list(began);
        }
        TradeListing { began, ended: self.clock.now(), is_complete, trades, end_error: ended_early }
    }

    async fn balances(&self) -> Result<Reply<Balances>, BrokerError> {
        // Balances are polled even while the venue rejects the token.
        self.poll_token_source().await;
        let wallets = self.fetch_wallets().await?;
        Ok(wallets.map(|wallets| Balances {
            demo: sum_balances(&wallets, &WalletType::Demo),
            real: sum_balances(&wallets, &WalletType::Real),
            bonus: sum_balances(&wallets, &WalletType::Bonus),
            wallets: wallets.into_iter().map(|wallet| self.to_wallet_identity(wallet)).collect(),
        }))
    }

    async fn identity(&self) -> Result<Reply<Identity>, BrokerError> {
        let reply = self.fetch_user().await?;
        // The trade list is filtered by this id. A new token belongs to the same user and does not change it.
        let _ = self.user_id.set(reply.value.id.clone());
        Ok(reply.map(|user| {
            let restrictions = [
                (user.banned == Some(true), "banned"),
                (user.deleted == Some(true), "deleted"),
                (user.active == Some(false), "not active"),
            ];
            let restrictions = restrictions.into_iter().filter(|(is_so, _)| *is_so);
            let user_name = self.credentials.redact(&user.id);
            Identity {
                user: user_name,
                restrictions: restrictions.map(|(_, word)| word.to_owned()).collect(),
            }
        }))
    }
}

impl HttpBroker {
    /// Returns the id of the token's user. The venue lists complete trade rows only if the request filters by this id.
    async fn user_id(&self) -> Result<String, BrokerError> {
        let ask = async || self.fetch_user().await.map(|reply| reply.value.id);
        self.user_id.get_or_try_init(ask).await.cloned()
    }

    fn to_wallet_identity(&self, wallet: Wallet) -> WalletIdentity {
        WalletIdentity {
            id: self.credentials.redact(&wallet.id),
            user: wallet.user_id.map(|user| self.credentials.redact(&user)),
            account: match wallet.wallet_type {
                WalletType::Demo => Some(Account::Demo),
                WalletType::Real => Some(Account::Real),
                WalletType::Bonus | WalletType::Unknown(_) => None,
            },
            type_name: to_one_line(&wallet.wallet_type.to_string()),
            currency: wallet.currency,
        }
    }

    pub(super) fn to_report(&self, record: TradeRecord) -> TradeReport {
        build_report(record, self.user_id.get().map(String::as_str), &self.unrecognised_data)
    }

    async fn read_pages(&self, user_id: String) -> (MergedList, Option<BrokerError>) {
        let mut pages = PageMerger::for_user(user_id, &self.settings);
        while let Some(query) = pages.query().cloned() {
            match self.fetch_page(&query).await {
                Ok(reply) => {
                    reply.value.data.iter().for_each(|record| self.account_proof.apply_record(record));
                    pages.add_page(reply.value, |record| self.to_report(record));
                }
                Err(error) => return (pages.into_list(), Some(error)),
            }
        }
        let stopped = pages.limit_error();
        (pages.into_list(), stopped)
    }

    async fn find_in_list(&self, id: &str) -> Result<Reply<TradeReport>, BrokerError> {
        let mut pages = PageMerger::for_user(self.user_id().await?, &self.settings);
        while let Some(query) = pages.query().cloned() {
            let reply = self.fetch_page(&query).await?;
            reply.value.data.iter().for_each(|record| self.account_proof.apply_record(record));
            if let Some(place) = reply.value.data.iter().position(|record| record.id == id) {
                let take = |mut rows: Vec<TradeRecord>| rows.swap_remove(place);
                return Ok(reply.map(|page| self.to_report(take(page.data))));
            }
            pages.add_page(reply.value, |record| TradeReport::new(record.id));
        }
        if let Some(stopped) = pages.limit_error() {
            return Err(stopped);
        }
        Err(BrokerError::NotFound { text: format!("trade {id} is not in the venue's list") })
    }
}

fn lacks_result(report: &TradeReport) -> bool {
    match report.progress {
        TradeProgress::OverWithoutOutcome => true,
        TradeProgress::Over(Outcome::Won) => report.profit.is_none() && report.payout.is_none(),
        TradeProgress::Over(_) | TradeProgress::Running | TradeProgress::Unrecognised(_) => false,
    }
}

fn lacks_order_details(report: &TradeReport) -> bool {
    let TradeReport { symbol, direction, amount, close_type, expiration_type, account, .. } = report;
    symbol.is_none()
        || direction.is_none()
        || amount.is_none()
        || close_type.is_none()
        || expiration_type.is_none()
        || account.is_none()
}

fn sum_balances(wallets: &[Wallet], wallet_type: &WalletType) -> Option<Decimal> {
    let mut matching = wallets.iter().filter(|wallet| wallet.wallet_type == *wallet_type).peekable();
    matching.peek()?;
    Some(matching.map(|wallet| wallet.balance).sum())
}

#[cfg(test)]
mod tests {
    use super::super::script::{Script, reply, unlimited};
    use super::*;
    use candlewick_broker::Account;

    const USER: &str = r#"{"id": "u1", "active": true}"#;
    const SHORT: &str = r#"{"id": "01JT", "status": "COMPLETED", "symbol": "BTCUSDT", "amount": 10}"#;
    const LIST: &str = r#"{"lastPage": 1, "data": [
        {"id": "01JX", "status": "OPEN"},
        {"id": "01JT", "status": "COMPLETED", "result": "LOST", "pnl": -10, "isDemo": true}]}"#;

    async fn scripted(bodies: &[&str]) -> (Script, HttpBroker) {
        let script = Script::answering(bodies).await;
        let broker = script.broker(unlimited());
        (script, broker)
    }

    fn paths(script: &Script) -> Vec<String> {
        let path = |line: &str| line.split(' ').nth(1).unwrap().split('?').next().unwrap().to_owned();
        script.requests().iter().map(|request| path(&request.line)).collect()
    }

    #[tokio::test]
    async fn looks_up_an_ended_trade_without_result_in_the_list() {
        let (script, broker) = scripted(&[SHORT, USER, LIST]).await;
        let trade = broker.trade("01JT", DetailLevel::Progress).await.unwrap().value;
        assert_eq!(
            (trade.progress, trade.profit),
            (TradeProgress::Over(Outcome::Lost), Some(Decimal::from(-10)))
        );
        assert_eq!(trade.account, Some(Account::Demo));
        assert_eq!(paths(&script), ["/token/trades/01JT", "/token/users/me", "/token/trades"]);
    }

    #[tokio::test]
    async fn looks_up_a_trade_not_found_by_id_in_the_list() {
        let broker_with = async |list: &str| {
            let acts = vec![reply("404 Not Found", "{}"), reply("200 OK", USER), reply("200 OK", list)];
            let script = Script::start(acts).await;
            let broker = script.broker(unlimited());
            (script, broker)
        };
        for detail in [DetailLevel::Progress, DetailLevel::Everything] {
            let (script, broker) = broker_with(LIST).await;
            let trade = broker.trade("01JT", detail).await.unwrap().value;
            assert_eq!(trade.progress, TradeProgress::Over(Outcome::Lost));
            assert_eq!(paths(&script), ["/token/trades/01JT", "/token/users/me", "/token/trades"]);
        }
        let (_script, broker) = broker_with(r#"{"data": []}"#).await;
        let unknown = broker.trade("01JT", DetailLevel::Progress).await;
        assert!(matches!(unknown, Err(BrokerError::NotFound { .. })), "{unknown:?}");
    }

    #[tokio::test]
    async fn a_running_trade_is_looked_up_only_for_everything() {
        let running = r#"{"id": "01JX", "status": "OPEN"}"#;
        let (script, broker) = scripted(&[running, running, USER, LIST]).await;
        assert_eq!(
            broker.trade("01JX", DetailLevel::Progress).await.unwrap().value,
            TradeReport::new("01JX")
        );
        assert_eq!(script.requests().len(), 1);
        broker.trade("01JX", DetailLevel::Everything).await.unwrap();
        assert_eq!(script.requests().len(), 4);
    }

    #[tokio::test]
    async fn keeps_the_short_record_if_the_list_adds_nothing() {
        let (_script, broker) = scripted(&[SHORT, "{}"]).await;
        let known = broker.trade("01JT", DetailLevel::Everything).await.unwrap().value;
        assert_eq!(known.progress, TradeProgress::OverWithoutOutcome);
        let (_script, broker) = scripted(&[SHORT, USER, r#"{"data": []}"#]).await;
        let ending = broker.trade("01JT", DetailLevel::Progress).await.unwrap().value;
        assert_eq!((ending.id.as_str(), ending.progress), ("01JT", TradeProgress::OverWithoutOutcome));
        let (_script, broker) = scripted(&[SHORT, USER, "[]"]).await;
        let ending = broker.trade("01JT", DetailLevel::Progress).await;
        assert!(matches!(ending, Err(BrokerError::Malformed { .. })), "{ending:?}");
    }

    #[tokio::test]
    async fn incomplete_listing_keeps_trades_and_error() {
        let first = r#"{"perPage": 1, "lastPage": 2, "data": [{"id": "01JA"}]}"#;
        let (script, broker) = scripted(&[USER, first, "[]"]).await;
        let listing = broker.trades().await;
        assert_eq!((listing.is_complete, listing.trades.len()), (false, 1));
        assert!(matches!(listing.end_error, Some(BrokerError::Malformed { .. })), "{listing:?}");
        assert_eq!(script.requests().len(), 3);

        let (_script, broker) = scripted(&[USER, LIST]).await;
        let listing = broker.trades().await;
        assert_eq!((listing.is_complete, listing.trades.len(), listing.end_error), (true, 2, None));
    }

    #[tokio::test]
    async fn requests_the_user_once() {
        let (script, broker) = scripted(&[USER, LIST, LIST]).await;
        assert_eq!(broker.identity().await.unwrap().value.user, "u1");
        broker.trades().await;
        broker.trades().await;
        assert_eq!(paths(&script), ["/token/users/me", "/token/trades", "/token/trades"]);
        assert!(script.requests()[1].line.contains("pageSize=100&userId=u1"));
    }

    #[tokio::test]
    async fn redacts_echoed_credentials_except_in_requests() {
        let user = r#"{"id": "u-tok-123", "tok-123": 1}"#;
        let list =
            r#"{"data": [{"id": "01JT-tok-123", "symbol": "tok-123", "key-456": "x", "status": "tok-123"}]}"#;
        let (script, broker) = scripted(&[user, list]).await;
        assert_eq!(broker.identity().await.unwrap().value.user, "u-[hidden]");
        let listing = broker.trades().await;
        assert!(script.requests()[1].line.contains("userId=u-tok-123"), "{:?}", script.requests());
        assert_eq!(listing.trades[0].id, "01JT-[hidden]");
        let shown = format!("{listing:?} {:?}", broker.unrecognised_data().snapshot());
        assert!(!shown.contains("tok-123") && !shown.contains("key-456"), "{shown}");
    }

    #[tokio::test]
    async fn reports_restrictions_of_the_account() {
        let user = r#"{"id": "u1", "banned": true, "deleted": false, "active": false}"#;
        let (_script, broker) = scripted(&[user]).await;
        assert_eq!(broker.identity().await.unwrap().value.restrictions, ["banned", "not active"]);
    }

    #[tokio::test]
    async fn sums_wallets_by_type_ignoring_case() {
        let wallets = r#"[{"id": "3", "userId": "u-tok-123", "type": "Demo", "balance": 7, "currency": "USD"},
            {"id": "1", "type": "demo", "balance": "1.5"}, {"id": "2", "type": "GOLD", "balance": 3},
            {"id": "4", "type": "BONUS", "balance": 2}]"#;
        let (_script, broker) = scripted(&[wallets]).await;
        let balances = broker.balances().await.unwrap().value;
        let sums = (balances.demo, balances.real, balances.bonus);
        assert_eq!(sums, (Some(Decimal::new(85, 1)), None, Some(2.into())));
        let demo = |id: &str| WalletIdentity {
            id: id.to_owned(),
            account: Some(Account::Demo),
            type_name: "DEMO".to_owned(),
            ..WalletIdentity::default()
        };
        let (user, currency) = (Some("u-[hidden]".to_owned()), Some("USD".to_owned()));
        let expected = [demo("1"), WalletIdentity { user, currency, ..demo("3") }];
        assert_eq!(balances.account_wallets(Account::Demo), expected);
        assert_eq!(balances.wallets[2].type_name, "GOLD");
    }

    #[tokio::test]
    async fn a_wallet_listed_twice_and_a_key_given_twice_are_malformed() {
        let wallet = |kind: &str, sum: &str| format!(r#"{{"id": "1", "type": "{kind}", "balance": {sum}}}"#);
        let demo = wallet("DEMO", "7");
        for (wallets, part) in [
            (format!("{demo}, {demo}"), "Wallet 1 is listed twice"),
            (format!("{demo}, {}", wallet("REAL", "7")), "Wallet 1 is listed twice"),
            (wallet("DEMO", "9988, \"balance\": 123456"), "key \"balance\" occurs twice"),
            (wallet("DEMO", "\"1e19\""), "no readable \"balance\""),
        ] {
            let (_script, broker) = scripted(&[&format!("[{wallets}]")]).await;
            let error = broker.balances().await.unwrap_err();
            let BrokerError::Malformed { problem, .. } = &error else { panic!("{wallets}: {error:?}") };
            assert!(problem.contains(part), "{wallets}: {problem}");
        }
        let list = r#"{"data": [{"id": "01JT", "amount": 10, "amount": 60}]}"#;
        let (_script, broker) = scripted(&[USER, list]).await;
        let listing = broker.trades().await;
        assert!(listing.trades.is_empty() && listing.end_error.is_some(), "{listing:?}");
    }
}
