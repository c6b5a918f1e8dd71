//! Requests and answers of the trading and price APIs (contract 2 and 5).
//!
//! Parsing is tolerant: a field of the wrong type is counted and treated as absent, unless it is required. Documented
//! fields that are not used are type-checked too. Fields that are not documented are counted as unknown.

mod fields;

pub use fields::parse_json;
pub(crate) use fields::{ErrorBody, Record, RecordError, read_list, read_record, read_records, to_one_line};

use candlewick_broker::{CandleRow, ReportedValue};
use candlewick_sdk::{CloseType, Direction, ExpirationType, Millis, Ohlcv, Outcome};
use fields::{Field, Fields};
use rust_decimal::Decimal;
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// A trade record in any of the API's projections (sets of fields). Fields outside the projection are `None`.
/// A time or price of 0 means "not known yet" (contract 2.3) and is read as `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TradeRecord {
    /// Trade id: the field `id`, or `tradeId` in the acknowledgement of an order.
    pub(crate) id: String,
    pub(crate) user_id: Option<String>,
    pub(crate) status: Option<TradeStatus>,
    pub(crate) result: Option<TradeResult>,
    pub(crate) symbol: Option<String>,
    pub(crate) direction: Option<ReportedValue<Direction>>,
    pub(crate) expiration_type: Option<ReportedValue<ExpirationType>>,
    pub(crate) close_type: Option<ReportedValue<CloseType>>,
    pub(crate) amount: Option<Decimal>,
    /// Profit of a won trade in percent of the stake.
    pub(crate) payout: Option<Decimal>,
    /// Net profit. It is 0 while the trade is open.
    pub(crate) pnl: Option<Decimal>,
    pub(crate) request_time: Option<Millis>,
    pub(crate) open_time: Option<Millis>,
    pub(crate) open_price: Option<f64>,
    pub(crate) open_price_time: Option<Millis>,
    pub(crate) close_time: Option<Millis>,
    pub(crate) close_price: Option<f64>,
    pub(crate) close_price_time: Option<Millis>,
    pub(crate) is_demo: Option<bool>,
    pub(crate) from_api_token: Option<bool>,
    pub(crate) wallets: Vec<WalletEntry>,
    pub(crate) unreadable_wallets: usize,
    pub(crate) copy_commission_amount: Option<Decimal>,
    pub(crate) tenant_fee_amount: Option<Decimal>,
    /// Whether the venue marks the trade as reverted.
    pub(crate) reverted: Option<bool>,
    pub(crate) created_at: Option<Millis>,
}

impl TradeRecord {
    /// Returns the outcome that the result states. If it states none, the status `CANCELLED` counts as the outcome.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let by_result = self.result.as_ref().and_then(TradeResult::outcome);
        by_result.or_else(|| (self.status == Some(TradeStatus::Cancelled)).then_some(Outcome::Cancelled))
    }
}

impl Record for TradeRecord {
    const NAME: &'static str = "Trade";

