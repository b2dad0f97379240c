package page

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/render/table"
	"prof/render/typeset"
)

// made returns frames of made-up numbers of every size, in every unit.
func made() []*frame.Frame {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"total_ns", "mean_ns", "std_ns", "share_ratio", "size_bytes", "dram_bytes_per_s", "peak_flop_per_s", "flop", "clock_hz", "power_w", "temperature_c", "calls", "rank", "intensity", "kernel_count",
		"basis", "max_ns", "kernel", "x y", "gpu_span_tokens_per_s", "is_latest"}
	size := func() float64 {
		switch r.IntN(12) {
		case 0:
			return 0
		case 1:
			return float64(r.IntN(1000)) / 8 // a tie between two roundings
		}
		v := math.Pow(10, r.Float64()*30-12)
		if r.IntN(4) == 0 {
			v = -v
		}
		return v
	}
	var out []*frame.Frame
	for range 1500 {
		f := &frame.Frame{Query: "made", Rows: make([][]any, 1+r.IntN(6))}
		spread, middle := math.Pow(10, r.Float64()*6), math.Pow(10, r.Float64()*24-6)
		for _, at := range r.Perm(len(names))[:1+r.IntN(6)] {
			c := frame.Column{Name: names[at], Unit: frame.UnitOf(names[at]), Type: frame.Float}
			switch c.Name {
			case "kernel", "basis":
				c.Type = frame.Text
			case "is_latest":
				c.Type = frame.Bool
			case "calls", "rank", "kernel_count", "total_ns":
				c.Type = frame.Int
			}
			f.Columns = append(f.Columns, c)
			for i := range f.Rows {
				v := size()
				if r.IntN(2) == 0 {
					v = middle * math.Pow(spread, r.Float64())
				}
				var cell any = v
				switch {
				case r.IntN(10) == 0:
					cell = nil
				case c.Type == frame.Text:
					cell = []string{"gemm", "a\tb\u202ec", "void f<int>(int)", ""}[r.IntN(4)]
				case c.Type == frame.Bool:
					cell = r.IntN(2) == 0
				case c.Type == frame.Int:
					cell = int64(math.Max(-9e18, math.Min(9e18, v)))
				}
				f.Rows[i] = append(f.Rows[i], cell)
			}
		}
		out = append(out, f)
	}
	figures := &frame.Frame{Query: "figures", Columns: []frame.Column{{Name: "figure"}, {Name: "value", Type: frame.Float}, {Name: "unit"}, {Name: "mean", Type: frame.Float}, {Name: "std", Type: frame.Float}}}
	for _, row := range [][]any{{"time", 291214136.0, "ns", 398209187.3333, 189194460.88}, {"share", 0.0987, "ratio", nil, nil}, {"count", 12345.0, "count", nil, nil}, {"read", 3.5e9, "bytes", 3.4e9, 12.5}, {"none", nil, "ns", nil, nil}} {
		figures.Rows = append(figures.Rows, row)
	}
	return append(out, figures)
}

// TestFormat holds that the page shows every number, title and name as the command line does.
func TestFormat(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node is installed to run static/format.js with")
	}
	type pair [2]any
	asked := struct {
		Frames  []json.RawMessage `json:"frames"`
		Values  []pair            `json:"values"`
		Changes []float64         `json:"changes"`
		Kernels []string          `json:"kernels"`
	}{Kernels: []string{
		"void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float>, std::array<char*, 2ul> >(int, float)", "tiled_matmul(int, const float *, const float *, float *)", "tiled_matmul(int)",
		"Memcpy HtoD (Pinned -> Device)", "std::enable_if<!T7, void>::type internal::gemvx::kernel<int, (bool)0>(T1)", "void <unnamed>::softmax_warp_forward<float, (int)10>(T2 *)", "ns::operator ()()", "a::f<1>(int)", "b::f<1>(int)",
		"void precomputed_convolve_sgemm<__nv_bfloat16, (int)128, (int)-6, (bool)0>(int)", "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", "f<void (*)(int)>::g(x)",
	}}
	frames := made()
	for _, f := range frames {
		var text bytes.Buffer
		if err := table.JSON(&text, f, typeset.Options{}); err != nil {
			t.Fatal(err)
		}
		asked.Frames = append(asked.Frames, text.Bytes())
	}
	var wantValues, wantChanges []string
	r := rand.New(rand.NewPCG(3, 4))
	for _, unit := range []frame.Unit{frame.Ns, frame.Bytes, frame.Ratio, frame.FlopPerSec, frame.BytesPerSec, frame.Hz, frame.Flop, frame.Count, frame.None} {
		for i := range 200 {
			v := math.Pow(10, r.Float64()*20-4)
			if i%3 == 0 {
				v = math.Round(v)
			}
			asked.Values = append(asked.Values, pair{unit, v})
			wantValues = append(wantValues, typeset.Value(frame.Column{Name: "value", Type: frame.Float, Unit: unit}, v))
		}
	}
	for range 500 {
		v := (r.Float64() - 0.4) * math.Pow(10, r.Float64()*5-3)
		asked.Changes, wantChanges = append(asked.Changes, v), append(wantChanges, typeset.SignedPercent(v))
	}
	input, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	// The page's modules have no package.json that says so: node is told by their ending, in a folder of their own.
	dir := t.TempDir()
	all := files()
	for _, name := range []string{"format", "api", "terms"} {
		text := bytes.ReplaceAll(all["/"+name+".js"].content, []byte(`"./terms.js"`), []byte(`"./terms.mjs"`))
		if err := os.WriteFile(filepath.Join(dir, name+".mjs"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile("testdata/format.js")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "--input-type=module", "-e", strings.NewReplacer("process.argv[2]", "process.argv[1]", "process.argv[3]", "process.argv[2]").Replace(string(script)),
		filepath.Join(dir, "format.mjs"), filepath.Join(dir, "api.mjs"))
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	var got struct {
		Frames []struct {
			Titles       []string
			Cells, Exact [][]string
		}
		Values, Changes, Kernels []string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	wrong := 0
	same := func(what string, at any, got, want string) {
		if got != want {
			if wrong++; wrong <= 20 {
				t.Errorf("%s %v: the page shows %q, the command line %q", what, at, got, want)
			}
		}
	}
	for i, f := range frames {
		want, err := table.Of(f)
		if err != nil {
			t.Fatal(err)
		}
		for j, c := range want.Columns {
			same("title", f.Columns[j].Name, got.Frames[i].Titles[j], c.Title)
			for k, row := range want.Rows {
				same(c.Title, f.Rows[k][j], got.Frames[i].Cells[k][j], row[j].Text)
			}
		}
		for k, row := range f.Rows {
			for j, v := range row {
				want := ""
				switch v := v.(type) {
				case float64:
					want = typeset.Exact(v)
				case int64, string, bool:
					want = strings.Trim(typeset.JsonValue(v), `"`)
				}
				if _, isText := v.(string); !isText {
					same("exact "+f.Columns[j].Name, v, got.Frames[i].Exact[k][j], want)
				}
			}
		}
	}
	for i, want := range wantValues {
		same("value", asked.Values[i], got.Values[i], want)
	}
	for i, want := range wantChanges {
		same("change", asked.Changes[i], got.Changes[i], want)
	}
	short := typeset.Kernels(asked.Kernels, 0)
	for i, name := range asked.Kernels {
		same("kernel", name, got.Kernels[i], short(name))
	}
}
