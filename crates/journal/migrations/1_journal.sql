-- The entries, in their order, and who may write them. One set of statements for SQLite and PostgreSQL.
CREATE TABLE entries (
    seq BIGINT NOT NULL PRIMARY KEY,
    run BIGINT NOT NULL,
    kind TEXT NOT NULL,
    intent BIGINT,
    at BIGINT NOT NULL,
    received BIGINT NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX entries_by_intent ON entries (intent);
CREATE INDEX entries_by_at ON entries (at);

-- One row: the holder (an empty token is nobody), and the last entry that a holder wrote.
CREATE TABLE lease (
    id BIGINT NOT NULL PRIMARY KEY,
    token TEXT NOT NULL,
    program TEXT NOT NULL,
    pid BIGINT NOT NULL,
    host TEXT NOT NULL,
    machine TEXT NOT NULL,
    since BIGINT NOT NULL,
    heartbeat BIGINT NOT NULL,
    duration BIGINT NOT NULL,
    head_seq BIGINT NOT NULL,
    head_hash TEXT NOT NULL
);
INSERT INTO lease (id, token, program, pid, host, machine, since, heartbeat, duration, head_seq, head_hash)
VALUES (1, '', '', 0, '', '', 0, 0, 0, 0, '0000000000000000000000000000000000000000000000000000000000000000');
