//! Raw requests and responses of the trading API.

use candlewick_sdk::Millis;

pub const MAX_EXCHANGE_BYTES: usize = 1 << 16;

/// One request and its response. The caller must have removed every token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedExchange {
    pub intent: Option<u64>,
    pub sent: Millis,
    pub received: Option<Millis>,
    pub what: String,
    pub request: String,
    pub response: Option<String>,
    pub status: Option<u16>,
}

impl LoggedExchange {
    /// Truncates long texts and replaces NUL, which PostgreSQL cannot store.
    pub(crate) fn bounded(self) -> Self {
        Self {
            what: bound(self.what),
            request: bound(self.request),
            response: self.response.map(bound),
            ..self
        }
    }
}

fn bound(text: String) -> String {
    let mut text = without_nul(text);
    if text.len() > MAX_EXCHANGE_BYTES {
        text.truncate(text.floor_char_boundary(MAX_EXCHANGE_BYTES));
        text.push_str(" [cut]");
    }
    text
}

pub(crate) fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "é".repeat(MAX_EXCHANGE_BYTES);
        for (text, expected) in [
            ("short".to_owned(), "short".to_owned()),
            ("a\0b".to_owned(), "a\u{fffd}b".to_owned()),
            (long.clone(), format!("{} [cut]", "é".repeat(MAX_EXCHANGE_BYTES / 2))),
            (format!("a{long}"), format!("a{} [cut]", "é".repeat(MAX_EXCHANGE_BYTES / 2 - 1))),
        ] {
            let exchange = LoggedExchange { response: Some(text), ..LoggedExchange::default() }.bounded();
            assert_eq!(exchange.response, Some(expected));
        }
    }
}
