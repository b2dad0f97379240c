package page_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"prof/queries/frame"
	"prof/render/page"
	"prof/render/typeset"
)

// TestTimes holds that the timeline writes times, shares and counts as the command line does.
func TestTimes(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node is installed to run times.js with")
	}
	r := rand.New(rand.NewPCG(5, 6))
	asked := struct {
		Times, Counts []int64
		Shares        []float64
	}{Times: []int64{0, 1, 999, 1000, 1500, 999_499, 999_500, 999_600, 1_125_000, 2_000_000, 12_345_000}, Shares: []float64{0, 1, 0.5, 0.0005, 0.125}, Counts: []int64{0, 7, 1234, 1_234_567}}
	for range 2000 {
		asked.Times = append(asked.Times, int64(math.Pow(10, r.Float64()*13)), int64(r.IntN(100_000))*125)
		asked.Shares = append(asked.Shares, r.Float64(), float64(r.IntN(1000))/1000)
	}
	input, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	text, err := page.Files.ReadFile("times.js")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "times.mjs") // by its ending node knows that it is a module
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "--input-type=module", "-e", `const { count, percent, time } = await import(process.argv[1]);
		let text = "";
		for await (const part of process.stdin) text += part;
		const { Times, Shares, Counts } = JSON.parse(text);
		console.log(JSON.stringify({ Times: Times.map(time), Shares: Shares.map(percent), Counts: Counts.map(count) }));`, file)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Times, Shares, Counts []string }
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	wrong := 0
	same := func(what any, got, want string) {
		if got != want {
			if wrong++; wrong <= 20 {
				t.Errorf("%v: the timeline shows %q, the command line %q", what, got, want)
			}
		}
	}
	for i, ns := range asked.Times {
		same(ns, got.Times[i], typeset.Value(frame.Column{Name: "value", Type: frame.Int, Unit: frame.Ns}, ns))
	}
	for i, share := range asked.Shares {
		same(share, got.Shares[i], typeset.Percent(share))
	}
	for i, n := range asked.Counts {
		same(n, got.Counts[i], typeset.Int(n))
	}
}
