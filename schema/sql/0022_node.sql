-- Which node of a job each of the captures of a run is of: one row a folder of `prof capture --node-rank`. From its run.json. GPUs and recordings of
-- node K have the numbers K * 1000 + n in the run, where n is their number on the node.
CREATE TABLE capture_node (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    node_rank INTEGER NOT NULL, -- 0, 1, ... among the nodes
    node_count INTEGER, -- nodes of the job; NULL when unknown
    host VARCHAR, -- the machine; NULL when unknown
    job_key VARCHAR NOT NULL -- hash of what identifies the job: the same on all of its nodes
);

-- Ranks of processes.
ALTER TABLE process ADD COLUMN rank_id INTEGER;

COMMENT ON COLUMN process.rank_id IS 'its rank in the job; NULL when unknown';
COMMENT ON TABLE capture IS 'What prof itself did to capture a run: one row a run that `prof capture` made, of a job of several nodes one row a node. From its run.json.';
COMMENT ON COLUMN capture_pass.pass_id IS '1, 2, ... within the run, in the order in which they ran; of node K of a job from 1000 * K on. Passes of a job that ran at once have the same tool and repeat_id';
COMMENT ON COLUMN capture_pass.name IS 'tool and number, e.g. nsys-2; the same for passes of a job that ran at once';
COMMENT ON COLUMN device.device_id IS 'the machine''s GPU number, as device_id elsewhere; of node K of a job 1000 * K more';
COMMENT ON COLUMN capture_device.device_id IS 'NVML''s number of the GPU, as nvidia-smi shows it; of node K of a job 1000 * K more';
