//! Layers of the configuration: defaults, files, environment and flags. Also resolves paths in configuration files.

use super::notify::is_channel_secret;
use super::secret::mask_passwords;
use crate::error::{AppError, Result};
use crate::shell::{quote_for_shell, suggest_nearby_files};
use figment::providers::{Env, Format, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Metadata, Profile, Provider};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{self, Path, PathBuf};

const DEFAULT_TOML: &str = include_str!("../../../../config/default.toml");
const SANDBOX_TOML: &str = include_str!("../../../../config/sandbox.toml");

const ENVIRONMENT_PREFIX: &str = "CANDLEWICK_";
/// Environment variables that are not settings. Other code reads them, so they are never merged.
const NON_SETTING_VARIABLES: [&str; 4] =
    ["allow_real", "broker__api_token", "broker__api_key", "signals__secret"];
const BROKER_SECRETS: [&str; 2] = ["api_token", "api_key"];

#[derive(Clone, Debug)]
pub(super) struct Layer {
    origin: Origin,
    pub(super) values: Dict,
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
pub struct Flag(pub(super) Layer);

impl Flag {
    /// Creates a layer for a command-line flag, if the flag is set. `section` is empty for a top-level key.
    pub fn new(
        name: &'static str,
        section: &'static str,
        key: &'static str,
        value: Option<impl Serialize>,
    ) -> Option<Self> {
        let own = Dict::from([(key.to_owned(), Value::serialize(value?).ok()?)]);
        let values =
            if section.is_empty() { own } else { Dict::from([(section.to_owned(), Value::from(own))]) };
        Some(Self(Layer { origin: Origin::Flag(name), values }))
    }
}

impl Layer {
    pub(super) fn defaults() -> Result<Self> {
        Self::parse(Origin::Default, DEFAULT_TOML)
    }

    pub(super) fn sandbox_defaults() -> Result<Self> {
        Self::from_text(SANDBOX_TOML)
    }

    pub(super) fn from_text(text: &str) -> Result<Self> {
        Self::parse(Origin::BuiltIn, text)
    }

    pub(super) fn read_file(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|source| {
            let is_missing = source.kind() == ErrorKind::NotFound;
            let problem = format!("{}: cannot read the configuration file", path.display());
            let error = AppError::invalid(problem).with_source(source);
            if is_missing {
                let nearby = suggest_nearby_files(path, &["toml"]);
                error.with_help(format!(
                    "{nearby} `candlewick config init` creates a file; `candlewick live --sandbox` works without a file"
                ))
            } else {
                error.with_help("--config takes a TOML file, such as config/demo.toml")
            }
        })?;
        let mut layer = Self::parse(Origin::File(path.to_owned()), &text)?;
        if FileKind::from_values(&layer.values) == FileKind::Rule {
            let problem = format!("{}: not a configuration", path.display());
            return Err(AppError::invalid(problem).with_help(FileKind::Rule.usage_hint(path)));
        }
        layer.reject_secrets()?;
        resolve_paths(&mut layer.values, path)?;
        Ok(layer)
    }

    pub(super) fn from_plan(path: &Path, sections: &Json) -> Result<Self> {
        let wrong = |error| {
            AppError::invalid(format!("{}: the plan has an invalid configuration", path.display()))
                .with_source(error)
        };
        let values = Dict::deserialize(sections).map_err(wrong)?;
        Ok(Self { origin: Origin::File(path.to_owned()), values })
    }

    pub(super) fn environment() -> Result<Self> {
        let provider = Env::prefixed(ENVIRONMENT_PREFIX).ignore(&NON_SETTING_VARIABLES);
        let provider = provider.filter(|key| !is_channel_secret(&key.as_str().to_lowercase())).split("__");
        let unexpected = |error: figment::Error| AppError::invalid(error.to_string());
        let mut data = provider.data().map_err(unexpected)?;
        Ok(Self { origin: Origin::Environment, values: data.remove(&Profile::Default).unwrap_or_default() })
    }

    fn parse(origin: Origin, text: &str) -> Result<Self> {
        match Toml::from_str::<Dict>(text) {
            Ok(values) => Ok(Self { origin, values }),
            // The parser's own message quotes the line, which might contain a secret.
            Err(error) => {
                let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
                let hint = text.lines().nth(line - 1).and_then(syntax_hint);
                let hint = hint.map(|hint| format!(": {hint}")).unwrap_or_default();
                let message = error.message().trim_end().replace('\n', ": ");
                Err(AppError::invalid(format!("{origin}, line {line}: {message}{hint}")))
            }
        }
    }

