//! [`MarketData`] implementation for the symbol price API.

use super::HttpBroker;
#[cfg(feature = "stream")]
use super::{Api, client};
use async_trait::async_trait;
#[cfg(feature = "stream")]
use candlewick_broker::PriceFeed;
use candlewick_broker::{
    AsOf, BrokerError, CandleQuery, CandleRow, Candles, MarketData, PriceAnswer, PriceRecord, Reply,
    detect_interval,
};
use candlewick_sdk::{Millis, Symbol};

/// Maximum number of candles per request, which is the API's default for `limit` (contract 8).
pub(super) const MAX_CANDLES_PER_REQUEST: u64 = 1_000;

#[async_trait]
impl MarketData for HttpBroker {
    async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
        let (mut found, mut rest) = self.fetch_window(query).await?;
        while let Some(window) = rest.pop() {
            let (page, more) = self.fetch_window(&window).await?;
            rest.extend(more);
            found = page.map(|page| found.value.merge(page));
        }
        Ok(found)
    }

    async fn price(&self, symbol: &Symbol, as_of: AsOf) -> Result<Reply<PriceAnswer>, BrokerError> {
        let reply = self.fetch_price(symbol, as_of).await?;
        if let Some(record) = &reply.value
            && let Some(pair) = &record.pair
            && !is_same_pair(pair, symbol.as_str())
        {
            let problem = format!("the price record is for {pair} instead of {symbol}");
            return Err(BrokerError::Malformed { problem, head: format!("record of {}", record.time.get()) });
        }
        Ok(reply.map(|record| {
            record.map_or(PriceAnswer::NotYet, |record| {
                let (time, prices, recorded_time) = (record.time, record.prices, record.created_at);
                PriceAnswer::Record(PriceRecord { time, prices, created_time: recorded_time })
            })
        }))
    }

    #[cfg(feature = "stream")]
    async fn subscribe(&self, symbol: &Symbol) -> Result<Option<PriceFeed>, BrokerError> {
        // In lock-step, streamed prices would arrive at arbitrary times of the virtual clock.
        if !self.settings.stream || self.clock.is_lock_step() {
            return Ok(None);
        }
        let mut headers = client::parse_extra_headers(&self.settings)?;
        headers.extend(self.api_headers(Api::Prices)?);
        self.stream.subscribe(*symbol, self, headers).await.map(Some)
    }
}

impl HttpBroker {
    async fn fetch_window(
        &self,
        window: &CandleQuery,
    ) -> Result<(Reply<Candles>, Vec<CandleQuery>), BrokerError> {
        let reply = self.fetch_candles(window).await?;
        let page = to_candles(&reply, window)?;
        let is_full = (reply.value.0.len() + reply.value.1) as u64 >= MAX_CANDLES_PER_REQUEST;
        let rest = if is_full { find_uncovered_windows(&page, window, reply.received) } else { Vec::new() };
        Ok((reply.map(|_| page), rest))
    }
}

pub(super) fn is_same_pair(one: &str, other: &str) -> bool {
    let letters = |name: &str| -> String {
        name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_uppercase).collect()
    };
    letters(one) == letters(other)
}

fn to_candles(reply: &Reply<(Vec<CandleRow>, usize)>, window: &CandleQuery) -> Result<Candles, BrokerError> {
    let (rows, unreadable) = &reply.value;
    if let Some(found) = detect_interval(rows, window.interval) {
        let (seconds, wanted) = (found.get() as f64 / 1_000.0, window.interval);
        let problem = format!("the venue sent {seconds} s candles instead of {wanted} candles");
        return Err(BrokerError::Malformed { problem, head: format!("{} rows", rows.len()) });
    }
    let mut candles = Candles::from_rows(rows, window, reply.received);
    candles.unusable_rows += unreadable;
    Ok(candles)
}

/// Returns the parts of the window before and after the page in which closed candles may be missing.
fn find_uncovered_windows(page: &Candles, window: &CandleQuery, now: Millis) -> Vec<CandleQuery> {
    let length = window.interval.length();
    let (Some(first), Some(last)) = (page.candles.first(), page.candles.last()) else { return Vec::new() };
    let before = CandleQuery { end: first.time(), ..*window };
    let after = CandleQuery { start: last.close_time(window.interval), ..*window };
    let has_room = |part: &CandleQuery| part.start + length <= part.end.min(now);
    [before, after].into_iter().filter(has_room).collect()
}

