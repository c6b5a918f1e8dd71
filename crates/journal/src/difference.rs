//! Stores repetitive responses, such as polled trade lists, as differences from an earlier response.

use crate::LoggedExchange;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Prefix of a stored difference. Responses that start with the prefix are escaped as differences without a base.
const DIFFERENCE_PREFIX: &str = "\u{1f}difference ";

const PIECE_END: &str = "},";
const MIN_RESPONSE_BYTES: usize = 512;
const MAX_BASES: usize = 64;
pub(crate) const MAX_CHAINED_DIFFERENCES: usize = 16;

#[derive(Serialize, Deserialize)]
struct Difference {
    /// Number of the earlier exchange that contains the base response; 0 if the difference has no base.
    base: u64,
    parts: Vec<Part>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Part {
    /// Consecutive pieces copied from the base response: index of the first piece, and number of pieces.
    FromBase(usize, usize),
    New(String),
}

#[derive(Default)]
pub(crate) struct BaseResponses(HashMap<String, BaseResponse>);

struct BaseResponse {
    id: u64,
    whole: String,
    differences: usize,
}

impl BaseResponses {
    pub(crate) fn encode_response(&mut self, id: u64, exchange: &LoggedExchange) -> Option<String> {
        let whole = exchange.response.as_deref()?;
        if whole.starts_with(DIFFERENCE_PREFIX) {
            let parts = vec![Part::New(whole.to_owned())];
            return Some(encode_difference(&Difference { base: 0, parts }));
        }
        if whole.len() < MIN_RESPONSE_BYTES {
            return Some(whole.to_owned());
        }
        let before =
            self.0.get(&exchange.request_line).filter(|base| base.differences < MAX_CHAINED_DIFFERENCES);
        let short = before.map(|BaseResponse { id, whole: earlier, differences }| {
            (encode_difference(&Difference { base: *id, parts: diff_parts(earlier, whole) }), differences + 1)
        });
        let (kept, differences) =
            short.filter(|(short, _)| short.len() < whole.len() / 2).unwrap_or_else(|| (whole.to_owned(), 0));
        if self.0.len() >= MAX_BASES && !self.0.contains_key(&exchange.request_line) {
            self.evict_oldest();
        }
        self.0
            .insert(exchange.request_line.clone(), BaseResponse { id, whole: whole.to_owned(), differences });
        Some(kept)
    }

