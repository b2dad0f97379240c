package averages

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const captures = "../../../testdata/torch/"

// unpacked is the content of a file of the captures.
func unpacked(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if filepath.Ext(path) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func readBytes(t testing.TB, name string, text []byte) ([]*row, *result) {
	t.Helper()
	var rows []*row
	res, err := read(context.Background(), bytes.NewReader(text), name, func(r *row) error { rows = append(rows, r); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return rows, res
}

func lines(rows []*row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.String())
	}
	return out
}

// attributes are PyTorch's names of what is stored, and how many base units one is.
var attributes = map[field]struct {
	name string
	unit int64
}{
	countField: {"count", 1}, selfCPU: {"self_cpu_time_total", 1000}, totalCPU: {"cpu_time_total", 1000}, selfDevice: {"self_device_time_total", 1000},
	totalDevice: {"device_time_total", 1000}, selfDeviceBytes: {"self_device_memory_usage", 1}, totalDeviceBytes: {"device_memory_usage", 1},
	selfHostBytes: {"self_cpu_memory_usage", 1}, totalHostBytes: {"cpu_memory_usage", 1}, flops: {"flops", 1},
}

// exact multiplies a decimal number without rounding on the way, and rounds the result to the nearest.
func exact(t *testing.T, n json.Number, unit int64) int64 {
	t.Helper()
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		t.Fatal(n)
	}
	r.Mul(r, big.NewRat(unit, 1))
	half := big.NewRat(1, 2)
	if r.Sign() < 0 {
		half.Neg(half)
	}
	r.Add(r, half)
	return new(big.Int).Quo(r.Num(), r.Denom()).Int64()
}

// TestTrain holds the rows of a real table against its JSON, read in another way and counted in exact fractions.
func TestTrain(t *testing.T) {
	for _, name := range []string{"train.key_averages.json.gz", "train.shapes.key_averages.json.gz"} {
		text := unpacked(t, captures+name)
		var want []map[string]any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		rows, res := readBytes(t, name, text)
		if len(rows) != len(want) || len(rows) < 100 || len(res.warnings) > 0 || res.cut != "" {
			t.Fatalf("%s: %d rows of %d, %+v", name, len(rows), len(want), res)
		}
		devices, shapes, compared := 0, 0, 0
		for i, r := range rows {
			w := want[i]
			if r.name != w["key"] || (r.kind != onCPU) != (w["device_type"] == "DeviceType.CUDA") || (r.kind == onRange) != (w["device_type"] == "DeviceType.CUDA" && w["is_user_annotation"] == true) {
				t.Errorf("%s: row %d is %s, want %v", name, i+1, r, w)
			}
			for f, a := range attributes {
				if got := r.amounts[f]; got == nil || *got != exact(t, w[a.name].(json.Number), a.unit) {
					t.Errorf("%s: row %d has %s %v, want %v", name, i+1, a.name, got, w[a.name])
				}
				compared++
			}
			if r.kind == onDevice {
				devices++
			}
			if list, ok := w["input_shapes"].([]any); ok {
				text, err := json.Marshal(list)
				if err != nil || r.shapes == nil || strings.ReplaceAll(*r.shapes, " ", "") != string(text) {
					t.Errorf("%s: row %d has shapes %v, want %s", name, i+1, r.shapes, text)
				}
				shapes++
			} else if r.shapes != nil {
				t.Errorf("%s: row %d has shapes %s", name, i+1, *r.shapes)
			}
		}
		if devices < 20 || (shapes > 0) != strings.Contains(name, "shapes") {
			t.Errorf("%s: %d rows of the device, %d with shapes", name, devices, shapes)
		}
		t.Logf("%s: %d rows, %d of the device, %d amounts", name, len(rows), devices, compared)
	}
}

