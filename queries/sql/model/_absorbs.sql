-- _absorbs: Whether decode multiplies queries with the cached latents themselves (MLA), its matrices absorbed, as serving engines do; or expands keys and values of the whole context from them at every step, as transformers does.
-- grain: one value
-- key: none
-- scalar: a check of an argument
-- params:
--   mla VARCHAR: absorbed or expanded
-- columns:
--   absorbs: true for absorbed

CASE mla WHEN 'absorbed' THEN true WHEN 'expanded' THEN false ELSE error('ARGUMENT: --mla is absorbed or expanded')::BOOLEAN END
