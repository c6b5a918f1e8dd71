//! Reasons of signals. A reason is a text with named numbers.

use serde::ser::{Serialize, SerializeMap, Serializer};
use std::sync::Arc;
use std::{array, fmt};

const MAX_NUMBERS: usize = 4;

/// Reason of a signal: a text with up to four named numbers.
///
/// The text and the names are static ([`Reason::new`]) or come from a [`ReasonTemplate`]. Creating or cloning a reason
/// does not allocate memory. Numbers are formatted only when the reason is printed.
#[derive(Clone)]
pub struct Reason {
    wording: Wording,
    numbers: [f64; MAX_NUMBERS],
    count: u8,
    is_truncated: bool,
}

#[derive(Clone)]
enum Wording {
    Fixed { text: &'static str, names: [&'static str; MAX_NUMBERS] },
    Shared(ReasonTemplate),
}

/// Text of a reason and names of its numbers, for texts that are known only at run time.
///
/// Create all templates of a strategy together, when the strategy is built ([`new_group`](Self::new_group)). A run
/// stores every template, so do not put values that differ from trade to trade into the text. Use numbers.
///
/// ```
/// use candlewick_sdk::{Direction, ReasonTemplate, Signal};
///
/// let rule = String::from("rsi below 30"); // as a user wrote it
/// let template = ReasonTemplate::new(rule, ["rsi"]);
/// let signal = Signal::with_reason(Direction::Buy, template.with_numbers(&[28.25]));
/// assert_eq!(signal.reason.to_string(), "rsi below 30 rsi=28.25");
/// ```
#[derive(Clone)]
pub struct ReasonTemplate {
    group: Arc<[SharedWording]>,
    index: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct SharedWording {
    text: Box<str>,
    names: Vec<Box<str>>,
}

impl Reason {
    /// Creates a reason with a static text and no numbers.
    #[inline]
    pub const fn new(text: &'static str) -> Self {
        let wording = Wording::Fixed { text, names: [""; MAX_NUMBERS] };
        Self { wording, numbers: [0.0; MAX_NUMBERS], count: 0, is_truncated: false }
    }

    /// Adds a named number. A fifth number is dropped, and `candlewick strategy check` reports an error.
    ///
    /// If the reason comes from a [`ReasonTemplate`], this copies the template. Put the name in the template instead.
    #[must_use]
    #[inline]
    pub fn with(mut self, name: &'static str, value: f64) -> Self {
        let place = usize::from(self.count);
        if place < MAX_NUMBERS {
            self.numbers[place] = value;
            self.count += 1;
            match &mut self.wording {
                Wording::Fixed { names, .. } => names[place] = name,
                Wording::Shared(template) => template.set_number_name(place, name),
            }
        } else {
            self.is_truncated = true;
        }
        self
    }