    fn read(fields: &mut Fields<'_>) -> Result<Self, RecordError> {
        let acknowledged: Option<String> = fields.take_optional("tradeId");
        let id = match acknowledged {
            Some(id) => fields.take_optional("id").unwrap_or(id),
            None => fields.take_required("id")?,
        };
        if id.is_empty() {
            return Err(RecordError::Field { record: Self::NAME, field: "id" });
        }
        fields.ignore::<String>(&["tenantId", "affiliateId", "extraId", "symbolSlotName"]);
        fields.ignore::<bool>(&["isInfluencer", "fromBot", "fromCopy", "botSynced"]);
        fields.ignore::<Decimal>(&["totalWalletsBalancePercent", "copyCommissionRate"]);
        fields.ignore::<u64>(&["attemptsToClose"]);
        fields.take_time("updatedAt");
        let (wallets, unreadable_wallets) = fields.take_list("wallets");
        Ok(Self {
            id,
            user_id: fields.take_optional("userId"),
            status: fields.take_optional("status"),
            result: fields.take_optional("result"),
            symbol: fields.take_optional("symbol"),
            direction: fields.take_optional("direction"),
            expiration_type: fields.take_optional("expirationType"),
            close_type: fields.take_optional("closeType"),
            amount: fields.take_optional("amount"),
            payout: fields.take_optional("payout"),
            pnl: fields.take_optional("pnl"),
            request_time: fields.take_time("requestTime"),
            open_time: fields.take_time("openTime"),
            open_price: fields.take_price("openPrice"),
            open_price_time: fields.take_time("openPriceTime"),
            close_time: fields.take_time("closeTime"),
            close_price: fields.take_price("closePrice"),
            close_price_time: fields.take_time("closePriceTime"),
            is_demo: fields.take_optional("isDemo"),
            from_api_token: fields.take_optional("fromApiToken"),
            wallets,
            unreadable_wallets,
            copy_commission_amount: fields.take_optional("copyCommissionAmount"),
            tenant_fee_amount: fields.take_optional("tenantFeeAmount"),
            reverted: fields.take_optional("reverted"),
            created_at: fields.take_time("createdAt"),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TradeQuery {
    /// 1-based page number.
    pub(crate) page: u64,
    pub(crate) page_size: u64,
    /// User whose trades are listed; `None` lists the trades of all users, but with fewer fields.
    pub(crate) user_id: Option<String>,
}

impl Default for TradeQuery {
    fn default() -> Self {
        Self { page: 1, page_size: 10, user_id: None }
    }
}

/// A page of the trade list (contract 2.5).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TradePage {
    pub(crate) per_page: Option<u64>,
    pub(crate) last_page: Option<u64>,
    pub(crate) next_page: Option<u64>,
    /// Total number of rows in the list, or number of rows on this page (contract 2.5 does not say which).
    pub(crate) total: Option<u64>,
    pub(crate) count: Option<u64>,
    /// Rows of the page, in no particular order (see `observed: results`).
    pub(crate) data: Vec<TradeRecord>,
    /// Number of unreadable rows. If there is any such row, the list is incomplete.
    pub(crate) unreadable_rows: usize,
    pub(crate) bytes: usize,
}

impl TradePage {
    /// Returns the query for the next page; `None` after the last page or after a short page (see `observed: results`).
    pub(crate) fn next_query(&self, query: &TradeQuery) -> Option<TradeQuery> {
        let rows = (self.data.len() + self.unreadable_rows) as u64;
        let promised = match (self.next_page, self.last_page) {
            (Some(next), _) => next > query.page,
            (None, Some(last)) => last > query.page,
            (None, None) => true,
        };
        (promised && rows > 0 && rows >= query.page_size)
            .then(|| TradeQuery { page: query.page + 1, ..query.clone() })
    }
}

impl Record for TradePage {
    const NAME: &'static str = "TradePage";

    fn read(fields: &mut Fields<'_>) -> Result<Self, RecordError> {
        let rows = fields.take_raw("data").ok_or(RecordError::Field { record: Self::NAME, field: "data" })?;
        let (data, unreadable) = read_list(rows, fields.drift())?;
        fields.ignore::<u64>(&["currentPage", "prevPage", "pages"]);
        Ok(Self {
            per_page: fields.take_optional("perPage"),
            last_page: fields.take_optional("lastPage"),
            next_page: fields.take_optional("nextPage"),
            total: fields.take_optional("total"),
            count: fields.take_optional("count"),
            data,
            unreadable_rows: unreadable,
            bytes: 0,
        })
    }
}

/// Largest accepted amount, low enough that sums of amounts cannot overflow.
const MAX_AMOUNT: Decimal = Decimal::from_parts(2_808_348_672, 232_830_643, 0, false, 0);

/// A wallet (contract 2.1).
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_field_names)] // `type` is a keyword
pub(crate) struct Wallet {
    pub(crate) id: String,
    pub(crate) user_id: Option<String>,
    pub(crate) wallet_type: WalletType,
    pub(crate) balance: Decimal,
    /// Currency of the wallet. The contract does not mention this field.
    pub(crate) currency: Option<String>,
}

impl Record for Wallet {
    const NAME: &'static str = "Wallet";

