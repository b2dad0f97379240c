-- _dims: Grid or block dimensions as text: 64 x 8 x 1; NULL when one of them is unknown.
-- grain: one value
-- key: none
-- scalar: a way to write three numbers
-- params:
--   x BIGINT: in x
--   y BIGINT: in y
--   z BIGINT: in z
-- columns:
--   dims: the text; NULL when unknown

x || ' x ' || y || ' x ' || z