    #[inline]
    pub(crate) fn from_parts(
        text: &'static str,
        numbers: impl IntoIterator<Item = (&'static str, f64)>,
        last: Option<(&'static str, f64)>,
    ) -> Self {
        let (mut names, mut values, mut count) = ([""; MAX_NUMBERS], [0.0; MAX_NUMBERS], 0);
        let mut add = |(name, value)| {
            if count < MAX_NUMBERS {
                (names[count], values[count]) = (name, value);
                count += 1;
            }
        };
        numbers.into_iter().for_each(&mut add);
        last.into_iter().for_each(&mut add);
        Self {
            wording: Wording::Fixed { text, names },
            numbers: values,
            count: count as u8,
            is_truncated: false,
        }
    }

    /// Returns a copy with the numbers replaced by `values`, in order. Numbers without a new value stay unchanged.
    #[must_use]
    pub fn with_values(&self, values: &[f64]) -> Self {
        let mut reason = self.clone();
        reason.numbers[..usize::from(self.count)]
            .iter_mut()
            .zip(values)
            .for_each(|(number, value)| *number = *value);
        reason
    }

    /// Returns the text without the numbers.
    #[inline]
    pub fn text(&self) -> &str {
        match &self.wording {
            Wording::Fixed { text, .. } => text,
            Wording::Shared(template) => template.text(),
        }
    }

    /// Returns the numbers with their names, in the order they were added.
    #[inline]
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        self.values().iter().enumerate().map(|(place, value)| (self.number_name(place), *value))
    }

    /// Returns the numbers without their names, in the order they were added.
    #[inline]
    pub fn values(&self) -> &[f64] {
        &self.numbers[..usize::from(self.count)]
    }

    /// Returns whether [`with`](Self::with) dropped a number, because the reason already had four.
    #[inline]
    pub const fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Maximum count of named numbers in a reason.
    pub const MAX_NUMBERS: usize = MAX_NUMBERS;

    /// Returns the numbers without their names, padded with zeros to the maximum count.
    #[inline]
    pub const fn padded_values(&self) -> &[f64; MAX_NUMBERS] {
        &self.numbers
    }

    /// Returns whether both reasons have the same text and the same number names.
    pub fn has_same_wording(&self, other: &Self) -> bool {
        let mut places = 0..usize::from(self.count);
        self.count == other.count
            && self.text() == other.text()
            && places.all(|place| self.number_name(place) == other.number_name(place))
    }

    /// Returns whether both reasons share the memory of their text and names. This check is cheap.
    ///
    /// Usually `true` for reasons of the same rule. If `false`, the texts may still be [equal](Self::has_same_wording).
    #[inline]
    pub fn wording_ptr_eq(&self, other: &Self) -> bool {
        let is_same_count = self.count == other.count;
        match (&self.wording, &other.wording) {
            (Wording::Fixed { text, names }, Wording::Fixed { text: other_text, names: other_names }) => {
                // Compares all names, used or not, to avoid a branch per name.
                let names = names.iter().zip(other_names);
                let is_same = |same, (one, other): (&&str, &&str)| same & std::ptr::eq(*one, *other);
                names.fold(is_same_count & std::ptr::eq(*text, *other_text), is_same)
            }
            (Wording::Shared(one), Wording::Shared(other)) => {
                is_same_count && one.index == other.index && Arc::ptr_eq(&one.group, &other.group)
            }
            _ => false,
        }
    }

    /// Returns an address that is equal for all reasons that [share](Self::wording_ptr_eq) text and names.
    #[inline]
    pub fn wording_id(&self) -> usize {
        match &self.wording {
            Wording::Fixed { text, .. } => text.as_ptr().addr(),
            Wording::Shared(template) => std::ptr::from_ref(template.wording()).addr(),
        }
    }

    fn number_name(&self, index: usize) -> &str {
        match &self.wording {
            Wording::Fixed { names, .. } => names[index],
            Wording::Shared(template) => template.wording().names.get(index).map_or("", |name| name),
        }
    }

    /// Replaces this reason. Within a template group, only the index changes, which avoids reference counting.
    #[inline]
    pub(crate) fn set_from_template(&mut self, template: &ReasonTemplate, values: &[f64]) {
        match &mut self.wording {
            Wording::Shared(own) if Arc::ptr_eq(&own.group, &template.group) => own.index = template.index,
            _ => self.adopt_template(template),
        }
        (self.numbers, self.count) = template.padded_numbers(values);
        self.is_truncated = false;
    }

    #[cold]
    fn adopt_template(&mut self, template: &ReasonTemplate) {
        self.wording = Wording::Shared(template.clone());
    }
}

impl ReasonTemplate {
    /// Creates a template from a text and the names of up to four numbers. Further names are dropped.
    pub fn new<Name: Into<Box<str>>>(
        text: impl Into<Box<str>>,
        names: impl IntoIterator<Item = Name>,
    ) -> Self {
        Self { group: Arc::new([SharedWording::new(text, names)]), index: 0 }
    }

    /// Creates several templates at once, each from a text and the names of its numbers.
    ///
    /// Signals are cheaper to create if all templates of a strategy are created together.
    pub fn new_group<Name: Into<Box<str>>>(
        words: impl IntoIterator<Item = (impl Into<Box<str>>, impl IntoIterator<Item = Name>)>,
    ) -> Vec<Self> {
        let words = words.into_iter().map(|(text, names)| SharedWording::new(text, names));
        let group: Arc<[SharedWording]> = words.collect();
        (0..group.len()).map(|index| Self { group: Arc::clone(&group), index }).collect()
    }

    /// Returns the text without the numbers.
    #[inline]
    pub fn text(&self) -> &str {
        &self.wording().text
    }

    /// Builds a reason with these numbers, in the order of the names. Ignores surplus numbers and names.
    #[inline]
    pub fn with_numbers(&self, values: &[f64]) -> Reason {
        let (numbers, count) = self.padded_numbers(values);
        Reason { wording: Wording::Shared(self.clone()), numbers, count, is_truncated: false }
    }

    #[inline]
    fn padded_numbers(&self, values: &[f64]) -> ([f64; MAX_NUMBERS], u8) {
        let count = values.len().min(self.wording().names.len());
        // The numbers are copied one by one, because a copy of unknown length compiles to a function call.
        let number = |place: usize| if place < count { values[place] } else { 0.0 };
        (array::from_fn(number), count as u8)
    }

