//! Sliding-window folds in amortized constant time, without subtraction.

pub(super) trait Fold: Copy + Default {
    fn then(self, later: Self) -> Self;
}

/// Fold of the last `period` values.
///
/// Values come in blocks of `period`. A slot of the previous block contains its value folded with
/// all later ones. The current block overwrites the slots that no window needs any more (van Herk
/// 1992, Gil and Werman 1993: three folds per value for any period). Nothing is subtracted, so no
/// rounding error accumulates.
#[derive(Clone, Debug)]
pub(super) struct Window<F> {
    slots: Box<[F]>,
    next: usize,
    begun: F,
    is_full: bool,
}

impl<F: Fold> Window<F> {
    pub(super) fn new(period: usize) -> Self {
        let slots = vec![F::default(); period].into_boxed_slice();
        Self { slots, next: 0, begun: F::default(), is_full: false }
    }

    #[inline]
    pub(super) fn update(&mut self, value: F) -> Option<F> {
        self.slots[self.next] = value;
        self.begun = if self.next == 0 { value } else { self.begun.then(value) };
        self.next += 1;
        if self.next == self.slots.len() {
            self.end_block();
            return Some(self.begun);
        }
        self.is_full.then(|| self.slots[self.next].then(self.begun))
    }

    fn end_block(&mut self) {
        for earlier in (0..self.slots.len() - 1).rev() {
            self.slots[earlier] = self.slots[earlier].then(self.slots[earlier + 1]);
        }
        (self.next, self.is_full) = (0, true);
    }

    pub(super) fn period(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and the last value of a stretch, and how many there are: an order that is lost would show.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Stretch(usize, usize, usize);

    impl Fold for Stretch {
        fn then(self, later: Self) -> Self {
            assert_eq!(self.1 + 1, later.0, "stretches are folded in their order");
            Self(self.0, later.1, self.2 + later.2)
        }
    }

    #[test]
    fn each_answer_is_of_the_last_values_and_no_others() {
        for period in 1..9 {
            let mut window = Window::new(period);
            for value in 0..50 {
                let expected = (value + 1 >= period).then(|| Stretch(value + 1 - period, value, period));
                assert_eq!(
                    window.update(Stretch(value, value, 1)),
                    expected,
                    "period {period}, value {value}"
                );
            }
        }
    }

    /// A value whose folds are counted.
    #[derive(Clone, Copy, Debug, Default)]
    struct Counted;

    thread_local! {
        static FOLDS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    impl Fold for Counted {
        fn then(self, _: Self) -> Self {
            FOLDS.set(FOLDS.get() + 1);
            self
        }
    }

    #[test]
    fn a_value_costs_three_folds_at_most_whatever_the_period() {
        for period in [1, 2, 20, 1_000] {
            let mut window = Window::new(period);
            FOLDS.set(0);
            (0..10_000).for_each(|_| _ = window.update(Counted));
            assert!(FOLDS.get() <= 30_000, "period {period}: {}", FOLDS.get());
        }
    }
}