// TestForms: one table gives the same rows in every form.
func TestForms(t *testing.T) {
	for _, name := range []string{"train", "train.shapes"} {
		text := unpacked(t, captures+name+".key_averages.json.gz")
		all, _ := readBytes(t, name, text)
		want := lines(all)
		table := strings.TrimSpace(string(text))
		perLine := strings.NewReplacer("\n},\n{", "}\n{", "\n", " ").Replace(table[1 : len(table)-1])
		old := strings.NewReplacer(`"device_time`, `"cuda_time`, `"self_device_time`, `"self_cuda_time`, `"device_memory`, `"cuda_memory`, `"self_device_memory`, `"self_cuda_memory`)
		for form, text := range map[string]string{
			"CSV":                   string(unpacked(t, captures+name+".key_averages.csv.gz")),
			"CSV of a spreadsheet":  "\xef\xbb\xbf" + strings.ReplaceAll(string(unpacked(t, captures+name+".key_averages.csv.gz")), "\r\n", "\n"),
			"inside an object":      `{"torch": "2.11", "key_averages": ` + table + `}`,
			"an object a line":      perLine,
			"before 2.4":            old.Replace(table),
			"without device types":  strings.ReplaceAll(table, `"device_type"`, `"scope"`),
			"unpadded, other order": strings.NewReplacer("\n", "", `"key"`, `"name"`, `"count"`, `"calls"`).Replace(table),
		} {
			rows, res := readBytes(t, form, []byte(text))
			if got := lines(rows); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %d rows differ from %d: %q", name, form, len(got), len(want), got[:min(len(got), 2)])
			}
			if len(res.warnings) > 0 {
				t.Errorf("%s, %s: %q", name, form, res.warnings)
			}
		}
	}
}

// TestPrinted: what PyTorch printed of the same table agrees, to the digits that it printed.
func TestPrinted(t *testing.T) {
	want, _ := readBytes(t, "json", unpacked(t, captures+"train.key_averages.json.gz"))
	got, res := readBytes(t, "printed", unpacked(t, captures+"train.key_averages.table.csv.gz"))
	if len(got) != len(want) || len(res.warnings) != 1 || !strings.Contains(res.warnings[0], "rounded") {
		t.Fatalf("%d rows of %d: %q", len(got), len(want), res.warnings)
	}
	for i, g := range got {
		w := want[i]
		if name, cut := strings.CutSuffix(g.name, "..."); g.name != w.name && !(cut && strings.HasPrefix(w.name, name)) || g.kind != w.kind {
			t.Errorf("row %d is %s, want %s", i+1, g, w)
		}
		for _, f := range stored {
			switch {
			case f == flops && g.amounts[f] == nil && *w.amounts[f] == 0: // printed as --
			case g.amounts[f] == nil || far(f, *g.amounts[f], *w.amounts[f]):
				t.Errorf("row %d, %s: field %d: %v, want %v", i+1, g.name, f, g, w)
			}
		}
	}
}

// far reports whether a printed amount is not the rounded one: three decimals of us or ms, two of KB or MB.
func far(f field, printed, exact int64) bool {
	off, size := max(printed-exact, exact-printed), max(exact, -exact)
	switch {
	case f.isTime() && size >= 1e6:
		return off > 500
	case f.isBytes() && size >= 1<<20:
		return off > 1<<20/200+1
	case f.isBytes() && size >= 1<<10:
		return off > 1<<10/200+1
	}
	return off != 0
}

// TestShared reads a table that other lines of Python wrote.
func TestShared(t *testing.T) {
	path := "../../../../shared/captures/torch/dsocr-sdpa.trace.json.key_averages.json"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skip("the shared captures are not there")
	}
	var want []map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	rows, res := readBytes(t, path, text)
	if len(rows) != len(want) || len(res.warnings) > 0 {
		t.Fatalf("%d rows of %d: %q", len(rows), len(want), res.warnings)
	}
	var cpu, device int
	for i, r := range rows {
		if far := float64(*r.amounts[selfDevice])/1e3 - want[i]["self_device_us"].(float64); far > 0.001 || far < -0.001 {
			t.Errorf("row %d is %s, want %v", i+1, r, want[i])
		}
		isCPU := strings.HasPrefix(r.name, "aten::") || strings.HasPrefix(r.name, "cuda")
		if isDevice := strings.HasPrefix(r.name, "void ") || strings.HasPrefix(r.name, "Memcpy"); isCPU && r.kind != onCPU || isDevice && r.kind != onDevice {
			t.Errorf("%s is of kind %s", r.name, r.kind)
		}
		if r.kind == onCPU {
			cpu++
		} else {
			device++
		}
		if r.amounts[totalDeviceBytes] != nil || r.amounts[selfHostBytes] != nil || r.amounts[totalHostBytes] == nil {
			t.Errorf("row %d is %s", i+1, r)
		}
	}
	if cpu < 50 || device < 50 {
		t.Errorf("%d rows of the CPU, %d of the device", cpu, device)
	}
}
