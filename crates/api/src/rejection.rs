//! Classification of rejected orders by HTTP status, error code and message.
//!
//! The contract specifies no messages (contract 7). If no pattern matches, the reason is [`RejectionReason::Other`].

use candlewick_broker::RejectionReason;
use reqwest::StatusCode;

const REASONS_BY_CODE: [(&str, RejectionReason); 2] =
    [("NO_PRICE", RejectionReason::NoPrice), ("INSUFFICIENT_BALANCE", RejectionReason::InsufficientBalance)];

/// Patterns in matching order. A text matches if it contains at least one of the `|`-separated words of each group.
const TEXT_PATTERNS: [(RejectionReason, &[&str]); 12] = [
    (RejectionReason::InsufficientBalance, &["insufficient|enough|exceed|too low|low ", BALANCE_WORDS]),
    (RejectionReason::AccountRestricted, &["banned|blacklisted"]),
    (RejectionReason::SymbolInactive, &[SYMBOL_WORDS, INACTIVE_WORDS]),
    (RejectionReason::AccountRestricted, &[ACCOUNT_WORDS, INACTIVE_WORDS]),
    (RejectionReason::TradesPerDay, &[TRADE_WORDS, LIMIT_WORDS, "per day|a day|daily|today|24h|24 h"]),
    (RejectionReason::PendingLimit, &[LIMIT_WORDS, PENDING_WORDS]),
    (RejectionReason::AmountAboveMaximum, &[AMOUNT_WORDS, ABOVE_WORDS]),
    (RejectionReason::AmountBelowMinimum, &[AMOUNT_WORDS, BELOW_WORDS]),
    (RejectionReason::TradesPerMinute, &[TRADE_WORDS, LIMIT_WORDS]),
    (RejectionReason::TradesPerMinute, &["too fast|too frequent|per minute|per second|slow down|rate limit"]),
    (RejectionReason::OutdatedPrice, &["price|quote|quotation|tick", OUTDATED_WORDS]),
    (
        RejectionReason::AccountRestricted,
        &[ACCOUNT_WORDS, "not allowed|not permitted|may not|cannot trade|forbidden"],
    ),
];
const BALANCE_WORDS: &str = "balance|fund|money|wallet";
const SYMBOL_WORDS: &str = "symbol|asset|pair|market|instrument";
const ACCOUNT_WORDS: &str = "user|account|trader";
const AMOUNT_WORDS: &str = "amount|stake|volume";
const PENDING_WORDS: &str =
    "pending|open trade|open order|open position|opened trade|active trade|concurrent|simultaneous";
const OUTDATED_WORDS: &str = "outdated|out of date|stale|expired|too old|changed|unavailable|not available|missing|no price|\
                        no quote|not found";
const ABOVE_WORDS: &str = "above|maximum|at most|too large|too high|too big|exceed|not be greater|not be more|not be higher|\
                     must be less|must be lower|max ";
const BELOW_WORDS: &str = "below|minimum|at least|too small|too low|less than|lower than|must be|not be|min ";
const TRADE_WORDS: &str = "trade|order|operation|position|request";
const LIMIT_WORDS: &str = "too many|limit|max|exceed|reached";
const INACTIVE_WORDS: &str = "inactive|not active|disabled|not enabled|closed|not open|unavailable|not available|suspended|\
                        blocked|deactivated|deleted|locked|restricted|halted|unknown|not found|not supported|invalid";

pub(crate) fn classify_rejection(status: StatusCode, code: Option<&str>, text: &str) -> RejectionReason {
    if status == StatusCode::UNAUTHORIZED {
        return RejectionReason::Credentials;
    }
    if let Some((_, reason)) = REASONS_BY_CODE.iter().find(|(known, _)| code == Some(*known)) {
        return *reason;
    }
    // The patterns also match codes such as SYMBOL_NOT_ACTIVE.
    match [Some(text), code].into_iter().flatten().find_map(match_patterns) {
        None if status == StatusCode::FORBIDDEN => RejectionReason::Credentials,
        found => found.unwrap_or(RejectionReason::Other),
    }
}

fn match_patterns(text: &str) -> Option<RejectionReason> {
    let text = normalize(text);
    let has = |group: &&str| group.split('|').any(|part| text.contains(part));
    TEXT_PATTERNS.iter().find(|(_, groups)| groups.iter().all(has)).map(|(reason, _)| *reason)
}

/// Normalizes case and separators. `tooManyTrades` and `Too many trades!` become `too many trades `.
fn normalize(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 8);
    let mut was_small = false;
    for letter in text.chars() {
        let is_letter = letter.is_alphanumeric();
        if (letter.is_uppercase() && was_small || !is_letter) && !words.ends_with(' ') {
            words.push(' ');
        }
        if is_letter {
            words.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase();
    }
    words.push(' ');
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_code_take_precedence_over_text() {
        for (status, code, expected) in [
            (400, Some("NO_PRICE"), RejectionReason::NoPrice),
            (422, Some("INSUFFICIENT_BALANCE"), RejectionReason::InsufficientBalance),
            (400, Some("SYMBOL_NOT_ACTIVE"), RejectionReason::SymbolInactive),
            (400, Some("tooManyPendingTrades"), RejectionReason::PendingLimit),
            (400, Some("Bad Request"), RejectionReason::Other),
            (400, None, RejectionReason::Other),
            (401, Some("NO_PRICE"), RejectionReason::Credentials),
            (403, None, RejectionReason::Credentials),
            (403, Some("USER_BANNED"), RejectionReason::AccountRestricted),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(classify_rejection(status, code, "no"), expected, "{status} {code:?}");
        }
    }

    #[test]
    fn recognises_messages_in_any_spelling() {
        use RejectionReason::*;
        let balance = "Insufficient balance|insufficientFunds|You do not have enough balance|\
                       Not enough money in the wallet|Amount exceeds your balance";
        let symbol = "Symbol not active|SYMBOL_IS_DISABLED|The market is closed|Asset EURUSD unavailable";
        let minute =
            "Too many trades per minute|Maximum number of operations per minute reached|too many requests";
        let minimum = "Amount below minimum|amount must be greater than 1|The minimum stake is 5|\
                       amount cannot be less than 1|minAmount";
        let maximum = "Amount above the maximum|Amount cannot be greater than 500|\
                       amount must be less than 500|stake must be at most 500";
        let account = "User banned|your account is suspended|User is not active|\
                       this user is not allowed to trade";
        for (texts, expected) in [
            (balance, InsufficientBalance),
            (symbol, SymbolInactive),
            (minute, TradesPerMinute),
            ("Trades per day limit reached|Daily trade limit exceeded", TradesPerDay),
            ("Too many pending trades|max open positions", PendingLimit),
            ("Outdated price|price expired, try again|Quote has changed", OutdatedPrice),
            (minimum, AmountBelowMinimum),
            (maximum, AmountAboveMaximum),
            (account, AccountRestricted),
            ("Opening needs an internal bot|Bad Request|x-timestamp expired|", Other),
        ] {
            for text in texts.split('|') {
                assert_eq!(classify_rejection(StatusCode::BAD_REQUEST, None, text), expected, "{text}");
            }
        }
    }
}
