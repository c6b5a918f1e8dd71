//! The market over HTTP: the port [`MarketData`], answered by the symbol price API.

use super::HttpBroker;
use crate::model::{self, CandleRows, LastPrice, LimitTime};
use async_trait::async_trait;
use candlewick_broker::{
    AsOf, BrokerError, CandleQuery, CandleRow, Candles, MarketData, PriceAnswer, PriceRecord, Reply,
};
use candlewick_sdk::{Candle, Millis, Ohlcv, Symbol};

/// Candles asked for at once (contract 8: the default of `limit`).
const MOST_AT_ONCE: i64 = 1_000;

#[async_trait]
impl MarketData for HttpBroker {
    async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
        let length = query.interval.length();
        let mut found = Candles::default();
        let mut start = query.start;
        loop {
            let end = query.end.min(start.floor_to(length) + length * MOST_AT_ONCE);
            let part = CandleQuery { start, end, ..*query };
            let reply = self.ask_candles(&self.question(&part)).await?;
            add(&mut found, &reply, query);
            if end + length > query.end {
                found.candles.sort_by_key(Candle::time);
                found.candles.dedup_by_key(|candle| candle.time());
                return Ok(reply.map(|_| found));
            }
            start = end;
        }
    }

    async fn price(&self, symbol: &Symbol, as_of: AsOf) -> Result<Reply<PriceAnswer>, BrokerError> {
        let limit = match as_of {
            AsOf::Latest => LimitTime::Latest,
            AsOf::Moment(moment) => LimitTime::At(moment),
        };
        let reply = self.ask_price(symbol, limit).await?;
        Ok(reply.map(|answer| match answer {
            LastPrice::Record(record) => PriceAnswer::Record(record_of(&record)),
            LastPrice::Future => PriceAnswer::NotYet,
        }))
    }
}

impl HttpBroker {
    /// A window as a request has it. Whether the venue includes the ends of a window or leaves them out, these give
    /// the same candles.
    fn question(&self, query: &CandleQuery) -> model::CandleQuery {
        let length = query.interval.length();
        let slots = (query.end - query.start).get().max(0) / length.get() + 1;
        let is_whole = query.end.is_aligned_to(length);
        model::CandleQuery {
            symbol: query.symbol,
            asset_type: self.asset_type(query.symbol).to_owned(),
            interval: query.interval,
            skip: 0,
            limit: slots.min(MOST_AT_ONCE).unsigned_abs(),
            start_time: query.start - Millis::new(1),
            end_time: if is_whole { query.end - Millis::new(1) } else { query.end },
        }
    }
}

/// Adds what the rows of one answer hold of a window.
fn add(found: &mut Candles, reply: &Reply<CandleRows>, query: &CandleQuery) {
    let row = |row: &model::CandleRow| CandleRow {
        time: row.time,
        prices: Ohlcv {
            open: row.open_price,
            high: row.high_price,
            low: row.low_price,
            close: row.close_price,
            volume: row.volume,
        },
    };
    let rows: Vec<CandleRow> = reply.value.rows.iter().map(row).collect();
    let part = Candles::of_rows(&rows, query, reply.received);
    found.candles.extend(part.candles);
    found.unusable += part.unusable + reply.value.unreadable;
    found.forming += part.forming;
    found.outside.extend(part.outside);
}

fn record_of(record: &model::PriceRecord) -> PriceRecord {
    PriceRecord {
        time: record.time,
        prices: Ohlcv {
            open: record.open_price,
            high: record.high_price,
            low: record.low_price,
            close: record.close_price,
            volume: record.volume,
        },
        recorded_time: record.created_at,
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Act, Script, answer};
    use super::*;
    use crate::Settings;
    use candlewick_sdk::Interval;

    const ROW: &str = r#"{"openPrice": 1, "closePrice": 2, "highPrice": 3, "lowPrice": 0.5, "time": "#;

    fn query(start: i64, end: i64) -> CandleQuery {
        let symbol = Symbol::new("BTCUSDT").unwrap();
        CandleQuery { symbol, interval: Interval::MINUTE, start: Millis::new(start), end: Millis::new(end) }
    }

    async fn ask(body: &str, query: CandleQuery) -> (Script, Candles) {
        let script = Script::start(vec![Act::Reply(answer("200 OK", body))]).await;
        let kinds = [(query.symbol, "otc".to_owned())].into();
        let broker = script.broker(Settings { requests_per_second: 0.0, ..Settings::default() });
        let candles = broker.with_asset_types(kinds).candles(&query).await.unwrap().value;
        (script, candles)
    }

    #[tokio::test]
    async fn a_window_is_asked_for_so_that_both_readings_of_its_ends_give_the_same_candles() {
        let rows = format!("[{ROW}120000}}, {ROW}60000}}, {ROW}60000}}, {ROW}180000}}, {{}}]");
        let (script, found) = ask(&rows, query(60_000, 180_000)).await;
        let line = &script.requests()[0].line;
        assert!(
            line.contains("type=otc&interval=1m&skip=0&limit=3&startTime=59999&endTime=179999"),
            "{line}"
        );
        let times: Vec<i64> = found.candles.iter().map(|candle| candle.time().get()).collect();
        assert_eq!((times, found.unusable, found.outside.len()), (vec![60_000, 120_000], 1, 1));
        // Up to a present within a candle: the venue is asked up to that moment.
        let (script, _) = ask("[]", query(60_000, 200_000)).await;
        assert!(script.requests()[0].line.contains("limit=3&startTime=59999&endTime=200000"));
    }

    #[tokio::test]
    async fn a_long_window_is_asked_for_in_parts_that_leave_nothing_out() {
        let (script, _) = ask("[]", query(30_000, 2_500 * 60_000 + 1)).await;
        let spans: Vec<String> = script
            .requests()
            .iter()
            .map(|request| request.line.split_once("limit=").unwrap().1.to_owned())
            .collect();
        let expected = [
            "1000&startTime=29999&endTime=59999999 HTTP/1.1",
            "1000&startTime=59999999&endTime=119999999 HTTP/1.1",
            "501&startTime=119999999&endTime=150000001 HTTP/1.1",
        ];
        assert_eq!(spans, expected);
    }

    #[tokio::test]
    async fn a_price_of_the_venues_future_is_not_there_yet() {
        let symbol = Symbol::new("BTCUSDT").unwrap();
        let record = r#"{"time": 1000, "openPrice": "1", "closePrice": "2", "highPrice": "3", "lowPrice": "0.5",
            "createdAt": "1970-01-01T00:00:02.500Z"}"#;
        for (body, expected) in [("OK", None), (record, Some((1_000, 2.0, Some(Millis::new(2_500)))))] {
            let script = Script::start(vec![Act::Reply(answer("200 OK", body))]).await;
            let broker = script.broker(Settings::default());
            let answered = broker.price(&symbol, AsOf::Moment(Millis::new(7))).await.unwrap().value;
            let found = answered
                .record()
                .map(|record| (record.time.get(), record.prices.close, record.recorded_time));
            assert_eq!(found, expected);
        }
    }
}
