-- _distinct-copies: Experts that some token of a forward pass goes through, as expected when every token chooses evenly and by itself.
-- grain: one value
-- key: none
-- scalar: a formula
-- params:
--   copies BIGINT: experts
--   active BIGINT: those that each token passes
--   tokens BIGINT: tokens of the forward pass
-- columns:
--   copies: how many

-- One expert is missed by one token with probability 1 - active / copies.
CASE WHEN active >= copies THEN copies::DOUBLE ELSE copies * (1 - pow(1 - active::DOUBLE / copies, tokens)) END