    fn read(fields: &mut Fields<'_>) -> Result<Self, RecordError> {
        let wallet = Self {
            id: fields.take_required("id")?,
            user_id: fields.take_optional("userId"),
            wallet_type: fields.take_required("type")?,
            balance: take_amount(fields, "balance")?,
            currency: fields.take_optional("currency"),
        };
        fields.ignore::<Millis>(&["createdAt"]);
        Ok(wallet)
    }
}

/// A wallet's contribution to the stake of a trade (contract 2.2).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WalletEntry {
    pub(crate) wallet_type: WalletType,
    pub(crate) amount: Decimal,
    /// Share of the stake that this wallet paid, in percent.
    pub(crate) trade_percent: Decimal,
    /// Share of the wallet's balance that was spent on the trade, in percent.
    pub(crate) balance_percent: Decimal,
    /// Balance of the wallet before the stake was deducted (see `observed: money`).
    pub(crate) balance: Decimal,
}

impl Record for WalletEntry {
    const NAME: &'static str = "WalletEntry";

    fn read(fields: &mut Fields<'_>) -> Result<Self, RecordError> {
        let _: String = fields.take_required("id")?;
        Ok(Self {
            wallet_type: fields.take_required("type")?,
            amount: take_amount(fields, "amount")?,
            trade_percent: fields.take_optional("tradePercent").unwrap_or_default(),
            balance_percent: fields.take_optional("balancePercent").unwrap_or_default(),
            balance: take_amount(fields, "balance")?,
        })
    }
}

fn take_amount(fields: &mut Fields<'_>, field: &'static str) -> Result<Decimal, RecordError> {
    let amount: Decimal = fields.take_required(field)?;
    if amount.abs() <= MAX_AMOUNT { Ok(amount) } else { fields.unreadable_field(field) }
}

/// The user to whom the token belongs (contract 2.6).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct User {
    pub(crate) id: String,
    pub(crate) active: Option<bool>,
    pub(crate) banned: Option<bool>,
    pub(crate) deleted: Option<bool>,
}

impl Record for User {
    const NAME: &'static str = "User";

    fn read(fields: &mut Fields<'_>) -> Result<Self, RecordError> {
        let id = fields.take_required("id")?;
        fields.ignore::<String>(&["tenantId", "kycLevelId", "twoFactorId", "email", "affiliateId", "name"]);
        fields.ignore::<String>(&["nickname", "country", "language", "phoneCountryCode", "phone"]);
        fields.ignore::<bool>(&["influencer", "bot", "publicProfile", "passwordV2"]);
        fields.ignore::<bool>(&["emailVerified", "legacy"]);
        fields.ignore::<Millis>(&["lastLoginAt", "createdAt", "updatedAt"]);
        fields.ignore_object("params", "User.params", |params| {
            params.ignore::<Decimal>(&["maxWithdrawalAmount"]);
            params.ignore::<bool>(&["ignoreTenantUserLimitation"]);
        });
        fields.ignore_object("copyTradeParams", "User.copyTradeParams", |params| {
            params.ignore::<Decimal>(&["copyCommissionRate", "maxFollowerAmountPerTrade"]);
            params.ignore::<bool>(&["autoApproveCopyFollowers"]);
        });
        fields.take_raw("flags"); // elements of undocumented shape
        Ok(Self {
            id,
            active: fields.take_optional("active"),
            banned: fields.take_optional("banned"),
            deleted: fields.take_optional("deleted"),
        })
    }
}

/// A price record, in practice a one-second bar (contract 2.7, `observed: prices and candles`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PriceRecord {
    pub(crate) slot: Option<String>,
    pub(crate) pair: Option<String>,
    /// Start time of the bar.
    pub(crate) time: Millis,
    pub(crate) prices: Ohlcv,
    pub(crate) created_at: Option<Millis>,
}

impl Record for PriceRecord {
    const NAME: &'static str = "PriceRecord";

