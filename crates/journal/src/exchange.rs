//! API exchanges (raw requests with their responses) and seals (journal notes with hashes of exchanges).

use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

pub const MAX_EXCHANGE_BYTES: usize = 1 << 16;

/// An API request and its response. The caller must remove all access tokens before logging.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedExchange {
    pub intent: Option<u64>,
    pub sent: Millis,
    pub received: Option<Millis>,
    pub request_line: String,
    pub request: String,
    pub response: Option<String>,
    pub status: Option<u16>,
}

impl LoggedExchange {
    /// Truncates long texts and replaces NUL characters, which PostgreSQL cannot store.
    pub(crate) fn sanitize(self) -> Self {
        Self {
            request_line: sanitize_text(self.request_line),
            request: sanitize_text(self.request),
            response: self.response.map(sanitize_text),
            ..self
        }
    }
}

fn sanitize_text(text: String) -> String {
    let mut text = without_nul(text);
    if text.len() > MAX_EXCHANGE_BYTES {
        text.truncate(text.floor_char_boundary(MAX_EXCHANGE_BYTES));
        text.push_str(" [cut]");
    }
    text
}

/// Replaces NUL characters, which PostgreSQL cannot store.
pub fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

const SEAL_PREFIX: &str = "{\"exchanges\":";

#[derive(Serialize, Deserialize)]
struct Seal {
    exchanges: SealedHashes,
}

#[derive(Serialize, Deserialize)]
struct SealedHashes {
    first: u64,
    hashes: Vec<String>,
}

pub(crate) fn build_seal(first: u64, exchanges: &[LoggedExchange]) -> String {
    let hashes = (first..).zip(exchanges).map(|(id, one)| hash_exchange(id, one).to_hex().to_string());
    let seal = Seal { exchanges: SealedHashes { first, hashes: hashes.collect() } };
    serde_json::to_string(&seal).expect("numbers and strings serialize to JSON")
}

pub fn is_seal(body: &str) -> bool {
    body.starts_with(SEAL_PREFIX)
}

pub(crate) fn sealed_ids(body: &str) -> Option<Range<u64>> {
    let Seal { exchanges: SealedHashes { first, hashes } } =
        serde_json::from_str(Some(body).filter(|body| is_seal(body))?).ok()?;
    Some(first..first + hashes.len() as u64)
}

/// Hashes an exchange with blake3. Texts have length prefixes, and a byte marks whether an optional field is present.
fn hash_exchange(id: u64, exchange: &LoggedExchange) -> blake3::Hash {
    let LoggedExchange { intent, sent, received, request_line: what, request, response, status } = exchange;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&id.to_le_bytes()).update(&sent.get().to_le_bytes());
    let received = received.map(|received| received.get().cast_unsigned());
    for number in [*intent, received, status.map(u64::from)] {
        hasher.update(&[u8::from(number.is_some())]).update(&number.unwrap_or_default().to_le_bytes());
    }
    for text in [Some(what), Some(request), response.as_ref()] {
        let length = text.map_or(0, String::len) as u64;
        hasher.update(&[u8::from(text.is_some())]).update(&length.to_le_bytes());
        hasher.update(text.map(String::as_bytes).unwrap_or_default());
    }
    hasher.finalize()
}

#[derive(Default)]
pub(crate) struct Seals(BTreeMap<u64, (blake3::Hash, u64)>);

pub(crate) struct SealMismatch {
    pub(crate) seq: u64,
    pub(crate) reason: String,
}

