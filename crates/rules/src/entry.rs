//! Registration of the strategy `rules`, defined by the rule in a bot's parameters.

use crate::explained::ExplainedRule;
use crate::file::{KEYS, Written, Wrong, cure_of_expiry, hint_for_key, with_key};
use crate::{Rule, RuleError, RuleStrategy, Side};
use candlewick_sdk::{
    BotContext, BuildError, BuiltStrategy, Expiry, LongerRule, Parameter, Strategy, StrategyEntry,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

pub const NAME: &str = "rules";
/// Version of the language, which must change with the meaning of a rule; a bot's appends the rule's hash.
pub const VERSION: &str = "1.0.0";
/// Version of rules that compare results of their own arithmetic, which rounding affected in 1.0.0.
const VERSION_OF_WORKED_OUT: &str = "1.1.0";
const ABOUT: &str = "Trades by a rule from a file or from the bot's parameters.";

const MAX_FILE_BYTES: u64 = 256 * 1024;
const HASH_LETTERS: usize = 16;

/// Bots have a parameter `file`, or `buy` and `sell` directly, plus the rule's own parameters.
pub fn entry() -> StrategyEntry {
    // Not called: `entry_of` builds the entry of the bot's parameters.
    let build = |params: &Value, bot: &BotContext| entry_of(params)?.build_with_declaration(params, bot);
    let entry = StrategyEntry::declaring(NAME, VERSION, build).specified_by(entry_of);
    with_keys(entry, &Map::new()).described(ABOUT)
}

fn entry_of(params: &Value) -> Result<StrategyEntry, BuildError> {
    let source = Source::of(params)?;
    let rule = source.rule()?;
    let is_worked_out = rule.compares_worked_out(&source.written.defaults());
    let language = if is_worked_out { VERSION_OF_WORKED_OUT } else { VERSION };
    let version = format!("{language}+{}", source.hash());
    let about = if source.written.about.is_empty() { ABOUT.to_owned() } else { source.written.about.clone() };
    let own: Vec<Parameter> = source.written.described().collect();
    let source = Arc::new(source);
    let rule = Arc::new(rule);
    let build = {
        let (source, rule) = (source.clone(), rule.clone());
        move |values: &Value, bot: &BotContext| built(&source, &rule, values, bot)
    };
    let explain = {
        let source = source.clone();
        move |values: &Value, bot: &BotContext| explained(&source, &rule, values, bot)
    };
    let entry = StrategyEntry::declaring(NAME, version, build).explained_by(explain).described(about);
    let empty = Map::new();
    let entry = with_keys(entry, params.as_object().unwrap_or(&empty));
    Ok(made_anew_of_others(own.into_iter().fold(entry, StrategyEntry::with_parameter), entry_of))
}

fn with_keys(entry: StrategyEntry, given: &Map<String, Value>) -> StrategyEntry {
    const ABOUTS: [&str; 5] = [
        "File with the rule: buy, sell, expiry, [parameters].",
        "Condition for a BUY; use it instead of a file.",
        "Condition for a SELL; use it instead of a file.",
        "Duration of trades, such as 05:00; defaults to the bot's close_type.",
        "Parameters used in buy and sell: { period = { default = 14, min = 2, max = 50 } }.",
    ];
    KEYS.into_iter().zip(ABOUTS).fold(entry, |entry, (key, about)| {
        let nothing = if key == "parameters" { Value::Object(Map::new()) } else { Value::from("") };
        let value = given.get(key).cloned().unwrap_or(nothing);
        entry.with_parameter(Parameter::new(key, value).described(about))
    })
}

fn built(
    source: &Source,
    rule: &Rule,
    values: &Value,
    bot: &BotContext,
) -> Result<BuiltStrategy, BuildError> {
    let (numbers, expiry) = (source.numbers(values), source.expiry(bot));
    let strategy: RuleStrategy =
        rule.build(&numbers, bot.interval, expiry).map_err(|(side, error)| source.refuse_in(side, &error))?;
    let longer = LongerRule::of_symbol(bot.symbol, bot.longer_share_percent);
    let declaration = Some(strategy.declaration(longer));
    Ok(BuiltStrategy { strategy: strategy.quickest(), declaration })
}

fn explained(
    source: &Source,
    rule: &Rule,
    values: &Value,
    bot: &BotContext,
) -> Result<Box<dyn Strategy>, BuildError> {
    let (numbers, expiry) = (source.numbers(values), source.expiry(bot));
    let strategy = ExplainedRule::of(rule, &numbers, bot.interval, expiry);
    Ok(Box::new(strategy.map_err(|(side, error)| source.refuse_in(side, &error))?))
}

pub(crate) struct Source {
    written: Written,
    file: Option<(String, String)>,
    identity: String,
}

impl Source {
    pub(crate) fn of(params: &Value) -> Result<Self, BuildError> {
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
                Err(BuildError::parameters(NAME, problem))
            }
            Some(path) => Self::of_file(path),
            None if is_written_here => Self::of_params(params),
            None => {
                let problem = "the rule is missing: set file = \"my.rules.toml\" or buy = \"rsi(14) < 30\"";
                Err(BuildError::parameters(NAME, problem))
            }
        }
    }

    fn of_file(path: &str) -> Result<Self, BuildError> {
        let wrong = |line, problem: String| BuildError::File { path: path.to_owned(), line, problem };
        let size = fs::metadata(path)
            .map_err(|error| wrong(None, format!("cannot read the rule: {error}")))?
            .len();
        if size > MAX_FILE_BYTES {
            return Err(wrong(None, format!("the rule file is too large: use at most {MAX_FILE_BYTES} bytes")));
        }
        let text = fs::read_to_string(path)
            .map_err(|error| wrong(None, format!("cannot read the rule: {error}")))?;
        let written = Written::of_file(&text).map_err(|found| wrong(found.line, found.message))?;
        Ok(Self { written, identity: text.clone(), file: Some((path.to_owned(), text)) })
    }

    fn of_params(params: &Value) -> Result<Self, BuildError> {
        let given = params.as_object().into_iter().flatten();
        let own = given.filter(|(key, value)| KEYS.contains(&key.as_str()) && is_given(Some(value)));
        let own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        if let Some(number) = own.get("expiry").and_then(Value::as_u64) {
            return Err(BuildError::parameters(NAME, cure_of_expiry(&number.to_string())));
        }
        let own = Value::Object(own);
        let written = serde_json::from_value(own.clone());
        let written = written.map_err(|error: serde_json::Error| {
            let message = error.to_string();
            let words = bare_parameter(&own).or_else(|| hint_for_key(&message, None));
            BuildError::parameters(NAME, words.unwrap_or_else(|| with_key(&own, &message)))
        })?;
        Ok(Self { written, file: None, identity: own.to_string() })
    }

    pub(crate) fn rule(&self) -> Result<Rule, BuildError> {
        self.written.rule(self.file()).map_err(|wrong| self.refuse(wrong))
    }

    pub(crate) fn numbers(&self, params: &Value) -> BTreeMap<String, f64> {
        let mut numbers = self.written.defaults();
        let given = params.as_object().into_iter().flatten();
        numbers.extend(given.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))));
        numbers
    }

    fn expiry(&self, bot: &BotContext) -> Option<Expiry> {
        self.written.expiry.map(|close_type| Expiry { close_type, ..bot.expiry })
    }

    pub(crate) fn refuse_in(&self, side: Side, error: &RuleError) -> BuildError {
        self.refuse(self.written.wrong(side, error, self.file()))
    }

    fn file(&self) -> Option<&str> {
        self.file.as_ref().map(|(_, text)| text.as_str())
    }

    fn refuse(&self, wrong: Wrong) -> BuildError {
        match &self.file {
            Some((path, _)) => {
                BuildError::File { path: path.clone(), line: wrong.line, problem: wrong.message }
            }
            None => BuildError::parameters(NAME, wrong.message),
        }
    }

    fn hash(&self) -> String {
        blake3::hash(self.identity.as_bytes()).to_hex().chars().take(HASH_LETTERS).collect()
    }
}

