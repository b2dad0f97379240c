package sqlfile

import (
	"slices"
	"strings"
	"testing"
)

func TestUses(t *testing.T) {
	for text, want := range map[string]string{
		"WITH a AS (SELECT x FROM b), c(d, e) AS MATERIALIZED (FROM f) SELECT _g(x) FROM a JOIN c ON true -- FROM h\nJOIN LATERAL (FROM i) j ON j.x = ' FROM k'": "b f _g LATERAL i",
		"FROM (SELECT 1) l LEFT JOIN\n    m(run, top := 2) n USING (x)":                                                                                          "m",
		"SELECT 'it''s' FROM _o": "_o",
	} {
		if got := strings.Join(slices.Collect(Uses(text)), " "); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}
