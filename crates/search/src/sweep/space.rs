//! The parameter space of a search.

use super::{Axis, AxisTarget, Condition, Setting};
use crate::SearchError;
use candlewick_engine::BotSettings;
use candlewick_sdk::StrategyEntry;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A parameter set: one value per axis, in the order of the axes.
pub type Candidate = Arc<[Setting]>;

const MAX_GRID_SETS: u64 = 1_000_000;

#[derive(Clone, Debug)]
pub struct Space {
    axes: Vec<Axis>,
    conditions: Vec<Condition>,
    /// Values of the numeric parameters that are not searched. Conditions number them after the axes.
    fixed: Vec<f64>,
    bot: BotSettings,
}

impl Space {
    pub fn new(
        entry: &StrategyEntry,
        bot: &BotSettings,
        parameters: &[String],
        conditions: &[String],
    ) -> Result<Self, SearchError> {
        let mut axes: Vec<Axis> = Vec::with_capacity(parameters.len());
        for text in parameters {
            let axis = Axis::parse(text, entry, bot)?;
            if axes.iter().any(|one| one.name() == axis.name()) {
                return Err(SearchError::InvalidValues {
                    name: axis.name().to_owned(),
                    given: text.clone(),
                    problem: "the parameter is given twice".to_owned(),
                });
            }
            axes.push(axis);
        }
        let mut names: Vec<String> = axes.iter().map(|axis| axis.name().to_owned()).collect();
        let mut fixed = Vec::new();
        for parameter in &entry.parameters {
            let value = bot.params.get(&parameter.name).unwrap_or(&parameter.default);
            if let (Some(number), false) = (value.as_f64(), names.contains(&parameter.name)) {
                names.push(parameter.name.clone());
                fixed.push(number);
            }
        }
        let conditions = conditions.iter().map(|text| Condition::parse(text, &names));
        let conditions = conditions.collect::<Result<_, _>>()?;
        Ok(Self { axes, conditions, fixed, bot: bot.clone() })
    }

    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the number of sets, ignoring conditions; `None` if the number is infinite.
    pub fn count(&self) -> Option<u64> {
        self.axes.iter().try_fold(1_u64, |count, axis| Some(count.saturating_mul(axis.count()?)))
    }

    pub fn meets_conditions(&self, candidate: &Candidate) -> bool {
        if self.conditions.is_empty() {
            return true;
        }
        let numbers = candidate.iter().map(|setting| setting.to_number().unwrap_or(f64::NAN));
        let values: Vec<f64> = numbers.chain(self.fixed.iter().copied()).collect();
        self.conditions.iter().all(|condition| condition.is_met(&values))
    }

