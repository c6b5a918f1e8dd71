//! Names of values that are put together once and then lent.

use std::cell::OnceCell;

/// A list that only grows: what is lent from it stays where it is.
#[derive(Default)]
pub(super) struct Names {
    first: OnceCell<Box<Name>>,
}

struct Name {
    /// Which part, and its name for the value.
    of: (usize, String),
    whole: String,
    next: OnceCell<Box<Self>>,
}

impl Names {
    /// `prefix.name`, for the part at this place.
    pub(super) fn whole(&self, place: usize, prefix: &str, name: &str) -> &str {
        let mut cell = &self.first;
        loop {
            let entry = cell.get_or_init(|| {
                let (of, whole) = ((place, name.to_owned()), format!("{prefix}.{name}"));
                Box::new(Name { of, whole, next: OnceCell::new() })
            });
            if entry.of.0 == place && entry.of.1 == name {
                return &entry.whole;
            }
            cell = &entry.next;
        }
    }
}
