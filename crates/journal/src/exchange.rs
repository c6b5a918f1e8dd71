//! Requests and responses of the trading API, as they were.

use candlewick_sdk::Millis;

/// Bytes of a text that are kept; what is longer is cut.
pub const MAX_EXCHANGE_BYTES: usize = 1 << 16;

/// One request and what came back. The caller has removed every token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedExchange {
    /// The intent that it is about.
    pub intent: Option<u64>,
    /// When it was sent.
    pub sent: Millis,
    /// When the response was there.
    pub received: Option<Millis>,
    /// Method and path, such as `POST /token/trades/open`.
    pub what: String,
    /// The request's body.
    pub request: String,
    /// The response's body.
    pub response: Option<String>,
    /// The response's status.
    pub status: Option<u16>,
}

impl LoggedExchange {
    /// The same within bounds, and without the one character that PostgreSQL cannot keep.
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

/// The text with U+FFFD in the place of each NUL.
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