fn bare_parameter(params: &Value) -> Option<String> {
    let parameters = params.get("parameters")?.as_object()?;
    let (name, value) = parameters.iter().find(|(_, value)| !value.is_object())?;
    Some(format!(
        "parameters.{name}: a parameter needs a default, and a range if you search it: {name} = {{ default = {value}, min = 2, max = 50 }}"
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

/// Wraps an entry so that other texts, lists or tables, such as another rule file, rebuild it with `specify`.
/// Numbers and booleans only override parameters.
pub(crate) fn made_anew_of_others(
    entry: StrategyEntry,
    specify: impl Fn(&Value) -> Result<StrategyEntry, BuildError> + Send + Sync + 'static,
) -> StrategyEntry {
    let own = entry.clone();
    entry.specified_by(
        move |params| {
            if says_what_it_is(params, &own) { Ok(own.clone()) } else { specify(params) }
        },
    )
}

fn says_what_it_is(params: &Value, entry: &StrategyEntry) -> bool {
    let is_other = |(name, value): (&String, &Value)| {
        let is_value = matches!(value, Value::Null | Value::Bool(_) | Value::Number(_));
        let known = entry.parameters.iter().find(|parameter| parameter.name == *name);
        !is_value && known.is_some_and(|known| known.default != *value)
    };
    !params.as_object().into_iter().flatten().any(is_other)
}
