//! Credentials from the environment or private files, and masking of passwords in addresses.

use super::{BrokerSettings, LoadedConfig, Problem};
use crate::error::Result;
use candlewick_api::{Credentials, Secret, TokenSource};
use std::path::Path;
use std::sync::Arc;

struct CredentialSource<'a> {
    key: &'static str,
    variable: &'static str,
    file: Option<&'a Path>,
}

fn credential_sources(broker: &BrokerSettings) -> [CredentialSource<'_>; 2] {
    [
        CredentialSource {
            key: "api_token",
            variable: "CANDLEWICK_BROKER__API_TOKEN",
            file: broker.api_token_file.as_deref(),
        },
        CredentialSource {
            key: "api_key",
            variable: "CANDLEWICK_BROKER__API_KEY",
            file: broker.api_key_file.as_deref(),
        },
    ]
}

/// Reads the configured credentials. The environment takes precedence over files.
pub fn credentials(loaded: &LoadedConfig) -> Result<Credentials> {
    let [token, key] = credential_sources(&loaded.config.broker);
    Ok(Credentials { api_token: read_credential(&token, loaded)?, api_key: read_credential(&key, loaded)? })
}

/// Returns a function that reads the token file again, or `None` if the token comes from the environment.
pub fn token_source(loaded: &LoadedConfig) -> Option<TokenSource> {
    let [CredentialSource { variable, file, .. }, _] = credential_sources(&loaded.config.broker);
    let path = file.filter(|_| std::env::var_os(variable).is_none())?.to_owned();
    Some(Arc::new(move || {
        let read = read_file(&path);
        if let Err(problem) = &read {
            tracing::warn!("broker.api_token_file {}: {problem}", path.display());
        }
        read.ok()
    }))
}

pub fn check_secrets(loaded: &LoadedConfig) -> Vec<Problem> {
    let sources = credential_sources(&loaded.config.broker);
    sources.iter().filter_map(|source| read_credential(source, loaded).err()).collect()
}

pub fn configured_secrets(broker: &BrokerSettings) -> Vec<(&'static str, String)> {
    let given = |place: &CredentialSource<'_>| {
        let variable = std::env::var_os(place.variable).map(|_| "environment".to_owned());
        let origin = variable.or_else(|| place.file.map(|path| path.display().to_string()))?;
        Some((place.key, origin))
    };
    credential_sources(broker).iter().filter_map(given).collect()
}

fn read_credential(place: &CredentialSource<'_>, loaded: &LoadedConfig) -> Result<Option<Secret>, Problem> {
    if let Some(value) = std::env::var_os(place.variable) {
        let secret = value.to_str().and_then(|text| Secret::new(text).ok());
        let problem = format!("{} is empty or has characters not allowed in HTTP headers", place.variable);
        return secret.map(Some).ok_or_else(|| loaded.problem("", problem));
    }
    let Some(path) = place.file else { return Ok(None) };
    let key = format!("broker.{}_file", place.key);
    read_file(path)
        .map(Some)
        .map_err(|problem| loaded.problem(&key, problem).with_value(path.display().to_string()))
}

/// Reads a secret from a file. Errors never contain the secret.
fn read_file(path: &Path) -> Result<Secret, String> {
    Secret::new(&read_private_file(path)?).map_err(|error| error.to_string())
}

pub(crate) fn read_private_file(path: &Path) -> Result<String, String> {
    check_permissions(path)?;
    std::fs::read_to_string(path).map_err(|error| format!("cannot read the file: {error}"))
}

#[cfg(unix)]
const GROUP_AND_OTHERS_BIT_COUNT: u32 = 6;

#[cfg(unix)]
fn check_permissions(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(path).map_err(|error| format!("cannot read the file: {error}"))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode.trailing_zeros() >= GROUP_AND_OTHERS_BIT_COUNT {
        return Ok(());
    }
    Err(format!("other users can access this file (mode {mode:03o}); run: chmod 600 {}", path.display()))
}

#[cfg(not(unix))]
fn check_permissions(_path: &Path) -> Result<(), String> {
    Ok(())
}

pub(super) const MASK: &str = "********";

/// Parts of URL parameter names that mark the value as secret. They are short, so that misspelled names match too.
const SECRET_NAME_FRAGMENTS: [&str; 4] = ["pas", "pw", "secret", "token"];

/// Returns the address with masked passwords, or `None` if the address contains no password.
/// In an invalid address, masks every part that may be a password, since passwords may contain any characters.
pub(super) fn mask_passwords(text: &str) -> Option<String> {
    let (scheme, _) = text.split_once(':').filter(|(scheme, _)| *scheme != "sqlite")?;
    let marks = if text[scheme.len()..].starts_with("://") { "://" } else { ":" };
    let rest = &text[scheme.len() + marks.len()..];
    // Splits at the last @, since a password may contain an unescaped @.
    let (user, place) = rest.rsplit_once('@').map_or((None, rest), |(user, place)| (Some(user), place));
    let named = user.and_then(|user| user.split_once(':'));
    let (place, options) = place.split_once('?').map_or((place, None), |(place, all)| (place, Some(all)));
    let is_secret = |option: &&str| {
        let name = option.split('=').next().unwrap_or_default().to_lowercase();
        SECRET_NAME_FRAGMENTS.iter().any(|part| name.contains(part))
    };
    if named.is_none() && !options.is_some_and(|all| all.split('&').any(|option| is_secret(&option))) {
        return None;
    }
    let named = match (named, user) {
        (Some((name, _)), _) => format!("{name}:{MASK}@"),
        (None, Some(user)) => format!("{user}@"),
        (None, None) => String::new(),
    };
    let shown = |option: &str| match option.split_once('=').filter(|_| is_secret(&option)) {
        Some((name, _)) => format!("{name}={MASK}"),
        None => option.to_owned(),
    };
    let options = options.map(|all| all.split('&').map(shown).collect::<Vec<_>>().join("&"));
    let options = options.map_or(String::new(), |all| format!("?{all}"));
    Some(format!("{scheme}{marks}{named}{place}{options}"))
}

pub(super) fn is_secret_url(key: &str) -> bool {
    let is_url = |rest: &str| rest.split('.').next_back() == Some("url");
    key == "heartbeat.url" || key.strip_prefix("notify.channels.").is_some_and(is_url)
}

pub(super) fn mask_path(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return MASK.to_owned() };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/{MASK}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_passwords_in_addresses() {
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
            assert_eq!(mask_passwords(text).as_deref(), covered, "{text}");
        }
    }
}
