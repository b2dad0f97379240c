package proton_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/proton"
	"prof/ingest/rows/rowstest"
)

const capturedTree = "../../testdata/proton/h200.hatchet"

func storedTree(t testing.TB, text []byte) (*rowstest.Kept, *load.SourceInfo, error) {
	t.Helper()
	return stored(t, func(path string, k *rowstest.Kept) (*load.SourceInfo, error) {
		return proton.LoadTree(t.Context(), path, "p.hatchet", k.Target)
	}, text)
}

// walk visits the nodes of a tree as the standard library reads it, with the names down to each.
func walk(node map[string]any, around []string, f func(around []string, name string, metrics map[string]any)) {
	name := node["frame"].(map[string]any)["name"].(string)
	f(around, name, node["metrics"].(map[string]any))
	for _, child := range node["children"].([]any) {
		walk(child.(map[string]any), append(slices.Clone(around), name), f)
	}
}

// TestTree holds a real tree to the standard library's reading of it: sums by kernel and by scope, and what the program said of scopes.
func TestTree(t *testing.T) {
	t.Parallel()
	text := read(t, capturedTree)
	if !proton.SniffTree(text) || proton.SniffTrace(text) || proton.SniffTree(read(t, capturedTrace)) {
		t.Error("it is taken for something else")
	}
	k, info, err := storedTree(t, text)
	if err != nil {
		t.Fatal(err)
	}
	var file []map[string]any
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	total, innermost, figures := [2]int64{}, map[string][2]int64{}, []string{}
	walk(file[0], nil, func(around []string, name string, metrics map[string]any) {
		count, _ := metrics["count"].(float64)
		ns, _ := metrics["time (ns)"].(float64)
		total[0], total[1] = total[0]+int64(count), total[1]+int64(ns)
		if count > 0 {
			scope := around[len(around)-1]
			if slices.Contains(around, "<captured_at>") {
				scope += " captured_at"
			}
			s := innermost[scope]
			innermost[scope] = [2]int64{s[0] + int64(count), s[1] + int64(ns)}
		}
		for _, m := range []string{"bytes", "flops"} {
			if v, ok := metrics[m].(float64); ok && v > 0 {
				figures = append(figures, fmt.Sprintf("range|%s|%s|%v", name, m, v))
			}
		}
	})
	if total != [2]int64{19, 415679} { // what ran: 7 and 3 additions, 7 products, 2 fills at the capture
		t.Errorf("the file has %v", total)
	}
	sums := k.Table("reported_sum")
	all := sums.Is("report", "kernel")
	if got := [2]int64{all.Sum("item_count"), all.Sum("total_ns")}; got != total || len(all.Repeated("kernel_name_id")) > 0 {
		t.Errorf("kernels have %v, the file %v", got, total)
	}
	outermost := [2]int64{}
	for _, r := range sums.Is("report", "range_kernel") {
		if r.Text("name") != "capture" || r.Text("domain") == "" { // capture lies in replay
			outermost = [2]int64{outermost[0] + r.Int("item_count"), outermost[1] + r.Int("total_ns")}
		}
	}
	if outermost != total {
		t.Errorf("outermost scopes have %v, the file %v", outermost, total)
	}
	for scope, want := range innermost {
		name, domain, _ := strings.Cut(scope, " ")
		in := sums.Is("name", name).Is("domain", domain)
		if got := [2]int64{in.Sum("item_count"), in.Sum("total_ns")}; got != want {
			t.Errorf("%s has %v, want %v", scope, got, want)
		}
	}
	k.Table("reported_value").Expect(t, "scope subject metric value", figures...)
	k.Table("device").Expect(t, "device_id name compute_capability sm_count clock_hz memory_bytes_per_s", "0|~|9.0|132|1980000000|4814304000000")
	if info.Rows != 6 || info.Status != "" || len(info.Warnings) != 1 {
		t.Errorf("%+v", info)
	}
}

// node is a node of a tree: kernels have a count and a time.
func node(name, metrics string, children ...string) string {
	return fmt.Sprintf(`{"children":[%s],"frame":{"name":%q,"type":"function"},"metrics":{%s}}`, strings.Join(children, ","), name, metrics)
}

const ran = `"count":2,"time (ns)":30,"device_id":"0","device_type":"CUDA"`

