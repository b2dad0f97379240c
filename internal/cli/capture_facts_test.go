package cli

import (
	"strings"
	"testing"
)

// Files of facts may be written by the workload itself; what it does not write costs no capture.
func TestCaptureFacts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ work, stored, said string }{
		"written":     {`echo '{"runs":[{"prefill_len":681,"new_tokens":3,"batch":1}]}' >facts.json`, "1", "facts.json is not there yet"},
		"not written": {"true", "0", "warning: facts.json: there is no such file or folder: no recording of the workload has written it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "")
			got := p.run("capture", "--run", "r", "--workload", "facts.json", "--", "sh", "-c", c.work)
			if got.code != 0 || !strings.Contains(got.err, c.said) {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			if got := p.sql("SELECT count(*) AS passes, (SELECT count(*) FROM kernel) AS kernels FROM workload_pass"); got != "passes,kernels\n"+c.stored+",16\n" {
				t.Errorf("stored: %q", got)
			}
		})
	}
}
