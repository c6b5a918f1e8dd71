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
    /// Which prices any value is made of.
    prices: [bool; 4],
    /// NaN where a number is missing or a condition not known. The first are those of the candle itself.
    values: Vec<f64>,
}

/// The numbers of a candle that nearly every rule looks at, in the order in which a frame begins with them.
const PRICES: [Field; 4] = [Field::Open, Field::High, Field::Low, Field::Close];

/// Values that nearly all programs have no more of: as many as a byte has places for.
const FEW: usize = 256;

impl Field {
    /// The places of prices in a frame.
    pub(crate) const OPEN: Place = 0;
    pub(crate) const HIGH: Place = 1;
    pub(crate) const LOW: Place = 2;
    pub(crate) const CLOSE: Place = 3;
}

/// Where a program keeps its values.
pub(crate) trait Slots {
    fn at(&self, place: Place) -> f64;
    fn put(&mut self, place: Place, value: f64);
    /// Those from a place on.
    fn lines_at(&mut self, place: Place) -> &mut [f64];
}

/// The values of a program that has few: every place is within, which is not asked each time.
#[derive(Clone, Debug)]
pub(crate) struct Few {
    values: [f64; FEW],
    /// How many of them are used.
    used: usize,
    /// Which prices any of them is made of.
    prices: [bool; 4],
}

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

    /// Its steps, and its values before the first candle, where it has few of these and looks at no longer candles.
    pub(crate) fn into_few(self) -> Result<(Interval, Vec<Step>, Few), Self> {
        let Frame { values, .. } = &self.own;
        if !self.longer.is_empty() || values.len() > FEW {
            return Err(self);
        }
        let mut few = Few { values: [f64::NAN; FEW], used: values.len(), prices: self.own.prices };
        few.values[..values.len()].copy_from_slice(values);
        Ok((self.own.interval, self.own.steps, few))
    }
}

impl Few {
    /// All of them.
    #[inline]
    pub(crate) fn all(&self) -> &[f64] {
        &self.values
    }

    /// Which prices any of them is made of.
    pub(crate) const fn prices(&self) -> [bool; 4] {
        self.prices
    }

    /// Those that are used.
    pub(crate) fn used(&self) -> &[f64] {
        &self.values[..self.used]
    }

    #[inline]
    pub(crate) const fn of(&self, place: u8) -> f64 {
        self.values[place as usize]
    }

    #[inline]
    pub(crate) const fn set(&mut self, place: u8, value: f64) {
        self.values[place as usize] = value;
    }

    /// How many are not used.
    pub(crate) const fn room(&self) -> usize {
        FEW - self.used
    }

    /// Uses one more, where there is room; its place.
    pub(crate) fn take(&mut self, value: f64) -> Place {
        let place = self.used;
        self.values[place] = value;
        self.used += 1;
        place
    }

    /// Whether a value is a price of the candle.
    pub(crate) const fn is_price(place: Place) -> bool {
        place < PRICES.len()
    }

    /// The prices of the next candle.
    #[inline]
    pub(crate) fn begin(&mut self, candle: &Candle) {
        begin(&mut self.values, candle);
    }
}

/// A frame begins with the prices, as `PRICES` has them.
#[inline]
fn begin(values: &mut [f64], candle: &Candle) {
    if let Some(prices) = values.first_chunk_mut() {
        *prices = [candle.open(), candle.high(), candle.low(), candle.close()];
    }
}

impl Slots for [f64] {
    #[inline]
    fn at(&self, place: Place) -> f64 {
        self[place]
    }

    #[inline]
    fn put(&mut self, place: Place, value: f64) {
        self[place] = value;
    }

    #[inline]
    fn lines_at(&mut self, place: Place) -> &mut [f64] {
        &mut self[place..]
    }
}

impl Slots for Few {
    #[inline]
    fn at(&self, place: Place) -> f64 {
        self.values[place % FEW]
    }

    #[inline]
    fn put(&mut self, place: Place, value: f64) {
        self.values[place % FEW] = value;
    }

    #[inline]
    fn lines_at(&mut self, place: Place) -> &mut [f64] {
        &mut self.values[place % FEW..]
    }
}

impl Frame {
    fn new(interval: Interval) -> Self {
        Self {
            interval,
            steps: Vec::new(),
            constants: Vec::new(),
            prices: [false; 4],
            values: vec![f64::NAN; PRICES.len()],
        }
    }

    /// Adds a value whose parts are there; its place, or that of its first line.
    fn add(&mut self, graph: &Graph, op: &Op, places: &[Place]) -> Place {
        if let Op::Field(field) = op
            && let Some(place) = PRICES.iter().position(|price| price == field)
        {
            self.prices[place] = true;
            return place;
        }
        match op {
            // A part of a candle is made of its prices.
            Op::Field(_) => self.prices = [true; 4],
            // What counts as equal depends on the price.
            Op::Compared(..) | Op::Order(..) => self.prices[Field::CLOSE] = true,
            _ => {}
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
        begin(&mut self.values, candle);
        for step in &mut self.steps {
            step.take(candle, self.interval, &mut *self.values);
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
