package schema_test

import (
	"fmt"
	"slices"
	"testing"

	"prof/internal/testkit"
	"prof/schema/seed"
)

// The seeded aliases and rates are those of the files, whatever was done to them, and rows of one's own stay over a reopening.
func TestDeviceRows(t *testing.T) {
	home := fresh(t)
	change(t, home, `INSERT INTO device_alias VALUES ('user', 'NVIDIA Thor', 'NVIDIA Jetson T5000', 'our kit')`,
		`INSERT INTO sm_rate VALUES ('user', '9.0', 'NVIDIA H20', 'tensor_bf16', 'fp32', 1024, 'measured')`,
		`UPDATE device_alias SET device = 'Other' WHERE origin = 'builtin'`, `DELETE FROM sm_rate WHERE origin = 'builtin' AND resource = 'fp32'`,
		`UPDATE sm_rate SET flop_per_cycle = 1 WHERE origin = 'builtin'`,
		`INSERT INTO device_alias VALUES ('builtin', 'Gone', 'NVIDIA H200', '')`,
		`INSERT INTO sm_rate VALUES ('builtin', '1.0', '', 'fp32', 'fp32', 1, 'gone')`,
		`DELETE FROM schema_version WHERE version = 0`)
	aliases, err := seed.Aliases()
	if err != nil {
		t.Fatal(err)
	}
	var alias, rate []string
	for _, a := range aliases {
		alias = append(alias, fmt.Sprintf("%s|%s|%s", a.Alias, a.Device, a.Doc))
	}
	rates, err := seed.SMRates()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rates {
		rate = append(rate, fmt.Sprintf("%s|%s|%s|%s|%v|%s", r.ComputeCapability, r.Device, r.Resource, r.Accumulate, r.FlopPerCycle, r.Reference))
	}
	if len(alias) < 5 || len(rate) < 50 {
		t.Errorf("there are only %d aliases and %d rates", len(alias), len(rate))
	}
	w := open(t, home, false, nil)
	defer done(t, w)
	for _, c := range []struct {
		origin, query string
		want          []string
	}{
		{"builtin", `SELECT alias, device, doc FROM device_alias WHERE origin = ?`, alias},
		{"user", `SELECT alias, device, doc FROM device_alias WHERE origin = ?`, []string{"NVIDIA Thor|NVIDIA Jetson T5000|our kit"}},
		{"builtin", `SELECT compute_capability, device, resource, accumulate, flop_per_cycle, reference FROM sm_rate WHERE origin = ?`, rate},
		{"user", `SELECT compute_capability, device, resource, accumulate, flop_per_cycle, reference FROM sm_rate WHERE origin = ?`,
			[]string{"9.0|NVIDIA H20|tensor_bf16|fp32|1024|measured"}},
	} {
		got := testkit.Rows(t, w, c.query, c.origin)
		slices.Sort(got)
		slices.Sort(c.want)
		same(t, c.origin+": "+c.query, got, c.want)
	}
}
