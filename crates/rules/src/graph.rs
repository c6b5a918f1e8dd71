//! What a rule computes, as a list in which each value stands behind those that it is made of, and each stands once.

use crate::indicator::Indicator;
use candlewick_engine::{LocalClock, Window};
use candlewick_sdk::Interval;
use std::collections::HashMap;

/// The place of a value in its graph.
pub(crate) type Id = usize;

/// The values of a rule's conditions.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    known: HashMap<(usize, String), Id>,
    /// The candles that values are of: the bot's own, and longer ones.
    intervals: Vec<Interval>,
}

/// A value.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) op: Op,
    /// What it is, in the language: values of one name are one value.
    pub(crate) name: String,
    /// How many candles must have been seen before it means anything, the present one counted.
    pub(crate) warm_after: usize,
    /// The place of its interval.
    pub(crate) candles: usize,
}

/// How a value is computed. Conditions are 1 where they hold, 0 where they do not.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Constant(f64),
    Field(Field),
    Clock(Clock),
    /// The same on the clock of a time zone.
    LocalClock(Clock, LocalClock),
    /// Whether the candle closes at such a time of the day, in ms, UTC.
    Between(i64, i64),
    /// The same in a time zone.
    InHours(Box<Window>),
    Negate(Id),
    Abs(Id),
    Not(Id),
    Binary(Binary, Id, Id),
    /// The value of so many candles ago.
    Back(Id, usize),
    /// How two numbers stand to each other: 1 where the one is larger, -1 where the other is, 0 where rounding alone tells them apart.
    Compared(Id, Id),
    /// The same, and how they stood at the candle before.
    Order(Id, Id),
    /// An order that is another than before.
    Crosses {
        is_above: bool,
        order: Id,
    },
    Since {
        of: Id,
        within: usize,
    },
    Count {
        of: Id,
        among: usize,
    },
    Indicator {
        indicator: Box<Indicator>,
        of: Option<Id>,
    },
    /// A line of an indicator.
    Line(Id, usize),
    /// The value of the last longer candle.
    Longer(Id),
}

/// A number of the candle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Open,
    High,
    Low,
    Close,
    Volume,
    /// Half-way between high and low.
    Median,
    /// The mean of high, low and close.
    Typical,
    /// The distance of open and close.
    Body,
    /// The distance of high and low.
    Range,
    UpperWick,
    LowerWick,
}

/// A part of the time at which the candle closes, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Hour,
    Minute,
    /// From 1, Monday, to 7.
    Weekday,
}

/// What is made of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Min,
    Max,
    Less,
    LessOrEqual,
    Equal,
    Unequal,
    And,
    Or,
}

impl Graph {
    /// Of a bot whose candles have this length.
    pub(crate) fn new(own: Interval) -> Self {
        Self { nodes: Vec::new(), known: HashMap::new(), intervals: vec![own] }
    }

    /// Adds a value of these candles, or finds the one that has its name.
    pub(crate) fn add(&mut self, op: Op, name: String, warm_after: usize, candles: usize) -> Id {
        let next = self.nodes.len();
        let id = *self.known.entry((candles, name.clone())).or_insert(next);
        if id == next {
            self.nodes.push(Node { op, name, warm_after, candles });
        }
        id
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The bot's own interval, and the longer ones behind it.
    pub(crate) fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// The place of an interval.
    pub(crate) fn candles_of(&mut self, interval: Interval) -> usize {
        let known = self.intervals.iter().position(|one| *one == interval);
        known.unwrap_or_else(|| {
            self.intervals.push(interval);
            self.intervals.len() - 1
        })
    }

    /// The number, if it is the same at every candle.
    pub(crate) fn constant(&self, id: Id) -> Option<f64> {
        match self.nodes[id].op {
            Op::Constant(number) => Some(number),
            _ => None,
        }
    }
}

impl Op {
    /// The values that it is made of, of the same candles.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Id> {
        let parts = match self {
            Self::Constant(_)
            | Self::Field(_)
            | Self::Clock(_)
            | Self::LocalClock(..)
            | Self::Between(..)
            | Self::InHours(_)
            | Self::Longer(_) => [None, None],
            Self::Crosses { order: of, .. }
            | Self::Negate(of)
            | Self::Abs(of)
            | Self::Not(of)
            | Self::Back(of, _)
            | Self::Line(of, _)
            | Self::Since { of, .. }
            | Self::Count { of, .. } => [Some(*of), None],
            Self::Indicator { of, .. } => [*of, None],
            Self::Binary(_, one, other) | Self::Compared(one, other) | Self::Order(one, other) => {
                [Some(*one), Some(*other)]
            }
        };
        parts.into_iter().flatten()
    }
}
