//! Strategy that combines the signals of its parts.

use super::explained;
use super::explained::ConditionTexts;
use super::gate::Gate;
use super::reworded::{ReasonCache, ReasonChange, Votes};
use candlewick_sdk::{
    BotContext, Candle, CloseType, Condition, Direction, Expiry, GateSnapshot, Interval, Millis, Settlement,
    Signal, Strategy,
};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;

/// Tolerance for sums of weights. It makes 0.7 + 0.1 equal to 0.8.
const WEIGHT_TOLERANCE: f64 = 1e-9;

pub(super) enum Choice {
    FirstOf,
    Vote { weights: Vec<f64>, quorum: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Agreement {
    Same,
    NotOpposite,
    Any,
}

impl Agreement {
    pub(super) fn allows(self, view: Option<Direction>, direction: Direction) -> bool {
        match self {
            Self::Same => view == Some(direction),
            Self::NotOpposite => view != Some(direction.opposite()),
            Self::Any => view.is_some(),
        }
    }
}

pub(super) fn vote_weights(parts: &[Part], weights: &[f64]) -> (f64, f64) {
    let (mut buy, mut sell) = (0.0, 0.0);
    for (part, weight) in parts.iter().zip(weights) {
        match part.view() {
            Some(Direction::Buy) => buy += weight,
            Some(Direction::Sell) => sell += weight,
            None => {}
        }
    }
    (buy, sell)
}

pub(super) struct Combination {
    /// Parts that decide the direction, then the filters.
    pub(super) parts: Vec<Part>,
    needs: Vec<Agreement>,
    pub(super) choice: Choice,
    pub(super) invert: bool,
    expiry: Option<CloseType>,
    bot_expiry: Expiry,
    gate: Option<Gate>,
    interval: Millis,
    longer: Vec<Interval>,
    names: NameCache,
    pub(super) condition_texts: ConditionTexts,
    reasons: ReasonCache,
}

impl Combination {
    /// Creates a combination. The last `needs.len()` elements of `parts` are filters.
    pub(super) fn new(
        parts: Vec<Part>,
        needs: Vec<Agreement>,
        choice: Choice,
        invert: bool,
        (expiry, bot): (Option<CloseType>, &BotContext),
        gate: Option<Gate>,
    ) -> Self {
        let intervals = parts.iter().flat_map(|part| part.strategy.longer_intervals());
        let mut longer: Vec<Interval> = intervals.copied().collect();
        longer.sort_unstable();
        longer.dedup();
        Self {
            condition_texts: ConditionTexts::new(&parts, needs.len(), &choice),
            parts,
            needs,
            choice,
            invert,
            expiry,
            bot_expiry: bot.expiry,
            gate,
            interval: bot.interval.length(),
            longer,
            names: NameCache::default(),
            reasons: ReasonCache::default(),
        }
    }

    pub(super) fn deciding_part_count(&self) -> usize {
        self.parts.len() - self.needs.len()
    }

    pub(super) fn chosen_part(&self) -> Option<usize> {
        let parts = &self.parts[..self.deciding_part_count()];
        match &self.choice {
            Choice::FirstOf => parts.iter().position(|part| part.current_signal().is_some()),
            Choice::Vote { weights, quorum } => {
                if parts.iter().all(|part| part.current_signal().is_none()) {
                    return None;
                }
                let (buy, sell) = vote_weights(parts, weights);
                let (direction, most, least) =
                    if buy > sell { (Direction::Buy, buy, sell) } else { (Direction::Sell, sell, buy) };
                let is_chosen = most >= quorum - WEIGHT_TOLERANCE && most > least + WEIGHT_TOLERANCE;
                parts.iter().position(|part| is_chosen && part.current_signal() == Some(direction))
            }
        }
    }

    pub(super) fn filters(&self) -> impl Iterator<Item = (&Part, Agreement)> {
        self.parts[self.deciding_part_count()..].iter().zip(self.needs.iter().copied())
    }

    fn passes_filters(&self, direction: Direction) -> bool {
        self.filters().all(|(filter, need)| need.allows(filter.view(), direction))
    }

    fn reason_change(&self, part: &Part, direction: Direction) -> ReasonChange {
        let votes = match &self.choice {
            Choice::Vote { weights, .. } if weights.len() > 1 => {
                let (buy, sell) = vote_weights(&self.parts, weights);
                let own = if direction == Direction::Buy { buy } else { sell };
                Some(Votes::new(own, weights.iter().sum()))
            }
            Choice::Vote { .. } | Choice::FirstOf => None,
        };
        ReasonChange { is_part_inverted: part.invert, votes, is_combination_inverted: self.invert }
    }

    fn combine_signals(&mut self, candle: &Candle) -> Option<Signal> {
        self.parts.iter_mut().for_each(|part| part.on_candle(candle));
        let chosen = self.chosen_part()?;
        let direction = self.parts[chosen].signal.as_ref()?.direction;
        if !self.passes_filters(direction) {
            return None;
        }
        let change = self.reason_change(&self.parts[chosen], direction);
        let mut signal = self.parts[chosen].signal.take()?;
        signal.reason = self.reasons.reword(signal.reason, change);
        if self.invert {
            signal.direction = signal.direction.opposite();
        }
        if let Some(close_type) = self.expiry {
            signal.expiry = Some(Expiry { close_type, ..self.bot_expiry });
        }
        Some(signal)
    }
}

impl Strategy for Combination {
    fn warmup(&self) -> usize {
        let is_vote = matches!(self.choice, Choice::Vote { .. });
        let deciding = self.deciding_part_count();
        let warmup = |(place, part): (usize, &Part)| {
            // `first_of` has no views and uses only the current candle.
            if is_vote || place >= deciding { part.warmup() } else { part.strategy.warmup() }
        };
        let parts = self.parts.iter().enumerate().map(warmup).max().unwrap_or_default();
        parts + self.gate.as_ref().map_or(0, Gate::warmup)
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        if let Some(gate) = &mut self.gate {
            gate.on_candle(candle);
        }
        let signal = self.combine_signals(candle)?;
        match &mut self.gate {
            Some(gate) => Some(gate.mark_signal(signal, candle.time() + self.interval)),
            None => Some(signal),
        }
    }

    fn longer_intervals(&self) -> &[Interval] {
        &self.longer
    }

    fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
        for part in &mut self.parts {
            if part.strategy.longer_intervals().contains(&interval) {
                part.strategy.on_longer_candle(interval, candle);
            }
        }
    }

    fn on_settled(&mut self, settlement: &Settlement) {
        for part in &mut self.parts {
            if part.strategy.wants_settlements() {
                part.strategy.on_settled(settlement);
            }
        }
    }

    fn wants_settlements(&self) -> bool {
        self.parts.iter().any(|part| part.strategy.wants_settlements())
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        match self.expiry {
            Some(close_type) => vec![Some(Expiry { close_type, ..self.bot_expiry })],
            None => self.parts[..self.deciding_part_count()]
                .iter()
                .flat_map(|part| part.strategy.expiries())
                .collect(),
        }
    }

    fn is_gate_closed(&self) -> bool {
        self.gate.as_ref().is_some_and(Gate::is_closed)
    }

    fn gate(&self) -> Option<GateSnapshot> {
        self.gate.as_ref().map(Gate::snapshot)
    }

    fn conditions(&self) -> Vec<Condition<'_>> {
        explained::conditions(self)
    }

