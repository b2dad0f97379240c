-- _gap-scope: The part of a run that an idle gap belongs to: as of the work after it, but between passes where that is the first of a
--     measured pass.
-- grain: one value
-- key: none
-- scalar: used in expressions
-- params:
--   is_known BOOLEAN: as of _scope
--   is_warmup BOOLEAN: of the pass of the work after; NULL outside every pass
--   is_opening BOOLEAN: whether the pass begins on the GPU at the end of the gap
-- columns:
--   scope: as of _scope, but between in place of initialisation

CASE
    WHEN is_known AND is_opening AND NOT is_warmup THEN 'between'
    ELSE _scope(is_known, is_warmup, false)
END
