//! Signals of a strategy for a batch of candles.

use crate::{Direction, Expiry, Millis, Reason, ReasonTemplate, Signal};
use std::ops::Deref;

/// A signal together with the candle that triggered it.
#[derive(Clone, Debug, PartialEq)]
pub struct CandleAnswer {
    /// Open time of the candle.
    pub candle_time: Millis,
    /// The strategy's signal.
    pub signal: Signal,
}

/// Signals in the order of their candles.
///
/// Cleared entries stay allocated and are reused by later ones.
#[derive(Debug, Default)]
pub struct CandleAnswers {
    places: Vec<CandleAnswer>,
    count: usize,
}

impl CandleAnswers {
    /// Creates an empty list with this capacity.
    pub fn with_capacity(answers: usize) -> Self {
        Self { places: Vec::with_capacity(answers), count: 0 }
    }

    /// Removes all answers, but keeps their memory for reuse.
    #[inline]
    pub const fn clear(&mut self) {
        self.count = 0;
    }

    /// Appends an answer.
    #[inline]
    pub fn push(&mut self, answer: CandleAnswer) {
        self.list().push(answer);
        self.count_list();
    }

    #[inline]
    pub(crate) fn list(&mut self) -> &mut Vec<CandleAnswer> {
        self.places.truncate(self.count);
        &mut self.places
    }

    #[inline]
    pub(crate) const fn count_list(&mut self) {
        self.count = self.places.len();
    }

    /// Appends an answer whose reason is built from a template with these numbers.
    ///
    /// Overwrites a cleared entry in place if there is one.
    #[inline]
    pub fn push_of_template(
        &mut self,
        candle_time: Millis,
        (direction, expiry): (Direction, Option<Expiry>),
        template: &ReasonTemplate,
        numbers: &[f64],
    ) {
        if self.count == self.places.len() {
            self.add_place();
        }
        if let Some(CandleAnswer { candle_time: time, signal }) = self.places.get_mut(self.count) {
            *time = candle_time;
            signal.direction = direction;
            signal.expiry = expiry;
            signal.is_virtual = false;
            signal.reason.become_one_of(template, numbers);
            self.count += 1;
        }
    }

    #[cold]
    fn add_place(&mut self) {
        let signal = Signal::with_reason(Direction::Buy, Reason::new(""));
        self.places.push(CandleAnswer { candle_time: Millis::ZERO, signal });
    }
}

impl Deref for CandleAnswers {
    type Target = [CandleAnswer];

    #[inline]
    fn deref(&self) -> &[CandleAnswer] {
        self.places.get(..self.count).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_the_same_in_whosever_place_it_is() {
        let expiry = Expiry {
            close_type: "05:00".parse().unwrap(),
            expiration_type: crate::ExpirationType::TimeFixed,
        };
        let templates = ReasonTemplate::together([("low", vec!["rsi", "level"]), ("high", vec!["rsi"])]);
        let at = |time, signal| CandleAnswer { candle_time: Millis::new(time), signal };
        let full = (0..5).fold(Signal::sell("fixed"), |signal, n| signal.with("n", f64::from(n)));
        let alone = ReasonTemplate::new("alone", ["a", "b", "c"]).with_numbers(&[7.0, 8.0, 9.0]);
        let before = [
            full.expiring(expiry).as_virtual(),
            Signal::with_reason(Direction::Sell, alone),
            Signal::with_reason(Direction::Buy, templates[0].with_numbers(&[1.0, 2.0])),
            Signal::with_reason(Direction::Sell, templates[1].with_numbers(&[3.0])).as_virtual(),
        ];
        let mut answers = CandleAnswers::with_capacity(2);
        for (template, numbers) in
            [(&templates[0], &[28.5, 30.0][..]), (&templates[1], &[71.0]), (&templates[0], &[])]
        {
            for count in 0..before.len() {
                answers.clear();
                assert!(answers.is_empty());
                before[..=count].iter().for_each(|signal| answers.push(at(1, signal.clone())));
                assert_eq!(answers.len(), count + 1);
                answers.clear();
                // As many as there were, and one more.
                let times = 2..count as i64 + 4;
                times.clone().for_each(|time| {
                    answers.push_of_template(Millis::new(time), (Direction::Buy, None), template, numbers);
                });
                let signal = Signal::with_reason(Direction::Buy, template.with_numbers(numbers));
                assert_eq!(answers[..], times.map(|time| at(time, signal.clone())).collect::<Vec<_>>());
                for answer in &*answers {
                    let reason = &answer.signal.reason;
                    assert_eq!(reason.padded_values(), signal.reason.padded_values());
                    assert!(reason.shares_words_with(&signal.reason) && !reason.is_cut());
                }
            }
        }
    }
}
