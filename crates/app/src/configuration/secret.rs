//! Credentials from the environment or from a file that only its owner can read.

use super::{BrokerSettings, Loaded, Problem, Problems};
use crate::error::AppError;
use candlewick_api::{Credentials, Secret, TokenSource};
use std::path::Path;
use std::sync::Arc;

struct Place<'a> {
    key: &'static str,
    variable: &'static str,
    file: Option<&'a Path>,
}

fn places(broker: &BrokerSettings) -> [Place<'_>; 2] {
    [
        Place {
            key: "api_token",
            variable: "CANDLEWICK_BROKER__API_TOKEN",
            file: broker.api_token_file.as_deref(),
        },
        Place {
            key: "api_key",
            variable: "CANDLEWICK_BROKER__API_KEY",
            file: broker.api_key_file.as_deref(),
        },
    ]
}

/// Reads the configured credentials. The environment takes precedence over a file.
pub fn credentials(loaded: &Loaded) -> Result<Credentials, AppError> {
    let [token, key] = places(&loaded.config.broker);
    let read =
        |place: &Place<'_>| read(place, loaded).map_err(|problem| AppError::from(Problems::from(problem)));
    Ok(Credentials { api_token: read(&token)?, api_key: read(&key)? })
}

/// Returns a source that reads the token's file again after a refusal.
///
/// `None` if the token is in the environment, which does not change.
pub fn token_source(loaded: &Loaded) -> Option<TokenSource> {
    let [Place { variable, file, .. }, _] = places(&loaded.config.broker);
    let path = file.filter(|_| std::env::var_os(variable).is_none())?.to_owned();
    Some(Arc::new(move || {
        let read = read_file(&path);
        if let Err(problem) = &read {
            tracing::warn!("broker.api_token_file {}: {problem}", path.display());
        }
        read.ok()
    }))
}

pub fn check_secrets(loaded: &Loaded) -> Vec<Problem> {
    places(&loaded.config.broker).iter().filter_map(|place| read(place, loaded).err()).collect()
}

pub fn given(broker: &BrokerSettings) -> Vec<(&'static str, String)> {
    let given = |place: &Place<'_>| {
        let variable = std::env::var_os(place.variable).map(|_| "environment".to_owned());
        let origin = variable.or_else(|| place.file.map(|path| path.display().to_string()))?;
        Some((place.key, origin))
    };
    places(broker).iter().filter_map(given).collect()
}

fn read(place: &Place<'_>, loaded: &Loaded) -> Result<Option<Secret>, Problem> {
    if let Some(value) = std::env::var_os(place.variable) {
        let secret = value.to_str().ok_or("").and_then(|text| Secret::new(text).map_err(|_| ""));
        let problem = |_| {
            let problem = format!("{} is empty or holds characters that no header can carry", place.variable);
            loaded.problem("", problem)
        };
        return secret.map(Some).map_err(problem);
    }
    let Some(path) = place.file else { return Ok(None) };
    let key = format!("broker.{}_file", place.key);
    read_file(path)
        .map(Some)
        .map_err(|problem| loaded.problem(&key, problem).value(path.display().to_string()))
}

/// Reads a secret from a file. Errors never contain its content.
fn read_file(path: &Path) -> Result<Secret, String> {
    Secret::new(&read_private_file(path)?).map_err(|error| error.to_string())
}

pub(crate) fn read_private_file(path: &Path) -> Result<String, String> {
    check_rights(path)?;
    std::fs::read_to_string(path).map_err(|error| format!("cannot read the file: {error}"))
}

#[cfg(unix)]
const OTHERS_BITS: u32 = 6;

#[cfg(unix)]
fn check_rights(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(path).map_err(|error| format!("cannot read the file: {error}"))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode.trailing_zeros() >= OTHERS_BITS {
        return Ok(());
    }
    Err(format!("others can read this file (its rights are {mode:03o}); run: chmod 600 {}", path.display()))
}

#[cfg(not(unix))]
fn check_rights(_path: &Path) -> Result<(), String> {
    Ok(())
}
