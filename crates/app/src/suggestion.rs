//! What somebody may have meant by a name that does not exist.

/// The known name that is nearest, when one is near enough to be a slip of the keyboard.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' ', '/'], "");
    let wanted = plain(name);
    let most = (wanted.chars().count() / 3).clamp(1, 4);
    let distance = |candidate: &str| strsim::damerau_levenshtein(&wanted, &plain(candidate));
    let ranked = known.into_iter().map(|candidate| (distance(candidate), candidate));
    ranked
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= most)
        .map(|(_, name)| name)
}

/// The only known name that begins with this one.
pub(crate) fn begun<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut longer = known.into_iter().filter(|known| !name.is_empty() && known.starts_with(name));
    longer.next().filter(|_| longer.next().is_none())
}

/// `did you mean "x"?`, or the list of what there is.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(near) = nearest(name, known.clone()).or_else(|| begun(name, known.clone())) {
        return format!("did you mean \"{near}\"?");
    }
    let names: Vec<&str> = known.into_iter().collect();
    if names.is_empty() { "there is none".to_owned() } else { format!("known are: {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognized_and_other_names_are_not() {
        let known = ["rsi-reversal", "ema-cross", "signal-list"];
        for (name, expected) in [
            ("rsi-reversl", Some("rsi-reversal")),
            ("rsi_reversal", Some("rsi-reversal")),
            ("EMA-CROSS", Some("ema-cross")),
            ("ema-corss", Some("ema-cross")),
            ("momentum", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name:?}");
        }
        assert_eq!(suggest("momentum", known), "known are: rsi-reversal, ema-cross, signal-list");
        assert_eq!(suggest("momentum", []), "there is none");
    }

    #[test]
    fn the_beginning_of_one_name_alone_is_that_name() {
        let known = ["rsi-reversal", "ema-cross", "ema-ribbon"];
        assert_eq!(suggest("rsi", known), "did you mean \"rsi-reversal\"?");
        assert_eq!(suggest("ema", known), "known are: rsi-reversal, ema-cross, ema-ribbon");
        assert_eq!(suggest("", ["ema-cross"]), "known are: ema-cross");
    }
}
