//! Parser for the trade gate in the bot's parameters.

use super::entry::params_error;
use super::written::error_text;
use candlewick_engine::DayStart;
use candlewick_sdk::{BuildError, Millis, Parameter, Payout};
use candlewick_statistics::{EdgeTestPlan, GateOpening, GateRule, TradeGate};
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(super) const KEY: &str = "gate";
const MAX_COUNT: u32 = 10_000;
const MAX_HISTORY_CANDLES: u32 = 100_000;
const DEFAULT_HISTORY_CANDLES: usize = 500;
/// Length of a day on which clocks are set back by an hour.
const LONGEST_DAY: Millis = Millis::from_seconds(25 * 3_600);
/// Default error rate of the gate's verdict. It equals the error rate of a run's verdict (see `domain 6`).
const DEFAULT_ERROR_RATE: f64 = 0.05;
const DEFAULT_EDGE: f64 = 0.04;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GatePlan {
    pub(super) rule: GateRule,
    pub(super) daily_reset: Option<DayStart>,
    history: Option<u32>,
}

impl GatePlan {
    /// Returns the number of past candles needed to restore the gate at startup. With a daily reset, one day suffices.
    pub(super) fn warmup(&self, interval: Millis) -> usize {
        let of_a_day = || LONGEST_DAY.get().div_euclid(interval.get().max(1)) as usize;
        let usual = || if self.daily_reset.is_some() { of_a_day() } else { DEFAULT_HISTORY_CANDLES };
        self.history.map_or_else(usual, |history| history as usize)
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GateConfig {
    after_virtual_losses: Option<u32>,
    virtual_win_rate: Option<f64>,
    over: Option<u32>,
    verdict: Option<String>,
    payout: Option<f64>,
    close_after_trades: Option<u32>,
    close_after_losses: Option<u32>,
    close_after_wins: Option<u32>,
    resets: Option<String>,
    day_start: Option<String>,
    day_timezone: Option<String>,
    openings: Option<u32>,
    history: Option<u32>,
}

/// Name, range and description of a gate parameter.
type GateParameter = (&'static str, (f64, u32), &'static str);

const PARAMETERS: [GateParameter; 9] = [
    ("after_virtual_losses", (1.0, MAX_COUNT), "Consecutive virtual losses that open the gate."),
    ("virtual_win_rate", (0.0, 1), "Win rate of virtual trades that opens the gate, from 0 to 1."),
    ("over", (1.0, MAX_COUNT), "Number of virtual trades from which the win rate is computed."),
    ("payout", (0.0, 1_000), "Payout of virtual trades in percent."),
    ("close_after_trades", (1.0, MAX_COUNT), "Number of trades after which the gate closes."),
    ("close_after_losses", (1.0, MAX_COUNT), "Consecutive losses after which the gate closes."),
    ("close_after_wins", (1.0, MAX_COUNT), "Number of wins after which the gate closes."),
    ("openings", (1.0, MAX_COUNT), "Maximum number of openings per day."),
    ("history", (0.0, MAX_HISTORY_CANDLES), "Number of past candles that restore the gate at startup."),
];

impl GateConfig {
    /// Parses the gate. `None` if no gate is set. A parameter `gate.NAME` overrides the key `NAME` in the gate's table.
    pub(super) fn parse(params: &Value) -> Result<Option<Self>, BuildError> {
        let Some(given) = params.get(KEY).filter(|gate| !gate.is_null()) else { return Ok(None) };
        let Value::Object(given) = given else {
            return Err(params_error("gate must be a table: gate = { after_virtual_losses = 2 }"));
        };
        if given.is_empty() {
            return Ok(None);
        }
        let mut values: Map<String, Value> = given.clone();
        for (key, value) in params.as_object().into_iter().flatten() {
            let name = key.strip_prefix(KEY).and_then(|rest| rest.strip_prefix('.'));
            if let Some(name) = name.filter(|_| !value.is_null()) {
                values.insert(name.to_owned(), value.clone());
            }
        }
        let values = Value::Object(values);
        let read = Self::deserialize(&values);
        read.map(Some).map_err(|error| params_error(format!("gate: {}", error_text(&error, &values))))
    }

    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let count = |value: Option<u32>| value.map(Value::from);
        let values = [
            count(self.after_virtual_losses),
            self.virtual_win_rate.map(Value::from),
            count(self.over),
            self.payout.map(Value::from),
            count(self.close_after_trades),
            count(self.close_after_losses),
            count(self.close_after_wins),
            count(self.openings),
            count(self.history),
        ];
        let given = PARAMETERS.iter().zip(values).filter_map(|(row, value)| Some((row, value?)));
        let parameter = |((name, (least, most), about), value): (&GateParameter, Value)| {
            let parameter = Parameter::new(format!("{KEY}.{name}"), value);
            parameter.with_range(*least, f64::from(*most)).with_about(*about)
        };
        given.map(parameter).collect()
    }

    pub(super) fn identity(&self) -> Value {
        let opens = match (&self.after_virtual_losses, &self.virtual_win_rate) {
            (Some(_), _) => "losses",
            (None, Some(_)) => "win_rate",
            (None, None) => "verdict",
        };
        match &self.resets {
            None => opens.into(),
            Some(resets) => json!([opens, resets, self.day_start, self.day_timezone]),
        }
    }

    fn parse_day_start(&self) -> Result<Option<DayStart>, BuildError> {
        let wrong = |problem: String| params_error(format!("gate: {problem}"));
        match self.resets.as_deref() {
            Some("day") => {
                let start = self.day_start.as_deref().unwrap_or("00:00");
                let zone = self.day_timezone.as_deref().unwrap_or("UTC");
                DayStart::new(start, zone, KEY).map(Some).map_err(|error| params_error(error.to_string()))
            }
            Some(other) => Err(wrong(format!("resets can only be \"day\", not \"{other}\""))),
            None if self.day_start.is_some() || self.day_timezone.is_some() || self.openings.is_some() => {
                Err(wrong("day_start, day_timezone and openings need resets = \"day\"".to_owned()))
            }
            None => Ok(None),
        }
    }

    pub(super) fn plan(&self) -> Result<GatePlan, BuildError> {
        let wrong = |problem: &str| params_error(format!("gate: {problem}"));
        let counts = [
            self.after_virtual_losses,
            self.over,
            self.close_after_trades,
            self.close_after_losses,
            self.close_after_wins,
            self.openings,
        ];
        if counts.into_iter().flatten().any(|count| !(1..=MAX_COUNT).contains(&count)) {
            return Err(wrong("numbers of trades, losses, wins and openings must be from 1 to 10000"));
        }
        if self.history.is_some_and(|history| history > MAX_HISTORY_CANDLES) {
            return Err(wrong("history must be at most 100000 candles"));
        }
        let is_bare = |names: [bool; 3]| names == [false; 3];
        let opens = match (self.after_virtual_losses, self.virtual_win_rate, self.verdict.as_deref()) {
            (Some(losses), None, None) if is_bare([self.over.is_some(), self.payout.is_some(), false]) => {
                GateOpening::AfterVirtualLosses(losses)
            }
            (None, Some(rate), None) if self.payout.is_none() => {
                let over = self
                    .over
                    .ok_or_else(|| wrong("virtual_win_rate needs a number of trades, such as over = 20"))?;
                if !(rate > 0.0 && rate <= 1.0) {
                    return Err(wrong("virtual_win_rate must be above 0 and at most 1; 0.6 is 60 %"));
                }
                GateOpening::WinRate { rate, over }
            }
            (None, None, Some("shown")) if self.resets.is_some() => {
                return Err(wrong(
                    "resets cannot be used with verdict, because a verdict takes longer than a day: use \
                     after_virtual_losses or virtual_win_rate",
                ));
            }
            (None, None, Some("shown")) if self.over.is_none() => {
                let payout = self.payout.filter(|payout| *payout > 0.0 && *payout <= 1_000.0);
                let payout =
                    payout.ok_or_else(|| wrong("verdict needs the payout in percent: payout = 80.0"))?;
                if let Some(percent) = Payout::percent_from_fraction(payout) {
                    return Err(wrong(&format!("payout is in percent: did you mean {percent}?")));
                }
                let test = EdgeTestPlan::new(DEFAULT_ERROR_RATE, DEFAULT_ERROR_RATE, DEFAULT_EDGE)
                    .expect("default rates are valid");
                GateOpening::VerdictShown { test, payout: payout / 100.0 }
            }
            (None, None, Some(other)) if other != "shown" => {
                return Err(wrong("verdict can only be \"shown\""));
            }
            _ => {
                return Err(wrong(
                    "set one condition that opens the gate: after_virtual_losses = 2, virtual_win_rate = 0.6 with \
                     over = 20, or verdict = \"shown\" with payout = 80.0",
                ));
            }
        };
        let closes = [self.close_after_trades, self.close_after_losses, self.close_after_wins];
        let day = self.parse_day_start()?;
        let is_hook =
            matches!(opens, GateOpening::AfterVirtualLosses(_)) && closes == [None; 3] && day.is_none();
        let rule = GateRule {
            opening: opens,
            resets_daily: day.is_some(),
            max_daily_openings: self.openings.unwrap_or_default(),
            close_after_trades: self.close_after_trades.unwrap_or(u32::from(is_hook)),
            close_after_losses: self.close_after_losses.unwrap_or_default(),
            close_after_wins: self.close_after_wins.unwrap_or_default(),
        };
        TradeGate::new(rule).map_err(|error| wrong(&error.to_string()))?;
        Ok(GatePlan { rule, daily_reset: day, history: self.history })
    }
}
