//! Dependency graph of a rule's values: a list without duplicates, in which each value follows its operands.

use crate::indicator::Indicator;
use candlewick_engine::{LocalClock, TradingWindow};
use candlewick_sdk::Interval;
use std::collections::HashMap;

pub(crate) type Id = usize;

#[derive(Clone, Debug)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    known: HashMap<(usize, String), Id>,
    /// The bot's own candle interval, then the longer intervals.
    intervals: Vec<Interval>,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) op: Op,
    /// Expression in the rule language. It identifies the value.
    pub(crate) name: String,
    /// Number of candles until the value is meaningful, including the current candle.
    pub(crate) warmup_candles: usize,
    /// Index in the graph's list of candle intervals, where 0 is the bot's own interval.
    pub(crate) interval_index: usize,
}

/// Operation that computes a value. A condition has the value 1 if true and 0 if false.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Constant(f64),
    Field(Field),
    Clock(TimePart),
    LocalClock(TimePart, LocalClock),
    /// Whether the candle closes between two times of day, given in ms since midnight UTC.
    Between(i64, i64),
    InHours(Box<TradingWindow>),
    Negate(Id),
    Abs(Id),
    Not(Id),
    Binary(BinaryOp, Id, Id),
    Back(Id, usize),
    /// 1 if the first number is larger, -1 if the second is larger, 0 if they are equal within rounding.
    Compared(Id, Id),
    TrackedComparison(Id, Id),
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
    Line(Id, usize),
    Longer(Id),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Open,
    High,
    Low,
    Close,
    Volume,
    /// `(high + low) / 2`.
    Median,
    /// `(high + low + close) / 3`.
    Typical,
    Body,
    Range,
    UpperWick,
    LowerWick,
}

/// Component of a candle's close time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimePart {
    Hour,
    Minute,
    /// 1 (Monday) to 7 (Sunday).
    Weekday,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
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
    pub(crate) fn new(own: Interval) -> Self {
        Self { nodes: Vec::new(), known: HashMap::new(), intervals: vec![own] }
    }

    /// Returns the id of the value with this name and interval. Adds the value if it is new.
    pub(crate) fn add(&mut self, op: Op, name: String, warm_after: usize, interval_index: usize) -> Id {
        let next = self.nodes.len();
        let id = *self.known.entry((interval_index, name.clone())).or_insert(next);
        if id == next {
            self.nodes.push(Node { op, name, warmup_candles: warm_after, interval_index });
        }
        id
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    pub(crate) fn find_or_add_interval(&mut self, interval: Interval) -> usize {
        let known = self.intervals.iter().position(|one| *one == interval);
        known.unwrap_or_else(|| {
            self.intervals.push(interval);
            self.intervals.len() - 1
        })
    }

    pub(crate) fn constant(&self, id: Id) -> Option<f64> {
        match self.nodes[id].op {
            Op::Constant(number) => Some(number),
            _ => None,
        }
    }
}

impl Op {
    /// Returns the operands with the same candle interval as this operation.
    pub(crate) fn operands(&self) -> impl Iterator<Item = Id> {
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
            Self::Binary(_, one, other)
            | Self::Compared(one, other)
            | Self::TrackedComparison(one, other) => [Some(*one), Some(*other)],
        };
        parts.into_iter().flatten()
    }
}
