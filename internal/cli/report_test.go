package cli

import (
	"os"
	"strings"
	"testing"
)

// TestReport has a stand-in for nsys export a report: what it is asked, what becomes of its answer, and of its failure.
func TestReport(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	write(t, p.path("export"), unpacked(t, "../foreign/minimal.sqlite.gz"))
	write(t, p.path("my report.nsys-rep"), []byte("a report"))
	bin := p.path("bin")
	nsys := write(t, p.path("bin/nsys"), []byte(`#!/bin/sh
echo "$@" > '`+p.path("asked")+`'
while [ $# -gt 1 ]; do [ "$1" = --output ] && cp '`+p.path("export")+`' "$2"; shift; done
`))
	if err := os.Chmod(nsys, 0o755); err != nil {
		t.Fatal(err)
	}
	p.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	if r := p.process("ingest", "--run", "a", "my report.nsys-rep"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	asked := string(read(t, p.path("asked")))
	if !strings.HasPrefix(asked, "export --type sqlite --force-overwrite true --include-json true --output ") || !strings.HasSuffix(asked, "export.sqlite my report.nsys-rep\n") {
		t.Errorf("nsys was asked to %q", asked)
	}
	if got := p.sql("SELECT form, path, (SELECT count(*) FROM kernel) AS kernels FROM source"); got != "form,path,kernels\nnsys-rep,my report.nsys-rep,400\n" {
		t.Errorf("stored: %q", got)
	}
	p.env = nil // a repeat is known without nsys
	if got := p.process("ingest", "my report.nsys-rep"); got != (result{0, "a\n", "my report.nsys-rep" + held("a")}) {
		t.Errorf("again: %+v", got)
	}
	write(t, nsys, []byte("#!/bin/sh\necho told >&2\necho why >&2\nexit 3\n"))
	p.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	write(t, p.path("other.nsys-rep"), []byte("another"))
	if got := p.process("ingest", "--run", "b", "other.nsys-rep"); got != (result{1, "", "prof: other.nsys-rep: nsys export: exit status 3: why\n"}) {
		t.Errorf("nsys fails: %+v", got)
	}
}
