//! Cache of composed value names that can be borrowed.

use std::cell::OnceCell;

/// An append-only list: borrowed names stay valid while others are added.
#[derive(Default)]
pub(super) struct Names {
    first: OnceCell<Box<Name>>,
}

struct Name {
    of: (usize, String),
    whole: String,
    next: OnceCell<Box<Self>>,
}

impl Names {
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
