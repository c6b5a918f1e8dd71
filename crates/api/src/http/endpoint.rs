//! Requests to the two APIs (contract 4.1 and 4.2), answered with the venue's own models.

use super::exchange::Answer;
use super::{Api, HttpBroker};
use crate::model::{
    CandleQuery, CandleRows, LastPrice, LimitTime, Record, TradePage, TradeQuery, TradeRecord, Unreadable,
    User, Wallet, read_all, read_list, read_record,
};
use candlewick_broker::{BrokerError, Reply};
use candlewick_sdk::Symbol;
use serde_json::Value;
use std::collections::BTreeSet;
use url::Url;

pub(super) const OPEN: &str = "POST open";
pub(super) const TRADE: &str = "GET /token/trades/{id}";

pub(super) fn endpoint_of(path: &str) -> &'static str {
    match path.rsplit_once("/token/").map_or("", |(_, rest)| rest) {
        "wallets" => "GET /token/wallets",
        "trades" => "GET /token/trades",
        "users/me" => "GET /token/users/me",
        trade if trade.starts_with("trades/") => TRADE,
        _ => "GET of another path",
    }
}

impl HttpBroker {
    pub(super) async fn ask_wallets(&self) -> Result<Reply<Vec<Wallet>>, BrokerError> {
        let answer = self.read(Api::Trading, self.url(Api::Trading, ["token", "wallets"], &[])?).await?;
        // A sum over a part of the wallets would be a wrong balance: all are read, or none.
        self.parse(&answer, |json| {
            let wallets: Vec<Wallet> = read_all(json, &self.unrecognised)?;
            let mut ids = BTreeSet::new();
            match wallets.iter().find(|wallet| !ids.insert(wallet.id.as_str())) {
                Some(again) => Err(Unreadable::Duplicate { record: Wallet::NAME, id: again.id.clone() }),
                None => Ok(wallets),
            }
        })
    }

    pub(super) async fn ask_page(&self, query: &TradeQuery) -> Result<Reply<TradePage>, BrokerError> {
        let mut pairs = vec![("page", query.page.to_string()), ("pageSize", query.page_size.to_string())];
        pairs.extend(query.user_id.iter().map(|id| ("userId", id.clone())));
        let url = self.url(Api::Trading, ["token", "trades"], &pairs)?;
        let answer = self.read(Api::Trading, url).await?;
        let bytes = answer.body.bytes().len();
        let page = self.parse(&answer, |json| read_record::<TradePage>(json, &self.unrecognised))?;
        Ok(page.map(|page| TradePage { bytes, ..page }))
    }

    pub(super) async fn ask_trade(&self, id: &str) -> Result<Reply<TradeRecord>, BrokerError> {
        let url = self.url(Api::Trading, ["token", "trades", id], &[])?;
        self.read_as(Api::Trading, url).await
    }

    /// Requests the user. The id is not redacted, because the list is requested by it.
    pub(super) async fn ask_user(&self) -> Result<Reply<User>, BrokerError> {
        let url = self.url(Api::Trading, ["token", "users", "me"], &[])?;
        let answer = self.read(Api::Trading, url).await?;
        self.user_of(answer)
    }

    pub(super) fn user_of(&self, answer: Answer) -> Result<Reply<User>, BrokerError> {
        let mut user: Reply<User> = self.parse(&answer, |json| read_record(json, &self.unrecognised))?;
        let raw = answer.raw_body.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        if let Some(id) = raw.as_ref().and_then(|user| user["id"].as_str()) {
            id.clone_into(&mut user.value.id);
        }
        Ok(user)
    }

    pub(super) async fn ask_price(
        &self,
        symbol: &Symbol,
        limit: LimitTime,
    ) -> Result<Reply<LastPrice>, BrokerError> {
        let mut pairs = vec![("pair", symbol.to_string()), ("slot", self.settings.slot.clone())];
        if let LimitTime::At(moment) = limit {
            pairs.push(("limitTime", moment.to_string()));
        }
        let answer = self.read(Api::Prices, self.url(Api::Prices, ["symbol-price", "last"], &pairs)?).await?;
        // Plain text `OK` for a time in the venue's future (contract 4.2); as JSON it would be in quotes.
        if matches!(answer.body.bytes().trim_ascii(), b"OK" | b"\"OK\"") {
            return Ok(answer.reply(LastPrice::Future));
        }
        self.parse(&answer, |json| read_record(json, &self.unrecognised).map(LastPrice::Record))
    }

    pub(super) async fn ask_candles(&self, query: &CandleQuery) -> Result<Reply<CandleRows>, BrokerError> {
        let pairs = [
            ("pair", query.symbol.to_string()),
            ("slot", self.settings.slot.clone()),
            ("type", query.asset_type.clone()),
            ("interval", query.interval.to_string()),
            ("skip", query.skip.to_string()),
            ("limit", query.limit.to_string()),
            ("startTime", query.start_time.to_string()),
            ("endTime", query.end_time.to_string()),
        ];
        let answer =
            self.read(Api::Prices, self.url(Api::Prices, ["aggregated-prices", "prices"], &pairs)?).await?;
        self.parse(&answer, |json| {
            read_list(json, &self.unrecognised).map(|(rows, unreadable)| CandleRows { rows, unreadable })
        })
    }

    async fn read_as<R: Record>(&self, api: Api, url: Url) -> Result<Reply<R>, BrokerError> {
        let answer = self.read(api, url).await?;
        self.parse(&answer, |json| read_record(json, &self.unrecognised))
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Act, Script, answer};
    use super::*;
    use crate::{Settings, TimestampFormat};
    use candlewick_sdk::{Interval, Millis};

