//! A rule with a buy or sell condition, or both. It is compiled into a strategy for given parameter values.

use crate::RuleError;
use crate::compile::Compiler;
use crate::graph::{Id, Op};
use crate::parse::parse;
use crate::strategy::RuleStrategy;
use crate::syntax::Tree;
use candlewick_sdk::{Direction, Expiry, Interval};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub struct Rule {
    buy: Option<Condition>,
    sell: Option<Condition>,
}

#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) text: String,
    pub(crate) tree: Tree,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Buy,
    Sell,
}

impl Side {
    pub const fn key(self) -> &'static str {
        match self {
            Self::Buy => "buy",
            Self::Sell => "sell",
        }
    }
}

impl Rule {
    pub fn parse(buy: Option<&str>, sell: Option<&str>) -> Result<Self, (Side, RuleError)> {
        let condition = |side: Side, text: Option<&str>| {
            let read = |text: &str| parse(text).map(|tree| Condition { text: text.to_owned(), tree });
            text.map(read).transpose().map_err(|error| (side, error))
        };
        if buy.is_none() && sell.is_none() {
            return Err((Side::Buy, RuleError::new(0..0, "the rule needs a condition: set buy or sell")));
        }
        Ok(Self { buy: condition(Side::Buy, buy)?, sell: condition(Side::Sell, sell)? })
    }

    /// Compiles the rule into a strategy. If both conditions are true, `buy` takes precedence.
    pub fn build(
        &self,
        parameters: &BTreeMap<String, f64>,
        interval: Interval,
        expiry: Option<Expiry>,
    ) -> Result<RuleStrategy, (Side, RuleError)> {
        let mut compiler = Compiler::new(parameters, interval);
        let mut sides = Vec::new();
        for (side, condition) in self.conditions() {
            compiler.compared_numbers.clear();
            let id = compiler.compile(&condition.tree).map_err(|error| (side, error))?;
            let direction = if side == Side::Buy { Direction::Buy } else { Direction::Sell };
            sides.push((
                direction,
                collapse_whitespace(&condition.text),
                id,
                std::mem::take(&mut compiler.compared_numbers),
            ));
        }
        Ok(RuleStrategy::new(compiler.graph, sides, expiry))
    }

    pub fn unused_parameters<'p>(
        &self,
        parameters: &'p BTreeMap<String, f64>,
        interval: Interval,
    ) -> Result<Vec<&'p str>, (Side, RuleError)> {
        let mut compiler = Compiler::new(parameters, interval);
        for (side, condition) in self.conditions() {
            let _: Id = compiler.compile(&condition.tree).map_err(|error| (side, error))?;
        }
        let used: BTreeSet<String> = compiler.used_parameters;
        Ok(parameters.keys().map(String::as_str).filter(|name| !used.contains(*name)).collect())
    }

    pub(crate) fn compares_computed_values(&self, parameters: &BTreeMap<String, f64>) -> bool {
        let mut compiler = Compiler::new(parameters, Interval::SECOND);
        // Errors are ignored here, because `build` reports them.
        self.conditions().for_each(|(_, condition)| drop(compiler.compile(&condition.tree)));
        let graph = &compiler.graph;
        (0..graph.len()).any(|id| matches!(graph.node(id).op, Op::Compared(..)))
    }

    pub(crate) fn conditions(&self) -> impl Iterator<Item = (Side, &Condition)> {
        let buy = self.buy.iter().map(|condition| (Side::Buy, condition));
        buy.chain(self.sell.iter().map(|condition| (Side::Sell, condition)))
    }
}

pub(crate) fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
