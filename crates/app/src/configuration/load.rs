//! Merges the configuration layers, records the origin of each value, and validates reloads.

use super::check::{Schema, check};
use super::layer::{Flag, Layer, Origin, describe_tried_paths};
use super::secret::{MASK, is_secret_url, mask_passwords, mask_path};
use super::sections::fill_asset_type;
use super::{Config, KeyPath, Mode, Problem, ProblemKind, Problems, blackouts};
use crate::error::{AppError, Result};
use crate::traded_symbols::resolve_symbols;
use candlewick_engine::{SettingChange, changes_between};
use candlewick_runtime::RELOADABLE_KEYS;
use candlewick_sdk::{Money, MoneyError};
use candlewick_simulator::SimulatorError;
use figment::value::{Dict, Tag, Value};
use figment::{Figment, Profile, Provider};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseLayer {
    Sandbox,
    Bare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealMoneyRequest {
    Requested,
    NotRequested,
}

#[derive(Debug)]
pub struct LoadedConfig {
    pub config: Config,
    files: Vec<PathBuf>,
    figment: Figment,
    root: Value,
}

impl LoadedConfig {
    /// Merges the defaults, `files` (or `base` if there are none), environment and `flags`; later values win.
    /// If the environment or a flag configures bots, the risk limits of `base` are not used.
    pub fn read(files: &[PathBuf], base: BaseLayer, flags: Vec<Flag>) -> Result<Self> {
        let mut layers = files.iter().map(|file| Layer::read_file(file)).collect::<Result<Vec<_>>>()?;
        layers.push(Layer::environment()?);
        for flag in flags {
            flag.0.reject_password()?;
            layers.push(flag.0);
        }
        if files.is_empty() && base == BaseLayer::Sandbox {
            let mut built_in = Layer::sandbox_defaults()?;
            if layers.iter().any(|layer| layer.values.contains_key("bots")) {
                built_in.values.remove("risk");
            }
            layers.insert(0, built_in);
        }
        layers.insert(0, Layer::defaults()?);
        let whole = |file: &PathBuf| std::fs::canonicalize(file).unwrap_or_else(|_| file.clone());
        Ok(Self { files: files.iter().map(whole).collect(), ..Self::merge_layers(layers)? })
    }

    /// Merges the defaults, the environment, the `sections` of a plan, and `flags`; later values win.
    pub(crate) fn from_plan(path: &Path, sections: &Json, flags: Vec<Flag>) -> Result<Self> {
        let mut layers = vec![Layer::defaults()?, Layer::environment()?, Layer::from_plan(path, sections)?];
        layers.extend(flags.into_iter().map(|flag| flag.0));
        Self::merge_layers(layers)
    }

    /// Merges configuration text with the defaults, ignoring the environment.
    pub fn from_text(text: &str) -> Result<Self> {
        Self::merge_layers(vec![Layer::defaults()?, Layer::from_text(text)?])
    }

    /// Like [`read`](Self::read), but for a reload. Rejects pipes, because a pipe cannot be read twice.
    pub fn read_for_reload(files: &[PathBuf], base: BaseLayer, flags: Vec<Flag>) -> Result<Self> {
        let is_other = |file: &&PathBuf| std::fs::metadata(file).is_ok_and(|metadata| !metadata.is_file());
        if let Some(file) = files.iter().find(is_other) {
            let problem = format!("{} is not a regular file and cannot be reloaded", file.display());
            return Err(AppError::invalid(problem).with_help("restart the bot with --config and a TOML file"));
        }
        Self::read(files, base, flags)
    }

    fn merge_layers(layers: Vec<Layer>) -> Result<Self> {
        let figment = layers.into_iter().fold(Figment::new(), Figment::merge);
        let unexpected = |error| AppError::system("cannot merge the layers of the configuration", error);
        let mut values = figment.data().map_err(unexpected)?.remove(&Profile::Default).unwrap_or_default();
        for notice in remove_unused_keys(&mut values) {
            tracing::warn!("{notice}");
        }
        rename_duration_keys(&mut values);
        let root = Value::Dict(Tag::Default, values);
        let config = to_config(&figment, &root)?;
        let mut loaded = Self { config, files: Vec::new(), figment, root };
        if let Err(problem) = blackouts::read_blackout_file(&mut loaded.config) {
            let file = &loaded.config.risk.blackouts.file;
            let looked = loaded.describe_tried_paths("risk.blackouts", file);
            let problem = loaded.problem("risk.blackouts", problem + &looked).with_value(format!("{file:?}"));
            let problem = problem.with_kind(ProblemKind::Data);
            return Err(problem.into());
        }
        if let Err((key, problem)) = resolve_symbols(&mut loaded.config) {
            return Err(loaded.problem(&key, problem).into());
        }
        Ok(loaded)
    }

    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    pub const fn root(&self) -> &Value {
        &self.root
    }

    pub fn find_origin(&self, value: &Value) -> Option<String> {
        find_origin(&self.figment, value.tag())
    }

    fn origin_at(&self, key: &str) -> Option<String> {
        self.find_origin(KeyPath::parse(key).innermost_value(&self.root))
    }

    fn has_origin(&self, origin: &Origin, key: &str) -> bool {
        self.origin_at(key) == Some(origin.to_string())
    }

    pub fn problem(&self, key: &str, problem: impl Into<String>) -> Problem {
        Problem::at_key(&KeyPath::parse(key), self.origin_at(key), problem)
    }

    pub fn describe_tried_paths(&self, key: &str, file: &str) -> String {
        describe_tried_paths(self.origin_at(key).as_deref(), file)
    }

    pub fn is_set(&self, key: &str) -> bool {
        self.origin_at(key).is_some() && !self.has_origin(&Origin::Default, key)
    }

    pub fn is_from_environment(&self, key: &str) -> bool {
        self.has_origin(&Origin::Environment, key)
    }

    pub fn has_built_in_bots(&self) -> bool {
        self.is_built_in("bots")
    }

    pub(crate) fn is_built_in(&self, key: &str) -> bool {
        self.has_origin(&Origin::BuiltIn, key)
    }

    pub fn initial_balance(&self) -> Result<Money> {
        let account = &self.config.account;
        let wrong = |error: MoneyError| self.problem("account.initial_balance", error.to_string());
        Ok(account.money_scale.convert_exact(account.initial_balance).map_err(wrong)?)
    }

    pub fn check_simulation(&self) -> Result<(), Problem> {
        self.config.simulation.check().map_err(|error| match error {
            SimulatorError::ChangeSetting { key, value, allowed } => {
                self.problem(&format!("simulation.{key}"), format!("use {allowed}")).with_value(value)
            }
            SimulatorError::PayoutAsShare { percent, meant } => {
                let problem = format!("payouts are in percent; did you mean {meant}?");
                self.problem("simulation.payout_percent", problem).with_value(percent.to_string())
            }
            other => self.problem("simulation", other.to_string()),
        })
    }

    pub fn check_mode(&self, real: RealMoneyRequest) -> Result<(), Problem> {
        let allowed = std::env::var("CANDLEWICK_ALLOW_REAL").is_ok_and(|value| value == "yes");
        match self.config.account.mode {
            Mode::Demo => Ok(()),
            Mode::Real if allowed && real == RealMoneyRequest::Requested => Ok(()),
            Mode::Real => {
                let problem = "real money requires both CANDLEWICK_ALLOW_REAL=yes in the environment and \
                               `live --real`; use \"demo\" otherwise";
                Err(self.problem("account.mode", problem).with_value("\"real\""))
            }
        }
    }
}

fn to_config(figment: &Figment, root: &Value) -> Result<Config> {
    let schema = serde_json::to_value(schemars::schema_for!(Config));
    let schema = schema
        .map_err(|error| AppError::system("cannot serialize the schema of the configuration", error))?;
    Problems::check(check(Schema::new(&schema), root, |tag| find_origin(figment, tag)))?;
    // Deserialization checks rules that the schema cannot express, such as the format of intervals.
    let mut config = root.deserialize::<Config>().map_err(|error| {
        let path = KeyPath::from_parts(error.path.clone());
        let origin = find_origin(figment, path.innermost_value(root).tag());
        let complaint = match error.kind.to_string() {
            text if text.contains("invalid socket address") => {
                "use a numeric address with a port up to 65535, such as 127.0.0.1:7790".to_owned()
            }
            text => text,
        };
        Problems::from(Problem::at_key(&path, origin, complaint))
    })?;
    config.bots.iter_mut().for_each(fill_asset_type);
    Ok(config)
}

fn find_origin(figment: &Figment, tag: Tag) -> Option<String> {
    figment.get_metadata(tag).map(|metadata| metadata.name.to_string())
}

/// Keys of `[risk]` that a reload must not change, because they define the verdict, the day and the session.
const FIXED_RISK_KEYS: [&str; 4] = ["risk.verdict", "risk.day_start", "risk.day_timezone", "risk.session.of"];

pub fn check_reload(running: &Config, new: &LoadedConfig) -> Result<()> {
    let json = |config| {
        serde_json::to_value(config)
            .map_err(|error| AppError::system("cannot serialize the configuration", error))
    };
    let changes = changes_between(&json(running)?, &json(&new.config)?);
    let fixed = changes.iter().filter(|change| !is_reloadable(&change.key));
    Ok(Problems::check(fixed.map(|change| restart_problem(change, new)).collect())?)
}

fn is_reloadable(key: &str) -> bool {
    let is_below =
        |parent: &str| key.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    match key.split_once('.') {
        Some(("risk", _)) => !FIXED_RISK_KEYS.iter().any(|fixed| is_below(fixed)),
        Some(("runtime", name)) => RELOADABLE_KEYS.contains(&name),
        _ => false,
    }
}

fn restart_problem(change: &SettingChange, new: &LoadedConfig) -> Problem {
    let SettingChange { key, from, to } = change;
    let change = SettingChange { key: String::new(), from: mask_value(key, from), to: mask_value(key, to) };
    let change = change.to_string();
    let why = match key.split('.').next() {
        Some("bots") => "bots and their strategies are built only once, when the run starts",
        Some("risk") => "this setting is fixed once the run or the trading day has begun",
        _ => "this setting is read only once, when the run starts",
    };
    let problem =
        format!("{} cannot change at run time: {why}; restart the bot to apply the change", change.trim());
    new.problem(key, problem)
}

fn mask_value(key: &str, value: &Json) -> Json {
    match value {
        Json::String(_) | Json::Object(_) if key.starts_with("broker.headers") => Json::from(MASK),
        Json::String(text) if is_secret_url(key) => Json::from(mask_path(text)),
        Json::String(text) => mask_passwords(text).map_or_else(|| value.clone(), Json::from),
        _ => value.clone(),
    }
}

/// Removes keys that no longer have an effect. Returns notices about obsolete keys that the user should remove.
fn remove_unused_keys(values: &mut Dict) -> Vec<&'static str> {
    // The section is reserved. Files that contain it must still load.
    values.remove("dashboard");
    let variants = values.remove("variants");
    let mut remove_data = |key: &str| match values.get_mut("data") {
        Some(Value::Dict(_, data)) => data.remove(key),
        _ => None,
    };
    let obsolete = [
        (variants, "[variants] has no effect, since variants are no longer counted; remove the section"),
        (
            remove_data("cache_results_from"),
            "data.cache_results_from has no effect, since backtest results are no longer cached; remove the key",
        ),
        (
            remove_data("state"),
            "data.state has no effect, since it was only used for hold-outs; remove the key",
        ),
    ];
    obsolete.into_iter().filter_map(|(value, notice)| value.map(|_| notice)).collect()
}

