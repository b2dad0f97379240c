-- _gap-scope: The part of a run that an idle gap belongs to: that of the work after it; outside passes it is of none.
-- grain: one value
-- key: none
-- scalar: used in expressions
-- params:
--   is_known BOOLEAN: as of _scope
--   is_warmup BOOLEAN: of the pass of the work after; NULL outside every pass
--   place VARCHAR: as of _gap-place
-- columns:
--   scope: as of _scope, but never initialisation

_scope(is_known, CASE WHEN place <> 'outside' OR is_warmup THEN is_warmup END, false)
