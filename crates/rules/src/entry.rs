//! Registry entry of the strategy `rules`. Its rule is in the bot's parameters or in a file.

use crate::explained::ExplainedRule;
use crate::file::{FileError, KEYS, RuleConfig, hint_for_expiry, hint_for_key, prepend_key};
use crate::{Rule, RuleError, RuleStrategy, Side};
use candlewick_sdk::{
    BotContext, BuildError, BuiltStrategy, CoverageRule, Expiry, Parameter, Strategy, StrategyEntry,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

pub const NAME: &str = "rules";
/// Version of the rule language. The version of a bot also contains a hash of the bot's rule.
pub const VERSION: &str = "1.0.0";
/// Version for rules that compare computed values. It introduced a rounding tolerance for such comparisons.
const ROUNDING_VERSION: &str = "1.1.0";
const ABOUT: &str = "Trades according to a rule from a file or from the bot's parameters.";

const MAX_FILE_BYTES: u64 = 256 * 1024;
const HASH_LENGTH: usize = 16;

/// Builds the registry entry of `rules`. Parameters are `file` (or `buy` and `sell`) and the parameters of the rule.
pub fn entry() -> StrategyEntry {
    // This closure is normally not called, because `specify_entry` first builds an entry for the bot's parameters.
    let build = |params: &Value, bot: &BotContext| derive_entry(params)?.build_with_declaration(params, bot);
    let entry = StrategyEntry::new_with_declaration(NAME, VERSION, build).with_derivation(derive_entry);
    with_own_parameters(entry, &Map::new()).with_about(ABOUT)
}

fn derive_entry(params: &Value) -> Result<StrategyEntry, BuildError> {
    let source = RuleSource::new(params)?;
    let rule = source.rule()?;
    let is_computed = rule.compares_computed_values(&source.written.defaults());
    let language = if is_computed { ROUNDING_VERSION } else { VERSION };
    let version = format!("{language}+{}", source.hash());
    let about = if source.written.about.is_empty() { ABOUT.to_owned() } else { source.written.about.clone() };
    let own: Vec<Parameter> = source.written.parameter_specs().collect();
    let source = Arc::new(source);
    let rule = Arc::new(rule);
    let build = {
        let (source, rule) = (source.clone(), rule.clone());
        move |values: &Value, bot: &BotContext| build_strategy(&source, &rule, values, bot)
    };
    let explain = {
        let source = source.clone();
        move |values: &Value, bot: &BotContext| build_explained_rule(&source, &rule, values, bot)
    };
    let entry =
        StrategyEntry::new_with_declaration(NAME, version, build).with_explainer(explain).with_about(about);
    let empty = Map::new();
    let entry = with_own_parameters(entry, params.as_object().unwrap_or(&empty));
    Ok(rebuild_on_change(own.into_iter().fold(entry, StrategyEntry::with_parameter), derive_entry))
}

fn with_own_parameters(entry: StrategyEntry, given: &Map<String, Value>) -> StrategyEntry {
    const DESCRIPTIONS: [&str; 5] = [
        "File with the rule: buy, sell, expiry, [parameters].",
        "Condition for a BUY; use it instead of a file.",
        "Condition for a SELL; use it instead of a file.",
        "Duration of trades, such as 05:00; defaults to the bot's close_type.",
        "Parameters used in buy and sell: { period = { default = 14, min = 2, max = 50 } }.",
    ];
    KEYS.into_iter().zip(DESCRIPTIONS).fold(entry, |entry, (key, about)| {
        let nothing = if key == "parameters" { Value::Object(Map::new()) } else { Value::from("") };
        let value = given.get(key).cloned().unwrap_or(nothing);
        entry.with_parameter(Parameter::new(key, value).with_about(about))
    })
}

fn build_strategy(
    source: &RuleSource,
    rule: &Rule,
    values: &Value,
    bot: &BotContext,
) -> Result<BuiltStrategy, BuildError> {
    let (numbers, expiry) = (source.parameter_values(values), source.expiry(bot));
    let strategy: RuleStrategy = rule
        .build(&numbers, bot.interval, expiry)
        .map_err(|(side, error)| source.side_error(side, &error))?;
    let longer = CoverageRule::for_symbol(bot.symbol, bot.longer_share_percent);
    let declaration = Some(strategy.declaration(longer));
    Ok(BuiltStrategy { strategy: strategy.into_optimized(), declaration })
}

fn build_explained_rule(
    source: &RuleSource,
    rule: &Rule,
    values: &Value,
    bot: &BotContext,
) -> Result<Box<dyn Strategy>, BuildError> {
    let (numbers, expiry) = (source.parameter_values(values), source.expiry(bot));
    let strategy = ExplainedRule::build(rule, &numbers, bot.interval, expiry);
    Ok(Box::new(strategy.map_err(|(side, error)| source.side_error(side, &error))?))
}

pub(crate) struct RuleSource {
    written: RuleConfig,
    file: Option<(String, String)>,
    identity: String,
}

impl RuleSource {
    pub(crate) fn new(params: &Value) -> Result<Self, BuildError> {
        let text = |key: &str| params.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let is_written_here = KEYS[1..].iter().any(|key| is_given(params.get(*key)));
        match text("file") {
            Some(_) if is_written_here => {
                let given = KEYS[1..].iter().filter(|key| is_given(params.get(**key)));
                let given: Vec<&str> = given.copied().collect();
                let problem = format!(
                    "set either file or the rule's own keys, not both: move {} into the file",
                    given.join(", ")
                );
                Err(BuildError::invalid_parameters(NAME, problem))
            }
            Some(path) => Self::from_file(path),
            None if is_written_here => Self::from_inline(params),
            None => {
                let problem = "the rule is missing: set file = \"my.rules.toml\" or buy = \"rsi(14) < 30\"";
                Err(BuildError::invalid_parameters(NAME, problem))
            }
        }
    }

    fn from_file(path: &str) -> Result<Self, BuildError> {
        let wrong = |line, problem: String| BuildError::File { path: path.to_owned(), line, problem };
        let size =
            fs::metadata(path).map_err(|error| wrong(None, format!("cannot read the rule: {error}")))?.len();
        if size > MAX_FILE_BYTES {
            return Err(wrong(None, format!("the rule is too large: use at most {MAX_FILE_BYTES} bytes")));
        }
        let text = fs::read_to_string(path)
            .map_err(|error| wrong(None, format!("cannot read the rule: {error}")))?;
        let written = RuleConfig::parse(&text).map_err(|found| wrong(found.line, found.message))?;
        Ok(Self { written, identity: text.clone(), file: Some((path.to_owned(), text)) })
    }

    fn from_inline(params: &Value) -> Result<Self, BuildError> {
        let given = params.as_object().into_iter().flatten();
        let own = given.filter(|(key, value)| KEYS.contains(&key.as_str()) && is_given(Some(value)));
        let own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        if let Some(number) = own.get("expiry").and_then(Value::as_u64) {
            return Err(BuildError::invalid_parameters(NAME, hint_for_expiry(&number.to_string())));
        }
        let own = Value::Object(own);
        let written = serde_json::from_value(own.clone());
        let written = written.map_err(|error: serde_json::Error| {
            let message = error.to_string();
            let words = bare_parameter_hint(&own).or_else(|| hint_for_key(&message, None));
            BuildError::invalid_parameters(NAME, words.unwrap_or_else(|| prepend_key(&own, &message)))
        })?;
        Ok(Self { written, file: None, identity: own.to_string() })
    }

    pub(crate) fn rule(&self) -> Result<Rule, BuildError> {
        self.written.rule(self.file_text()).map_err(|wrong| self.build_error(wrong))
    }

    pub(crate) fn parameter_values(&self, params: &Value) -> BTreeMap<String, f64> {
        let mut numbers = self.written.defaults();
        let given = params.as_object().into_iter().flatten();
        numbers.extend(given.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))));
        numbers
    }

    fn expiry(&self, bot: &BotContext) -> Option<Expiry> {
        self.written.expiry.map(|close_type| Expiry { close_type, ..bot.expiry })
    }

    pub(crate) fn side_error(&self, side: Side, error: &RuleError) -> BuildError {
        self.build_error(self.written.condition_error(side, error, self.file_text()))
    }

    fn file_text(&self) -> Option<&str> {
        self.file.as_ref().map(|(_, text)| text.as_str())
    }

    fn build_error(&self, wrong: FileError) -> BuildError {
        match &self.file {
            Some((path, _)) => {
                BuildError::File { path: path.clone(), line: wrong.line, problem: wrong.message }
            }
            None => BuildError::invalid_parameters(NAME, wrong.message),
        }
    }

    fn hash(&self) -> String {
        blake3::hash(self.identity.as_bytes()).to_hex().chars().take(HASH_LENGTH).collect()
    }
}

