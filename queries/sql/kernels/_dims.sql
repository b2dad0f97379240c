-- _dims: Blocks of a grid or threads of a block as people write them: 64 x 8 x 1; NULL when one of them is not known.
-- grain: one value
-- key: none
-- scalar: a way to write three numbers
-- params:
--   x BIGINT: in x
--   y BIGINT: in y
--   z BIGINT: in z
-- columns:
--   dims: the text; NULL when not known

x || ' x ' || y || ' x ' || z
