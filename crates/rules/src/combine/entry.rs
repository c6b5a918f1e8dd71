//! Registry entry of the strategy `combine`. The bot's parameters contain the strategies that it combines.

use super::explained::describe_plan;
use super::gate::Gate;
use super::strategy::{Agreement, Choice, Combination};
use super::written::{BuildMode, FilterConfig, PartConfig, PlannedPart, assign_names, parse_list};
use super::written_gate;
use super::written_gate::GateConfig;
use crate::entry::rebuild_on_change;
use candlewick_sdk::{BotContext, BuildError, CloseType, Parameter, Registry, Strategy, StrategyEntry};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub const NAME: &str = "combine";
/// Version of the semantics of `combine`. A bot's version also contains a hash of the combination's parts.
pub const VERSION: &str = "1.0.0";
/// Version for combinations whose signal reasons mention votes or an inverted direction.
const REWORDED_VERSION: &str = "1.1.0";
const ABOUT: &str = "Combines strategies by first signal or by vote, optionally filtered or inverted.";

pub(super) const MAX_WITHIN_CANDLES: usize = 10_000;
const MAX_PARTS: usize = 32;
const MAX_DEPTH: usize = 4;
const HASH_LENGTH: usize = 16;

/// Builds the registry entry of `combine`. Its parts are strategies from `registry` or nested combinations.
/// The parameters of a part are available as `PART.PARAMETER`.
pub fn entry(registry: Registry) -> StrategyEntry {
    let registry = Arc::new(registry);
    let of = registry.clone();
    // This closure is normally not called, because `specify_entry` first builds an entry for the bot's parameters.
    let build = move |params: &Value, bot: &BotContext| derive_entry(params, &of, 0)?.build(params, bot);
    let entry = StrategyEntry::new(NAME, VERSION, build)
        .with_derivation(move |params| derive_entry(params, &registry, 0));
    with_own_parameters(entry, &Map::new(), &[]).with_about(ABOUT)
}

pub(super) struct CombinationPlan {
    pub(super) parts: Vec<PlannedPart>,
    pub(super) filters: Vec<PlannedPart>,
    needs: Vec<Agreement>,
    pub(super) is_vote: bool,
    gate: Option<GateConfig>,
}

pub(super) fn derive_entry(
    params: &Value,
    registry: &Arc<Registry>,
    depth: usize,
) -> Result<StrategyEntry, BuildError> {
    if depth >= MAX_DEPTH {
        return Err(params_error(format!(
            "combinations are nested too deeply: use at most {MAX_DEPTH} levels"
        )));
    }
    let plan = CombinationPlan::parse(params, registry, depth)?;
    let language = if plan.has_reworded_reasons(params) { REWORDED_VERSION } else { VERSION };
    let version = format!("{language}+{}", plan.hash());
    let weights: Vec<f64> = plan.parts.iter().map(|part| part.weight).collect();
    let of_parts = plan.parts.iter().chain(&plan.filters).flat_map(PlannedPart::parameters).cloned();
    let of_gate = plan.gate.iter().flat_map(GateConfig::parameters);
    let own: Vec<Parameter> = of_parts.chain(of_gate).collect();
    let weights = if plan.is_vote { weights } else { Vec::new() };
    let about = describe_plan(&plan, params);
    let plan = Arc::new(plan);
    let explain = {
        let plan = plan.clone();
        move |values: &Value, bot: &BotContext| plan.build(values, bot, BuildMode::Explained)
    };
    let build = move |values: &Value, bot: &BotContext| plan.build(values, bot, BuildMode::Fast);
    let entry = StrategyEntry::new(NAME, version, build).with_explainer(explain).with_about(about);
    let empty = Map::new();
    let entry = with_own_parameters(entry, params.as_object().unwrap_or(&empty), &weights);
    let registry = registry.clone();
    let respecify = move |params: &Value| derive_entry(params, &registry, depth);
    Ok(rebuild_on_change(own.into_iter().fold(entry, StrategyEntry::with_parameter), respecify))
}

