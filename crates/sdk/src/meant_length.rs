//! Durations in the notations of other programs: `M5`, `5min`, `@5m`, `5:00`, bare numbers.

const UNITS: [(&str, i64); 5] = [
    ("s sec secs second seconds", 1),
    ("m min mins minute minutes", 60),
    ("h hr hrs hour hours", 3_600),
    ("d day days", 86_400),
    ("", 0),
];

/// Suggests a duration for a text, formatted by `code` from seconds.
///
/// A bare number yields two suggestions: some programs count in seconds, others in minutes.
pub(crate) fn meant_length(text: &str, code: impl Fn(i64) -> Option<String>) -> Option<String> {
    let text = text.trim().trim_start_matches('@').to_ascii_lowercase();
    if let Some((minutes, seconds)) = text.split_once(':') {
        let seconds = parse_digits(seconds).filter(|_| seconds.len() == 2)?;
        return code(parse_digits(minutes)?.checked_mul(60)?.checked_add(seconds)?);
    }
    let is_letter = |letter: char| letter.is_ascii_alphabetic();
    let number = parse_digits(text.trim_matches(is_letter).trim())?;
    let unit = text.trim_matches(|letter: char| !is_letter(letter));
    let (_, seconds) = UNITS.iter().find(|(names, _)| names.split(' ').any(|name| name == unit))?;
    if *seconds > 0 {
        return code(number.checked_mul(*seconds)?);
    }
    let plural = if number == 1 { "" } else { "s" };
    let reading = |(name, unit): (&str, i64)| {
        let code = code(number.checked_mul(unit)?)?;
        Some(format!("{code} for {number} {name}{plural}"))
    };
    let readings: Vec<String> = [("second", 1), ("minute", 60)].into_iter().filter_map(reading).collect();
    (!readings.is_empty()).then(|| readings.join(", or "))
}

fn parse_digits(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}
