-- When the holder's process began, so that a later process of its number is not taken for it.
ALTER TABLE lease ADD COLUMN started BIGINT NOT NULL DEFAULT 0;

-- What people order of the process that writes the journal, and what came of it.
CREATE TABLE orders (
    id BIGINT NOT NULL PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    given BIGINT NOT NULL,
    giver TEXT NOT NULL,
    body TEXT NOT NULL,
    answer TEXT,
    answered BIGINT
);
CREATE INDEX orders_by_answer ON orders (answered);
