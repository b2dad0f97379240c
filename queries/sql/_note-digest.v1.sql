-- _note-digest v1: That what comparisons read of a run was not made yet, or by other rules.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
-- columns:
--   note: the sentence

SELECT CASE WHEN d.run_id IS NULL THEN format('run {} was stored by prof {}, which made no digest of it: prof diff, prof trend and prof check make it', r.name, r.prof_version)
    ELSE format('what comparisons read of run {} was made by other rules or peaks than there are now: prof diff, prof trend and prof check make it anew', r.name) END AS note
FROM run r LEFT JOIN digest d ON d.run_id = r.run_id
WHERE r.run_id = _run_id_v1(run) AND (d.run_id IS NULL OR d.basis <> (SELECT b.basis FROM _digest_basis_v1 b))
