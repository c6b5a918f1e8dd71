//! A rule as a list of steps over numbers: one pass for each candle, without an allocation.

use crate::graph::{Field, Graph, Id, Op};
use crate::step::Step;
use candlewick_sdk::{Candle, Interval};

/// Computes some values of a graph, candle by candle.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    own: Frame,
    /// Shorter candles first.
    longer: Vec<Longer>,
}

/// The values of candles of one length.
#[derive(Clone, Debug)]
struct Frame {
    interval: Interval,
    steps: Vec<Step>,
    /// The numbers that are the same at every candle, each with its place.
    constants: Vec<(Id, Place)>,
    /// NaN where a number is missing or a condition not known. The first are those of the candle itself.
    values: Vec<f64>,
}

/// The numbers of a candle that nearly every rule looks at, in the order in which a frame begins with them.
const PRICES: [Field; 4] = [Field::Open, Field::High, Field::Low, Field::Close];

/// The values of longer candles, and where the bot's own candles see them.
#[derive(Clone, Debug)]
struct Longer {
    frame: Frame,
    /// From a place there to a place in the own frame.
    seen: Vec<(usize, usize)>,
}

/// The place of a value among those of a program.
pub(crate) type Place = usize;

impl Program {
    /// Of all that these values need, and where each of them is found. They are values of the bot's own candles.
    pub(crate) fn of(graph: &Graph, wanted: &[Id]) -> (Self, Vec<Place>) {
        let needed = needed(graph, wanted);
        let mut places = vec![0; graph.len()];
        let mut frames: Vec<Frame> = graph.intervals().iter().map(|interval| Frame::new(*interval)).collect();
        for id in (0..graph.len()).filter(|id| needed[*id]) {
            let node = graph.node(id);
            places[id] = frames[node.candles].add(graph, &node.op, &places);
        }
        let mut all = frames.into_iter();
        let own = all.next().unwrap_or_else(|| Frame::new(Interval::MINUTE));
        let mut longer: Vec<Longer> = all.map(|frame| Longer { frame, seen: Vec::new() }).collect();
        for id in (0..graph.len()).filter(|id| needed[*id]) {
            if let Op::Longer(of) = graph.node(id).op {
                longer[graph.node(of).candles - 1].seen.push((places[of], places[id]));
            }
        }
        longer.retain(|longer| !longer.seen.is_empty());
        longer.sort_by_key(|longer| longer.frame.interval);
        let mut program = Self { own, longer };
        let found = wanted.iter().map(|id| program.own.operand(graph, *id, &places)).collect();
        (program, found)
    }

    /// The longer intervals that it looks at, shorter ones first.
    pub(crate) fn longer_intervals(&self) -> Vec<Interval> {
        self.longer.iter().map(|longer| longer.frame.interval).collect()
    }

    /// A candle of the bot's own has closed.
    #[inline]
    pub(crate) fn run(&mut self, candle: &Candle) {
        self.own.run(candle);
    }

    /// A longer candle has closed: the next own one sees it.
    pub(crate) fn run_longer(&mut self, interval: Interval, candle: &Candle) {
        let Some(longer) = self.longer.iter_mut().find(|longer| longer.frame.interval == interval) else {
            return;
        };
        longer.frame.run(candle);
        for (from, to) in &longer.seen {
            self.own.values[*to] = longer.frame.values[*from];
        }
    }

    /// A value after the last candle.
    #[inline]
    pub(crate) fn value(&self, place: Place) -> f64 {
        self.own.values[place]
    }

    /// All values after the last candle.
    #[inline]
    pub(crate) fn values(&self) -> &[f64] {
        &self.own.values
    }
}

impl Frame {
    fn new(interval: Interval) -> Self {
        Self { interval, steps: Vec::new(), constants: Vec::new(), values: vec![f64::NAN; PRICES.len()] }
    }

    /// Adds a value whose parts are there; its place, or that of its first line.
    fn add(&mut self, graph: &Graph, op: &Op, places: &[Place]) -> Place {
        if let Op::Field(field) = op
            && let Some(place) = PRICES.iter().position(|price| price == field)
        {
            return place;
        }
        let operands: Vec<Place> = op.parts().map(|part| self.operand(graph, part, places)).collect();
        let out = self.values.len();
        match op {
            // Each frame has its own, where it needs it.
            Op::Constant(_) => {}
            Op::Longer(_) => self.values.push(f64::NAN),
            Op::Line(_, line) => return operands.first().copied().unwrap_or_default() + line,
            op => {
                let lines = match op {
                    Op::Indicator { indicator, .. } => indicator.lines(),
                    Op::Order(..) => 2,
                    _ => 1,
                };
                self.values.resize(out + lines, f64::NAN);
                self.steps.extend(Step::of(op, &operands, out));
            }
        }
        out
    }

    fn operand(&mut self, graph: &Graph, id: Id, places: &[Place]) -> Place {
        let Some(number) = graph.constant(id) else { return places[id] };
        if let Some((_, place)) = self.constants.iter().find(|(known, _)| *known == id) {
            return *place;
        }
        self.values.push(number);
        self.constants.push((id, self.values.len() - 1));
        self.values.len() - 1
    }

    #[inline]
    fn run(&mut self, candle: &Candle) {
        if let Some(prices) = self.values.first_chunk_mut() {
            // As `PRICES` has them.
            *prices = [candle.open(), candle.high(), candle.low(), candle.close()];
        }
        for step in &mut self.steps {
            step.take(candle, self.interval, &mut self.values);
        }
    }
}

/// Which values are needed for these.
fn needed(graph: &Graph, wanted: &[Id]) -> Vec<bool> {
    let mut needed = vec![false; graph.len()];
    for id in wanted {
        needed[*id] = true;
    }
    // What a value is made of stands before it.
    for id in (0..graph.len()).rev() {
        if needed[id] {
            let op = &graph.node(id).op;
            op.parts().for_each(|part| needed[part] = true);
            if let Op::Longer(of) = op {
                needed[*of] = true;
            }
        }
    }
    needed
}
