//! Program outputs as JSON documents, and their text in the base.

use base64::Engine as _;
use flate2::read::ZlibDecoder;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::io::Read as _;

pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

pub(crate) fn pointer_to(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

pub(crate) fn visit(value: &mut Value, pointer: &str, call: &mut dyn FnMut(&str, &mut Value)) {
    call(pointer, value);
    match value {
        Value::Array(values) => {
            let values = values.iter_mut().enumerate();
            values.for_each(|(index, value)| visit(value, &format!("{pointer}/{index}"), call));
        }
        Value::Object(object) => {
            let values = object.iter_mut();
            values.for_each(|(key, value)| visit(value, &pointer_to(pointer, key), call));
        }
        _ => {}
    }
}

/// Parses the stdout of a command: JSON, JSON lines, CSV with `--csv`, or plain text.
pub(crate) fn parse_stdout(command: &str, text: &str) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    if command.contains("--csv") {
        return parse_csv(text.as_bytes());
    }
    if command.starts_with("completions") {
        return text.lines().map(str::trim).filter(|line| line.starts_with("opts=\"-")).collect();
    }
    let document = serde_json::from_str(text).ok();
    document.or_else(|| parse_lines(text).ok()).unwrap_or_else(|| Value::from("<text>"))
}

pub(crate) fn parse_file(name: &str, bytes: &[u8]) -> Value {
    let text = || std::str::from_utf8(bytes).unwrap();
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("csv") => parse_csv(bytes),
        Some("html") => parse_page(text()),
        Some("json") => serde_json::from_slice(bytes).unwrap(),
        Some("jsonl" | "ndjson") => parse_lines(text()).unwrap(),
        Some("toml") => toml::from_str(text()).unwrap(),
        _ => panic!("{name}: record this file by its hash"),
    }
}

fn parse_lines(text: &str) -> serde_json::Result<Value> {
    text.lines().map(serde_json::from_str::<Value>).collect()
}

fn parse_csv(bytes: &[u8]) -> Value {
    let mut reader = csv::Reader::from_reader(bytes);
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let column = |index: usize| rows.iter().map(|row| row[index].to_owned()).collect::<Value>();
    let columns: Map<String, Value> =
        header.iter().enumerate().map(|(index, name)| (name.to_owned(), column(index))).collect();
    json!({ "header": header.iter().collect::<Vec<_>>(), "columns": columns })
}

/// Parses the data of an HTML report: JSON unchanged, packed columns as the hash of their bytes.
fn parse_page(page: &str) -> Value {
    let blocks = page.split("<script type=\"").skip(1).filter_map(|block| {
        let (kind, block) = block.split_once("\" id=\"")?;
        let (id, block) = block.split_once("\">")?;
        let (content, _) = block.split_once("</script>")?;
        let value = match kind {
            "application/json" => serde_json::from_str(content).unwrap(),
            _ => unpack(content),
        };
        Some((id.to_owned(), value))
    });
    Value::Object(blocks.collect())
}

fn unpack(letters: &str) -> Value {
    let bytes = base64::engine::general_purpose::STANDARD.decode(letters).unwrap();
    let mut unpacked = Vec::new();
    ZlibDecoder::new(&bytes[..]).read_to_end(&mut unpacked).unwrap();
    let hash = || Value::from(hex_sha256(&unpacked));
    serde_json::from_slice(&unpacked).unwrap_or_else(|_| hash())
}

pub(crate) fn parse_event_stream(text: &str) -> Value {
    let field = |event: &str, name: &str| {
        event.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
    };
    let events = text.split("\n\n").filter(|event| event.contains("data:"));
    let parse = |event| {
        let data: Value = serde_json::from_str(&field(event, "data:")).unwrap();
        json!({ "event": field(event, "event:"), "data": data })
    };
    events.map(parse).collect()
}

/// Parses Prometheus metrics into types and names with labels. Values and versions are omitted.
pub(crate) fn parse_metrics(text: &str) -> Value {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let types: Map<String, Value> = types.map(|(name, kind)| (name.to_owned(), kind.into())).collect();
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let names = samples.filter_map(|line| Some(line.rsplit_once(' ')?.0));
    let mut names: Vec<&str> =
        names.map(|name| name.split_once("{version=").map_or(name, |(name, _)| name)).collect();
    names.sort_unstable();
    json!({ "types": types, "samples": names })
}

/// Renders a document with one line per value, and per list of plain values.
pub(crate) fn render(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, "\n");
    text + "\n"
}

fn write(text: &mut String, value: &Value, indent: &str) {
    let inner = format!("{indent} ");
    let is_plain = |value: &Value| !value.is_array() && !value.is_object();
    match value {
        Value::Array(values) if !values.iter().all(is_plain) => {
            for (index, value) in values.iter().enumerate() {
                text.push_str(if index == 0 { "[" } else { "," });
                text.push_str(&inner);
                write(text, value, &inner);
            }
            text.push_str(indent);
            text.push(']');
        }
        Value::Object(object) if !object.is_empty() => {
            for (index, (key, value)) in object.iter().enumerate() {
                text.push_str(if index == 0 { "{" } else { "," });
                text.push_str(&inner);
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(": ");
                write(text, value, &inner);
            }
            text.push_str(indent);
            text.push('}');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_stdout_by_its_format() {
        assert_eq!(parse_stdout("status", ""), Value::Null);
        assert_eq!(parse_stdout("status", "Status of a journal\n"), "<text>");
        assert_eq!(parse_stdout("status --json", "{\n \"open\": []\n}\n"), json!({ "open": [] }));
        assert_eq!(
            parse_stdout("live --json", "{\"seq\":1}\n{\"seq\":2}\n"),
            json!([{ "seq": 1 }, { "seq": 2 }])
        );
        let table = json!({ "header": ["pnl", "bot"], "columns": { "bot": ["btc"], "pnl": ["8.00"] } });
        assert_eq!(parse_stdout("trades --csv", "pnl,bot\n8.00,btc\n"), table);
    }

    #[test]
    fn parses_event_streams_and_metrics() {
        let events =
            parse_event_stream("event: state\ndata: {\"run\":null}\n\nevent: clock\nid: 1\ndata: {}\n\n");
        let expected =
            json!([{ "event": "state", "data": { "run": null } }, { "event": "clock", "data": {} }]);
        assert_eq!(events, expected);
        let metrics = parse_metrics("# HELP a Text\n# TYPE a gauge\na{b=\"c d\"} 1.5\n");
        assert_eq!(metrics, json!({ "types": { "a": "gauge" }, "samples": ["a{b=\"c d\"}"] }));
    }

    #[test]
    fn renders_documents_that_read_back() {
        let document = json!({ "a": [], "b": {}, "c": [{ "d": [1, 2.0, null, "x\"y"] }], "e": 0.1 });
        let text = render(&document);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
        assert!(text.contains("   \"d\": [1,2.0,null,\"x\\\"y\"]\n"), "{text}");
    }
}