fn bare_parameter_hint(params: &Value) -> Option<String> {
    let parameters = params.get("parameters")?.as_object()?;
    let (name, value) = parameters.iter().find(|(_, value)| !value.is_object())?;
    Some(format!(
        "parameters.{name}: a parameter needs a default and, for searches, a range: {name} = {{ default = {value}, min = 2, max = 50 }}"
    ))
}

fn is_given(value: Option<&Value>) -> bool {
    value.is_some_and(|value| match value {
        Value::String(text) => !text.is_empty(),
        Value::Object(table) => !table.is_empty(),
        Value::Null => false,
        _ => true,
    })
}

/// Wraps an entry so that `specify` rebuilds it if a string, list or table parameter (such as `file`) changes.
pub(crate) fn rebuild_on_change(
    entry: StrategyEntry,
    specify: impl Fn(&Value) -> Result<StrategyEntry, BuildError> + Send + Sync + 'static,
) -> StrategyEntry {
    let own = entry.clone();
    entry.with_derivation(
        move |params| {
            if is_same_definition(params, &own) { Ok(own.clone()) } else { specify(params) }
        },
    )
}

fn is_same_definition(params: &Value, entry: &StrategyEntry) -> bool {
    let is_other = |(name, value): (&String, &Value)| {
        let is_value = matches!(value, Value::Null | Value::Bool(_) | Value::Number(_));
        let known = entry.parameters.iter().find(|parameter| parameter.name == *name);
        !is_value && known.is_some_and(|known| known.default != *value)
    };
    !params.as_object().into_iter().flatten().any(is_other)
}
