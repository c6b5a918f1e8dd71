//! A rule compiled to a list of steps. The steps run once per candle, without allocation.

use crate::graph::{Field, Graph, Id, Op};
use crate::step::Step;
use candlewick_sdk::{Candle, Interval};

#[derive(Clone, Debug)]
pub(crate) struct Program {
    own: Frame,
    /// Steps and values for longer candles, sorted from the shortest interval to the longest.
    longer: Vec<LongerFrame>,
}

#[derive(Clone, Debug)]
struct Frame {
    interval: Interval,
    steps: Vec<Step>,
    constants: Vec<(Id, Slot)>,
    /// For each of the `PRICES`, whether other values depend on that price.
    prices: [bool; 4],
    /// Values by slot. The candle's prices come first. NaN is a missing number or an unknown condition.
    values: Vec<f64>,
}

/// Candle prices in the first slots of every frame, because nearly every rule reads prices.
const PRICES: [Field; 4] = [Field::Open, Field::High, Field::Low, Field::Close];

/// Maximum number of slots in a small program, so that slot indices fit in a `u8`. Most programs have fewer slots.
const MAX_INLINE_SLOTS: usize = 256;

impl Field {
    pub(crate) const OPEN: Slot = 0;
    pub(crate) const HIGH: Slot = 1;
    pub(crate) const LOW: Slot = 2;
    pub(crate) const CLOSE: Slot = 3;
}

pub(crate) trait Slots {
    fn at(&self, place: Slot) -> f64;
    fn put(&mut self, place: Slot, value: f64);
    fn lines_at(&mut self, place: Slot) -> &mut [f64];
}

/// Values of a small program. Every `u8` index is in range, so the compiler removes bounds checks.
#[derive(Clone, Debug)]
pub(crate) struct InlineSlots {
    values: [f64; MAX_INLINE_SLOTS],
    used: usize,
    prices: [bool; 4],
}

#[derive(Clone, Debug)]
struct LongerFrame {
    frame: Frame,
    /// Slots to copy: a source slot in this frame and a target slot in the bot's own frame.
    seen: Vec<(usize, usize)>,
}

pub(crate) type Slot = usize;

impl Program {
    pub(crate) fn build(graph: &Graph, wanted: &[Id]) -> (Self, Vec<Slot>) {
        let needed = find_needed_nodes(graph, wanted);
        let mut places = vec![0; graph.len()];
        let mut frames: Vec<Frame> = graph.intervals().iter().map(|interval| Frame::new(*interval)).collect();
        for id in (0..graph.len()).filter(|id| needed[*id]) {
            let node = graph.node(id);
            places[id] = frames[node.interval_index].add(graph, &node.op, &places);
        }
        let mut all = frames.into_iter();
        let own = all.next().unwrap_or_else(|| Frame::new(Interval::MINUTE));
        let mut longer: Vec<LongerFrame> = all.map(|frame| LongerFrame { frame, seen: Vec::new() }).collect();
        for id in (0..graph.len()).filter(|id| needed[*id]) {
            if let Op::Longer(of) = graph.node(id).op {
                longer[graph.node(of).interval_index - 1].seen.push((places[of], places[id]));
            }
        }
        longer.retain(|longer| !longer.seen.is_empty());
        longer.sort_by_key(|longer| longer.frame.interval);
        let mut program = Self { own, longer };
        let found = wanted.iter().map(|id| program.own.operand_slot(graph, *id, &places)).collect();
        (program, found)
    }

    pub(crate) fn longer_intervals(&self) -> Vec<Interval> {
        self.longer.iter().map(|longer| longer.frame.interval).collect()
    }

    #[inline]
    pub(crate) fn run(&mut self, candle: &Candle) {
        self.own.run(candle);
    }

    /// Processes a longer candle that closed. Its values take effect on the bot's next candle.
    pub(crate) fn run_longer(&mut self, interval: Interval, candle: &Candle) {
        let Some(longer) = self.longer.iter_mut().find(|longer| longer.frame.interval == interval) else {
            return;
        };
        longer.frame.run(candle);
        for (from, to) in &longer.seen {
            self.own.values[*to] = longer.frame.values[*from];
        }
    }

    #[inline]
    pub(crate) fn value(&self, place: Slot) -> f64 {
        self.own.values[place]
    }

    #[inline]
    pub(crate) fn values(&self) -> &[f64] {
        &self.own.values
    }

