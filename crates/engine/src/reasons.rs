//! The reasons of many trades, in little room: strategies have few texts, and each trade its own numbers.

use candlewick_sdk::Reason;

/// Shapes that there are before a list has to grow: more than nearly all bots have.
const USUAL_SHAPES: usize = 16;

/// Reasons that were put in, to be had again.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    shapes: ReasonShapes,
    numbers: Vec<f64>,
}

/// Texts and names of reasons as they first occurred, their numbers all zero.
#[derive(Debug)]
pub(crate) struct ReasonShapes {
    shapes: Vec<Reason>,
}

/// Where a reason is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReasonPlace {
    shape: u32,
    /// Its first number.
    numbers: u32,
}

impl Reasons {
    /// Room for the reasons of so many trades.
    pub(crate) fn with_capacity(trades: usize) -> Self {
        Self { shapes: ReasonShapes::default(), numbers: Vec::with_capacity(2 * trades) }
    }

    #[inline]
    pub(crate) fn put(&mut self, reason: &Reason) -> ReasonPlace {
        let place = ReasonPlace { shape: self.shapes.put(reason), numbers: self.numbers.len() as u32 };
        self.numbers.extend(reason.numbers().iter().map(|(_, value)| value));
        place
    }

    /// The reason that was put there; an empty one for a place of another list.
    pub(crate) fn at(&self, place: ReasonPlace) -> Reason {
        let shape = self.shapes.shapes.get(place.shape as usize).copied().unwrap_or(Reason::new(""));
        let numbers = self.numbers.get(place.numbers as usize..).unwrap_or_default();
        let named = shape.numbers().iter().zip(numbers);
        named.fold(Reason::new(shape.text()), |reason, ((name, _), value)| reason.with(name, *value))
    }
}

impl Default for ReasonShapes {
    fn default() -> Self {
        Self { shapes: Vec::with_capacity(USUAL_SHAPES) }
    }
}

impl ReasonShapes {
    /// The place of a reason's shape, from 0; a new one goes to the end.
    #[inline]
    pub(crate) fn put(&mut self, reason: &Reason) -> u32 {
        let known = self.shapes.iter().position(|shape| is_shape_of(shape, reason));
        known.unwrap_or_else(|| self.push(reason)) as u32
    }

    pub(crate) const fn len(&self) -> usize {
        self.shapes.len()
    }

    #[cold]
    fn push(&mut self, reason: &Reason) -> usize {
        let names = reason.numbers().iter();
        self.shapes.push(names.fold(Reason::new(reason.text()), |shape, (name, _)| shape.with(name, 0.0)));
        self.shapes.len() - 1
    }
}

/// Whether they differ in nothing but their numbers. The same fixed text is nearly always in the same place.
#[inline]
fn is_shape_of(shape: &Reason, reason: &Reason) -> bool {
    let same = |one: &'static str, other: &'static str| std::ptr::eq(one, other) || one == other;
    let (names, others) = (shape.numbers(), reason.numbers());
    same(shape.text(), reason.text())
        && names.len() == others.len()
        && names.iter().zip(others).all(|((name, _), (other, _))| same(name, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_had_again_as_they_were_and_their_texts_are_kept_once() {
        let low = |value| Reason::new("low").with("rsi", value).with("level", 30.0);
        let put = [
            low(29.5),
            Reason::new("low"),
            low(-0.0),
            Reason::new("low").with("level", 30.0).with("rsi", 1.0),
            Reason::new("high").with("rsi", 71.0),
            low(12.25),
        ];
        let mut reasons = Reasons::default();
        let places: Vec<ReasonPlace> = put.iter().map(|reason| reasons.put(reason)).collect();
        let had: Vec<String> = places.iter().map(|place| reasons.at(*place).to_string()).collect();
        assert_eq!(
            had,
            [
                "low rsi=29.5 level=30",
                "low",
                "low rsi=-0 level=30",
                "low level=30 rsi=1",
                "high rsi=71",
                "low rsi=12.25 level=30",
            ]
        );
        assert_eq!(reasons.shapes.len(), 4);
    }
}