// TestTreeForms holds what is made of trees that the real one is not.
func TestTreeForms(t *testing.T) {
	t.Parallel()
	replayed := node("replay", ``, node("<captured_at>", ``, node("model", ``, node("mm", `METRICS`, node("k", ran)))))
	counted := node("ROOT", `"flops":0`, node("model", ``, node("mm", `"flops16":8e3`)), replayed)
	for name, c := range map[string]struct {
		text   string
		sums   string // report, name, domain, count, total, least
		values string
		said   string
	}{
		"without scopes": {node("ROOT", ``, node("k", ran)), "kernel|~|~|2|30|~; range_kernel|~|~|2|30|~", "", "times of single kernels"},
		"one kernel, which says its FLOP": {node("ROOT", ``, node("a", ``, node("k", `"count":1,"time (ns)":7,"flops8":3,"bytes":0.5`))),
			"kernel|~|~|1|7|7; range_kernel|a||1|7|7", "kernel|a > k|bytes|bytes|0.5; kernel|a > k|flops8|flop|3", "times of single kernels"},
		"a scope in itself": {node("ROOT", ``, node("a", ``, node("a", ``, node("k", ran)), node("k", ran))), "kernel|~|~|4|60|~; range_kernel|a||4|60|~", "", "times of single kernels"},
		"other metrics":     {node("ROOT", ``, node("a", `"cpu_time (ns)":5,"util":0.25,"note":"x"`, node("k", ran))), "kernel|~|~|2|30|~; range_kernel|a||2|30|~", "range|a|cpu_time (ns)|ns|5; range|a|util|~|0.25", "times of single kernels"},
		"FLOP of a capture alone": {strings.Replace(counted, "METRICS", "", 1), "kernel|~|~|2|30|~; range_kernel|mm|captured_at|2|30|~; range_kernel|model|captured_at|2|30|~; range_kernel|replay||2|30|~",
			"range|model > mm|flops16|flop|8000", "FLOP and bytes of model > mm are those of the capture of a CUDA graph"},
		"FLOP of replays too": {strings.Replace(counted, "METRICS", `"flops16":9`, 1), "kernel|~|~|2|30|~; range_kernel|mm|captured_at|2|30|~; range_kernel|model|captured_at|2|30|~; range_kernel|replay||2|30|~",
			"range|model > mm|flops16|flop|8000; range|replay > <captured_at> > model > mm|flops16|flop|9", "times of single kernels"},
	} {
		k, info, err := storedTree(t, []byte("["+c.text+"]"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(k.Table("reported_sum").By("report name").Texts("report name domain item_count total_ns min_ns"), "; "); got != c.sums {
			t.Errorf("%s: sums %q, want %q", name, got, c.sums)
		}
		if got := strings.Join(k.Table("reported_value").Texts("scope subject metric unit value"), "; "); got != c.values {
			t.Errorf("%s: figures %q, want %q", name, got, c.values)
		}
		if last := info.Warnings[len(info.Warnings)-1]; !strings.Contains(last, c.said) {
			t.Errorf("%s: %q", name, info.Warnings)
		}
	}
}

// TestTreeErrors holds errors to the file, and to the place in it.
func TestTreeErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                           "at byte 0: not a tree of Proton",
		`[{"frame":`:                 "at byte 10: not a tree of Proton: unexpected EOF",
		`[{"frame":{"name":x`:        "at byte 19: not a tree of Proton: invalid character 'x'",
		`[{"children":5}]`:           "at byte 14: not a tree of Proton: children is a number",
		`[] []`:                      "at byte 4: not a tree of Proton: more data follows the tree",
		"[" + node("ROOT", ``) + "]": "it has no kernels with times",
		"[" + node("ROOT", ``, node("a", ``, node("k", `"count":-1,"time (ns)":5`))) + "]":                                                           `at "ROOT > a > k": count is -1 and time (ns) is 5, which no kernels have`,
		"[" + node("ROOT", ``, node("k", `"count":1,"time (ns)":1.5`)) + "]":                                                                         "time (ns) is 1.5",
		"[" + node("ROOT", ``, node("k", `"count":0,"time (ns)":0`)) + "]":                                                                           "count is 0",
		"[" + node("ROOT", ``, node("k", `"count":1,"time (ns)":1000000000000000000`), node("k", `"count":1,"time (ns)":1000000000000000000`)) + "]": "the sums are out of range",
		strings.Repeat(`[{"children":`, 20000):                                                                                                       "exceeded max depth",
	} {
		_, _, err := storedTree(t, []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "p.hatchet: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

// FuzzTree stores any file, or says what is wrong with it; what it stores adds up.
func FuzzTree(f *testing.F) {
	f.Add(read(f, capturedTree))
	f.Add([]byte("[" + node("ROOT", ``, node("a", `"flops":1`, node("a", ran, node("k", ran)))) + `,{"CUDA":{"0":{"arch":"x"}}}]`))
	f.Add([]byte(`[{"metrics":{"count":1,"time (ns)":1}}]`))
	f.Add([]byte(`[{"frame":{"name":"ROOT"},"metrics":{},"children":[` + strings.Repeat("{},", 1<<21) + `{}]}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		k, _, err := storedTree(t, text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p.hatchet: ") {
				t.Fatal(err)
			}
			return
		}
		sums := k.Table("reported_sum")
		if all, scoped := sums.Is("report", "kernel").Sum("total_ns"), sums.Is("report", "range_kernel").Sum("total_ns"); scoped < all {
			t.Fatalf("kernels take %d ns, and those of scopes %d", all, scoped)
		}
	})
}
