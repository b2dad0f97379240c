package main

import (
	"strings"
	"testing"
	"time"
)

func TestSlower(t *testing.T) {
	ms := func(before, now int) [2]time.Duration {
		return [2]time.Duration{time.Duration(before) * time.Millisecond, time.Duration(now) * time.Millisecond}
	}
	for _, c := range []struct {
		name string
		rows rows
		want string // what is slower
	}{
		{"within the tolerance", rows{{"ingest", "a", ms(1000, 1149)}}, ""},
		{"beyond it", rows{{"ingest", "a", ms(1000, 1151)}, {"ingest", "b", ms(1000, 900)}}, "a"},
		{"too short to tell", rows{{"show", "a", ms(100, 299)}}, ""},
		{"short before, long now", rows{{"show", "a", ms(100, 300)}}, "a, all"},
		{"reads together", rows{{"ingest", "a", ms(1000, 1000)}, {"query", "x", ms(200, 240)}, {"show", "a", ms(200, 230)}}, "all"},
	} {
		var got []string
		for _, r := range c.rows.slower() {
			got = append(got, r.of)
		}
		if strings.Join(got, ", ") != c.want || strings.Count(c.rows.String(), "SLOWER") != len(got) {
			t.Errorf("%s: %q is slower, not %q:\n%s", c.name, got, c.want, c.rows)
		}
	}
}