    /// Returns each part's indicators as `PART.NAME` and its view as `PART.view` (1 for BUY, -1 for SELL).
    /// Also returns the state of the gate.
    fn indicators(&self) -> Vec<(&str, f64)> {
        let mut shown = Vec::new();
        for (place, part) in self.parts.iter().enumerate() {
            let own = part.strategy.indicators().into_iter();
            let own = own.map(|(name, value)| (self.names.qualified_name(place, &part.name, name), value));
            shown.extend(own);
            let view = part.view().map(|view| if view == Direction::Buy { 1.0 } else { -1.0 });
            shown.extend(view.map(|view| (self.names.qualified_name(place, &part.name, "view"), view)));
        }
        for (name, value) in self.gate.iter().flat_map(Gate::indicators) {
            shown.push((name, value));
        }
        shown
    }
}

pub(super) struct Part {
    pub(super) name: String,
    pub(super) strategy: Box<dyn Strategy>,
    /// Number of candles for which a signal stays valid, including its own candle.
    pub(super) within: usize,
    pub(super) invert: bool,
    pub(super) signal: Option<Signal>,
    view: Option<Direction>,
    age: usize,
}

impl Part {
    pub(super) const fn new(name: String, strategy: Box<dyn Strategy>, within: usize, invert: bool) -> Self {
        Self { name, strategy, within, invert, signal: None, view: None, age: 0 }
    }

    /// Returns the warm-up in candles. It is longer if signals stay valid for more than one candle.
    pub(super) fn warmup(&self) -> usize {
        let own = self.strategy.warmup();
        if self.within <= 1 { own } else { own.max(1) + self.within - 1 }
    }

    #[inline]
    pub(super) fn on_candle(&mut self, candle: &Candle) {
        // Virtual signals of a part do not count.
        self.signal = self.strategy.on_candle(candle).filter(|signal| !signal.is_virtual);
        if let Some(signal) = &mut self.signal {
            if self.invert {
                signal.direction = signal.direction.opposite();
            }
            (self.view, self.age) = (Some(signal.direction), 0);
        } else if self.view.is_some() {
            self.age += 1;
            if self.age >= self.within {
                self.view = None;
            }
        }
    }

    #[inline]
    pub(super) const fn view(&self) -> Option<Direction> {
        self.view
    }

    /// Returns the direction of the current candle's signal, even after the signal has been moved out of `signal`.
    #[inline]
    pub(super) fn current_signal(&self) -> Option<Direction> {
        self.view.filter(|_| self.age == 0)
    }

    pub(super) fn describe_view(&self) -> String {
        let Some(view) = self.view else { return String::new() };
        let ago = match self.age {
            0 => String::new(),
            1 => ", 1 candle ago".to_owned(),
            age => format!(", {age} candles ago"),
        };
        let said = view.opposite();
        let note = if self.invert { format!(", inverted: the part signaled {said}") } else { String::new() };
        format!("{view}{ago}{note}")
    }
}

/// List of names that only grows. Borrowed names stay valid while new names are added.
#[derive(Default)]
pub(super) struct NameCache {
    first: OnceCell<Box<CachedName>>,
}

struct CachedName {
    of: (usize, String),
    whole: String,
    next: OnceCell<Box<Self>>,
}

impl NameCache {
    pub(super) fn qualified_name(&self, place: usize, prefix: &str, name: &str) -> &str {
        let mut cell = &self.first;
        loop {
            let entry = cell.get_or_init(|| {
                let (of, whole) = ((place, name.to_owned()), format!("{prefix}.{name}"));
                Box::new(CachedName { of, whole, next: OnceCell::new() })
            });
            if entry.of.0 == place && entry.of.1 == name {
                return &entry.whole;
            }
            cell = &entry.next;
        }
    }
}