    #[inline]
    fn wording(&self) -> &SharedWording {
        &self.group[self.index]
    }

    #[cold]
    fn set_number_name(&mut self, index: usize, name: &str) {
        let names = self.wording().names.iter().take(index).map(|name| &**name);
        *self = Self::new(self.text(), names.chain([name]));
    }
}

impl SharedWording {
    fn new<Name: Into<Box<str>>>(text: impl Into<Box<str>>, names: impl IntoIterator<Item = Name>) -> Self {
        Self { text: text.into(), names: names.into_iter().take(MAX_NUMBERS).map(Into::into).collect() }
    }
}

impl PartialEq for ReasonTemplate {
    fn eq(&self, other: &Self) -> bool {
        self.wording() == other.wording()
    }
}

impl Eq for ReasonTemplate {}

impl fmt::Debug for ReasonTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.wording().fmt(f)
    }
}

impl PartialEq for Reason {
    fn eq(&self, other: &Self) -> bool {
        let count = usize::from(self.count);
        self.has_same_wording(other) && self.numbers[..count] == other.numbers[..count]
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.numbers().collect();
        f.debug_struct("Reason").field("text", &self.text()).field("numbers", &numbers).finish()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())?;
        for (name, value) in self.numbers() {
            // At most six decimals, without trailing zeros.
            let number = format!("{value:.6}");
            let number = number.trim_end_matches('0').trim_end_matches('.');
            write!(f, " {name}={number}")?;
        }
        Ok(())
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(usize::from(self.count) + 1))?;
        map.serialize_entry("text", self.text())?;
        for (name, value) in self.numbers() {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_fifth_number() {
        let reason = (0..6).fold(Reason::new("many"), |reason, n| reason.with("n", f64::from(n)));
        assert_eq!(reason.numbers().len(), 4);
        assert!(reason.is_truncated());
        let template = ReasonTemplate::new("many", ["n"; 6]);
        let cut = (0..4).fold(Reason::new("many"), |reason, _| reason.with("n", 1.0));
        assert_eq!(template.with_numbers(&[1.0; 6]), cut);
    }

    #[test]
    fn template_reason_equals_static_reason() {
        let template = ReasonTemplate::new(String::from("low"), ["rsi", "level"]);
        let fixed = Reason::new("low").with("rsi", 29.5).with("level", 30.0);
        let shared = template.with_numbers(&[29.5, 30.0]);
        assert_eq!(shared, fixed);
        assert_eq!(serde_json::to_string(&shared).unwrap(), serde_json::to_string(&fixed).unwrap());
        assert!(shared.has_same_wording(&template.with_numbers(&[1.0, 2.0])));
        for other in [
            template.with_numbers(&[29.5]),
            template.with_numbers(&[29.5, 31.0]),
            Reason::new("low").with("rsi", 29.5).with("floor", 30.0),
            ReasonTemplate::new("high", ["rsi", "level"]).with_numbers(&[29.5, 30.0]),
        ] {
            assert_ne!(shared, other);
        }
        assert_eq!(template.with_numbers(&[29.5]).with("level", 30.0), fixed);
    }

    #[test]
    fn templates_created_together_equal_single_ones() {
        let words = [("low", vec!["rsi", "level"]), ("low", vec![]), ("high", vec!["rsi"; 2])];
        let together = ReasonTemplate::new_group(words.clone());
        let reasons = || together.iter().map(|template| template.with_numbers(&[1.0, 2.0, 3.0]));
        assert_eq!(together.len(), words.len());
        for (place, ((text, names), reason)) in words.into_iter().zip(reasons()).enumerate() {
            let alone = ReasonTemplate::new(text, names);
            assert_eq!(together[place], alone);
            assert_eq!(format!("{:?}", together[place]), format!("{alone:?}"));
            let own = alone.with_numbers(&[1.0, 2.0, 3.0]);
            assert_eq!(reason, own);
            assert_eq!(reason.clone().with("more", 4.0), own.with("more", 4.0));
            for (other_place, other) in reasons().enumerate() {
                assert_eq!(reason.wording_ptr_eq(&other), place == other_place);
                assert_eq!(reason.wording_id() == other.wording_id(), place == other_place);
            }
        }
    }

    #[test]
    fn reason_with_template_is_as_small_as_static_one() {
        assert_eq!(size_of::<Reason>(), 5 * 16 + 4 * 8 + 8);
    }
}
