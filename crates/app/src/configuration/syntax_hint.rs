//! Hints for lines of the configuration that are not TOML.

/// Returns a hint for a line.
///
/// It never quotes the line, which might contain a secret.
pub(super) fn hint_for_line(line: &str) -> Option<&'static str> {
    let mut values = line.match_indices('=').map(|(at, _)| line[at + 1..].trim_start());
    if values.any(has_separators) {
        return Some("a number has a decimal point and nothing between thousands, as in 1000.50");
    }
    if line.matches('"').count() % 2 == 1 {
        return Some("a text ends with the quote that it begins with, as in symbol = \"EURUSD\"");
    }
    let (_, value) = line.split_once('=')?;
    let is_end = |letter: char| !(letter.is_alphanumeric() || "_-.:/".contains(letter));
    let word = value.trim_start().split(is_end).next().unwrap_or_default();
    match word.to_lowercase().as_str() {
        _ if ["true", "false", "inf", "nan"].contains(&word) => None,
        "true" | "false" | "yes" | "no" | "on" | "off" => Some("yes and no are written true and false"),
        _ if word.starts_with(char::is_alphabetic) => {
            Some("a text stands in quotes, as in symbol = \"EURUSD\"")
        }
        _ => None,
    }
}

fn has_separators(value: &str) -> bool {
    let is_end = |letter: char| !(letter.is_ascii_digit() || ",.".contains(letter));
    let number = value.trim_start_matches(['-', '+']).split(is_end).next().unwrap_or_default();
    let number = number.trim_end_matches(',');
    let mut parts = number.split([',', '.']);
    let is_number = parts.clone().all(|part| !part.is_empty());
    let is_plain = number.matches(',').count() == 0 && parts.nth(2).is_none();
    is_number && !is_plain && number.contains([',', '.'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_separators_open_quotes_and_bare_words() {
        let number = Some("a number has a decimal point");
        let (quote, bare) = (Some("a text ends"), Some("a text stands in quotes"));
        for (line, expected) in [
            ("amount = 10,5", number),
            ("stake = { kind = \"fixed\", amount = 10,5 }", number),
            ("stake = { amount = -10,50, kind = \"fixed\" }", number),
            ("limit=10,5 # of the day", number),
            ("amount = 1.000,00", number),
            ("stake = { kind = \"fixed\", amount = 1,000.00 }", number),
            ("stake = { a = 1.5,b = 5, c", None),
            ("stake = { a = 10,b = 5", None),
            ("list = [1,2", None),
            ("amount = 10,", None),
            ("10,5", None),
            ("real = Yes # demo", Some("yes and no are written true and false")),
            ("real = true, x", None),
            ("symbol = \"EURUSD", quote),
            ("symbol = EURUSD", bare),
            ("interval = 1m", None),
            ("", None),
        ] {
            let found = hint_for_line(line);
            let is_expected =
                expected.map_or(found.is_none(), |text| found.is_some_and(|f| f.starts_with(text)));
            assert!(is_expected, "{line}: {found:?}");
        }
    }
}
