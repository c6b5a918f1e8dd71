//! Price records and aggregated candles (contract 2.7 and 2.8).

use super::fields::{Fields, Record, Unreadable};
use candlewick_sdk::{Interval, Millis, Symbol};

/// A price record; in practice a one-second bar (`observed: prices and candles`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PriceRecord {
    pub(crate) id: Option<String>,
    pub(crate) slot: Option<String>,
    pub(crate) pair: Option<String>,
    pub(crate) asset_type: Option<String>,
    /// Open time.
    pub(crate) time: Millis,
    /// 0 if unavailable.
    pub(crate) volume: f64,
    pub(crate) open_price: f64,
    pub(crate) close_price: f64,
    pub(crate) high_price: f64,
    pub(crate) low_price: f64,
    pub(crate) created_at: Option<Millis>,
    pub(crate) updated_at: Option<Millis>,
}

impl Record for PriceRecord {
    const NAME: &'static str = "PriceRecord";

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            id: fields.optional("id"),
            slot: fields.optional("slot"),
            pair: fields.optional("pair"),
            asset_type: fields.optional("type"),
            time: fields.required("time")?,
            volume: fields.optional("volume").unwrap_or_default(),
            open_price: fields.required("openPrice")?,
            close_price: fields.required("closePrice")?,
            high_price: fields.required("highPrice")?,
            low_price: fields.required("lowPrice")?,
            created_at: fields.optional("createdAt"),
            updated_at: fields.optional("updatedAt"),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitTime {
    Latest,
    At(Millis),
}

/// Answer to a request for the latest price (contract 4.2, endpoint 6).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LastPrice {
    Record(PriceRecord),
    /// The requested time is in the venue's future.
    ///
    /// The venue answered with the plain text `OK`.
    Future,
}

/// Query for candles (contract 4.2, endpoint 8). The slot comes from the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CandleQuery {
    pub(crate) symbol: Symbol,
    pub(crate) asset_type: String,
    pub(crate) interval: Interval,
    pub(crate) skip: u64,
    pub(crate) limit: u64,
    pub(crate) start_time: Millis,
    /// Last moment; unknown whether inclusive (`observed: prices and candles`).
    pub(crate) end_time: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CandleRow {
    /// 0 if unavailable.
    pub(crate) volume: f64,
    pub(crate) open_price: f64,
    pub(crate) close_price: f64,
    pub(crate) high_price: f64,
    pub(crate) low_price: f64,
    /// Open time (`observed: prices and candles`).
    pub(crate) time: Millis,
}

impl Record for CandleRow {
    const NAME: &'static str = "Candle";

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            volume: fields.optional("volume").unwrap_or_default(),
            open_price: fields.required("openPrice")?,
            close_price: fields.required("closePrice")?,
            high_price: fields.required("highPrice")?,
            low_price: fields.required("lowPrice")?,
            time: fields.required("time")?,
        })
    }
}

/// Rows of an answer in no particular order; may include the forming candle.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CandleRows {
    pub(crate) rows: Vec<CandleRow>,
    pub(crate) unreadable: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{read_list, read_record};
    use candlewick_broker::UnrecognisedData;
    use serde_json::json;

    #[test]
    fn a_price_record_is_read_by_the_contracts_names() {
        let json = json!({
            "id": "01JPRICE", "slot": "default", "pair": "BTCUSDT", "type": "crypto",
            "time": 1_795_176_000_000_i64, "volume": 1.5, "openPrice": 64000.5, "closePrice": 64001.25,
            "highPrice": 64002.5, "lowPrice": 63999.75, "createdAt": "2026-11-20T12:00:01.300Z",
            "updatedAt": "2026-11-20T12:00:01.300Z",
        });
        let drift = UnrecognisedData::new();
        let record: PriceRecord = read_record(json, &drift).unwrap();
        let made_at = Some(Millis::new(1_795_176_001_300));
        let expected = PriceRecord {
            id: Some("01JPRICE".into()),
            slot: Some("default".into()),
            pair: Some("BTCUSDT".into()),
            asset_type: Some("crypto".into()),
            time: Millis::new(1_795_176_000_000),
            volume: 1.5,
            open_price: 64000.5,
            close_price: 64001.25,
            high_price: 64002.5,
            low_price: 63999.75,
            created_at: made_at,
            updated_at: made_at,
        };
        assert_eq!(record, expected);
        assert!(drift.snapshot().is_empty());
    }

    #[test]
    fn candles_are_read_from_numbers_and_strings_and_broken_rows_are_counted() {
        let drift = UnrecognisedData::new();
        let rows = json!([
            {"volume": 0.5, "openPrice": 1.5, "closePrice": 1.75, "highPrice": 2.5, "lowPrice": 1.25, "time": 1_795_176_060_000_i64},
            {"volume": null, "openPrice": "1.5", "closePrice": "1.75", "highPrice": "2.5", "lowPrice": "1.25", "time": "1795176060000"},
            {"volume": 0, "openPrice": "n/a", "closePrice": 1, "highPrice": 1, "lowPrice": 1, "time": 1_795_176_060_000_i64},
            {"volume": 0, "openPrice": 1, "closePrice": 1, "highPrice": 1, "lowPrice": 1},
        ]);
        let (read, unreadable) = read_list::<CandleRow>(rows, &drift).unwrap();
        let first = CandleRow {
            volume: 0.5,
            open_price: 1.5,
            close_price: 1.75,
            high_price: 2.5,
            low_price: 1.25,
            time: Millis::new(1_795_176_060_000),
        };
        assert_eq!((read.as_slice(), unreadable), (&[first, CandleRow { volume: 0.0, ..first }][..], 2));
    }
}
