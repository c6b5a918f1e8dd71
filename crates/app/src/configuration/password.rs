//! Masking of passwords in addresses, such as that of a journal's database.

pub(super) const MASK: &str = "********";

/// Name fragments of secret options, short enough to match misspelled names.
const SECRET_NAMES: [&str; 4] = ["pas", "pw", "secret", "token"];

/// Returns the address with its passwords masked, `None` if it has none.
///
/// The address may be invalid, since a password may contain illegal characters. Masks in case of
/// doubt.
pub(super) fn cover(text: &str) -> Option<String> {
    let (scheme, _) = text.split_once(':').filter(|(scheme, _)| *scheme != "sqlite")?;
    let marks = if text[scheme.len()..].starts_with("://") { "://" } else { ":" };
    let rest = &text[scheme.len() + marks.len()..];
    // The last one: a password may hold one that should have been written as %40.
    let (user, place) = rest.rsplit_once('@').map_or((None, rest), |(user, place)| (Some(user), place));
    let named = user.and_then(|user| user.split_once(':'));
    let (place, options) = place.split_once('?').map_or((place, None), |(place, all)| (place, Some(all)));
    let says_more = |option: &&str| {
        let name = option.split('=').next().unwrap_or_default().to_lowercase();
        SECRET_NAMES.iter().any(|part| name.contains(part))
    };
    if named.is_none() && !options.is_some_and(|all| all.split('&').any(|option| says_more(&option))) {
        return None;
    }
    let named = match (named, user) {
        (Some((name, _)), _) => format!("{name}:{MASK}@"),
        (None, Some(user)) => format!("{user}@"),
        (None, None) => String::new(),
    };
    let shown = |option: &str| match option.split_once('=').filter(|_| says_more(&option)) {
        Some((name, _)) => format!("{name}={MASK}"),
        None => option.to_owned(),
    };
    let options = options.map(|all| all.split('&').map(shown).collect::<Vec<_>>().join("&"));
    let options = options.map_or(String::new(), |all| format!("?{all}"));
    Some(format!("{scheme}{marks}{named}{place}{options}"))
}

pub(super) fn has_secret_path(key: &str) -> bool {
    let is_url = |rest: &str| rest.split('.').next_back() == Some("url");
    key == "heartbeat.url" || key.strip_prefix("notify.channels.").is_some_and(is_url)
}

pub(super) fn cover_path(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return MASK.to_owned() };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/{MASK}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_addresses_are_found_and_covered() {
        for (text, covered) in [
            ("postgres://ann:hush@db:5433/journal", Some("postgres://ann:********@db:5433/journal")),
            ("postgres://ann:h/u@s:h?@db/journal", Some("postgres://ann:********@db/journal")),
            ("postgres:ann:hush@db/journal", Some("postgres:ann:********@db/journal")),
            ("postgres://:hush@db/journal", Some("postgres://:********@db/journal")),
            (
                "postgres://ann@db/journal?sslmode=require&Password=hush",
                Some("postgres://ann@db/journal?sslmode=require&Password=********"),
            ),
            ("postgres://db/journal?password=hush", Some("postgres://db/journal?password=********")),
            ("postgres://db/journal?pasword=hush", Some("postgres://db/journal?pasword=********")),
            ("postgres://ann@db:5433/journal?sslmode=require", None),
            ("postgres://db/journal", None),
            ("sqlite:///var/a:b@c.db", None),
            ("http://127.0.0.1:7701", None),
            ("http://ann:hush@venue.example/", Some("http://ann:********@venue.example/")),
            ("00:00", None),
            ("second_end", None),
        ] {
            assert_eq!(cover(text).as_deref(), covered, "{text}");
        }
    }
}
