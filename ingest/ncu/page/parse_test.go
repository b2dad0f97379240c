package page

import (
	"math"
	"os"
	"prof/ingest/ncu"
	"slices"
	"strings"
	"testing"
)

func TestParseNumber(t *testing.T) {
	for _, c := range []struct {
		text     string
		exponent int
		decimal  byte
		want     float64
	}{
		{"0", 0, '.', 0}, {"547,335", 0, '.', 547335}, {"488,123.86", 0, '.', 488123.86}, {"276.512", 3, '.', 276512},
		{"276.512000", 3, '.', 276512}, {"3.198935", 9, '.', 3198935000}, {"-0.18", 0, '.', -0.18}, {"+7", 0, '.', 7}, {".5", 0, '.', 0.5},
		{"17,155,260,434,440,068", 0, '.', 17155260434440068}, {"18446744073709551615", 0, '.', 18446744073709551615},
		{"123456789012345678901234.5", 0, '.', 123456789012345678901234.5}, {"1e3", 0, '.', 1000}, {"1.5E-3", 3, '.', 1.5},
		{"0.000000000000000000000000001", 0, '.', 1e-27}, {"nan", 0, '.', math.NaN()}, {"-nan", 3, '.', math.NaN()},
		{"inf", 0, '.', math.Inf(1)}, {"-inf", 0, '.', math.Inf(-1)}, {"9,00", 0, ',', 9}, {"1.234.567,89", 0, ',', 1234567.89},
		{"1\u202f234,5", 0, ',', 1234.5}, {"1'234.5", 0, '.', 1234.5},
	} {
		got, ok := parseNumber([]byte(c.text), c.exponent, c.decimal)
		if !ok || got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%q: %v, %v, want %v", c.text, got, ok, c.want)
		}
	}
	for _, text := range []string{"", "-", ".", ",", "n/a", "NVIDIA H200", "1,2", "12,34,567", "1,234,5", "1234,567", "1,", ",123", "1.2.3", "0x10", "1e", "1 2", "all", "0-15", "--1"} {
		if v, ok := parseNumber([]byte(text), 0, '.'); ok {
			t.Errorf("%q was read as %v", text, v)
		}
	}
	if s := exactInteger([]byte("18,446,744,073,709,551,615"), 0, '.'); s != "18446744073709551615" {
		t.Errorf("%q", s)
	}
	for _, text := range []string{"17,155,260,434,440,068", "9007199254740992", "1.5"} { // a float64 holds these
		if s := exactInteger([]byte(text), 0, '.'); s != "" {
			t.Errorf("%q: %q", text, s)
		}
	}
}