    pub fn bot_settings(&self, candidate: &Candidate) -> BotSettings {
        let mut bot = self.bot.clone();
        let mut params = match std::mem::take(&mut bot.params) {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        for (axis, setting) in self.axes.iter().zip(candidate.iter()) {
            let text = setting.to_string();
            match axis.target() {
                AxisTarget::Parameter => {
                    params.insert(axis.name().to_owned(), setting.to_json());
                }
                AxisTarget::CloseType => bot.close_type = text.parse().unwrap_or(bot.close_type),
                AxisTarget::ExpirationType => {
                    bot.expiration_type = text.parse().unwrap_or(bot.expiration_type);
                }
            }
        }
        bot.params = Value::Object(params);
        bot
    }

    pub(crate) fn neighbours(&self, candidate: &Candidate) -> Vec<Candidate> {
        let moved = |place: usize| {
            let near = self.axes[place].neighbours(&candidate[place]).into_iter();
            near.map(move |setting| {
                let mut other = candidate.to_vec();
                other[place] = setting;
                Candidate::from(other)
            })
        };
        (0..self.axes.len()).flat_map(moved).filter(|other| self.meets_conditions(other)).collect()
    }

    pub(crate) fn candidate_from(&self, fractions: impl IntoIterator<Item = f64>) -> Candidate {
        self.axes.iter().zip(fractions).map(|(axis, fraction)| axis.value_at(fraction)).collect()
    }

    /// Returns every set that meets the conditions. The last axis varies fastest.
    pub(crate) fn all_sets(&self) -> Result<Vec<Candidate>, SearchError> {
        let wrong = |problem: String| SearchError::InvalidSearch { problem };
        if let Some(axis) = self.axes.iter().find(|axis| axis.count().is_none()) {
            let name = axis.name();
            return Err(wrong(format!(
                "a grid needs a limited number of values for {name}: write a step (LOW..HIGH:STEP) or a count (LOW..HIGH:log/N)"
            )));
        }
        let count = self.count().filter(|count| *count <= MAX_GRID_SETS).ok_or_else(|| {
            wrong(format!("the grid has more than {MAX_GRID_SETS} sets: use random search or larger steps"))
        })?;
        let lists: Vec<&[Setting]> = self.axes.iter().filter_map(Axis::listed_values).collect();
        let mut all = Vec::with_capacity(if self.conditions.is_empty() { count as usize } else { 0 });
        for index in 0..count {
            let mut rest = index;
            let mut candidate: Vec<Setting> = Vec::with_capacity(lists.len());
            for list in lists.iter().rev() {
                let length = list.len() as u64;
                candidate.push(list[(rest % length) as usize].clone());
                rest /= length;
            }
            candidate.reverse();
            let candidate = Candidate::from(candidate);
            if self.meets_conditions(&candidate) {
                all.push(candidate);
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bot, listed, whole};
    use super::*;

    impl Space {
        pub(crate) fn from_axes(axes: Vec<Axis>, conditions: &[&str]) -> Self {
            let names: Vec<String> = axes.iter().map(|axis| axis.name().to_owned()).collect();
            let conditions = conditions.iter().map(|text| Condition::parse(text, &names).unwrap()).collect();
            Self { axes, conditions, fixed: Vec::new(), bot: bot() }
        }
    }

    fn space(conditions: &[&str]) -> Space {
        let close_type = listed("close_type", AxisTarget::CloseType, [Setting::Text("05:00".into())]);
        Space::from_axes(vec![whole("fast", [2, 3]), whole("slow", [3, 4, 5]), close_type], conditions)
    }

    fn check(conditions: &[&str], expected: &str) {
        let all = space(conditions).all_sets().unwrap();
        let printed: Vec<String> = all.iter().map(|set| format!("{}-{}", set[0], set[1])).collect();
        assert_eq!(printed.join(" "), expected);
    }

    #[test]
    fn grid_contains_every_set_that_meets_the_conditions() {
        assert_eq!(space(&[]).count(), Some(6));
        check(&[], "2-3 2-4 2-5 3-3 3-4 3-5");
        check(&["fast < slow"], "2-3 2-4 2-5 3-4 3-5");
        check(&["fast < slow", "slow != 4"], "2-3 2-5 3-5");
        check(&["close_type > 1"], "");
    }

    #[test]
    fn neighbours_differ_in_one_value_and_meet_the_conditions() {
        let space = space(&["fast < slow"]);
        let neighbours = |place: usize| {
            let sets = space.neighbours(&space.all_sets().unwrap()[place]);
            sets.iter().map(|set| format!("{}-{}", set[0], set[1])).collect::<Vec<_>>().join(" ")
        };
        // The sets are 2-3, 2-4, 2-5, 3-4, 3-5; 3-3 is not allowed.
        assert_eq!([0, 1, 3].map(neighbours), ["2-4", "3-4 2-3 2-5", "2-4 3-5"]);
    }

    #[test]
    fn set_changes_only_its_parameters_of_the_bot() {
        let space = space(&[]);
        let bot = space.bot_settings(&space.all_sets().unwrap()[1]);
        assert_eq!(bot.params, serde_json::json!({"fast": 2, "slow": 4}));
        assert_eq!(bot.close_type.to_string(), "05:00");
        let mut same = bot.clone();
        (same.params, same.close_type) = (space.bot.params.clone(), space.bot.close_type);
        assert_eq!(same, space.bot);
    }
}
