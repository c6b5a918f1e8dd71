//! Unsupported files, and hints for converting them.

pub(super) const WORKBOOK: &str =
    "this is a spreadsheet's workbook, not text: open it and save it as CSV (in Excel: CSV UTF-8)";
const WEB_PAGE: &str = "this is a web page or XML, whatever its name says: open it in a spreadsheet program and save it as CSV (in Excel: \
                        CSV UTF-8)";
const OBJECTS: &str = "this is JSON with names, and what is read is lists of [time, open, high, low, close, volume], or text in columns: \
                       write it as CSV, for example with jq -r '.[] | select(.complete != false) | [.time, .open, .high, .low, .close, .volume] | @csv'";
const TICKS: &str = "these are ticks or trades, not candles: have the program that wrote them export bars of one length, such as 1 minute";

pub(super) fn problem_of(text: &[u8]) -> Option<String> {
    let begins =
        |with: &str| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()));
    if ["<html", "<!doctype", "<?xml", "<table", "<meta", "<head", "<body", "<style"]
        .iter()
        .any(|tag| begins(tag))
    {
        return Some(WEB_PAGE.to_owned());
    }
    let inner = text.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    if text.starts_with(b"{") || inner.is_some_and(|inner| inner.starts_with(b"{")) {
        return Some(OBJECTS.to_owned());
    }
    let first = text.split(|byte| *byte == b'\n').next().and_then(|line| std::str::from_utf8(line).ok())?;
    is_of_ticks(first).then(|| TICKS.to_owned())
}

fn is_of_ticks(first: &str) -> bool {
    let cells: Vec<String> = first
        .split([',', ';', '\t'])
        .map(|cell| cell.trim().trim_matches(['"', '<', '>']).to_lowercase())
        .collect();
    let has = |names: &[&str]| cells.iter().any(|cell| names.contains(&cell.as_str()));
    if has(&["open", "o", "high"]) {
        return false;
    }
    let is_named = has(&["bid", "bid price", "bidprice"]) && has(&["ask", "ask price", "askprice"])
        || has(&["price"]) && has(&["qty", "quantity", "size", "amount", "side"]);
    let is_number = |cell: &String| cell.parse::<f64>().is_ok();
    let begins_with_digits = cells[0].bytes().take(4).filter(u8::is_ascii_digit).count() == 4;
    let is_bare = (3..=4).contains(&cells.len()) && begins_with_digits && cells[1..].iter().all(is_number);
    is_named || is_bare
}

pub(super) fn is_workbook(names: &[&str]) -> bool {
    names.contains(&"xl/workbook.xml") || names.contains(&"content.xml") && names.contains(&"mimetype")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_get_their_cure_and_candles_none() {
        for (text, expected) in [
            ("<HTML><body>", Some(WEB_PAGE)),
            ("<!DOCTYPE html>", Some(WEB_PAGE)),
            ("<?xml version=\"1.0\"?>", Some(WEB_PAGE)),
            ("{\"results\":[", Some(OBJECTS)),
            ("[ {\"time\":1", Some(OBJECTS)),
            ("timestamp,bid,ask\n", Some(TICKS)),
            ("id,price,qty,quoteQty,time,isBuyerMaker\n", Some(TICKS)),
            ("20240102 170000123,1.0942,1.0943,0\n", Some(TICKS)),
            ("<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>", None),
            ("[[1704232800000,1,1,1,1,1]]", None),
            ("time,open,high,low,close,bid,ask\n", None),
            ("1704232800,1.1,1.1,1.1,1.1\n", None),
            ("Date,Price,Open,High,Low,Vol.\n", None),
        ] {
            assert_eq!(problem_of(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }
}
