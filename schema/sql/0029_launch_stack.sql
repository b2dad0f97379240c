-- Device work knows the Python functions that launched it: NULL when the capture records no stacks, or the launch was not captured; 0 outside every Python function.
ALTER TABLE kernel ADD COLUMN stack_id BIGINT;
ALTER TABLE memop ADD COLUMN stack_id BIGINT;
ALTER TABLE graph_launch ADD COLUMN stack_id BIGINT;
COMMENT ON COLUMN kernel.stack_id IS 'Python functions it was launched in, as in python_stack; 0 outside every one, NULL when stacks were not recorded, the launch was not captured, or the run was stored before prof kept this';
COMMENT ON COLUMN memop.stack_id IS 'Python functions it was issued in, as in kernel';
COMMENT ON COLUMN graph_launch.stack_id IS 'Python functions it was launched in, as in kernel';
