//! Configuration layers, each overriding the previous one.

use super::file_kind::FileKind;
use super::named_file::place_files;
use super::notify::is_channel_secret;
use super::password::cover;
use super::syntax_hint::hint_for_line;
use crate::error::AppError;
use crate::nearby::describe_nearby;
use figment::providers::{Env, Format, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Metadata, Profile, Provider};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const DEFAULTS: &str = include_str!("../../../../config/default.toml");
const SANDBOX: &str = include_str!("../../../../config/sandbox.toml");

const PREFIX: &str = "CANDLEWICK_";
/// Environment variables that are never stored with the settings.
///
/// They are read elsewhere.
const APART: [&str; 4] = ["allow_real", "broker__api_token", "broker__api_key", "signals__secret"];
const SECRETS: [&str; 2] = ["api_token", "api_key"];

pub(super) struct Layer {
    origin: Origin,
    values: Dict,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Default,
    BuiltIn,
    File(PathBuf),
    Environment,
    Flag(&'static str),
}

#[derive(Clone, Debug)]
pub struct Flag {
    name: &'static str,
    /// Section of the key, empty at the top level.
    section: &'static str,
    key: &'static str,
    value: Value,
}

impl Flag {
    pub fn new(
        name: &'static str,
        section: &'static str,
        key: &'static str,
        value: Option<impl Serialize>,
    ) -> Option<Self> {
        let value = Value::serialize(value?).ok()?;
        Some(Self { name, section, key, value })
    }
}

impl Layer {
    pub(super) fn defaults() -> Result<Self, AppError> {
        Self::parse(Origin::Default, DEFAULTS)
    }

    pub(super) fn built_in() -> Result<Self, AppError> {
        Self::parse(Origin::BuiltIn, SANDBOX)
    }

