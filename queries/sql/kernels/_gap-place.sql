-- _gap-place: Where an idle gap lies.
-- grain: one value
-- key: none
-- scalar: used in expressions
-- params:
--   stage VARCHAR: stage of the work after; NULL outside every stage
--   is_opening BOOLEAN: whether the pass begins on the GPU at the end of the gap
--   is_following BOOLEAN: whether the pass is in _following-pass
-- columns:
--   place: in-pass, between-passes or outside

CASE
    WHEN stage IS NULL THEN 'outside'
    WHEN NOT is_opening THEN 'in-pass'
    WHEN is_following THEN 'between-passes'
    ELSE 'outside'
END
