//! Why the venue rejected an open, by what a program can read of it: the HTTP status, and a code in the body.

use candlewick_broker::RejectionReason;
use reqwest::StatusCode;

/// The codes that are known, exactly as they are written. The contract shows the body of a 401 alone (contract 5): the
/// codes of other rejections are the sandbox's.
const CODES: [(&str, RejectionReason); 2] =
    [("NO_PRICE", RejectionReason::NoPrice), ("INSUFFICIENT_BALANCE", RejectionReason::InsufficientBalance)];

/// The reason of a rejection with this status and this code.
pub(crate) fn reason_of(status: StatusCode, code: Option<&str>) -> RejectionReason {
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return RejectionReason::Credentials;
    }
    let known = CODES.iter().find(|(text, _)| code == Some(*text));
    known.map_or(RejectionReason::Other, |(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_counts_exactly_as_it_is_written() {
        for (status, code, expected) in [
            (400, Some("NO_PRICE"), RejectionReason::NoPrice),
            (422, Some("INSUFFICIENT_BALANCE"), RejectionReason::InsufficientBalance),
            (400, Some("no_price"), RejectionReason::Other),
            (400, Some("NO_PRICE "), RejectionReason::Other),
            (400, None, RejectionReason::Other),
            (401, Some("NO_PRICE"), RejectionReason::Credentials),
            (403, None, RejectionReason::Credentials),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(reason_of(status, code), expected, "{status} {code:?}");
        }
    }
}