    async fn script(body: &str) -> (Script, HttpBroker) {
        let dated = "200 OK\r\nDate: Fri, 20 Nov 2026 12:00:00 GMT";
        let script = Script::start(vec![Act::Reply(answer(dated, body))]).await;
        let broker = script.broker(Settings { requests_per_second: 0.0, ..Settings::default() });
        (script, broker)
    }

    #[tokio::test]
    async fn each_reading_request_is_what_the_contract_says() {
        let (script, broker) = script("[]").await;
        let pair: Symbol = "A&B/C D".parse().unwrap();
        let query = TradeQuery { page: 2, page_size: 100, user_id: Some("u&1".into()) };
        let candles = CandleQuery {
            symbol: pair,
            asset_type: "crypto".into(),
            interval: Interval::MINUTE,
            skip: 0,
            limit: 500,
            start_time: Millis::new(60_000),
            end_time: Millis::new(120_000),
        };
        broker.ask_wallets().await.unwrap();
        let _ = broker.ask_page(&TradeQuery::default()).await;
        let _ = broker.ask_page(&query).await;
        let _ = broker.ask_trade("01J/T").await;
        let _ = broker.ask_user().await;
        let _ = broker.ask_price(&pair, LimitTime::Latest).await;
        let _ = broker.ask_price(&pair, LimitTime::At(Millis::new(7))).await;
        broker.ask_candles(&candles).await.unwrap();
        let expected = [
            "/token/wallets",
            "/token/trades?page=1&pageSize=10",
            "/token/trades?page=2&pageSize=100&userId=u%261",
            "/token/trades/01J%2FT",
            "/token/users/me",
            "/symbol-price/last?pair=A%26B%2FC+D&slot=default",
            "/symbol-price/last?pair=A%26B%2FC+D&slot=default&limitTime=7",
            "/aggregated-prices/prices?pair=A%26B%2FC+D&slot=default&type=crypto&interval=1m&skip=0&limit=500\
             &startTime=60000&endTime=120000",
        ];
        for (number, (request, path)) in script.requests().iter().zip(expected).enumerate() {
            assert_eq!(request.line, format!("GET {path} HTTP/1.1"));
            let headers = ["api-token: tok-123", "x-timestamp: ", "api-key: key-456"];
            let present = headers.map(|header| request.head.contains(header));
            assert_eq!(
                present,
                if number < 5 { [true, true, false] } else { [false, false, true] },
                "{path}"
            );
        }
        assert_eq!(script.requests().len(), expected.len());
    }

    #[tokio::test]
    async fn a_name_that_climbs_out_of_the_path_asks_nothing() {
        let (script, broker) = script("{}").await;
        assert!(matches!(broker.ask_trade("..").await, Err(BrokerError::NotFound { .. })));
        assert_eq!(script.requests().len(), 0);
    }

    #[tokio::test]
    async fn a_limit_in_the_future_is_answered_with_ok() {
        let pair: Symbol = "BTCUSDT".parse().unwrap();
        for body in ["OK", "OK\n", "\"OK\""] {
            let (_script, broker) = script(body).await;
            let reply = broker.ask_price(&pair, LimitTime::At(Millis::MAX)).await.unwrap();
            assert_eq!((reply.value, reply.date), (LastPrice::Future, Some(Millis::new(1_795_176_000_000))));
        }
        let record =
            r#"{"time": 1000, "openPrice": "1", "closePrice": "2", "highPrice": "3", "lowPrice": "0.5"}"#;
        let (_script, broker) = script(record).await;
        let got = broker.ask_price(&pair, LimitTime::Latest).await.unwrap().value;
        assert!(matches!(got, LastPrice::Record(record) if record.close_price == 2.0));
        let (_script, broker) = script("NOT OK").await;
        assert!(matches!(
            broker.ask_price(&pair, LimitTime::Latest).await,
            Err(BrokerError::Malformed { .. })
        ));
    }

    #[tokio::test]
    async fn what_is_unknown_is_counted_across_requests() {
        let (_script, broker) = script(r#"{"id": "01JT", "status": "FROZEN", "withBonus": true}"#).await;
        broker.ask_trade("01JT").await.unwrap();
        broker.ask_trade("01JT").await.unwrap();
        let counts = broker.unrecognised().snapshot();
        assert_eq!(
            counts.into_iter().collect::<Vec<_>>(),
            [("Trade.status=FROZEN".to_owned(), 2), ("Trade.withBonus".to_owned(), 2)]
        );
    }

    #[tokio::test]
    async fn a_path_prefix_and_the_timestamp_form_are_respected() {
        let script = Script::start(vec![Act::Reply(answer("200 OK", "[]"))]).await;
        let prefixed = Settings {
            base_url: format!("{}/v1/", script.address()),
            timestamp: TimestampFormat::Iso8601,
            ..Settings::default()
        };
        script.broker(prefixed).ask_wallets().await.unwrap();
        let request = &script.requests()[0];
        assert_eq!(request.line, "GET /v1/token/wallets HTTP/1.1");
        let stamp = request.head.lines().find(|line| line.starts_with("x-timestamp: 20")).unwrap();
        assert!(stamp.ends_with('Z'), "{stamp}");
    }

    #[tokio::test]
    async fn a_missing_credential_is_named_and_nothing_is_sent() {
        let script = Script::start(vec![Act::Reply(answer("200 OK", "[]"))]).await;
        let broker = script.broker_with(Settings::default(), crate::Credentials::default());
        let error = broker.ask_wallets().await.unwrap_err();
        assert!(
            matches!(error, BrokerError::Credentials { .. })
                && error.to_string().contains("CANDLEWICK_BROKER__API_TOKEN"),
            "{error}"
        );
        assert_eq!(script.requests().len(), 0);
    }
}
