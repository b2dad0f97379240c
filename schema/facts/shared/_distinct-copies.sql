-- _distinct-copies: Expected number of experts used in a forward pass when every token chooses evenly and independently.
-- grain: one value
-- key: none
-- scalar: a formula
-- params:
--   copies BIGINT: experts
--   active BIGINT: active experts per token
--   tokens BIGINT: tokens of the forward pass
-- columns:
--   copies: expected experts

-- One expert is missed by one token with probability 1 - active / copies.
CASE WHEN active >= copies THEN copies::DOUBLE ELSE copies * (1 - pow(1 - active::DOUBLE / copies, tokens)) END
