//! Engine.IO 4 and Socket.IO 4 packets, text frames only (`observed: prices and candles`).

use crate::model::one_line;
use serde_json::Value;
use std::time::Duration;

pub(super) const NAMESPACE: &str = "/symbol-prices";
const SUBSCRIBE: &str = "last-symbol-price";
pub(super) const PONG: &str = "3";
/// Bounds of the silence timeout.
///
/// A dead connection is noticed whatever the server announces.
const SILENCE: [Duration; 2] = [Duration::from_secs(1), Duration::from_mins(1)];

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Packet {
    /// Connection opened, with the timeout for the next ping.
    Open(Duration),
    Ping,
    Joined,
    Refused(String),
    End,
    Event(Vec<Value>),
    Other,
    Unreadable,
}

pub(super) fn read(text: &str) -> Packet {
    let mut letters = text.chars();
    match letters.next() {
        Some('0') => handshake(letters.as_str()),
        Some('1') => Packet::End,
        Some('2') => Packet::Ping,
        Some('4') => message(letters.as_str()),
        Some('3' | '5' | '6') => Packet::Other,
        _ => Packet::Unreadable,
    }
}

fn handshake(text: &str) -> Packet {
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return Packet::Unreadable };
    let span = |name: &str| fields.get(name).and_then(Value::as_u64);
    let (Some(interval), Some(timeout)) = (span("pingInterval"), span("pingTimeout")) else {
        return Packet::Unreadable;
    };
    let [least, most] = SILENCE;
    Packet::Open(Duration::from_millis(interval.saturating_add(timeout)).clamp(least, most))
}

fn message(text: &str) -> Packet {
    let mut letters = text.chars();
    let Some(kind) = letters.next() else { return Packet::Unreadable };
    let rest = letters.as_str();
    let (namespace, rest) =
        if rest.starts_with('/') { rest.split_once(',').unwrap_or((rest, "")) } else { ("/", rest) };
    if !('0'..='6').contains(&kind) {
        return Packet::Unreadable;
    }
    if namespace.split('?').next() != Some(NAMESPACE) {
        return Packet::Other;
    }
    match kind {
        '0' => Packet::Joined,
        '1' => Packet::End,
        '2' => event(rest.trim_start_matches(|letter: char| letter.is_ascii_digit())),
        '4' => Packet::Refused(one_line(rest).chars().take(200).collect()),
        _ => Packet::Other,
    }
}

fn event(text: &str) -> Packet {
    match serde_json::from_str(text) {
        Ok(Value::Array(arguments)) => Packet::Event(arguments),
        _ => Packet::Unreadable,
    }
}

pub(super) fn join() -> String {
    format!("40{NAMESPACE},")
}

pub(super) fn subscribe(slot: &str, pair: &str) -> String {
    let arguments = Value::from(vec![SUBSCRIBE.to_owned(), format!("{slot}:{pair}")]);
    format!("42{NAMESPACE},{arguments}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn the_packets_of_the_protocol_are_read() {
        let open = |interval, timeout| {
            read(&format!(
                r#"0{{"sid":"x","upgrades":[],"pingInterval":{interval},"pingTimeout":{timeout}}}"#
            ))
        };
        assert_eq!(open(25_000, 20_000), Packet::Open(Duration::from_secs(45)));
        assert_eq!(open(u64::MAX, 1), Packet::Open(Duration::from_mins(1)), "a dead server is noticed");
        assert_eq!(open(0, 0), Packet::Open(Duration::from_secs(1)));
        assert_eq!(read("2"), Packet::Ping);
        assert_eq!(read(r#"40/symbol-prices,{"sid":"y"}"#), Packet::Joined);
        assert_eq!(
            read(r#"44/symbol-prices,{"message":"no"}"#),
            Packet::Refused(r#"{"message":"no"}"#.into())
        );
        assert_eq!([read("1"), read("41/symbol-prices,")], [Packet::End, Packet::End]);
        let arguments = vec![json!("message"), json!({"a": 1})];
        for text in [r#"42/symbol-prices,["message",{"a":1}]"#, r#"42/symbol-prices,17["message",{"a":1}]"#] {
            assert_eq!(read(text), Packet::Event(arguments.clone()), "{text}");
        }
        assert_eq!(read(r#"42/other,["message",{"a":1}]"#), Packet::Other);
        assert_eq!(read(r#"42["message",{"a":1}]"#), Packet::Other, "the main namespace");
    }

    #[test]
    fn what_is_sent_is_what_was_observed() {
        assert_eq!(join(), "40/symbol-prices,");
        let expected = r#"42/symbol-prices,["last-symbol-price","default:BTCUSDT"]"#;
        assert_eq!(subscribe("default", "BTCUSDT"), expected);
        assert!(subscribe("default", "a\"\n]").contains(r#""default:a\"\n]""#), "nothing leaves its text");
    }

    #[test]
    fn what_is_no_packet_is_said_to_be_none() {
        let nested = format!("42/symbol-prices,{}", "[".repeat(10_000));
        for text in ["", "x", "9", "0", "0[]", "4", "4x", "42/symbol-prices,", "42/symbol-prices,{}", &nested]
        {
            assert_eq!(read(text), Packet::Unreadable, "{}", &text[..text.len().min(40)]);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", kind in "(0|42/symbol-prices,|44/symbol-prices,|4)") {
            let (_, _) = (read(&text), read(&format!("{kind}{text}")));
        }
    }
}