    fn evict_oldest(&mut self) {
        let oldest = self.0.iter().min_by_key(|(_, base)| base.id).map(|(what, _)| what.clone());
        oldest.and_then(|what| self.0.remove(&what));
    }
}

/// Returns the id of the base exchange; 0 for a difference without a base, `None` for a response stored in full.
pub(crate) fn base_id(kept: &str) -> Option<u64> {
    parse_difference(kept).map(|difference| difference.base)
}

pub(crate) fn restore_response(kept: &str, base: &str) -> Option<String> {
    let pieces: Vec<&str> = base.split_inclusive(PIECE_END).collect();
    let mut whole = String::new();
    for part in parse_difference(kept)?.parts {
        match part {
            Part::FromBase(from, count) => {
                pieces.get(from..from.checked_add(count)?)?.iter().for_each(|piece| whole.push_str(piece));
            }
            Part::New(text) => whole.push_str(&text),
        }
    }
    Some(whole)
}

fn parse_difference(kept: &str) -> Option<Difference> {
    serde_json::from_str(kept.strip_prefix(DIFFERENCE_PREFIX)?).ok()
}

fn encode_difference(difference: &Difference) -> String {
    let text = serde_json::to_string(difference).expect("numbers and strings serialize to JSON");
    format!("{DIFFERENCE_PREFIX}{text}")
}

fn diff_parts(base: &str, whole: &str) -> Vec<Part> {
    let pieces: Vec<&str> = base.split_inclusive(PIECE_END).collect();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, piece) in pieces.iter().enumerate() {
        places.entry(piece).or_insert(place);
    }
    let mut parts = Vec::new();
    for piece in whole.split_inclusive(PIECE_END) {
        if let Some(Part::FromBase(from, count)) = parts.last_mut()
            && pieces.get(*from + *count) == Some(&piece)
        {
            *count += 1;
            continue;
        }
        match (places.get(piece), parts.last_mut()) {
            (Some(place), _) => parts.push(Part::FromBase(*place, 1)),
            (None, Some(Part::New(text))) => text.push_str(piece),
            (None, _) => parts.push(Part::New(piece.to_owned())),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(what: &str, response: &str) -> LoggedExchange {
        LoggedExchange {
            request_line: what.into(),
            response: Some(response.into()),
            ..LoggedExchange::default()
        }
    }

    fn list(rows: impl Iterator<Item = u32>, state: &str) -> String {
        let rows: Vec<String> = rows
            .map(|row| format!("{{\"id\":\"{row:026}\",\"at\":{{\"ms\":{row}}},\"state\":\"{state}\"}}"))
            .collect();
        format!("{{\"data\":[{}],\"total\":{}}}", rows.join(","), rows.len())
    }

    fn kept(answers: &[String]) -> Vec<String> {
        let mut bases = BaseResponses::default();
        let mut kept: Vec<String> = Vec::new();
        for (id, answer) in (1..).zip(answers) {
            kept.push(bases.encode_response(id, &exchange("GET /list", answer)).unwrap());
            let text = kept.last().unwrap();
            let restored = match base_id(text) {
                None => text.clone(),
                Some(0) => restore_response(text, "").unwrap(),
                Some(base) => restore_response(text, &answers[usize::try_from(base).unwrap() - 1]).unwrap(),
            };
            assert_eq!(&restored, answer);
        }
        kept
    }

    #[test]
    fn repeated_lists_stay_bases_longer_than_single_requests() {
        let (mut bases, whole) = (BaseResponses::default(), list(1..=50, "open"));
        let mut lengths = Vec::new();
        for id in 1..=1_000 {
            let is_list = id % 10 == 1;
            let what = if is_list { "GET /list".to_owned() } else { format!("GET /trades/{id}") };
            let kept = bases.encode_response(id, &exchange(&what, &whole)).unwrap();
            assert!(is_list || kept == whole, "another question is another list");
            lengths.extend(is_list.then_some(kept.len()));
        }
        let are_whole = lengths.iter().filter(|length| **length == whole.len()).count();
        assert_eq!(are_whole, 1 + 99 / (MAX_CHAINED_DIFFERENCES + 1), "the chain of differences is limited");
        assert_eq!((bases.0.len(), bases.encode_response(7, &LoggedExchange::default())), (MAX_BASES, None));
    }

    #[test]
    fn stores_only_the_new_part_of_a_growing_list() {
        let answers = [
            list(1..=50, "open"),
            list(1..=50, "open"),
            list(0..=50, "open"),
            list(2..=51, "open"),
            list((1..=50).rev(), "open"),
        ];
        let kept = kept(&answers);
        assert_eq!(kept[0], answers[0]);
        for ((base, kept), answer) in (0..).zip(&kept).zip(&answers).skip(1) {
            assert_eq!(base_id(kept), Some(base));
            assert!(kept.len() * 2 < answer.len(), "{} of {}", kept.len(), answer.len());
        }
    }

    #[test]
    fn stores_dissimilar_response_complete_as_new_base() {
        let answers = [
            list(1..=50, "open"),
            list(101..=150, "won"),
            list(101..=151, "won"),
            "{}".to_owned(),
            String::new(),
        ];
        let kept = kept(&answers);
        assert_eq!((&kept[1], base_id(&kept[2])), (&answers[1], Some(2)));
        assert_eq!(kept[3..], answers[3..]);
    }

    #[test]
    fn stores_a_complete_response_from_time_to_time() {
        let kept = kept(&vec![list(1..=50, "open"); 40]);
        let whole: Vec<usize> = (0..40).filter(|place| base_id(&kept[*place]).is_none()).collect();
        assert_eq!(whole, [0, MAX_CHAINED_DIFFERENCES + 1, 2 * (MAX_CHAINED_DIFFERENCES + 1)]);
    }

    #[test]
    fn restores_response_that_looks_like_a_difference() {
        let hostile = format!("{DIFFERENCE_PREFIX}{{\"base\":1,\"parts\":[[0,99]]}}");
        let kept = kept(&[list(1..=50, "open"), hostile.clone(), format!("{DIFFERENCE_PREFIX}x")]);
        assert_eq!((base_id(&kept[1]), base_id(&kept[2])), (Some(0), Some(0)));
        // If a difference was edited, it either cannot be restored, or its exchange does not match the seal.
        assert_eq!(restore_response(&hostile, "short"), None);
        let overflow = format!("{DIFFERENCE_PREFIX}{{\"base\":1,\"parts\":[[18446744073709551615,2]]}}");
        assert_eq!(restore_response(&overflow, "a},b"), None);
        assert_eq!(base_id(&format!("{DIFFERENCE_PREFIX}nonsense")), None);
    }
}