    pub(super) fn sets(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    pub(super) fn without(mut self, key: &str) -> Self {
        self.values.remove(key);
        self
    }

    pub(super) fn of_text(text: &str) -> Result<Self, AppError> {
        Self::parse(Origin::BuiltIn, text)
    }

    pub(super) fn read_file(path: &Path) -> Result<Self, AppError> {
        let text = std::fs::read_to_string(path).map_err(|source| {
            let is_missing = source.kind() == ErrorKind::NotFound;
            let problem = format!("{}: cannot read the configuration file", path.display());
            let error = AppError::invalid(problem).because(source);
            if is_missing {
                let nearby = describe_nearby(path, &["toml"]);
                error.help(format!(
                    "{nearby} `candlewick config init` writes one, `candlewick live --sandbox` needs none"
                ))
            } else {
                error.help("--config takes a TOML file, such as config/demo.toml")
            }
        })?;
        let mut layer = Self::parse(Origin::File(path.to_owned()), &text)?;
        if FileKind::from_values(&layer.values) == FileKind::Rule {
            let problem = format!("{}: this is no configuration", path.display());
            return Err(AppError::invalid(problem).help(FileKind::Rule.advice(path)));
        }
        layer.refuse_secrets()?;
        place_files(&mut layer.values, path)?;
        Ok(layer)
    }

    pub(super) fn of_plan(path: &Path, sections: &Json) -> Result<Self, AppError> {
        let wrong = |error| {
            AppError::invalid(format!("{}: its configuration is none", path.display())).because(error)
        };
        let values = Dict::deserialize(sections).map_err(wrong)?;
        Ok(Self { origin: Origin::File(path.to_owned()), values })
    }

    pub(super) fn environment() -> Result<Self, AppError> {
        let provider = Env::prefixed(PREFIX).ignore(&APART);
        let provider = provider.filter(|key| !is_channel_secret(&key.as_str().to_lowercase())).split("__");
        let unexpected = |error: figment::Error| AppError::invalid(error.to_string());
        let mut data = provider.data().map_err(unexpected)?;
        Ok(Self { origin: Origin::Environment, values: data.remove(&Profile::Default).unwrap_or_default() })
    }

    pub(super) fn flag(flag: Flag) -> Self {
        let own = Dict::from([(flag.key.to_owned(), flag.value)]);
        let values = match flag.section {
            "" => own,
            section => Dict::from([(section.to_owned(), Value::from(own))]),
        };
        Self { origin: Origin::Flag(flag.name), values }
    }

    fn parse(origin: Origin, text: &str) -> Result<Self, AppError> {
        match Toml::from_str::<Dict>(text) {
            Ok(values) => Ok(Self { origin, values }),
            // The parser would print the line itself, and that might hold a secret.
            Err(error) => {
                let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
                let hint = text.lines().nth(line - 1).and_then(hint_for_line);
                let hint = hint.map(|hint| format!(": {hint}")).unwrap_or_default();
                let message = error.message().trim_end().replace('\n', ": ");
                Err(AppError::invalid(format!("{origin}, line {line}: {message}{hint}")))
            }
        }
    }

    /// Rejects secrets in files, which get copied and committed.
    ///
    /// Errors never contain their values.
    fn refuse_secrets(&self) -> Result<(), AppError> {
        self.refuse_password()?;
        self.refuse_channel_secrets()?;
        let Some(Value::Dict(_, broker)) = self.values.get("broker") else { return Ok(()) };
        match SECRETS.iter().find(|key| broker.contains_key(**key)) {
            Some(key) => Err(self.misplaced_secret(&format!("broker.{key}"))),
            None => Ok(()),
        }
    }

    /// Rejects secrets of alert channels.
    ///
    /// The address of a Discord channel is a secret by itself.
    fn refuse_channel_secrets(&self) -> Result<(), AppError> {
        let Some(Value::Dict(_, notify)) = self.values.get("notify") else { return Ok(()) };
        let Some(Value::Dict(_, channels)) = notify.get("channels") else { return Ok(()) };
        for (name, channel) in channels {
            let Value::Dict(_, channel) = channel else { continue };
            let is_discord = channel.get("kind").and_then(Value::as_str) == Some("discord");
            let url = channel.get("url").and_then(Value::as_str).unwrap_or_default();
            if channel.contains_key("secret") {
                return Err(self.misplaced_secret(&format!("notify.channels.{name}.secret")));
            }
            if channel.contains_key("url") && (is_discord || cover(url).is_some()) {
                return Err(self.misplaced_secret(&format!("notify.channels.{name}.url")));
            }
        }
        Ok(())
    }

    fn misplaced_secret(&self, key: &str) -> AppError {
        let problem = format!("{key} ({}): a secret does not belong in a configuration file", self.origin);
        let variable = format!("{PREFIX}{}", key.replace('.', "__").to_uppercase());
        AppError::invalid(problem).help(format!(
            "remove it there and set {variable} in the environment, or {key}_file to a file that only you can read"
        ))
    }

    /// Rejects a database password in a file or argument.
    ///
    /// Arguments are visible to all local users.
    pub(super) fn refuse_password(&self) -> Result<(), AppError> {
        let Some(Value::Dict(_, journal)) = self.values.get("journal") else { return Ok(()) };
        let Some(Value::String(_, url)) = journal.get("url") else { return Ok(()) };
        if cover(url).is_none() {
            return Ok(());
        }
        let place = match &self.origin {
            Origin::Flag(_) => "an argument, which everybody on this machine can read",
            _ => "a configuration file",
        };
        let problem = format!("journal.url ({}): a password does not belong in {place}", self.origin);
        Err(AppError::invalid(problem).help(format!(
            "leave it out there, and set PGPASSWORD in the environment, or PGPASSFILE to a file that only you can read, or \
             {PREFIX}JOURNAL__URL to the whole address"
        )))
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.origin.to_string())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Map::from([(Profile::Default, self.values.clone())]))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::BuiltIn => f.write_str("built in"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment => f.write_str("environment"),
            Self::Flag(name) => f.write_str(name),
        }
    }
}
