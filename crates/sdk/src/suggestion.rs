//! Suggestions for unknown names.

use crate::aliases::{AliasContext, Counterpart, counterparts};

fn normalize(name: &str) -> String {
    name.to_lowercase().replace(['-', '_', ' ', '/'], "")
}

/// Returns the number of edits between two names, ignoring case and separators.
///
/// Insertions, deletions, substitutions and swaps of neighbours count one each.
pub fn edit_distance(one: &str, other: &str) -> usize {
    strsim::damerau_levenshtein(&normalize(one), &normalize(other))
}

/// Returns the known name closest to a misspelt or abbreviated one.
///
/// It differs in at most a third of the letters, or is the only one that starts with `name`.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let wanted = normalize(name);
    let max_distance = (wanted.chars().count() / 3).clamp(1, 4);
    let ranked = known.iter().map(|known| (edit_distance(name, known), *known));
    let closest = ranked.min_by_key(|(distance, _)| *distance);
    if let Some((_, closest)) = closest.filter(|(distance, _)| *distance <= max_distance) {
        return Some(closest);
    }
    let is_longer = |known: &&str| !wanted.is_empty() && normalize(known).starts_with(&wanted);
    let mut longer = known.iter().copied().filter(is_longer);
    longer.next().filter(|_| longer.next().is_none())
}

/// Returns the known key for a foreign or misspelt name.
pub fn find_key<'a>(contexts: &[AliasContext], name: &str, known: &[&'a str]) -> Option<&'a str> {
    let foreign = contexts.iter().flat_map(|context| counterparts(*context, name));
    let mut own = foreign.filter_map(Counterpart::key);
    let found = own.find_map(|own| known.iter().copied().find(|known| *known == own));
    found.or_else(|| nearest(name, known.iter().copied()))
}

/// Suggests the closest known name, or lists all of them.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => "there is none".to_owned(),
        None => format!("known are: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_misspelt_and_shortened_names_only() {
        let known = ["rsi-reversal", "ema-cross", "ema-ribbon"];
        for (name, expected) in [
            ("rsi-reversl", Some("rsi-reversal")),
            ("rsi_reversal", Some("rsi-reversal")),
            ("EMA-CROSS", Some("ema-cross")),
            ("ema-corss", Some("ema-cross")),
            ("rsi", Some("rsi-reversal")),
            ("ema", None),
            ("momentum", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name:?}");
        }
        assert_eq!(suggest("rsi", known), "did you mean \"rsi-reversal\"?");
        assert_eq!(suggest("momentum", known), "known are: rsi-reversal, ema-cross, ema-ribbon");
        assert_eq!(suggest("momentum", []), "there is none");
    }

    #[test]
    fn finds_keys_by_alias_before_spelling() {
        use AliasContext::{Keyword, Setting};
        for (contexts, name, known, expected) in [
            (&[Setting][..], "expiry", &["expires_ms", "close_type"][..], Some("close_type")),
            (&[Setting], "take_profit", &["loss_limit", "profit_target"], Some("profit_target")),
            (&[Setting], "take_profit", &["daily_profit_target"], Some("daily_profit_target")),
            (&[Keyword, Setting], "period", &["params", "interval"], Some("interval")),
            (&[Keyword, Setting], "close_typ", &["params", "close_type"], Some("close_type")),
            (&[Setting], "leverage", &["stake"], None),
        ] {
            assert_eq!(find_key(contexts, name, known), expected, "{name}");
        }
    }
}