    /// Returns steps and initial values. Returns `Err(self)` if the program is too large or uses longer candles.
    pub(crate) fn into_inline(self) -> Result<(Interval, Vec<Step>, InlineSlots), Self> {
        let Frame { values, .. } = &self.own;
        if !self.longer.is_empty() || values.len() > MAX_INLINE_SLOTS {
            return Err(self);
        }
        let mut few =
            InlineSlots { values: [f64::NAN; MAX_INLINE_SLOTS], used: values.len(), prices: self.own.prices };
        few.values[..values.len()].copy_from_slice(values);
        Ok((self.own.interval, self.own.steps, few))
    }
}

impl InlineSlots {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.values
    }

    pub(crate) const fn used_prices(&self) -> [bool; 4] {
        self.prices
    }

    pub(crate) fn used_values(&self) -> &[f64] {
        &self.values[..self.used]
    }

    #[inline]
    pub(crate) const fn get(&self, place: u8) -> f64 {
        self.values[place as usize]
    }

    #[inline]
    pub(crate) const fn set(&mut self, place: u8, value: f64) {
        self.values[place as usize] = value;
    }

    pub(crate) const fn free_slots(&self) -> usize {
        MAX_INLINE_SLOTS - self.used
    }

    /// Allocates a slot and returns its index. Panics if no slot is free.
    pub(crate) fn allocate(&mut self, value: f64) -> Slot {
        let place = self.used;
        self.values[place] = value;
        self.used += 1;
        place
    }

    pub(crate) const fn is_price_slot(place: Slot) -> bool {
        place < PRICES.len()
    }

    #[inline]
    pub(crate) fn load_prices(&mut self, candle: &Candle) {
        load_prices(&mut self.values, candle);
    }
}

#[inline]
fn load_prices(values: &mut [f64], candle: &Candle) {
    if let Some(prices) = values.first_chunk_mut() {
        *prices = [candle.open(), candle.high(), candle.low(), candle.close()];
    }
}

impl Slots for [f64] {
    #[inline]
    fn at(&self, place: Slot) -> f64 {
        self[place]
    }

    #[inline]
    fn put(&mut self, place: Slot, value: f64) {
        self[place] = value;
    }

    #[inline]
    fn lines_at(&mut self, place: Slot) -> &mut [f64] {
        &mut self[place..]
    }
}

impl Slots for InlineSlots {
    #[inline]
    fn at(&self, place: Slot) -> f64 {
        self.values[place % MAX_INLINE_SLOTS]
    }

    #[inline]
    fn put(&mut self, place: Slot, value: f64) {
        self.values[place % MAX_INLINE_SLOTS] = value;
    }

    #[inline]
    fn lines_at(&mut self, place: Slot) -> &mut [f64] {
        &mut self.values[place % MAX_INLINE_SLOTS..]
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

    fn add(&mut self, graph: &Graph, op: &Op, places: &[Slot]) -> Slot {
        if let Op::Field(field) = op
            && let Some(place) = PRICES.iter().position(|price| price == field)
        {
            self.prices[place] = true;
            return place;
        }
        match op {
            // Derived fields are computed from all four prices.
            Op::Field(_) => self.prices = [true; 4],
            Op::Compared(..) | Op::TrackedComparison(..) => self.prices[Field::CLOSE] = true,
            _ => {}
        }
        let operands: Vec<Slot> = op.operands().map(|part| self.operand_slot(graph, part, places)).collect();
        let out = self.values.len();
        match op {
            // Constants need no step, because `operand_slot` adds them on demand.
            Op::Constant(_) => {}
            Op::Longer(_) => self.values.push(f64::NAN),
            Op::Line(_, line) => return operands.first().copied().unwrap_or_default() + line,
            op => {
                let lines = match op {
                    Op::Indicator { indicator, .. } => indicator.line_count(),
                    Op::TrackedComparison(..) => 2,
                    _ => 1,
                };
                self.values.resize(out + lines, f64::NAN);
                self.steps.extend(Step::from_op(op, &operands, out));
            }
        }
        out
    }

    fn operand_slot(&mut self, graph: &Graph, id: Id, places: &[Slot]) -> Slot {
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
        load_prices(&mut self.values, candle);
        for step in &mut self.steps {
            step.run(candle, self.interval, &mut *self.values);
        }
    }
}

fn find_needed_nodes(graph: &Graph, wanted: &[Id]) -> Vec<bool> {
    let mut needed = vec![false; graph.len()];
    for id in wanted {
        needed[*id] = true;
    }
    // Operands precede the values that use these operands.
    for id in (0..graph.len()).rev() {
        if needed[id] {
            let op = &graph.node(id).op;
            op.operands().for_each(|part| needed[part] = true);
            if let Op::Longer(of) = op {
                needed[*of] = true;
            }
        }
    }
    needed
}
