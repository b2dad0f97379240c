package load

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestNormalise(t *testing.T) {
	for _, c := range [][2]string{
		{"", ""}, {"prefill", "prefill"}, {"7", "#"}, {"decode_step[17]", "decode_step[#]"}, {"layers.12.attn", "layers.#.attn"}, {"layer_12", "layer_#"},
		{"conv2d", "conv2d"}, {"fp16", "fp16"}, {"H200", "H200"}, {"int8 gemm", "int8 gemm"}, {"16x16", "16x16"}, {"12_34", "#_#"},
		{"buf 0x7f3c00ffee00", "buf #"}, {"0X1F", "#"}, {"0x", "0x"}, {"0xyz", "0xyz"}, {"3.14", "#.#"}, {"step:1/32", "step:#/#"}, {"-5", "-#"},
		{"req 550e8400-e29b-41d4-a716-446655440000 done", "req # done"}, {"550E8400-E29B-41D4-A716-446655440000", "#"},
		{"id_550e8400-e29b-41d4-a716-446655440000", "id_#"}, {"cmpl-9f86d081884c7d659a2feaa0c55ad015", "cmpl-#"},
		{"550e8400-e29b-41d4-a716-4466554400001", "#-e29b-41d4-a716-#"}, {"550e8400-e29b-41d4-a716-44665544000", "#-e29b-41d4-a716-#"},
		{"deadbeef", "deadbeef"}, {"feedface", "feedface"}, {"a1b2c3d4", "#"}, {"a1b2", "a1b2"},
		{"aten::mm, seq = 12, op_id = 3, sizes = [[1, 2]]", "aten::mm"}, {"aten::mm, op_id = 3", "aten::mm"}, {"aten::conv2d, sizes = []", "aten::conv2d"},
		{", seq = 3", ", seq = #"}, {"ünïcode 12", "ünïcode #"}, {"层 12", "层 #"}, {"层12", "层12"}, {"\xff 1", "\xff #"},
		{"name with \"quotes\", comma, ünïcode; and\ttab", "name with \"quotes\", comma, ünïcode; and\ttab"},
		{"123456789012345678901234567890", "#"}, {"LLM@prefill", "LLM@prefill"}, {"::1::", "::#::"},
	} {
		got := Normalise(c[0])
		if got != c[1] {
			t.Errorf("%q gives %q, want %q", c[0], got, c[1])
		}
		if again := Normalise(got); again != got {
			t.Errorf("%q gives %q, and that %q", c[0], got, again)
		}
	}
}

func FuzzNormalise(f *testing.F) {
	f.Add("layer_12 550e8400-e29b-41d4-a716-446655440000, seq = 3")
	f.Fuzz(func(t *testing.T, s string) {
		n := Normalise(s)
		if len(n) > len(s) {
			t.Errorf("%q grew to %q", s, n)
		}
	})
}

// TestRangeName: a long name is known by its first 65,536 bytes, in whole characters.
func TestRangeName(t *testing.T) {
	for name, want := range map[string]int{"": 0, strings.Repeat("a", 65_536): 65_536, strings.Repeat("a", 65_537): 65_536, strings.Repeat("層", 30_000): 65_535, "a" + strings.Repeat("層", 30_000): 65_536,
		strings.Repeat("\xbf", 70_000): 65_532} {
		if got := RangeName(name); len(got) != want || !strings.HasPrefix(name, got) {
			t.Errorf("%d bytes of %d, want %d", len(got), len(name), want)
		}
		if got := RangeName([]byte(name)); string(got) != RangeName(name) {
			t.Errorf("bytes of a name are cut elsewhere")
		}
	}
}

// TestNameHash pins the hashes: they meet in warehouses that other versions wrote.
func TestNameHash(t *testing.T) {
	for name, want := range map[string]int64{"": -2039914840885289964, "void axpy(float *, float)": 299347249269726545, "ampere_sgemm": 5059297030268048054} {
		if got := NameHash(name); got != want {
			t.Errorf("%q has the hash %d, want %d", name, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	var n Names
	short, other := "short a", "another"
	if a, b := n.Add("a", nil), n.Add("b", nil); a != 1 || b != 2 || n.Add("a", &short) != a || n.Add("a", &other) != a {
		t.Fatal("a name keeps its number", a, b)
	}
	var got []string
	err := n.Each(func(id int32, name string, beside *string) error {
		got = append(got, fmt.Sprint(id, name, beside != nil && *beside == short))
		return nil
	})
	if err != nil || !slices.Equal(got, []string{"1atrue", "2bfalse"}) {
		t.Error(got, err)
	}
}

func TestNumbers(t *testing.T) {
	var n Numbers
	var wg sync.WaitGroup
	names := strings.Fields("a b c d e f g h i j k l m n o p")
	for range 8 {
		wg.Go(func() {
			for range 200 {
				for _, s := range names {
					n.Add(s)
				}
			}
		})
	}
	wg.Wait()
	all := n.All()
	if len(all) != len(names) {
		t.Fatal(all)
	}
	for i, s := range all {
		if id := n.Add(s); id != int32(i+1) {
			t.Errorf("%s has number %d at place %d", s, id, i)
		}
	}
	slices.Sort(all)
	if !slices.Equal(all, names) {
		t.Error(all)
	}
}

func TestPaths(t *testing.T) {
	var p Paths
	a := p.Add(0, "", "a")
	b := p.Add(a, "x", "b")
	c := p.Add(b, "", "a")
	if a != 1 || b != 2 || c != 3 || p.Add(0, "", "a") != a || p.Add(a, "x", "b") != b || p.Add(a, "", "b") == b || p.Add(0, "x", "b") == b {
		t.Error("a path is its parent, domain and name", a, b, c)
	}
	if got := p.Lineage(c); !slices.Equal(got, []int32{1, 2, 3}) {
		t.Error(got)
	}
	if got := p.String(c); got != "a > b > a" {
		t.Error(got)
	}
	for i, path := range p.All() {
		if path.Parent > int32(i) {
			t.Errorf("path %d comes before its parent", i+1)
		}
	}
	if got := p.All()[c-1]; got != (Path{Parent: b, Depth: 3, Name: "a"}) {
		t.Error(got)
	}
}