func TestDecimalSign(t *testing.T) {
	for text, want := range map[string]byte{
		"3.20": '.', "9,00": ',', "1,234.50": '.', "1.234,50": ',', "1,234,567": '.', "1.234.567": ',', "276.512000": '.', "0,123": ',',
		"1,234": 0, "547.335": 0, "12": 0, "NVIDIA H200": 0, "n/a": 0, "12,288 (4,096; 8,192)": 0, "": 0, "-0.18": '.',
	} {
		if got := decimalSign([]pageCell{{text: []byte(text), unit: &pageUnit{base: "%"}}}); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	list := []pageCell{{text: []byte("0,1"), unit: &pageUnit{}}, {text: []byte("9,00"), unit: &pageUnit{base: "%"}}, {text: []byte("1.5"), unit: &pageUnit{}}}
	for n, want := range []byte{0, 0, ',', '.'} {
		if got := decimalSign(list[:n]); got != want {
			t.Errorf("%d cells: %q, want %q", n, got, want)
		}
	}
}

func TestParseUnit(t *testing.T) {
	for text, want := range map[string]pageUnit{
		"": {"", 0}, "%": {"%", 0}, "ns": {"ns", 0}, "us": {"ns", 3}, "ms": {"ns", 6}, "s": {"ns", 9}, "usecond": {"ns", 3}, "second": {"ns", 9},
		"byte": {"byte", 0}, "Kbyte": {"byte", 3}, "Mbyte": {"byte", 6}, "Gbyte/s": {"byte/s", 9}, "Tbyte/s": {"byte/s", 12},
		"Gbyte/second": {"byte/s", 9}, "Ghz": {"hz", 9}, "Mhz": {"hz", 6}, "hz": {"hz", 0}, "cycle/nsecond": {"hz", 9}, "cycle/second": {"hz", 0},
		"cycle": {"cycle", 0}, "Kbyte/block": {"byte/block", 3}, "Kbyte/cycle": {"byte/cycle", 3}, "sector/ns": {"sector/s", 9},
		"sector/us": {"sector/s", 6}, "sector/ms": {"sector/s", 3}, "sector/s": {"sector/s", 0}, "inst/cycle": {"inst/cycle", 0},
		"%/Kbyte": {"%/byte", 3}, "%/register": {"%/register", 0}, "register/thread": {"register/thread", 0}, "SM": {"SM", 0},
		"Kernel": {"Kernel", 0}, "Pass": {"Pass", 0}, "sectors": {"sectors", 0},
	} {
		if got := parseUnit(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestDimensions(t *testing.T) {
	for text, want := range map[string][3]int32{
		"(64, 64, 1)": {64, 64, 1}, "64, 64, 1": {64, 64, 1}, "(65536,1,1)": {65536, 1, 1}, "8x4x2": {8, 4, 2}, "256": {256, 1, 1},
		"": {}, "n/a": {}, "(1, 2, 3, 4)": {}, "(1, -2, 3)": {}, "(99999999999, 1, 1)": {},
	} {
		if got := dimensions([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]int{"9.0": 90, "12.1": 121, "7,5": 75, "": 0, "n/a": 0, "9": 0, "-9.0": 0} {
		if got := computeCapability([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestNVTXCell(t *testing.T) {
	for _, c := range []struct {
		text     string
		startEnd bool
		threads  []int32
		want     []ncu.NVTXRange
		bad      int
	}{
		{``, false, nil, nil, 0},
		{`476  ""LLM:prefill:none:none:none:none:REGISTERED:prefill"" `, false, []int32{476}, []ncu.NVTXRange{{Domain: "LLM", Name: "prefill"}}, 0},
		{`5  ""CCCL:cub::Scan:none:none:none:none:REGISTERED:cub::Scan"" `, false, []int32{5}, []ncu.NVTXRange{{Domain: "CCCL", Name: "cub::Scan"}}, 0},
		{`7  ""LLM:r:Uint64:681:RGB:0xff00ff00:REGISTERED:r"" `, false, []int32{7}, []ncu.NVTXRange{{Domain: "LLM", Name: "r"}}, 0},
		{`7  ""a:b:ASCII:c:none:none:none:none:ASCII:b:ASCII:c"" `, false, []int32{7}, []ncu.NVTXRange{{Domain: "a", Name: "b:ASCII:c"}}, 0},
		{`1  ""<default domain>:a:none:none:none:none:none:none"" 2  ""<default domain>:b:none:none:none:none:none:none"" `, false,
			[]int32{1, 2}, []ncu.NVTXRange{{Name: "a"}, {Name: "b"}}, 0},
		{` ""0:<default domain>:se_X:none:none:none:none:none:none""  ""1:LLM:y:none:none:none:none:ASCII:y"" `, true, nil,
			[]ncu.NVTXRange{{StartEnd: true, Name: "se_X"}, {StartEnd: true, Domain: "LLM", Name: "y"}}, 0},
		{`9  ""<default domain>:phase:1"" `, false, []int32{9}, []ncu.NVTXRange{{Name: "<default domain>:phase:1"}}, 1}, // of no version that is known
		{`9  ""open`, false, []int32{9}, []ncu.NVTXRange{{Name: "open"}}, 1},
		{`nonsense`, false, nil, nil, 1},
	} {
		cell := nvtxCell{quote: []byte(`""`), text: func(b []byte) string { return string(b) }}
		cell.read([]byte(c.text), c.startEnd)
		if !slices.Equal(cell.ranges, c.want) || !slices.Equal(cell.threads, c.threads) || cell.bad != c.bad {
			t.Errorf("%s: %+v, want %+v", c.text, cell, c)
		}
	}
}

// TestLabelTable reads the whole table: every row says something, and no chip has two answers.
func TestLabelTable(t *testing.T) {
	table, err := parseLabels(labelCSV)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.of) < 700 || len(table.names) < 800 {
		t.Errorf("%d labels of %d metrics", len(table.of), len(table.names))
	}
	for key, rows := range table.of {
		for _, cc := range []int{70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121} {
			holds := 0
			for _, m := range rows {
				if len(m.metrics) == 0 || key.section == "" || key.label == "" {
					t.Errorf("%+v: %+v", key, m)
				}
				if m.holds(cc) {
					holds++
				}
			}
			if holds > 1 {
				t.Errorf("%+v: %d answers for %d", key, holds, cc)
			}
		}
	}
	for _, c := range []struct {
		section, item, label string
		cc                   int
		want                 string
	}{
		{"GPU Speed Of Light Throughput", "", "Memory Throughput", 90, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
		{"Memory Workload Analysis", "", "Memory Throughput", 0, "dram__bytes.sum.per_second"},
		{"Memory Workload Analysis", "", "L2 Compression Ratio", 90, "lrc__average_ilc_output_sector_compression_achieved_rate.pct"},
		{"Memory Workload Analysis", "", "L2 Compression Ratio", 80, "lts__average_gcomp_output_sector_compression_achieved_rate.ratio"},
		{"Memory Workload Analysis", "", "L2 Compression Ratio", 0, ""}, // depends on a chip that is not known
		{"GPU Speed Of Light", "", "SOL FB", 75, ""},
	} {
		names, _ := metricsOfLabel(c.section, c.item, c.label, c.cc)
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestOldPages reads pages as earlier versions of ncu print them: other columns in another order, other names of units.
func TestOldPages(t *testing.T) {
	results, info := readPageText(t, "old", `==PROF== Connected to process 20798 (/home/user/gemm)
"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value"

"0","20798","gemm","127.0.0.1","ampere_h16816gemm","2024-Nov-13 18:14:36","1","7","Command line profiler metrics","gpu__time_duration.sum","nsecond","152,192"
"0","20798","gemm","127.0.0.1","ampere_h16816gemm","2024-Nov-13 18:14:36","1","7","GPU Speed Of Light","Memory Frequency","cycle/nsecond","1.215"
"0","20798","gemm","127.0.0.1","ampere_h16816gemm","2024-Nov-13 18:14:36","1","7","GPU Speed Of Light","SOL FB","%","(!) nan"
"0","20798","gemm","127.0.0.1","ampere_h16816gemm","2024-Nov-13 18:14:36","1","7","GPU Speed Of Light","Memory Frequency","cycle/second","772,656,250"
"0","20798","gemm","127.0.0.1","ampere_h16816gemm","2024-Nov-13 18:14:36","1","7","Launch Statistics","launch__grid_dim_x","","108"
`)
	want := []ncu.Metric{
		{Name: "gpu__time_duration.sum", Value: 152192, Unit: "ns"},
		{Name: "GPU Speed Of Light: Memory Frequency", Value: 1215000000, Unit: "hz"},
		{Name: "GPU Speed Of Light: Memory Frequency (2)", Value: 772656250, Unit: "hz"},
		{Name: "launch__grid_dim_x", Value: 108},
	}
	if r := results[0]; !slices.Equal(r.Metrics, want) || r.Device != -1 || r.Stream != 7 || r.Grid != [3]int32{108, 0, 0} || r.HasNVTX {
		t.Errorf("%+v", r)
	}
	if w := strings.Join(info.Warnings, " "); !strings.Contains(w, "2 labels unknown to prof and stored under the page's own name: GPU Speed Of Light: Memory Frequency, GPU Speed Of Light: SOL FB") {
		t.Errorf("%q", w)
	}
}

// TestOtherLanguages reads numbers as systems in other languages print them.
func TestOtherLanguages(t *testing.T) {
	results, _ := readPageText(t, "german", `"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","k","sm__cycles_active.sum","cycle","547.335"
"0","k","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","9,00"
"1","k","sm__cycles_active.sum","cycle","1.234"
`)
	if a, b := results[0].Metrics, results[1].Metrics; a[0].Value != 547335 || a[1].Value != 9 || b[0].Value != 1234 {
		t.Errorf("%+v %+v", a, b)
	}
}

// TestDamaged reads pages that were cut off or that words of the program stand in.
func TestDamaged(t *testing.T) {
	text, err := os.ReadFile(pages + "kernels.raw.csv")
	if err != nil {
		t.Fatal(err)
	}
	whole := string(text)
	second := strings.Index(whole, `"1","476"`)
	for name, c := range map[string]struct {
		text    string
		results int
		warning string
	}{
		"cut in a number":      {whole[:len(whole)-40], 1, "1 row cut off"},
		"cut in a name":        {whole[:second+80], 1, "1 row cut off"},
		"words between":        {whole[:second] + "done\n\"quoted\", words\n\"7\",\"8\"\n==PROF== Disconnected from process 476\n" + whole[second:], 2, "1 row cut off"},
		"a row in a row":       {whole[:second+80] + "\n" + whole[second:], 2, "1 row cut off"},
		"an error after a cut": {whole[:second+80] + "\n==ERROR== The application returned an error code (9).\n", 1, "1 row cut off"},
		"no units":             {strings.Replace(whole, strings.SplitN(whole, "\n", 3)[1]+"\n", "", 1), 2, "units are unknown"},
		"a header after words": {"12%" + whole, 2, "domains"},
		"lines of Windows":     {strings.ReplaceAll(whole, "\n", "\r\n"), 2, "domains"},
		"a cell too many":      {whole[:second] + strings.Replace(whole[second:], `const float *, float *)`, `x","y`, 1), 1, "1 row cut off"},
		"a cut header":         {whole + whole[:300], 2, "1 row cut off"},
		"a mark of UTF-8":      {"\xef\xbb\xbf" + whole, 2, "domains"},
	} {
		results, info := readPageText(t, name, c.text)
		if len(results) != c.results || !strings.Contains(strings.Join(slices.Concat(info.Warnings, info.Notes), "\n"), c.warning) {
			t.Errorf("%s: %d results, %q", name, len(results), info.Warnings)
			continue
		}
		m := metricOf(t, &results[0], "dram__bytes_read.sum")
		if m.Value == 0 || m.Unit != "byte" && !(name == "no units" && m.Unit == ncu.UnknownUnit) {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestSniffCSV(t *testing.T) {
	entries, err := os.ReadDir(pages)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		head, err := os.ReadFile(pages + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if !Sniff(e.Name(), head) {
			t.Errorf("%s is not recognised", e.Name())
		}
		if Sniff("notes.md", head) {
			t.Errorf("%s is recognised in a document", e.Name())
		}
	}
	for name, head := range map[string]string{
		"stats.csv":  `"Time (%)","Total Time (ns)","Instances","Avg (ns)","Med (ns)","Min (ns)","Max (ns)","StdDev (ns)","Name"`,
		"trace.csv":  "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Name\n",
		"nvprof.log": "==12345== NVPROF is profiling process 12345\n",
		"x.sqlite":   "SQLite format 3\x00==PROF== Connected",
		"plain.log":  "hello\nsaid ==PROF== once\n",
		"id.csv":     `"ID","Name"` + "\n",
		"empty":      "",
	} {
		if Sniff(name, []byte(head)) {
			t.Errorf("%s is taken for a page of ncu", name)
		}
	}
	if !Sniff("run.out", []byte(strings.Repeat("words of the program\n", 2000)+"==PROF== Connected to process 1 (k)\n")) {
		t.Error("console output after words of the program is not recognised")
	}
}
