//! Restores a run from the HTML page of its report.

use super::RunPage;
use super::packed::{decompress, pack_columns};
use candlewick_sdk::Millis;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq)]
pub struct ParsedRun {
    pub document: Value,
    pub settings: Value,
    pub trades: Vec<ParsedTrade>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParsedTrade {
    pub bot: String,
    pub direction: &'static str,
    pub amount: f64,
    pub decision_time: Millis,
    pub open_time: Option<Millis>,
    pub open_price: Option<f64>,
    pub close_time: Option<Millis>,
    pub close_price: Option<f64>,
    pub result: Option<String>,
    pub pnl: Option<f64>,
}

impl ParsedRun {
    pub fn from_html(text: &str) -> Option<Self> {
        let contents: Value = serde_json::from_str(data_element(text, "contents")?).ok()?;
        let document = serde_json::from_str(data_element(text, "report")?).ok()?;
        let columns: Value = serde_json::from_slice(&decompress(data_element(text, "trades")?)?).ok()?;
        let trades = parse_trades(&columns, contents.get("bots")?)?;
        Some(Self { document, settings: contents.get("settings")?.clone(), trades })
    }

    pub fn from_run_page(page: &RunPage<'_>) -> Self {
        let bots: Vec<Value> = page.trades.bots.iter().map(|bot| json!({ "name": bot.name })).collect();
        let columns = pack_columns(&page.rows, &page.trades);
        // Parsing cannot fail, because the columns were packed just before and are complete.
        let trades = parse_trades(&columns, &json!(bots)).unwrap_or_default();
        Self { document: page.document.clone(), settings: page.settings.clone(), trades }
    }
}

/// Returns the content of a data element. The content is escaped, so it cannot contain the closing tag.
fn data_element<'a>(text: &'a str, id: &str) -> Option<&'a str> {
    let mark = format!("id=\"{id}\">");
    let inside = text.split_once(&format!("<script type=\"application/json\" {mark}"));
    let inside = inside.or_else(|| text.split_once(&format!("<script type=\"text/plain\" {mark}")));
    inside?.1.split_once("</script>").map(|(inside, _)| inside)
}

fn parse_trades(columns: &Value, bots: &Value) -> Option<Vec<ParsedTrade>> {
    let count = columns.get("bot")?.as_array()?.len();
    let mut decided = 0_i64;
    let mut trades = Vec::with_capacity(count);
    for row in 0..count {
        let of = |name: &str| columns.get(name).and_then(|column| column.get(row));
        let number = |name: &str| of(name).and_then(Value::as_f64);
        let after = |name: &str, from: Option<i64>| from?.checked_add(of(name)?.as_i64()?);
        let bot = bots.get(usize::try_from(of("bot")?.as_u64()?).ok()?)?;
        decided = decided.checked_add(of("decided")?.as_i64()?)?;
        let opened = after("opened", Some(decided));
        trades.push(ParsedTrade {
            bot: bot.get("name")?.as_str()?.to_owned(),
            direction: if of("buy")?.as_u64()? == 1 { "BUY" } else { "SELL" },
            amount: number("amount")?,
            decision_time: Millis::new(decided),
            open_time: opened.map(Millis::new),
            open_price: number("open"),
            close_time: after("closed", opened).map(Millis::new),
            close_price: number("close"),
            result: of("result").and_then(Value::as_str).map(str::to_owned),
            pnl: number("pnl"),
        });
    }
    Some(trades)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_none_for_other_pages() {
        for text in [
            "",
            "<html></html>",
            "<script type=\"application/json\" id=\"contents\">{}</script>",
            "<script type=\"application/json\" id=\"contents\">{\"bots\":[]}</script><script type=\"application/json\" \
             id=\"report\">{}</script><script type=\"text/plain\" id=\"trades\">!</script>",
        ] {
            assert_eq!(ParsedRun::from_html(text), None, "{text}");
        }
    }

    #[test]
    fn reads_trades_from_columns_and_rejects_broken_ones() {
        let columns = json!({
            "bot": [0, 0], "buy": [1, 0], "amount": [10.0, 5.0], "decided": [1_000, 500], "opened": [3, null],
            "open": [1.5, null], "closed": [60, null], "close": [1.6, null], "result": ["WON", null], "pnl": [8.0, null]
        });
        let bots = json!([{ "name": "btc" }]);
        let read = parse_trades(&columns, &bots).unwrap();
        let [opened, closed] = [1_003, 1_063].map(|at| Some(Millis::new(at)));
        assert_eq!((read[0].open_time, read[0].close_time), (opened, closed));
        assert_eq!((read[1].decision_time, read[1].close_time), (Millis::new(1_500), None));
        for (column, value) in
            [("bot", json!([1, 0])), ("decided", json!([i64::MAX, 5])), ("amount", json!([1.0]))]
        {
            let mut broken = columns.clone();
            broken[column] = value;
            assert_eq!(parse_trades(&broken, &bots), None, "{column}");
        }
    }
}