    /// Rejects secrets in configuration files, since such files get copied and committed. Errors never contain secrets.
    fn reject_secrets(&self) -> Result<()> {
        self.reject_password()?;
        let channels = self.section("notify").and_then(|notify| notify.get("channels")?.as_dict());
        for (name, channel) in channels.into_iter().flatten() {
            let Some(channel) = channel.as_dict() else { continue };
            let is_discord = channel.get("kind").and_then(Value::as_str) == Some("discord");
            let url = channel.get("url").and_then(Value::as_str).unwrap_or_default();
            if channel.contains_key("secret") {
                return Err(self.misplaced_secret_error(&format!("notify.channels.{name}.secret")));
            }
            if channel.contains_key("url") && (is_discord || mask_passwords(url).is_some()) {
                return Err(self.misplaced_secret_error(&format!("notify.channels.{name}.url")));
            }
        }
        let broker = self.section("broker");
        match BROKER_SECRETS.iter().find(|key| broker.is_some_and(|broker| broker.contains_key(**key))) {
            Some(key) => Err(self.misplaced_secret_error(&format!("broker.{key}"))),
            None => Ok(()),
        }
    }

    fn section(&self, name: &str) -> Option<&Dict> {
        self.values.get(name)?.as_dict()
    }

    fn misplaced_secret_error(&self, key: &str) -> AppError {
        let problem = format!("{key} ({}): a secret does not belong in a configuration file", self.origin);
        let variable = format!("{ENVIRONMENT_PREFIX}{}", key.replace('.', "__").to_uppercase());
        AppError::invalid(problem).with_help(format!(
            "remove it; set the environment variable {variable}, or set {key}_file to a file that only you can read"
        ))
    }

