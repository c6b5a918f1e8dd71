//! Why the venue refused to open a trade, by what a program can read of it: the HTTP status, and a code in the body.

use candlewick_broker::RefusalReason;
use reqwest::StatusCode;

/// The codes that are known, exactly as they are written. The contract shows the body of a 401 alone (contract 5): the
/// codes of other refusals are the sandbox's.
const CODES: [(&str, RefusalReason); 2] =
    [("NO_PRICE", RefusalReason::NoPrice), ("INSUFFICIENT_BALANCE", RefusalReason::InsufficientBalance)];

/// The reason of a refusal with this status and this code.
pub(crate) fn reason_of(status: StatusCode, code: Option<&str>) -> RefusalReason {
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return RefusalReason::Credentials;
    }
    let known = CODES.iter().find(|(text, _)| code == Some(*text));
    known.map_or(RefusalReason::Other, |(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_counts_exactly_as_it_is_written() {
        for (status, code, expected) in [
            (400, Some("NO_PRICE"), RefusalReason::NoPrice),
            (422, Some("INSUFFICIENT_BALANCE"), RefusalReason::InsufficientBalance),
            (400, Some("no_price"), RefusalReason::Other),
            (400, Some("NO_PRICE "), RefusalReason::Other),
            (400, None, RefusalReason::Other),
            (401, Some("NO_PRICE"), RefusalReason::Credentials),
            (403, None, RefusalReason::Credentials),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(reason_of(status, code), expected, "{status} {code:?}");
        }
    }
}
