-- Requests and responses of the trading API, as they were, beside the entries.
CREATE TABLE wires (
    id BIGINT NOT NULL PRIMARY KEY,
    intent BIGINT,
    sent BIGINT NOT NULL,
    received BIGINT,
    what TEXT NOT NULL,
    request TEXT NOT NULL,
    response TEXT,
    status BIGINT
);
CREATE INDEX wires_by_intent ON wires (intent);
