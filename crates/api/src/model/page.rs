//! A page of the trade list (contract 2.5).

use super::fields::{Fields, Record, Unreadable, read_list};
use super::trade::TradeRecord;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TradeQuery {
    /// 1-based page number.
    pub(crate) page: u64,
    pub(crate) page_size: u64,
    /// Restricts the list to one user; only then are its rows full projections.
    pub(crate) user_id: Option<String>,
}

impl Default for TradeQuery {
    fn default() -> Self {
        Self { page: 1, page_size: 10, user_id: None }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TradePage {
    pub(crate) current_page: Option<u64>,
    pub(crate) per_page: Option<u64>,
    pub(crate) last_page: Option<u64>,
    pub(crate) next_page: Option<u64>,
    pub(crate) prev_page: Option<u64>,
    pub(crate) pages: Option<u64>,
    /// Number of rows in the list or on this page; the contract does not say (2.5).
    pub(crate) total: Option<u64>,
    pub(crate) count: Option<u64>,
    /// Rows in no particular order (`observed: results`).
    pub(crate) data: Vec<TradeRecord>,
    /// Number of unreadable rows. A listing with any is incomplete.
    pub(crate) unreadable: usize,
    pub(crate) bytes: usize,
}

impl TradePage {
    /// Returns the query for the next page, `None` at the end of the list.
    ///
    /// The list ends at a short page, or when neither `nextPage` nor `lastPage` promises more
    /// (`observed: results`).
    pub(crate) fn following(&self, query: &TradeQuery) -> Option<TradeQuery> {
        let rows = (self.data.len() + self.unreadable) as u64;
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

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable> {
        let rows = fields.raw("data").ok_or(Unreadable::Field { record: Self::NAME, field: "data" })?;
        let (data, unreadable) = read_list(rows, fields.drift())?;
        Ok(Self {
            current_page: fields.optional("currentPage"),
            per_page: fields.optional("perPage"),
            last_page: fields.optional("lastPage"),
            next_page: fields.optional("nextPage"),
            prev_page: fields.optional("prevPage"),
            pages: fields.optional("pages"),
            total: fields.optional("total"),
            count: fields.optional("count"),
            data,
            unreadable,
            bytes: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::read_record;
    use candlewick_broker::UnrecognisedData;
    use serde_json::{Value, json};

    fn envelope(rows: &Value, next: &Value, last: &Value) -> Value {
        json!({
            "currentPage": 1, "perPage": 2, "lastPage": last, "nextPage": next, "prevPage": null, "pages": 2,
            "total": 3, "count": 2, "data": rows,
        })
    }

    #[test]
    fn the_envelope_is_read_and_a_broken_row_is_counted() {
        let drift = UnrecognisedData::new();
        let json =
            envelope(&json!([{"id": "a", "status": "OPEN"}, {"status": "OPEN"}]), &json!(2), &json!("2"));
        let page: TradePage = read_record(json, &drift).unwrap();
        let expected = TradePage {
            current_page: Some(1),
            per_page: Some(2),
            last_page: Some(2),
            next_page: Some(2),
            prev_page: None,
            pages: Some(2),
            total: Some(3),
            count: Some(2),
            data: page.data.clone(),
            bytes: 0,
            unreadable: 1,
        };
        assert_eq!((page.data.len(), &page), (1, &expected));
        assert_eq!(drift.snapshot().into_keys().collect::<Vec<_>>(), ["Trade.id unreadable"]);
        for not_a_page in [json!({"currentPage": 1}), json!([]), json!({"data": "none"})] {
            assert!(read_record::<TradePage>(not_a_page, &drift).is_err());
        }
    }

    #[test]
    fn the_list_goes_on_until_a_short_page_or_the_last() {
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
            assert_eq!(page.following(&query), expected, "{rows} {next} {last}");
        }
    }
}