pub(crate) fn nested_rules(
    params: &Value,
    registry: &Arc<Registry>,
    depth: usize,
) -> Result<Vec<Value>, BuildError> {
    let CombinationPlan { parts, filters, .. } = CombinationPlan::parse(params, registry, depth)?;
    let mut rules = Vec::new();
    for member in parts.into_iter().chain(filters) {
        match member.entry.name.as_str() {
            crate::NAME => rules.push(member.given_params),
            NAME => rules.extend(nested_rules(&member.given_params, registry, depth + 1)?),
            _ => {}
        }
    }
    Ok(rules)
}

fn check_quorum(quorum: f64, parts: &[PartConfig]) -> Result<(), BuildError> {
    let weights = || parts.iter().map(|part| part.weight.unwrap_or(1.0));
    // Other code reports invalid weights.
    if weights().any(|weight| !weight.is_finite() || weight <= 0.0) {
        return Ok(());
    }
    let (least, sum) = quorum_bounds(weights());
    if (least..=sum).contains(&quorum) {
        return Ok(());
    }
    Err(params_error(format!(
        "quorum = {quorum} is outside {least} to {sum} (from the smallest to the sum of the {} weights)",
        parts.len()
    )))
}

/// Returns the smallest weight and the rounded sum of all weights. Rounding makes 0.7 + 0.1 equal to 0.8.
fn quorum_bounds(weights: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let sum = (weights.clone().sum::<f64>() * 1e9).round() / 1e9;
    (weights.reduce(f64::min).unwrap_or(sum).min(sum), sum)
}

fn with_own_parameters(entry: StrategyEntry, given: &Map<String, Value>, weights: &[f64]) -> StrategyEntry {
    let quorum = if weights.is_empty() {
        Parameter::new("quorum", 1.0)
    } else {
        let (least, sum) = quorum_bounds(weights.iter().copied());
        Parameter::new("quorum", sum).with_range(least, sum)
    };
    let list = |key: &str| given.get(key).cloned().unwrap_or_else(|| json!([]));
    let keys = [
        Parameter::new("first_of", list("first_of"))
            .with_about("Parts; the first one that signals decides: [{ strategy = \"...\", params = { } }]."),
        Parameter::new("vote", list("vote"))
            .with_about("Parts that vote, each with a weight (default 1); an alternative to first_of."),
        quorum.with_about("Weight that a direction needs; defaults to the sum of all weights."),
        Parameter::new("within", 1)
            .with_range(1.0, MAX_WITHIN_CANDLES as f64)
            .with_about("Number of candles for which a signal counts, including its own."),
        Parameter::new("filters", list("filters"))
            .with_about("Filters that every signal must pass: { strategy = \"...\" }, { hours = [\"08:00\", \"17:00\"], timezone = \"Europe/London\" }, trend, volatility, when."),
        Parameter::new("invert", false).with_about("Whether to trade in the opposite direction."),
        Parameter::new("expiry", "")
            .with_about("Duration of trades, such as 05:00; defaults to that of the signal or the bot."),
        Parameter::new(written_gate::KEY, given.get(written_gate::KEY).cloned().unwrap_or_else(|| json!({})))
            .with_about("Gate that decides which signals are traded and which are virtual: { after_virtual_losses = 2 }."),
    ];
    keys.into_iter().fold(entry, StrategyEntry::with_parameter)
}