    fn read(fields: &mut Fields<'_>) -> Result<Self, RecordError> {
        fields.ignore::<String>(&["id", "type"]);
        let record = Self {
            slot: fields.take_optional("slot"),
            pair: fields.take_optional("pair"),
            time: fields.take_required("time")?,
            prices: take_prices(fields)?,
            created_at: fields.take_optional("createdAt"),
        };
        fields.ignore::<Millis>(&["updatedAt"]);
        Ok(record)
    }
}

/// Reads a candle of the price API (contract 2.8, `observed: prices and candles`).
impl Record for CandleRow {
    const NAME: &'static str = "Candle";

    fn read(fields: &mut Fields<'_>) -> Result<Self, RecordError> {
        let prices = take_prices(fields)?;
        Ok(Self { time: fields.take_required("time")?, prices })
    }
}

fn take_prices(fields: &mut Fields<'_>) -> Result<Ohlcv, RecordError> {
    Ok(Ohlcv {
        volume: fields.take_optional("volume").unwrap_or_default(),
        open: fields.take_required("openPrice")?,
        close: fields.take_required("closePrice")?,
        high: fields.take_required("highPrice")?,
        low: fields.take_required("lowPrice")?,
    })
}

/// Defines an enum of a field's known values, matched after normalization with `$normalize`.
macro_rules! venue_enum {
    ($name:ident, $normalize:expr, { $($variant:ident = $text:literal,)+ }) => {
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($variant,)+
            /// Any other value, as received (see `observed: values`). It is counted and never determines an outcome.
            Unknown(String),
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $(Self::$variant => $text,)+
                    Self::Unknown(text) => text,
                })
            }
        }

        impl Field for $name {
            fn from_value(value: &Value) -> Option<Self> {
                let text = value.as_str()?;
                Some(match $normalize(text).as_str() {
                    $($text => Self::$variant,)+
                    _ => Self::Unknown(text.to_owned()),
                })
            }

            fn unrecognised_text(&self) -> Option<&str> {
                match self {
                    Self::Unknown(text) => Some(text),
                    _ => None,
                }
            }
        }
    };
}

venue_enum! {
    TradeStatus, str::to_owned, {
        Open = "OPEN",
        Processing = "PROCESSING",
        Pending = "PENDING",
        Completed = "COMPLETED",
        Cancelled = "CANCELLED",
    }
}

venue_enum! {
    TradeResult, str::to_owned, {
        Pending = "PENDING",
        Hold = "HOLD",
        Opened = "OPENED",
        Won = "WON",
        Lost = "LOST",
        Draw = "DRAW",
        Cancelled = "CANCELLED",
    }
}

// The venue varies the case of wallet types.
venue_enum! {
    WalletType, str::to_ascii_uppercase, {
        Real = "REAL",
        Demo = "DEMO",
        Bonus = "BONUS",
    }
}

impl TradeResult {
    pub(crate) const fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Won => Some(Outcome::Won),
            Self::Lost => Some(Outcome::Lost),
            Self::Draw => Some(Outcome::Draw),
            Self::Cancelled => Some(Outcome::Cancelled),
            Self::Pending | Self::Hold | Self::Opened | Self::Unknown(_) => None,
        }
    }
}

impl<T: FromStr> Field for ReportedValue<T> {
    fn from_value(value: &Value) -> Option<Self> {
        let text = value.as_str()?;
        Some(text.parse().map_or_else(|_| Self::Unrecognised(text.to_owned()), Self::Known))
    }

