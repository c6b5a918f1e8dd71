//! Compact storage of trade reasons: each distinct text once, and for each trade only the numbers in its reason.

use candlewick_sdk::Reason;

const TYPICAL_TEXTS: usize = 16;

#[derive(Clone, Debug, Default)]
pub(crate) struct Reasons {
    shapes: ReasonTexts,
    numbers: Vec<f64>,
}

/// The distinct reason texts. Each is represented by the first reason with that text, whose numbers are ignored.
#[derive(Clone, Debug)]
pub(crate) struct ReasonTexts {
    shapes: Vec<Reason>,
    /// Cache of recent reasons and their indices in `shapes`, keyed by the address of the text.
    /// Reasons alternate unpredictably, so a linear search would mispredict every second branch.
    latest: Vec<(Reason, u32)>,
}

const CACHE_SLOTS: usize = 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReasonKey {
    shape: u32,
    numbers: u32,
}

impl Reasons {
    pub(crate) fn with_capacity(trades: usize) -> Self {
        Self { shapes: ReasonTexts::default(), numbers: Vec::with_capacity(2 * trades + Reason::MAX_NUMBERS) }
    }

    #[inline]
    pub(crate) fn put(&mut self, reason: &Reason) -> ReasonKey {
        let key = ReasonKey { shape: self.shapes.put(reason), numbers: self.numbers.len() as u32 };
        // Copying a slice of unknown length is a function call.
        let end = self.numbers.len() + reason.values().len();
        self.numbers.extend_from_slice(reason.padded_values());
        self.numbers.truncate(end);
        key
    }

    pub(crate) fn get(&self, key: ReasonKey) -> Reason {
        let Some(shape) = self.shapes.shapes.get(key.shape as usize) else { return Reason::new("") };
        shape.with_values(self.numbers.get(key.numbers as usize..).unwrap_or_default())
    }
}

impl Default for ReasonTexts {
    fn default() -> Self {
        Self { shapes: Vec::with_capacity(TYPICAL_TEXTS), latest: Vec::with_capacity(CACHE_SLOTS) }
    }
}

impl ReasonTexts {
    #[inline]
    pub(crate) fn put(&mut self, reason: &Reason) -> u32 {
        match self.latest.get(slot_index(reason)) {
            Some((latest, place)) if latest.wording_ptr_eq(reason) => *place,
            _ => self.find_or_push(reason),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.shapes.len()
    }

    #[cold]
    fn find_or_push(&mut self, reason: &Reason) -> u32 {
        let known = self.shapes.iter().position(|shape| shape.has_same_wording(reason));
        let place = known.unwrap_or_else(|| {
            self.shapes.push(reason.clone());
            self.shapes.len() - 1
        });
        let place = place as u32;
        if self.latest.is_empty() {
            self.latest.resize_with(CACHE_SLOTS, || (reason.clone(), place));
        }
        self.latest[slot_index(reason)] = (reason.clone(), place);
        place
    }
}

/// Hashes the address of the text, so that texts at nearby addresses get different slots.
#[inline]
fn slot_index(reason: &Reason) -> usize {
    const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;
    ((reason.wording_id() as u64).wrapping_mul(GOLDEN_RATIO) >> (u64::BITS - CACHE_SLOTS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::ReasonTemplate;

    #[test]
    fn restores_reasons_and_stores_each_text_once() {
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
        let places: Vec<ReasonKey> = put.iter().map(|reason| reasons.put(reason)).collect();
        let had: Vec<String> = places.iter().map(|place| reasons.get(*place).to_string()).collect();
        let expected = "low rsi=29.5 level=30|low|low rsi=-0 level=30|low level=30 rsi=1|high rsi=71|low rsi=12.25 level=30";
        assert_eq!(had.join("|"), expected);
        assert_eq!(reasons.shapes.len(), 4);
        for (reason, place) in put.iter().zip(&places) {
            assert_eq!(reasons.put(reason).shape, place.shape, "{reason}");
        }
        let elsewhere = ReasonTemplate::new("low", ["rsi", "level"]).with_numbers(&[1.0, 2.0]);
        assert_eq!(reasons.put(&elsewhere).shape, places[0].shape);
        assert_eq!(reasons.shapes.len(), 4);
    }
}
