//! Recorded trade lists that resolved an order of unknown status. The lists are found by their request times.

use super::step::{Step, describe_document};
use crate::RecordsError;
use crate::lines::parse;
use crate::trade::IntentOrigin;
use candlewick_engine::{Event, EventKind, IntentRow};
use candlewick_journal::{LineKind, LoggedExchange, Reader, StoredLine};
use candlewick_sdk::{Millis, Symbol};
use serde_json::Value;

/// Minimum delay between the two trade lists that together confirm that the trade exists.
const FOUND_TRADE_RECHECK_DELAY: Millis = Millis::from_seconds(5);
/// Minimum delay between the two trade lists that together confirm that no trade exists.
const MISSING_TRADE_RECHECK_DELAY: Millis = Millis::from_seconds(10);
const MAX_HTTP_EXCHANGES: u32 = 500;
const TIME_SLACK: Millis = Millis::SECOND;

/// Reads the trade lists that resolved an order in doubt. Also reads the wallet if no trade was found.
pub(super) async fn read_trade_lists(
    reader: &mut Reader,
    (lines, notes): (&[StoredLine], &[&StoredLine]),
) -> Result<Vec<LoggedExchange>, RecordsError> {
    let (mut read, mut began) = (Vec::new(), None);
    for stored in lines.iter().filter(|stored| stored.line.kind == LineKind::Event) {
        let event: Event = parse(stored)?;
        let ended = stored.line.received;
        let (apart, is_opened) = match event.kind {
            EventKind::InDoubt { .. } | EventKind::Reinstated(_) => {
                began = Some(ended);
                continue;
            }
            EventKind::Adopted(_) => (FOUND_TRADE_RECHECK_DELAY, true),
            EventKind::NotOpened { .. } => (MISSING_TRADE_RECHECK_DELAY, false),
            _ => continue,
        };
        let by_person = lines.iter().chain(notes.iter().copied()).any(|one| is_manual_resolution(one, ended));
        let Some(began) = began.filter(|_| !by_person) else { continue };
        let exchanges = reader.exchanges_between(began, ended, MAX_HTTP_EXCHANGES).await?;
        let lists: Vec<_> = exchanges.iter().filter(|exchange| is_trade_list(exchange)).cloned().collect();
        let Some((last, before)) = last_two_lists(&lists, apart) else { continue };
        read.extend(before.iter().chain(last).cloned());
        let mut later = exchanges.iter().filter(|exchange| exchange.sent >= last[0].sent);
        read.extend(later.find(|exchange| !is_opened && is_wallet_reply(exchange)).cloned());
    }
    Ok(read)
}

pub(super) fn build_steps(
    exchange: &LoggedExchange,
    (row, origin): (&IntentRow, &IntentOrigin),
    venue_id: Option<&str>,
) -> [Step; 2] {
    let kind = if is_trade_list(exchange) { "list" } else { "wallet" };
    let steps = Step::from_exchange(exchange, row.approved.decision_time());
    let [request, reply] = steps.map(|step| Step { what: format!("{kind} {}", step.what), ..step });
    let page = exchange.response.as_deref().unwrap_or_default();
    let short = is_trade_list(exchange).then(|| describe_page(page, venue_id, origin));
    [request, Step { summary: short, ..reply }]
}

fn is_manual_resolution(stored: &StoredLine, ended: Millis) -> bool {
    let (body, apart) = (&stored.line.body, stored.line.received - ended);
    let is_word = body.contains("\"resolved\":")
        || body.contains("the operator resolved trade")
        || body.contains("a person ended the doubt of");
    stored.line.kind == LineKind::Note && is_word && apart <= TIME_SLACK && Millis::ZERO - TIME_SLACK <= apart
}

fn is_trade_list(exchange: &LoggedExchange) -> bool {
    exchange.request_line.starts_with("GET /token/trades?") && exchange.status == Some(200)
}

fn is_wallet_reply(exchange: &LoggedExchange) -> bool {
    exchange.request_line == "GET /token/wallets" && exchange.status == Some(200)
}