#[cfg(test)]
mod tests {
    use super::super::script::{Script, unlimited};
    use super::*;
    use candlewick_sdk::Interval;

    const ROW: &str = r#"{"openPrice": 1, "closePrice": 2, "highPrice": 3, "lowPrice": 0.5, "time": "#;

    fn query(start: i64, end: i64) -> CandleQuery {
        let symbol = Symbol::new("BTCUSDT").unwrap();
        CandleQuery { symbol, interval: Interval::MINUTE, start: Millis::new(start), end: Millis::new(end) }
    }

    async fn ask(body: &str, query: CandleQuery) -> (Script, Candles) {
        let script = Script::answering(&[body]).await;
        let kinds = [(query.symbol, "otc".to_owned())].into();
        let candles = script.broker(unlimited()).with_asset_types(kinds).candles(&query).await.unwrap().value;
        (script, candles)
    }

    #[tokio::test]
    async fn window_ends_work_inclusive_and_exclusive() {
        let rows = format!("[{ROW}120000}}, {ROW}60000}}, {ROW}60000}}, {ROW}180000}}, {{}}]");
        let (script, found) = ask(&rows, query(60_000, 180_000)).await;
        let line = &script.requests()[0].line;
        let window = "type=otc&interval=1m&skip=0&limit=1000&startTime=59999&endTime=179999";
        assert!(line.contains(window), "{line}");
        let times: Vec<i64> = found.candles.iter().map(|candle| candle.time().get()).collect();
        assert_eq!(
            (times, found.unusable_rows, found.out_of_window_candles.len()),
            (vec![60_000, 120_000], 1, 1)
        );
        // The window ends within a candle, so the request ends there too.
        let (script, _) = ask("[]", query(60_000, 200_000)).await;
        assert!(script.requests()[0].line.contains("limit=1000&startTime=59999&endTime=200000"));
    }

    fn rows(minutes: std::ops::Range<i64>) -> String {
        let rows: Vec<String> = minutes.map(|minute| format!("{ROW}{}}}", minute * 60_000)).collect();
        format!("[{}]", rows.join(","))
    }

    #[tokio::test]
    async fn requests_candles_cut_off_at_either_end() {
        for (first, second, rest) in [
            (rows(0..1_000), rows(1_000..1_500), "startTime=59999999&endTime=89999999"),
            (rows(500..1_500), rows(0..500), "startTime=-1&endTime=29999999"),
        ] {
            let script = Script::answering(&[&first, &second]).await;
            let found = script.broker(unlimited()).candles(&query(0, 1_500 * 60_000)).await.unwrap().value;
            let times: Vec<i64> = found.candles.iter().map(|candle| candle.time().get() / 60_000).collect();
            assert_eq!(times, (0..1_500).collect::<Vec<_>>());
            let requests = script.requests();
            assert_eq!(requests.len(), 2);
            assert!(requests[1].line.contains(rest), "{}", requests[1].line);
        }
    }

    #[tokio::test]
    async fn closed_market_needs_one_request() {
        let (script, found) = ask("[]", query(0, 100_000 * 60_000)).await;
        assert_eq!((script.requests().len(), found), (1, Candles::default()));
    }

    #[tokio::test]
    async fn price_is_of_the_requested_pair_or_not_yet() {
        let symbol = Symbol::new("BTCUSDT").unwrap();
        let record = |pair: &str| {
            format!(
                r#"{{"pair": "{pair}", "time": 1000, "openPrice": "1", "closePrice": "2", "highPrice": "3",
                "lowPrice": "0.5", "createdAt": "1970-01-01T00:00:02.500Z"}}"#
            )
        };
        let known = Some(Some((1_000, 2.0, Some(Millis::new(2_500)))));
        for (body, expected) in [
            ("OK".to_owned(), Some(None)),
            (record("BTCUSDT"), known),
            (record("btc/usdt"), known),
            (record("ETHUSDT"), None),
        ] {
            let script = Script::answering(&[&body]).await;
            let asked = script.broker(unlimited()).price(&symbol, AsOf::Moment(Millis::new(7))).await;
            let found = asked.as_ref().ok().map(|reply| {
                reply.value.record().map(|one| (one.time.get(), one.prices.close, one.created_time))
            });
            assert_eq!(found, expected, "{asked:?}");
            let said = asked.err().map(|error| error.to_string());
            assert!(said.is_none_or(|said| said.contains("is for ETHUSDT instead of BTCUSDT")));
        }
    }
}