impl Seals {
    pub(crate) fn add_line(&mut self, seq: u64, body: &str) {
        if !is_seal(body) {
            return;
        }
        let Ok(Seal { exchanges }) = serde_json::from_str(body) else { return };
        let hashes = exchanges.hashes.iter().map(|hash| blake3::Hash::from_hex(hash).ok());
        for (id, hash) in (exchanges.first..).zip(hashes) {
            self.0.extend(hash.map(|hash| (id, (hash, seq))));
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        self.0.contains_key(&id)
    }

    pub(crate) fn last_id(&self) -> Option<u64> {
        self.0.last_key_value().map(|(id, _)| *id)
    }

    pub(crate) fn next_seal(&self, from: u64) -> Option<(u64, u64)> {
        self.0.range(from..).next().map(|(id, (_, seq))| (*id, *seq))
    }

    /// Compares an exchange with its seal. Every exchange after the first sealed exchange must have a seal.
    pub(crate) fn check_exchange(&self, id: u64, exchange: &LoggedExchange) -> Result<(), SealMismatch> {
        let Some((hash, seq)) = self.0.get(&id) else {
            return match self.0.range(..id).next_back() {
                Some((_, (_, seq))) => {
                    Err(SealMismatch { seq: *seq, reason: format!("raw exchange {id} has no seal") })
                }
                None => Ok(()),
            };
        };
        if hash_exchange(id, exchange) == *hash {
            return Ok(());
        }
        Err(SealMismatch { seq: *seq, reason: format!("raw exchange {id} differs from its seal") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_long_texts_between_characters() {
        let long = "é".repeat(MAX_EXCHANGE_BYTES);
        for (text, expected) in [
            ("short".to_owned(), "short".to_owned()),
            ("a\0b".to_owned(), "a\u{fffd}b".to_owned()),
            (long.clone(), format!("{} [cut]", "é".repeat(MAX_EXCHANGE_BYTES / 2))),
            (format!("a{long}"), format!("a{} [cut]", "é".repeat(MAX_EXCHANGE_BYTES / 2 - 1))),
        ] {
            let exchange = LoggedExchange { response: Some(text), ..LoggedExchange::default() }.sanitize();
            assert_eq!(exchange.response, Some(expected));
        }
    }

    fn exchange() -> LoggedExchange {
        LoggedExchange {
            intent: Some(0),
            sent: Millis::new(1),
            received: Some(Millis::ZERO),
            request_line: "GET /x".into(),
            request: "ab".into(),
            response: Some(String::new()),
            status: Some(0),
        }
    }

    #[test]
    fn hash_covers_every_field_and_the_number() {
        let changes: [fn(&mut LoggedExchange); 10] = [
            |exchange| exchange.intent = None,
            |exchange| exchange.sent = Millis::new(2),
            |exchange| exchange.received = None,
            |exchange| exchange.request_line = "GET /xa".into(),
            |exchange| exchange.request = "a".into(),
            |exchange| exchange.response = None,
            |exchange| exchange.response = Some("b".into()),
            |exchange| exchange.status = None,
            |exchange| exchange.status = Some(1),
            // Moving text from the end of a field to the start of the next field also changes the hash.
            |exchange| (exchange.request_line, exchange.request) = ("GET /xab".into(), String::new()),
        ];
        let mut hashes = vec![hash_exchange(1, &exchange()), hash_exchange(2, &exchange())];
        for change in changes {
            let mut other = exchange();
            change(&mut other);
            hashes.push(hash_exchange(1, &other));
        }
        let count = hashes.len();
        let distinct: std::collections::HashSet<_> = hashes.into_iter().collect();
        assert_eq!(distinct.len(), count);
    }

    #[test]
    fn checks_each_exchange_against_its_own_seal() {
        let changed = LoggedExchange { status: Some(500), ..exchange() };
        let mut seals = Seals::default();
        seals.add_line(8, "{\"note\":1}");
        assert!(seals.check_exchange(3, &changed).is_ok(), "no seal, and so an earlier program's");
        seals.add_line(9, &build_seal(4, &[exchange(), changed.clone()]));
        assert!(is_seal(&build_seal(4, &[exchange()])));
        assert_eq!((seals.next_seal(0), seals.count(), seals.next_seal(5)), (Some((4, 9)), 2, Some((5, 9))));
        for (id, exchange, is_sound) in [
            (3, &changed, true),
            (4, &exchange(), true),
            (5, &changed, true),
            (4, &changed, false),
            (5, &exchange(), false),
            (6, &exchange(), false),
        ] {
            assert_eq!(seals.check_exchange(id, exchange).is_ok(), is_sound, "{id}");
        }
    }
}