fn last_two_lists(lists: &[LoggedExchange], apart: Millis) -> Option<(&[LoggedExchange], &[LoggedExchange])> {
    let is_first_page = |exchange: &LoggedExchange| {
        exchange.request_line.contains("?page=1&") || exchange.request_line.ends_with("?page=1")
    };
    let whole = lists.chunk_by(|_, next| !is_first_page(next)).filter(|pages| is_first_page(&pages[0]));
    let mut latest_first = whole.rev();
    let last = latest_first.next()?;
    let before = latest_first.find(|pages| pages[0].sent + apart <= last[0].sent);
    Some((last, before.unwrap_or_default()))
}

fn describe_page(text: &str, venue_id: Option<&str>, origin: &IntentOrigin) -> String {
    let rows = parse_rows(text);
    let page: Value = serde_json::from_str(text).unwrap_or_default();
    let length = page["total"].as_u64().or(page["count"].as_u64());
    let count = match (page.is_null(), length) {
        (true, _) => format!("{} trades (the rest was cut off)", rows.len()),
        (false, Some(length)) => format!("{} of {length} trades", rows.len()),
        (false, None) => format!("{} trades", rows.len()),
    };
    format!("{count}, {}", describe_matches(&rows, venue_id, origin))
}

pub(super) fn parse_rows(page: &str) -> Vec<Value> {
    const DATA_START: &str = "\"data\":[";
    let mut rows = Vec::new();
    let Some((_, mut rest)) = page.split_once(DATA_START) else { return rows };
    loop {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let Some(Ok(row)) = values.next() else { return rows };
        rows.push(row);
        rest = rest[values.byte_offset()..].trim_start().trim_start_matches(',');
    }
}

fn describe_matches(rows: &[Value], venue_id: Option<&str>, origin: &IntentOrigin) -> String {
    if let Some(id) = venue_id {
        let found = rows.iter().find(|row| row["id"] == id);
        return found.map_or_else(
            || "without this trade".to_owned(),
            |row| format!("this trade: {}", describe_document(row)),
        );
    }
    let since: Vec<&str> =
        rows.iter().filter_map(|row| id_if_opened_since(row, origin.symbol, origin.request_time)).collect();
    let since = if since.is_empty() { "none".to_owned() } else { since.join(" ") };
    format!("trades opened on {} since the request: {since}", origin.symbol)
}

fn id_if_opened_since(row: &Value, symbol: Symbol, since: Millis) -> Option<&str> {
    let is_of = row["symbol"] == symbol.as_str() && row["openTime"].as_i64() >= Some(since.get());
    row["id"].as_str().filter(|_| is_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_trades_before_the_cut_of_a_page() {
        let page =
            r#"{"page":1,"data":[{"id":"a","wallets":[{"x":"]},{"}]}, {"id":"b"},{"id":"c"}],"total":3}"#;
        let ids = |text: &str| {
            let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
            parse_rows(text).iter().map(id).collect::<String>()
        };
        let cut = |end: &str| format!("{} [cut]", &page[..page.find(end).unwrap()]);
        for (text, expected) in [
            (page.to_owned(), "abc"),
            (cut("\"c\""), "ab"),
            (cut(", {\"id\":\"b"), "a"),
            (cut("]},{"), ""),
            (r#"{"data":[],"total":0}"#.to_owned(), ""),
            ("no page".to_owned(), ""),
        ] {
            assert_eq!(ids(&text), expected, "{text}");
        }
    }

    #[test]
    fn pairs_last_list_with_the_latest_one_far_enough_before() {
        let exchange = |sent: i64, page: u64| LoggedExchange {
            sent: Millis::from_seconds(sent),
            request_line: format!("GET /token/trades?page={page}&pageSize=100"),
            ..LoggedExchange::default()
        };
        // The data starts with the end of an earlier list. Three lists follow, two of which have two pages.
        let lists =
            [exchange(1, 2), exchange(2, 1), exchange(3, 2), exchange(6, 1), exchange(9, 1), exchange(10, 2)];
        for (apart, expected) in
            [(3, &[3..4, 4..6][..]), (4, &[1..3, 4..6]), (7, &[1..3, 4..6]), (8, &[0..0, 4..6])]
        {
            let (last, before) = last_two_lists(&lists, Millis::from_seconds(apart)).unwrap();
            assert_eq!((before, last), (&lists[expected[0].clone()], &lists[expected[1].clone()]), "{apart}");
        }
        assert_eq!(last_two_lists(&lists[..1], Millis::ZERO), None);
    }
}