    fn unrecognised_text(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Unrecognised(text) => Some(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_broker::UnrecognisedData;
    use serde_json::json;

    fn noted<R: Record>(json: Value) -> (R, String) {
        let drift = UnrecognisedData::new();
        (read_record(json, &drift).unwrap(), drift.snapshot().into_keys().collect::<Vec<_>>().join(", "))
    }

    fn read(json: Value) -> TradeRecord {
        noted(json).0
    }

    /// Returns a list item as in a request with the `userId` filter, copied from the contract.
    fn full_json() -> Value {
        json!({
            "id": "01JTRADE", "affiliateId": "01JAFF", "isDemo": true, "isInfluencer": false, "fromBot": false,
            "fromApiToken": true, "tenantId": "01JTENANT",
            "wallets": [{
                "id": "01JWALLET", "type": "DEMO", "amount": 10, "tradePercent": 100, "balancePercent": 0.1,
                "balance": 10000,
            }],
            "totalWalletsBalancePercent": 0.1, "symbolSlotName": "default", "extraId": "x-1",
            "symbol": "BTC/USDT", "userId": "01JUSER", "payout": 80, "amount": 10, "fromCopy": false,
            "botSynced": true, "copyCommissionRate": 0.05, "copyCommissionAmount": 0.4, "status": "COMPLETED",
            "direction": "BUY", "expirationType": "TIME_FIXED", "closeType": "01:00",
            "requestTime": 1_795_176_000_500_i64, "openTime": 1_795_176_000_999_i64, "openPrice": 64000.5,
            "openPriceTime": 1_795_176_000_000_i64, "pnl": 8, "closePrice": 64001.25,
            "closeTime": 1_795_176_060_999_i64, "closePriceTime": 1_795_176_060_000_i64, "attemptsToClose": 1,
            "result": "WON", "reverted": false, "tenantFeeAmount": 0.2, "createdAt": "2026-11-20T12:00:00.500Z",
            "updatedAt": "2026-11-20T12:01:04.000Z",
        })
    }

    #[test]
    fn every_field_of_the_full_projection_is_read() {
        let text = |text: &str| Some(text.to_owned());
        let time = |ms: i64| Some(Millis::new(ms));
        let expected = TradeRecord {
            id: "01JTRADE".into(),
            user_id: text("01JUSER"),
            status: Some(TradeStatus::Completed),
            result: Some(TradeResult::Won),
            symbol: text("BTC/USDT"),
            direction: Some(ReportedValue::Known(Direction::Buy)),
            expiration_type: Some(ReportedValue::Known(ExpirationType::TimeFixed)),
            close_type: Some(ReportedValue::Known("01:00".parse().unwrap())),
            amount: Some(Decimal::TEN),
            payout: Some(Decimal::from(80)),
            pnl: Some(Decimal::from(8)),
            request_time: time(1_795_176_000_500),
            open_time: time(1_795_176_000_999),
            open_price: Some(64_000.5),
            open_price_time: time(1_795_176_000_000),
            close_time: time(1_795_176_060_999),
            close_price: Some(64_001.25),
            close_price_time: time(1_795_176_060_000),
            is_demo: Some(true),
            from_api_token: Some(true),
            reverted: Some(false),
            wallets: vec![WalletEntry {
                wallet_type: WalletType::Demo,
                amount: Decimal::TEN,
                trade_percent: Decimal::ONE_HUNDRED,
                balance_percent: Decimal::new(1, 1),
                balance: Decimal::from(10_000),
            }],
            unreadable_wallets: 0,
            copy_commission_amount: Some(Decimal::new(4, 1)),
            tenant_fee_amount: Some(Decimal::new(2, 1)),
            created_at: time(1_795_176_000_500),
        };
        assert_eq!(noted::<TradeRecord>(full_json()), (expected, String::new()));
    }

    #[test]
    fn reads_a_reply_without_list_only_fields() {
        let mut json = full_json();
        for absent in ["botSynced", "status", "openPriceTime"] {
            json.as_object_mut().unwrap().remove(absent);
        }
        assert_eq!(read(json), TradeRecord { status: None, open_price_time: None, ..read(full_json()) });
    }

    #[test]
    fn reads_list_items_and_acknowledgements() {
        let of_list = json!({
            "id": "01JTRADE", "symbol": "BTC/USDT", "userId": "01JUSER", "amount": 10, "status": "OPEN",
            "createdAt": "2026-11-20T12:00:00.500Z",
        });
        let expected = TradeRecord {
            id: "01JTRADE".into(),
            symbol: Some("BTC/USDT".into()),
            user_id: Some("01JUSER".into()),
            amount: Some(Decimal::TEN),
            status: Some(TradeStatus::Open),
            created_at: Some(Millis::new(1_795_176_000_500)),
            ..TradeRecord::default()
        };
        assert_eq!(read(of_list), expected);
        let expected =
            TradeRecord { id: "01JT".into(), status: Some(TradeStatus::Open), ..TradeRecord::default() };
        assert_eq!(read(json!({"tradeId": "01JT", "status": "OPEN"})), expected);
    }

    #[test]
    fn zeros_of_a_running_trade_count_as_absent() {
        let trade = read(json!({
            "id": "01JT", "openPrice": 0, "closePrice": 0, "closePriceTime": 0, "openTime": "0",
            "closeTime": 1_795_176_060_999_i64, "pnl": 0, "attemptsToClose": 0, "result": "PENDING",
        }));
        assert_eq!((trade.open_price, trade.close_price, trade.close_price_time), (None, None, None));
        assert_eq!((trade.open_time, trade.close_time), (None, Some(Millis::new(1_795_176_060_999))));
        assert_eq!(trade.pnl, Some(Decimal::ZERO));
    }

    #[test]
    fn implausible_times_are_absent_and_counted() {
        let fault = "Trade.closeTime is outside the years 2000 to 2099";
        for (close_time, fault) in [
            (json!(-5), fault),
            // Times in seconds and in microseconds, the last millisecond of 1999, and the first millisecond of 2100.
            (json!(1_795_176_060), fault),
            (json!(1_795_176_060_999_000_i64), fault),
            (json!(946_684_799_999_i64), fault),
            (json!(4_102_444_800_000_i64), fault),
            (json!(i64::MAX), fault),
            (json!("1970-01-02T00:00:00Z"), fault),
            (json!(0), ""),
        ] {
            let (trade, unknown) = noted::<TradeRecord>(json!({"id": "01JT", "closeTime": close_time}));
            assert_eq!((trade.close_time, unknown.as_str()), (None, fault), "{close_time}");
        }
        for time in [946_684_800_000_i64, 4_102_444_799_999] {
            assert_eq!(read(json!({"id": "01JT", "closeTime": time})).close_time, Some(Millis::new(time)));
        }
    }

    #[test]
    fn rejects_a_trade_record_without_id() {
        let drift = UnrecognisedData::new();
        for json in
            [json!({"status": "OPEN"}), json!({"id": ""}), json!({"tradeId": "", "id": null}), json!("OK")]
        {
            assert!(read_record::<TradeRecord>(json.clone(), &drift).is_err(), "{json}");
        }
    }

    #[test]
    fn counts_unknown_values_and_reads_the_rest() {
        let json = json!({
            "id": "01JT", "status": "FROZEN", "direction": "UP", "closeType": "soon", "payout": [80],
            "amount": "10.50", "withBonus": false, "wallets": [{"id": "w"}],
        });
        let (trade, unknown) = noted::<TradeRecord>(json);
        assert_eq!(trade.amount, Some(Decimal::new(1_050, 2)));
        assert_eq!(trade.direction, Some(ReportedValue::Unrecognised("UP".into())));
        assert_eq!((trade.payout, trade.wallets.len()), (None, 0));
        let expected = "Trade.closeType=soon, Trade.direction=UP, Trade.payout unreadable, Trade.status=FROZEN, \
                        Trade.withBonus, WalletEntry.type unreadable";
        assert_eq!(unknown, expected);
    }

    fn envelope(rows: &Value, next: &Value, last: &Value) -> Value {
        json!({
            "currentPage": 1, "perPage": 2, "lastPage": last, "nextPage": next, "prevPage": null, "pages": 2,
            "total": 3, "count": 2, "data": rows,
        })
    }

    #[test]
    fn reads_the_envelope_and_counts_broken_rows() {
        let drift = UnrecognisedData::new();
        let json =
            envelope(&json!([{"id": "a", "status": "OPEN"}, {"status": "OPEN"}]), &json!(2), &json!("2"));
        let page: TradePage = read_record(json, &drift).unwrap();
        let expected = TradePage {
            per_page: Some(2),
            last_page: Some(2),
            next_page: Some(2),
            total: Some(3),
            count: Some(2),
            data: page.data.clone(),
            bytes: 0,
            unreadable_rows: 1,
        };
        assert_eq!((page.data.len(), &page), (1, &expected));
        assert_eq!(drift.snapshot().into_keys().collect::<Vec<_>>(), ["Trade.id unreadable"]);
        for not_a_page in [json!({"currentPage": 1}), json!([]), json!({"data": "none"})] {
            assert!(read_record::<TradePage>(not_a_page, &drift).is_err());
        }
    }

    #[test]
    fn list_ends_at_a_short_page_or_the_last_one() {
        let query = TradeQuery { page: 1, page_size: 2, user_id: Some("u".into()) };
        let two = json!([{"id": "a"}, {"id": "b"}]);
        for (rows, next, last, more) in [
            (&two, json!(2), json!(2), true),
            (&two, Value::Null, json!(2), true),
            (&two, Value::Null, Value::Null, true),
            (&two, Value::Null, json!(1), false),
            (&two, json!(1), json!(9), false),
            (&json!([{"id": "a"}]), json!(2), json!(2), false),
            (&json!([]), json!(2), json!(2), false),
        ] {
            let page: TradePage =
                read_record(envelope(rows, &next, &last), &UnrecognisedData::new()).unwrap();
            let expected = more.then(|| TradeQuery { page: 2, ..query.clone() });
            assert_eq!(page.next_query(&query), expected, "{rows} {next} {last}");
        }
    }

    #[test]
    fn reads_wallets_and_counts_broken_ones() {
        let drift = UnrecognisedData::new();
        let json = json!({
            "id": "01JA", "userId": "01JB", "type": "DEMO", "balance": 9990.5, "createdAt": "2026-11-20T12:00:00.000Z",
        });
        let expected = Wallet {
            id: "01JA".into(),
            user_id: Some("01JB".into()),
            wallet_type: WalletType::Demo,
            balance: Decimal::new(99_905, 1),
            currency: None,
        };
        assert_eq!(read_record::<Wallet>(json, &drift), Ok(expected));
        assert!(drift.snapshot().is_empty());
        let rows = json!([{"id": "1", "type": "DEMO", "balance": {}}, {"id": "2", "type": "GOLD", "balance": "7"}, 3]);
        let (wallets, unreadable) = read_list::<Wallet>(rows, &drift).unwrap();
        assert_eq!((wallets.len(), unreadable), (1, 2));
        assert_eq!(wallets[0].wallet_type, WalletType::Unknown("GOLD".into()));
        let names: Vec<_> = drift.snapshot().into_keys().collect();
        assert_eq!(names, ["Wallet.balance unreadable", "Wallet.row unreadable", "Wallet.type=GOLD"]);
    }

    #[test]
    fn reads_a_user() {
        let json = json!({
            "id": "01JUSER", "tenantId": "01JTENANT", "kycLevelId": "01JKYC", "twoFactorId": "01JTWO",
            "email": "someone@example.com", "affiliateId": "01JAFF", "name": "Some One", "nickname": "one",
            "influencer": false, "bot": false, "publicProfile": true, "passwordV2": true, "country": "BR",
            "language": "pt", "active": true, "banned": false, "deleted": false, "emailVerified": true,
            "legacy": false, "phoneCountryCode": "55", "phone": "11999999999",
            "params": {"maxWithdrawalAmount": 1000, "ignoreTenantUserLimitation": false},
            "copyTradeParams": {
                "copyCommissionRate": 0.1, "maxFollowerAmountPerTrade": 50, "autoApproveCopyFollowers": true,
            },
            "lastLoginAt": "2026-11-20T11:00:00.000Z", "flags": ["vip"],
            "createdAt": "2025-01-02T03:04:05.006Z", "updatedAt": "2026-11-20T11:00:01.000Z",
        });
        let expected =
            User { id: "01JUSER".into(), active: Some(true), banned: Some(false), deleted: Some(false) };
        assert_eq!(noted::<User>(json), (expected, String::new()));
    }

    #[test]
    fn user_requires_only_an_id() {
        let found = noted::<User>(json!({"id": "01JUSER", "twoFactorId": null, "tier": 3}));
        assert_eq!(found, (User { id: "01JUSER".into(), ..User::default() }, "User.tier".to_owned()));
        let user = json!({"email": "someone@example.com"});
        assert!(read_record::<User>(user, &UnrecognisedData::new()).is_err());
    }

    #[test]
    fn reads_a_price_record() {
        let json = json!({
            "id": "01JPRICE", "slot": "default", "pair": "BTCUSDT", "type": "crypto",
            "time": 1_795_176_000_000_i64, "volume": 1.5, "openPrice": 64000.5, "closePrice": 64001.25,
            "highPrice": 64002.5, "lowPrice": 63999.75, "createdAt": "2026-11-20T12:00:01.300Z",
            "updatedAt": "2026-11-20T12:00:01.300Z",
        });
        let prices = Ohlcv { open: 64000.5, high: 64002.5, low: 63999.75, close: 64001.25, volume: 1.5 };
        let expected = PriceRecord {
            slot: Some("default".into()),
            pair: Some("BTCUSDT".into()),
            time: Millis::new(1_795_176_000_000),
            prices,
            created_at: Some(Millis::new(1_795_176_001_300)),
        };
        assert_eq!(noted::<PriceRecord>(json), (expected, String::new()));
    }

    #[test]
    fn reads_candles_and_counts_broken_rows() {
        let drift = UnrecognisedData::new();
        let rows = json!([
            {"volume": 0.5, "openPrice": 1.5, "closePrice": 1.75, "highPrice": 2.5, "lowPrice": 1.25, "time": 1_795_176_060_000_i64},
            {"volume": null, "openPrice": "1.5", "closePrice": "1.75", "highPrice": "2.5", "lowPrice": "1.25", "time": "1795176060000"},
            {"volume": 0, "openPrice": "n/a", "closePrice": 1, "highPrice": 1, "lowPrice": 1, "time": 1_795_176_060_000_i64},
            {"volume": 0, "openPrice": 1, "closePrice": 1, "highPrice": 1, "lowPrice": 1},
        ]);
        let (read, unreadable) = read_list::<CandleRow>(rows, &drift).unwrap();
        let prices = Ohlcv { open: 1.5, high: 2.5, low: 1.25, close: 1.75, volume: 0.5 };
        let row =
            |volume| CandleRow { time: Millis::new(1_795_176_060_000), prices: Ohlcv { volume, ..prices } };
        assert_eq!((read.as_slice(), unreadable), (&[row(0.5), row(0.0)][..], 2));
    }

    #[test]
    fn unknown_results_keep_their_text_and_are_not_outcomes() {
        let outcomes = [Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled].map(Some);
        let listed = ["WON", "LOST", "DRAW", "CANCELLED"].into_iter().zip(outcomes);
        let others = ["PENDING", "HOLD", "OPENED", "won", "REFUNDED"].map(|text| (text, None));
        for (text, expected) in listed.chain(others) {
            let result = TradeResult::from_value(&json!(text)).unwrap();
            assert_eq!((result.outcome(), result.to_string().as_str()), (expected, text));
        }
        let kind = WalletType::from_value(&json!("LOYALTY")).unwrap();
        assert_eq!((kind.unrecognised_text(), kind.to_string().as_str()), (Some("LOYALTY"), "LOYALTY"));
        assert_eq!(WalletType::from_value(&json!("Demo")), Some(WalletType::Demo));
        let direction = ReportedValue::<Direction>::from_value(&json!("UP")).unwrap();
        assert_eq!((direction.value(), direction.unrecognised_text()), (None, Some("UP")));
    }
}
