//! Accepted keys without effect: removed in earlier versions or reserved for later ones.

use figment::value::{Dict, Value};

struct Unused {
    section: &'static str,
    /// `None` for the whole section.
    key: Option<&'static str>,
    /// `None` to ignore the key silently.
    notice: Option<&'static str>,
}

const UNUSED: [Unused; 2] = [
    // Reserved: a file that names it keeps loading.
    Unused { section: "dashboard", key: None, notice: None },
    Unused {
        section: "data",
        key: Some("cache_results_from"),
        notice: Some("it does nothing: results of backtests are not cached any more; leave it out"),
    },
];

pub(super) fn take_unused(values: &mut Dict) -> Vec<String> {
    let mut notices = Vec::new();
    for Unused { section, key, notice } in UNUSED {
        let taken = match (key, values.get_mut(section)) {
            (None, _) => values.remove(section),
            (Some(key), Some(Value::Dict(_, table))) => table.remove(key),
            (Some(_), _) => None,
        };
        let name = key.map_or_else(|| section.to_owned(), |key| format!("{section}.{key}"));
        notices.extend(taken.and(notice).map(|notice| format!("{name}: {notice}")));
    }
    notices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_do_nothing_are_taken_out_and_the_removed_one_is_reported_of() {
        let table = |key: &str| Value::from(Dict::from([(key.to_owned(), Value::from(1))]));
        let mut values = Dict::from([
            ("dashboard".to_owned(), table("listen")),
            ("data".to_owned(), table("cache_results_from")),
            ("risk".to_owned(), table("max_open_trades")),
        ]);
        let notices = take_unused(&mut values);
        assert!(notices.len() == 1 && notices[0].starts_with("data.cache_results_from: it does nothing"));
        assert_eq!(values.keys().collect::<Vec<_>>(), ["data", "risk"]);
        assert_eq!(values["data"], Value::from(Dict::new()));
        assert!(take_unused(&mut values).is_empty());
    }
}
