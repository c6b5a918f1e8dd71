-- What the entries come to, in plain columns. Made from the entries, and made again from them at will; nothing is read from
-- here to trade. Times are milliseconds since 1970 (UTC), money is in the smallest unit of the wallet (`unit` of them are 1).

-- How far the entries are projected: up to entry `seq`, of this hash. While `is_complete` is 0, rows are missing or behind.
CREATE TABLE projection (
    id BIGINT NOT NULL PRIMARY KEY,
    format BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL,
    is_complete BIGINT NOT NULL
);
INSERT INTO projection (id, format, seq, hash, is_complete)
VALUES (1, 0, 0, '0000000000000000000000000000000000000000000000000000000000000000', 0);

-- Each request, whatever became of it; `seq` is the number of the last entry about it.
CREATE TABLE intents (
    intent BIGINT NOT NULL PRIMARY KEY,
    seq BIGINT NOT NULL,
    run BIGINT NOT NULL,
    bot TEXT NOT NULL,
    symbol TEXT NOT NULL,
    direction TEXT NOT NULL,
    state TEXT NOT NULL,
    result TEXT,
    stake_minor BIGINT NOT NULL,
    profit_minor BIGINT,
    unit BIGINT NOT NULL,
    payout DOUBLE PRECISION,
    decision_time BIGINT NOT NULL,
    request_time BIGINT,
    open_time BIGINT,
    open_price DOUBLE PRECISION,
    close_time BIGINT,
    close_price DOUBLE PRECISION,
    settled_time BIGINT,
    close_type TEXT NOT NULL,
    expiration_type TEXT NOT NULL,
    reason TEXT NOT NULL,
    venue_id TEXT,
    ordered_symbol TEXT,
    ordered_direction TEXT,
    ordered_stake_minor BIGINT,
    settled_by_person BIGINT NOT NULL
);
CREATE INDEX intents_by_decision ON intents (bot, decision_time);
CREATE INDEX intents_by_settlement ON intents (bot, settled_time);

-- What each bot came to on each day (UTC); `seq` is the largest among the rows of `intents` that are counted.
CREATE TABLE figures (
    day BIGINT NOT NULL,
    bot TEXT NOT NULL,
    seq BIGINT NOT NULL,
    decided BIGINT NOT NULL,
    settled BIGINT NOT NULL,
    won BIGINT NOT NULL,
    lost BIGINT NOT NULL,
    drawn BIGINT NOT NULL,
    cancelled BIGINT NOT NULL,
    stake_minor BIGINT NOT NULL,
    profit_minor BIGINT NOT NULL,
    unit BIGINT NOT NULL,
    PRIMARY KEY (day, bot)
);

-- What became a trade, in the wallet's currency.
CREATE VIEW trades AS
SELECT intent, seq, run, bot, symbol, direction, state, result,
    CAST(stake_minor AS DOUBLE PRECISION) / unit AS stake,
    CAST(profit_minor AS DOUBLE PRECISION) / unit AS profit,
    payout, decision_time, open_time, open_price, close_time, close_price, settled_time, reason, venue_id
FROM intents
WHERE state IN ('open', 'settled');
