-- Replays traced by node know their graph too.
COMMENT ON COLUMN graph_launch.graph_id IS 'the executable graph, of its process; the graph that it was instantiated from where the export has only that; NULL when the capture has neither';
