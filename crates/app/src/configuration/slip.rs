//! The way out of a line that is no TOML.

/// What to write in a line that the parser refuses, where that is plain. Nothing of the line is shown: it might hold a secret.
pub(super) fn cure_of(line: &str) -> Option<&'static str> {
    let decimals = |(at, sign): (usize, &str)| decimals_behind_comma(&line[at + sign.len()..]);
    match line.match_indices('=').find_map(decimals) {
        // 1,000 may be a thousand as well as one.
        Some(3) => {
            return Some("a number has no comma: write 1000 for a thousand, and 1.0 for one with decimals");
        }
        Some(_) => return Some("decimals stand behind a point, as in 10.5"),
        None => {}
    }
    if line.match_indices('=').any(|(at, sign)| begins_with_thousands(&line[at + sign.len()..])) {
        return Some(
            "a number has no sign between thousands, and a point before its decimals, as in 1000.00",
        );
    }
    let is_open = |quote: char| line.matches(quote).count() % 2 == 1;
    if is_open('"') {
        return Some("a text ends with the quote that it begins with, as in symbol = \"EURUSD\"");
    }
    let word = line.split_once('=').and_then(|(_, value)| bare_word(value))?;
    if ["true", "false", "yes", "no", "on", "off"].iter().any(|known| word.eq_ignore_ascii_case(known)) {
        return Some("yes and no are written true and false, in small letters");
    }
    Some("a text stands in quotes, as in symbol = \"EURUSD\"")
}

/// The word that follows a `=`, where TOML does not know it.
fn bare_word(value: &str) -> Option<&str> {
    let value = value.trim_start();
    let end =
        value.find(|sign: char| !(sign.is_alphanumeric() || "_-.:/".contains(sign))).unwrap_or(value.len());
    let word = &value[..end];
    let is_known = ["true", "false", "inf", "nan"].contains(&word);
    (word.starts_with(|sign: char| sign.is_alphabetic()) && !is_known).then_some(word)
}

/// How many digits stand behind the comma, where what follows a `=` is a number such as 10,5.
fn decimals_behind_comma(value: &str) -> Option<usize> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let (whole, rest) = value.trim_start().split_once(',')?;
    let decimals: &str = rest.split(|sign: char| !sign.is_ascii_digit()).next().unwrap_or_default();
    let is_last = rest[decimals.len()..].trim_start().chars().next().is_none_or(|sign| ",}#".contains(sign));
    let is_one = is_number(whole.trim_start_matches(['-', '+'])) && is_number(decimals) && is_last;
    is_one.then_some(decimals.len())
}

/// Whether what follows a `=` is a number such as 1.000,00 or 1,000.00.
fn begins_with_thousands(value: &str) -> bool {
    let end = |sign: char| !(sign.is_ascii_digit() || ",.".contains(sign));
    let number = value.trim_start().trim_start_matches(['-', '+']).split(end).next().unwrap_or_default();
    let parts: Vec<&str> = number.trim_end_matches(',').split([',', '.']).collect();
    let is_whole = parts.iter().all(|part| !part.is_empty());
    let [first, middle @ .., _] = parts.as_slice() else { return false };
    is_whole && !middle.is_empty() && first.len() <= 3 && middle.iter().all(|part| part.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_comma_thousands_and_an_open_quote_are_answered_and_nothing_else_is() {
        let (comma, quote, bare) =
            (Some("decimals stand"), Some("a text ends"), Some("a text stands in quotes"));
        let thousands = Some("a number has no sign between thousands");
        for (line, expected) in [
            ("amount = 10,5", comma),
            ("stake = { kind = \"fixed\", amount = 10,5 }", comma),
            ("stake = { amount = -10,50, kind = \"fixed\" }", comma),
            ("limit=10,5 # of the day", comma),
            ("real = True", Some("yes and no are written true and false")),
            ("real = Yes # demo", Some("yes and no are written true and false")),
            ("daily_loss_limit = 1,000", Some("a number has no comma: write 1000 for a thousand")),
            ("stake = { kind = \"fixed\", amount = 1,000 }", Some("a number has no comma")),
            ("amount = 1.000,00", thousands),
            ("stake = { kind = \"fixed\", amount = 1,000.00 }", thousands),
            ("stake = { amount = 12.345.678,90, kind = \"fixed\" }", thousands),
            ("stake = { a = 1.5,b = 5, c", None),
            ("stake = { a = 1.50,2.5, c", None),
            ("amount = 1.5.2", None),
            ("symbol = \"EURUSD", quote),
            ("symbol = EURUSD\"", quote),
            ("symbol = EURUSD", bare),
            ("interval = 1m", None),
            ("real = true, x", None),
            ("list = [1,2", None),
            ("stake = { a = 10,b = 5", None),
            ("stake = { a = 10,5 = 2", None),
            ("stake = { a = 10,5m = 2", None),
            ("amount = 10,", None),
            ("10,5", None),
            ("", None),
        ] {
            let found = cure_of(line);
            let is_it =
                expected.map_or(found.is_none(), |part| found.is_some_and(|cure| cure.starts_with(part)));
            assert!(is_it, "{line}: {found:?}");
        }
    }
}
