//! Counts with singular or plural nouns.

pub fn counted(count: impl TryInto<u64>, one: &str, several: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_count() {
        for (count, expected) in [(0_usize, "0 sets"), (1, "1 set"), (2, "2 sets")] {
            assert_eq!(counted(count, "set", "sets"), expected);
        }
    }
}
