-- Vectors of the texts by which classifiers know skills (docs/adr/0046), so that whoever starts need not embed them.

-- A text and a model make one vector, whoever asks: no organisation is named, and what is gone is embedded anew.
CREATE TABLE mcp.text_vectors (
    model       text NOT NULL,
    dimension   int NOT NULL,
    text_hash   text NOT NULL,          -- SHA-256 of the text, which is not kept
    embedding   bytea NOT NULL,         -- little-endian float32
    made_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (model, dimension, text_hash),
    CONSTRAINT text_vectors_whole CHECK (octet_length(embedding) = 4 * dimension)
);
CREATE INDEX text_vectors_age ON mcp.text_vectors (made_at);