impl CombinationPlan {
    fn parse(params: &Value, registry: &Arc<Registry>, depth: usize) -> Result<Self, BuildError> {
        let first_of: Vec<PartConfig> = parse_list(params, "first_of")?;
        let vote: Vec<PartConfig> = parse_list(params, "vote")?;
        let filters: Vec<FilterConfig> = parse_list(params, "filters")?;
        let is_vote = !vote.is_empty();
        let deciding = match (first_of.is_empty(), is_vote) {
            (true, true) => vote,
            (false, false) => first_of,
            (true, false) => {
                let problem =
                    "a combination needs parts: set first_of = [{ strategy = \"rsi-reversal\" }] or vote";
                return Err(params_error(problem));
            }
            (false, true) => return Err(params_error("set either first_of or vote, not both")),
        };
        if !is_vote && params.get("quorum").is_some() {
            return Err(params_error("quorum is only valid with `vote`"));
        }
        if let Some(quorum) = params.get("quorum").and_then(Value::as_f64).filter(|_| is_vote) {
            check_quorum(quorum, &deciding)?;
        }
        if let Some(part) = deciding.iter().find(|part| !is_vote && part.weight.is_some()) {
            return Err(params_error(format!("part {}: weight is only valid with `vote`", part.strategy)));
        }
        if let Some(part) = deciding.iter().find(|part| !is_vote && part.within.is_some()) {
            return Err(params_error(format!(
                "part {}: within is only valid in `vote` and `filters`",
                part.strategy
            )));
        }
        if deciding.len() + filters.len() > MAX_PARTS {
            return Err(params_error(format!("too many parts and filters: use at most {MAX_PARTS}")));
        }
        let filters = filters.into_iter().enumerate().map(|(place, filter)| filter.into_part(place));
        let (filters, needs): (Vec<PartConfig>, Vec<Agreement>) =
            filters.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let all: Vec<&PartConfig> = deciding.iter().chain(&filters).collect();
        let mut names = assign_names(&all)?.into_iter();
        let mut member = |written: PartConfig| {
            PlannedPart::new(written, names.next().unwrap_or_default(), params, registry, depth)
        };
        let parts = deciding.into_iter().map(&mut member).collect::<Result<_, _>>()?;
        let filters = filters.into_iter().map(&mut member).collect::<Result<_, _>>()?;
        let gate = GateConfig::parse(params)?;
        gate.as_ref().map(GateConfig::plan).transpose()?;
        Ok(Self { parts, filters, needs, is_vote, gate })
    }

    fn has_reworded_reasons(&self, params: &Value) -> bool {
        let is_inverted = params.get("invert").and_then(Value::as_bool).unwrap_or_default();
        let is_vote = self.is_vote && self.parts.len() > 1;
        is_vote || is_inverted || self.parts.iter().any(|part| part.invert)
    }

    fn hash(&self) -> String {
        let parts: Vec<Value> = self.parts.iter().map(PlannedPart::identity).collect();
        let filters: Vec<Value> = self.filters.iter().map(PlannedPart::identity).collect();
        let mut whole = json!([self.is_vote, parts, filters, self.needs]);
        if let (Some(gate), Some(list)) = (&self.gate, whole.as_array_mut()) {
            list.push(gate.identity());
        }
        let whole = whole.to_string();
        blake3::hash(whole.as_bytes()).to_hex().chars().take(HASH_LENGTH).collect()
    }

    fn build(
        &self,
        values: &Value,
        bot: &BotContext,
        form: BuildMode,
    ) -> Result<Box<dyn Strategy>, BuildError> {
        let within = values.get("within").and_then(Value::as_u64).unwrap_or(1) as usize;
        let members = self.parts.iter().chain(&self.filters);
        let parts = members.map(|part| part.build(values, within, (bot, form))).collect::<Result<_, _>>()?;
        let choice = if self.is_vote {
            let weights: Vec<f64> = self.parts.iter().map(|part| part.weight).collect();
            let all = weights.iter().sum();
            Choice::Vote { weights, quorum: values.get("quorum").and_then(Value::as_f64).unwrap_or(all) }
        } else {
            Choice::FirstOf
        };
        let invert = values.get("invert").and_then(Value::as_bool).unwrap_or_default();
        let expiry = values.get("expiry").and_then(Value::as_str).filter(|code| !code.is_empty());
        let expiry: Option<CloseType> =
            expiry.map(str::parse).transpose().map_err(|error| params_error(format!("expiry: {error}")))?;
        let gate = GateConfig::parse(values)?.map(|gate| gate.plan()).transpose()?;
        let gate = gate.map(|plan| Gate::new(plan, bot.expiry, bot.interval));
        let strategy = Combination::new(parts, self.needs.clone(), choice, invert, (expiry, bot), gate);
        Ok(Box::new(strategy))
    }
}

pub(super) fn params_error(problem: impl Into<String>) -> BuildError {
    BuildError::invalid_parameters(NAME, problem)
}
