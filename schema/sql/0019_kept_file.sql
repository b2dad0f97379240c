-- Files that the workload wrote and `prof capture --keep` kept in the run's folder, as the last recording that wrote each left it.
CREATE TABLE capture_kept (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    pass_id INTEGER NOT NULL, -- the recording that wrote it last
    path VARCHAR NOT NULL, -- path below the working folder
    size_bytes BIGINT, -- its size; NULL when it is not known
    sha256 VARCHAR, -- SHA-256 of its content; NULL when it was not kept
    reason VARCHAR -- why it was not kept; NULL when it was
);