    /// Rejects a database password in a file or an argument. Arguments are visible to all local users.
    pub(super) fn reject_password(&self) -> Result<()> {
        let url = self.section("journal").and_then(|journal| journal.get("url")?.as_str());
        if url.and_then(mask_passwords).is_none() {
            return Ok(());
        }
        let place = match &self.origin {
            Origin::Flag(_) => "a command-line argument, which all users of this machine can read",
            _ => "a configuration file",
        };
        let problem = format!("journal.url ({}): a password does not belong in {place}", self.origin);
        Err(AppError::invalid(problem).with_help(format!(
            "remove the password, and set an environment variable: PGPASSWORD, PGPASSFILE (a file that only you can \
             read) or {ENVIRONMENT_PREFIX}JOURNAL__URL (the full address)"
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Rule,
    Configuration,
}

impl FileKind {
    pub fn detect(path: &Path) -> Option<Self> {
        let values: Dict = toml::from_str(&fs::read_to_string(path).ok()?).ok()?;
        Some(Self::from_values(&values))
    }

    fn from_values(values: &Dict) -> Self {
        let is_rule =
            ["buy", "sell"].iter().any(|key| values.contains_key(*key)) && !values.contains_key("bots");
        if is_rule { Self::Rule } else { Self::Configuration }
    }

    pub fn usage_hint(self, path: &Path) -> String {
        let file = path.display();
        let shown = file.to_string();
        let word = quote_for_shell(&shown);
        match self {
            Self::Rule => format!(
                "{file} is a rule file: check it with `candlewick strategy check rules --param file={word}`, \
                 evaluate it with `candlewick tune {word}`, or backtest it with `--rules {word}`; to trade it, write \
                 strategy = \"rules\", params = {{ file = \"{file}\" }} in a [[bots]] section"
            ),
            Self::Configuration => format!(
                "{file} is a configuration: check it with `candlewick config check --config {word}`, or check the \
                 strategy of a bot with `candlewick strategy check NAME --config {word}`"
            ),
        }
    }
}

/// Makes the paths in a configuration file relative to the working directory.
fn resolve_paths(values: &mut Dict, configuration: &Path) -> Result<()> {
    let Some(folder) = configuration.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    values
        .iter_mut()
        .try_for_each(|(key, value)| resolve_value(value, &mut vec![key.clone()], (folder, configuration)))
}

pub(super) fn describe_tried_paths(origin: Option<&str>, name: &str) -> String {
    let name = Path::new(name);
    if name.as_os_str().is_empty() || name.is_absolute() || name.exists() {
        return String::new();
    }
    let configuration = origin.map(Path::new).filter(|origin| origin.is_file());
    let folders = configuration.and_then(Path::parent).into_iter().chain([Path::new("")]);
    let mut places: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let place = absolute_path(&folder.join(name));
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let places = places.iter().map(|place| place.display().to_string());
    format!("; tried {}", places.collect::<Vec<_>>().join(" and "))
}

fn resolve_value(value: &mut Value, key: &mut Vec<String>, paths: (&Path, &Path)) -> Result<()> {
    match value {
        Value::String(_, text) => {
            if let Some(path) = resolve_path(text, key, paths)? {
                *text = path;
            }
            Ok(())
        }
        Value::Dict(_, values) => values.iter_mut().try_for_each(|(name, value)| {
            key.push(name.clone());
            let resolved = resolve_value(value, key, paths);
            key.pop();
            resolved
        }),
        Value::Array(_, values) => values.iter_mut().try_for_each(|value| resolve_value(value, key, paths)),
        _ => Ok(()),
    }
}

fn resolve_path(text: &str, key: &[String], (folder, file): (&Path, &Path)) -> Result<Option<String>> {
    let key: Vec<&str> = key.iter().map(String::as_str).collect();
    let (before, name) = match key.as_slice() {
        // The text is either SYMBOL@INTERVAL=PATH or a path.
        ["sandbox", "data"] => text.split_at(text.find('=').map_or(0, |at| at + 1)),
        ["signals", "list" | "secret_file"]
        | ["broker", "api_token_file" | "api_key_file"]
        | ["risk", "blackouts"]
        | ["risk", "blackouts", "file"]
        | ["notify", "channels", _, "url_file" | "secret_file"] => ("", text),
        // A parameter that contains a dot or a path separator may be a path.
        ["bots", "params", ..] if text.contains(['.', '/', '\\']) => ("", text),
        _ => return Ok(None),
    };
    let here = Path::new(name);
    let sibling = folder.join(here);
    if here.is_absolute() || !sibling.is_file() {
        return Ok(None);
    }
    if !here.is_file() {
        return Ok(sibling.to_str().map(|sibling| format!("{before}{sibling}")));
    }
    if is_same_file(here, &sibling) {
        return Ok(None);
    }
    let (file, key) = (file.display(), key.join("."));
    let [sibling, here] = [sibling.as_path(), here].map(absolute_path);
    let problem = format!(
        "{file}: {key} = {text:?} matches two different files: {} (next to the configuration) and {} (working folder)",
        sibling.display(),
        here.display()
    );
    Err(AppError::invalid(problem).with_help("write the full path of one of them, or remove the other"))
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let hash = |path: &Path| -> io::Result<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(path)?)?;
        Ok(hasher.finalize())
    };
    let is_one = std::fs::canonicalize(one).ok().zip(std::fs::canonicalize(other).ok());
    is_one.is_some_and(|(one, other)| one == other)
        || hash(one).ok().zip(hash(other).ok()).is_some_and(|(one, other)| one == other)
}

fn absolute_path(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Suggests a fix for a TOML syntax error. Never quotes the line, which might contain a secret.
fn syntax_hint(line: &str) -> Option<&'static str> {
    let mut values = line.match_indices('=').map(|(at, _)| line[at + 1..].trim_start());
    if values.any(has_separators) {
        return Some("write numbers with a decimal point and without thousands separators, as in 1000.50");
    }
    if line.matches('"').count() % 2 == 1 {
        return Some("a quotation mark is missing; put text in quotes, as in symbol = \"EURUSD\"");
    }
    let (_, value) = line.split_once('=')?;
    let is_end = |letter: char| !(letter.is_alphanumeric() || "_-.:/".contains(letter));
    let word = value.trim_start().split(is_end).next().unwrap_or_default();
    match word.to_lowercase().as_str() {
        _ if ["true", "false", "inf", "nan"].contains(&word) => None,
        "true" | "false" | "yes" | "no" | "on" | "off" => Some("use true or false"),
        _ if word.starts_with(char::is_alphabetic) => Some("text needs quotation marks: symbol = \"EURUSD\""),
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
        let number = Some("write numbers with a decimal point");
        let (quote, bare) = (Some("a quotation mark is missing"), Some("text needs quotation marks"));
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
            ("real = Yes # demo", Some("use true or false")),
            ("real = true, x", None),
            ("symbol = \"EURUSD", quote),
            ("symbol = EURUSD", bare),
            ("interval = 1m", None),
            ("", None),
        ] {
            let found = syntax_hint(line);
            let is_expected =
                expected.map_or(found.is_none(), |text| found.is_some_and(|f| f.starts_with(text)));
            assert!(is_expected, "{line}: {found:?}");
        }
    }
}