fn rename_duration_keys(values: &mut Dict) {
    let Some(Value::Array(_, bots)) = values.get_mut("bots") else { return };
    for bot in bots {
        let Value::Dict(_, bot) = bot else { continue };
        if !bot.contains_key("close_type")
            && let Some(duration) = bot.remove("duration")
        {
            bot.insert("close_type".to_owned(), duration);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults() -> LoadedConfig {
        LoadedConfig::merge_layers(vec![Layer::defaults().unwrap()]).unwrap()
    }

    #[test]
    fn default_file_equals_the_defaults_of_the_code() {
        assert_eq!(defaults().config, Config::default());
    }

    #[test]
    fn default_file_has_every_key() {
        fn check(code: &Json, file: &Json, path: &str) {
            for (key, value) in code.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
                let shown = &file[key];
                assert!(!shown.is_null() || *key == "bots", "config/default.toml lacks {path}{key}");
                check(value, shown, &format!("{path}{key}."));
            }
        }
        let file = serde_json::to_value(defaults().root()).unwrap();
        check(&serde_json::to_value(Config::default()).unwrap(), &file, "");
    }

    #[test]
    fn built_in_limits_do_not_apply_to_other_bots() {
        let limit =
            |args| LoadedConfig::read(&[], BaseLayer::Sandbox, args).unwrap().config.risk.daily_loss_limit;
        let usual = defaults().config.risk.daily_loss_limit;
        assert_ne!(limit(Vec::new()), usual);
        let bot = serde_json::json!({
            "name": "own", "symbol": "EURUSD", "interval": "1m", "strategy": "rsi-reversal", "close_type": "01:00",
        });
        assert_eq!(limit(vec![Flag::new("--rules", "", "bots", Some([bot])).unwrap()]), usual);
    }

    #[test]
    fn problems_have_the_origin_of_their_key() {
        let loaded = defaults();
        for (key, origin) in [("account.mode", Some("default")), ("risk", Some("default")), ("", None)] {
            assert_eq!(loaded.problem(key, "x").origin.as_deref(), origin, "{key}");
        }
        assert!(!loaded.is_set("sandbox.speed"));
    }

    const BOT: &str = "[[bots]]\nname = \"btc\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"rsi-reversal\"\n\
                       close_type = \"01:00\"\nparams = { period = 2 }\n";

    fn loaded(text: &str) -> LoadedConfig {
        LoadedConfig::from_text(text).unwrap()
    }

    fn check(before: &str, after: &str, expected: &[&str]) {
        let running = loaded(&format!("{before}\n{BOT}")).config;
        let bots = if after.contains("[[bots]]") { "" } else { BOT };
        let checked = check_reload(&running, &loaded(&format!("{after}\n{bots}")));
        match (checked, expected) {
            (Ok(()), []) => {}
            (Ok(()), _) => panic!("{after} is taken"),
            (Err(error), _) => {
                let text = error.to_string();
                assert!(!expected.is_empty(), "{text}");
                for part in expected.iter().chain(&["restart the bot"]) {
                    assert!(text.contains(part), "no {part:?} in {text}");
                }
                assert!(!text.contains("hush"), "{text}");
            }
        }
    }

    #[test]
    fn reload_changes_limits_and_rejects_other_keys() {
        check("", "", &[]);
        let limits = "max_open_trades = 1\ndaily_loss_limit = 7.5\nmax_stake = 20\nenforce_verdict = true";
        check("", &format!("[risk]\n{limits}"), &[]);
        check("", "[risk]\nhours = [{ days = [\"mon\"], from = \"08:00\", to = \"09:00\" }]", &[]);
        check("", "[risk.bots.btc]\nmax_open_trades = 1\ndaily_loss_limit = 5", &[]);
        check("[risk.bots.btc]\nmax_loss_streak = 1", "", &[]);
        check("", "[runtime]\nmax_payout_percent = 95\nstop_patience_s = 1\nsecond_trade = \"alarm\"", &[]);
        check("", "[risk]\nday_start = \"01:00\"", &["risk.day_start", "\"00:00\" -> \"01:00\""]);
        check("", "[risk.verdict]\ndelta = 0.05", &["risk.verdict.delta", "0.04 -> 0.05"]);
        check("", "[runtime]\nhold_ms = 5", &["runtime.hold_ms", "1000 -> 5"]);
        check("", "[account]\ninitial_balance = 5", &["account.initial_balance", "10000 -> 5"]);
        check("", "[broker]\nbase_url = \"http://127.0.0.1:9\"", &["broker.base_url", "http://127.0.0.1:9"]);
        check("", "[journal]\nurl = \"sqlite://other.db\"", &["journal.url", "other.db"]);
        let headers = |value: &str| format!("[broker.headers]\nx-api-key = \"{value}\"");
        check(&headers("hush"), &headers("hush2"), &["broker.headers.x-api-key"]);
    }

    #[test]
    fn reload_rejects_added_removed_and_changed_bots() {
        let other = |period: u32| BOT.replace("period = 2", &format!("period = {period}"));
        check("", &other(3), &["bots.btc.params.period", "2 -> 3", "built only once"]);
        check("", &format!("{BOT}{}", BOT.replace("\"btc\"", "\"new\"")), &["bots.new", "(not set) ->"]);
        check("", &BOT.replace("\"btc\"", "\"new\""), &["bots.btc", "bots.new"]);
        let stake = format!("{BOT}stake = {{ kind = \"fixed\", amount = 3 }}");
        check("", &stake, &["bots.btc.stake.amount", "-> 3"]);
    }

    #[test]
    fn accepts_duration_for_close_type() {
        let bot = "[[bots]]\nname = \"a\"\nsymbol = \"EURUSD\"\ninterval = \"1m\"\nstrategy = \"none\"\n";
        let read = |key: &str| LoadedConfig::from_text(&format!("{bot}{key}")).map_err(|e| e.to_string());
        let loaded = read("duration = \"05:00\"").unwrap();
        assert_eq!(loaded.config.bots[0].close_type.to_string(), "05:00");
        let problem = read("duration = \"5:0x\"").unwrap_err();
        assert!(problem.contains("5:0x"), "{problem}");
        let both = read("duration = \"05:00\"\nclose_type = \"05:00\"").unwrap_err();
        assert!(both.contains("duration"), "{both}");
    }

    #[test]
    fn removes_keys_without_effect_and_reports_the_obsolete_ones() {
        let table = |keys: &[&str]| {
            Value::from(keys.iter().map(|key| ((*key).to_owned(), Value::from(1))).collect::<Dict>())
        };
        let mut values = Dict::from([
            ("dashboard".to_owned(), table(&["listen"])),
            ("data".to_owned(), table(&["cache_results_from", "state"])),
            ("risk".to_owned(), table(&["max_open_trades"])),
            ("variants".to_owned(), table(&["ledger"])),
        ]);
        let notices = remove_unused_keys(&mut values);
        for (notice, start) in
            notices.iter().zip(["[variants] has no", "data.cache_results_from has no", "data.state has no"])
        {
            assert!(notice.starts_with(start), "{notices:?}");
        }
        assert_eq!(notices.len(), 3);
        assert_eq!(values.keys().collect::<Vec<_>>(), ["data", "risk"]);
        assert_eq!(values["data"], Value::from(Dict::new()));
        assert!(remove_unused_keys(&mut values).is_empty());
    }
}
