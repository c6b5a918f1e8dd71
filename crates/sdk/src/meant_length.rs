//! Lengths of time as people and other programs write them: `M5`, `5min`, `@5m`, `5:00`, and a bare number.

const UNITS: [(&str, i64); 19] = [
    ("minutes", 60),
    ("minute", 60),
    ("mins", 60),
    ("min", 60),
    ("seconds", 1),
    ("second", 1),
    ("secs", 1),
    ("sec", 1),
    ("hours", 3_600),
    ("hour", 3_600),
    ("hrs", 3_600),
    ("hr", 3_600),
    ("days", 86_400),
    ("day", 86_400),
    ("s", 1),
    ("m", 60),
    ("h", 3_600),
    ("d", 86_400),
    ("", 0),
];

/// What a text may mean, as `code` writes so many seconds where it can. Some programs count a bare number in seconds and others in
/// minutes, so it is both.
pub(crate) fn meant_length(text: &str, code: impl Fn(i64) -> Option<String>) -> Option<String> {
    let text = text.trim().trim_start_matches('@').to_ascii_lowercase();
    if let Some((minutes, seconds)) = text.split_once(':') {
        let seconds = whole(seconds).filter(|_| seconds.len() == 2)?;
        return code(whole(minutes)?.checked_mul(60)?.checked_add(seconds)?);
    }
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| {
        let number = text.strip_suffix(name).or_else(|| text.strip_prefix(name))?;
        Some((whole(number.trim())?, *unit))
    })?;
    if unit > 0 {
        return code(number.checked_mul(unit)?);
    }
    let plural = if number == 1 { "" } else { "s" };
    let reading = |(name, unit): (&str, i64)| {
        let code = code(number.checked_mul(unit)?)?;
        Some(format!("{code} for {number} {name}{plural}"))
    };
    let readings: Vec<String> = [("second", 1), ("minute", 60)].into_iter().filter_map(reading).collect();
    (!readings.is_empty()).then(|| readings.join(", or "))
}

fn whole(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}
