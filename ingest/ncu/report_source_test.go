package ncu_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/ingest/ncu"
	"prof/ingest/rows/rowstest"
)

// sourceColumns are the metrics of columns of ncu's source page, but those of stall reasons. The first two columns of samples are sums
// over the reasons. "Access" columns and the evict policies are words there and numbers in the report.
var sourceColumns = map[string]string{
	"# Samples": "smsp__pcsamp_sample_count", "Instructions Executed": "inst_executed", "Thread Instructions Executed": "thread_inst_executed",
	"Predicated-On Thread Instructions Executed": "thread_inst_executed_true", "Avg. Threads Executed": "derived__avg_thread_executed",
	"Avg. Predicated-On Threads Executed":            "derived__avg_thread_executed_true",
	"Derivative Avg. Predicated-On Threads Executed": "derived__derivative_avg_thread_executed_true",
	"Avg. Predicated-On Threads Unexecuted":          "derived__avg_thread_unexecuted_true", "Divergent Branches": "smsp__branch_targets_threads_divergent",
	"L1 Tag Requests Global": "memory_l1_tag_requests_global", "L1 Conflicts Shared N-Way": "derived__memory_l1_conflicts_shared_nway",
	"L1 Wavefronts Shared Excessive": "derived__memory_l1_wavefronts_shared_excessive", "L1 Wavefronts Shared": "memory_l1_wavefronts_shared",
	"L1 Wavefronts Shared Ideal": "memory_l1_wavefronts_shared_ideal", "L2 Theoretical Sectors Global Excessive": "derived__memory_l2_theoretical_sectors_global_excessive",
	"L2 Theoretical Sectors Global": "memory_l2_theoretical_sectors_global", "L2 Theoretical Sectors Global Ideal": "memory_l2_theoretical_sectors_global_ideal",
	"L2 Explicit Hit Policy Evict First": "smsp__sass_inst_executed_memdesc_explicit_hitprop_evict_first", "L2 Explicit Hit Policy Evict Last": "smsp__sass_inst_executed_memdesc_explicit_hitprop_evict_last",
	"L2 Explicit Hit Policy Evict Normal": "smsp__sass_inst_executed_memdesc_explicit_hitprop_evict_normal", "L2 Explicit Hit Policy Evict Normal Demote": "smsp__sass_inst_executed_memdesc_explicit_hitprop_evict_normal_demote",
	"L2 Explicit Miss Policy Evict First": "smsp__sass_inst_executed_memdesc_explicit_missprop_evict_first", "L2 Explicit Miss Policy Evict Normal": "smsp__sass_inst_executed_memdesc_explicit_missprop_evict_normal",
}

// stallColumns are the parts of names of stall reasons that the page writes in another way.
var stallColumns = map[string]string{"dispatch": "dispatch_stall", "imc": "imc_miss", "lg": "lg_throttle", "long_sb": "long_scoreboard", "math": "math_pipe_throttle", "mio": "mio_throttle",
	"no_inst": "no_instructions", "short_sb": "short_scoreboard", "sleep": "sleeping", "tex": "tex_throttle"}

// stallMetric is the metric of a column of a stall reason; "" for another column.
func stallMetric(column string) string {
	reason, isStall := strings.CutPrefix(column, "stall_")
	if !isStall {
		return ""
	}
	reason, notIssued := strings.CutSuffix(reason, " (Not Issued)")
	if long := stallColumns[reason]; long != "" {
		reason = long
	}
	if notIssued {
		reason += "_not_issued"
	}
	return "smsp__pcsamp_warps_issue_stalled_" + reason
}

// sourceRow is a row of a source page. NVIDIA does not escape quotes in source text.
func sourceRow(line string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimRight(line, "\r"), `"`), `"`), `","`)
}

// codeRead is what the reader gives of a report's instructions: values by kernel, offset and metric.
type codeRead struct {
	values       map[string]map[int32]map[string]float64
	own          map[string]map[string]float64 // values of whole launches
	instructions map[string]map[int32]ncu.Instruction
	files        map[int32]string
	texts        map[string]string
}

func readCode(t testing.TB, data []byte) codeRead {
	t.Helper()
	r, err := ncu.OpenReport(bytes.NewReader(data), int64(len(data)), "test.ncu-rep")
	if err != nil {
		t.Fatal(err)
	}
	c := codeRead{values: map[string]map[int32]map[string]float64{}, own: map[string]map[string]float64{}, instructions: map[string]map[int32]ncu.Instruction{}, files: map[int32]string{}, texts: map[string]string{}}
	kernel := map[int32]string{}
	err = r.Each(t.Context(), func(x *ncu.Result) error {
		c.own[x.Name] = map[string]float64{}
		for _, m := range x.Metrics {
			c.own[x.Name][m.Name] = m.Value
		}
		c.values[x.Name] = map[int32]map[string]float64{}
		_, elsewhere, err := r.EachInstance(func(i ncu.Instance) error {
			kernel[i.Function] = x.Name
			at := c.values[x.Name]
			if at[i.Offset] == nil {
				at[i.Offset] = map[string]float64{}
			}
			at[i.Offset][i.Metric] = i.Value
			return nil
		})
		if elsewhere != 0 {
			t.Errorf("%s: %d values are in no function", x.Name, elsewhere)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = r.EachInstruction(func(i ncu.Instruction) error {
		name := kernel[i.Function]
		if c.instructions[name] == nil {
			c.instructions[name] = map[int32]ncu.Instruction{}
		}
		c.instructions[name][i.Offset] = i
		return nil
	})
	if err != nil || len(r.Faults()) > 0 {
		t.Fatal(err, r.Faults())
	}
	for _, f := range r.Files() {
		c.files[f.ID] = f.Name
		if c.texts[f.Name], err = r.Text(f); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// codeReport makes a report of one kernel with its compiled code, source texts and values of three metrics at instructions.
func codeReport(t testing.TB) []byte {
	t.Helper()
	head, parts := takeApart(t, reportOf(t, "source/lines"))
	var names, blocks [][]byte
	for _, p := range parts {
		for _, table := range fieldsOf(t, p.header, 4) {
			names = append(names, fieldsOf(t, table, 1)...)
		}
	}
	kept := []string{"launch__function_pcs", "inst_executed", "smsp__pcsamp_sample_count"}
	isKept := func(m []byte) (uint64, bool) {
		id := uint64(0)
		if m[0] == 8 {
			id, _ = protowire.ConsumeVarint(m[1:])
		}
		at := slices.Index(kept, string(names[id]))
		return uint64(at), at >= 0
	}
	for _, p := range parts {
		if len(p.entries) == 0 || len(blocks) == 2 {
			continue
		}
		entry, count := p.entries[0], uintField(1, 1)
		if p.results > 0 {
			count = uintField(2, 1)
			module := fieldsOf(t, entry, 15)
			entry = firstOf(t, firstOf(t, firstOf(t, firstOf(t, entry, 17, 0), 19, 0), 21, 0), 15, 0)
			left, _ := withoutField(entry, 13)
			for _, m := range fieldsOf(t, entry, 13) {
				if at, ok := isKept(m); ok {
					rest, _ := withoutField(m, 1)
					left = append(left, messageField(13, uintField(1, at), rest)...)
				}
			}
			entry = append(left, messageField(15, module...)...)
		}
		blocks = append(blocks, blockWith(append(count, messageField(6, uintField(1, 7))...), entry))
	}
	data := slices.Concat(head, blockWith(stringTable(kept...)), slices.Concat(blocks...))
	if c := readCode(t, data); len(c.texts) != 2 || len(c.values) != 1 {
		t.Fatalf("files %v of %d kernels", c.files, len(c.values))
	}
	return data
}

var sassPrefix = regexp.MustCompile(`^@!?U?P\w+\s+`)

// TestSourcePage compares every value of ncu's own source pages (--page source --print-source sass) with what the reader gives, and the operations.
func TestSourcePage(t *testing.T) {
	for report, kernels := range map[string]int{"lines": 4, "nolines": 1} {
		t.Run(report, func(t *testing.T) {
			c := readCode(t, reportOf(t, "source/"+report))
			var kernel string
			var columns []string
			var base uint64
			values, samples, seen := 0, 0, map[string]bool{}
			for _, line := range strings.Split(string(fileBytes(t, "../../testdata/ncu/source/"+report+".sass.csv.gz")), "\n") {
				row := sourceRow(line)
				switch {
				case row[0] == "Kernel Name":
					kernel, base = strings.TrimSuffix(strings.TrimSuffix(row[1], ","), `"`), 0
					seen[kernel] = true
					continue
				case row[0] == "Address":
					columns = row
					continue
				case !strings.HasPrefix(row[0], "0x"):
					continue
				}
				address, err := strconv.ParseUint(row[0][2:], 16, 64)
				if err != nil || len(row) != len(columns) {
					t.Fatal(line, err)
				}
				if base == 0 {
					base = address
				}
				offset := int32(address - base)
				at := c.values[kernel][offset]
				if at == nil && strings.Contains(strings.Join(row[2:], ""), "1") {
					t.Fatalf("%s: instruction %#x has no values", kernel, offset)
				}
				if i, known := c.instructions[kernel][offset]; known {
					words := strings.Fields(sassPrefix.ReplaceAllString(strings.TrimSpace(row[1]), ""))
					if want, _, _ := strings.Cut(words[0], "."); i.Opcode != want {
						t.Errorf("%s: instruction %#x is %s: %q", kernel, offset, i.Opcode, row[1])
					}
				}
				sums := map[bool]float64{} // over all reasons: the page lacks a column of gmma
				for metric, v := range at {
					if strings.HasPrefix(metric, "smsp__pcsamp_warps_issue_stalled_") {
						sums[strings.HasSuffix(metric, "_not_issued")] += v
					}
				}
				for k, column := range columns[2:] {
					metric := sourceColumns[column]
					if metric == "" {
						if metric = stallMetric(column); metric == "" {
							continue
						}
					}
					want, err := strconv.ParseFloat(row[k+2], 64)
					if err != nil || at[metric] != want {
						t.Errorf("%s: instruction %#x: %s is %v, %s on the page", kernel, offset, metric, at[metric], row[k+2])
					}
					if _, has := c.own[kernel][metric]; !has {
						t.Errorf("%s has no %s, so that a zero cannot be told from nothing", kernel, metric)
					}
					values++
				}
				for notIssued, column := range map[bool]string{false: "Warp Stall Sampling (All Samples)", true: "Warp Stall Sampling (Not-issued Samples)"} {
					if want := row[slices.Index(columns, column)]; fmt.Sprint(sums[notIssued]) != want {
						t.Errorf("%s: instruction %#x: the reasons have %v samples, %s on the page", kernel, offset, sums[notIssued], want)
					}
				}
				samples += int(at["smsp__pcsamp_sample_count"])
			}
			if values < 20_000 || samples < 100 || len(seen) != kernels || len(c.values) != kernels {
				t.Errorf("%d values, %d samples of %d kernels: %d", values, samples, len(seen), len(c.values))
			}
		})
	}
}

// TestSourceLines compares lines with ncu's page of source and code together, and the texts of files with the files.
func TestSourceLines(t *testing.T) {
	c := readCode(t, reportOf(t, "source/lines"))
	var kernel, file string
	var line int64
	type place struct {
		file string
		line int64
	}
	lines := map[string]map[uint64][]place{} // of inlined code, that of the call too
	for _, text := range strings.Split(string(fileBytes(t, "../../testdata/ncu/source/lines.cuda-sass.csv.gz")), "\n") {
		row := sourceRow(text)
		switch {
		case row[0] == "File Path":
			file = strings.TrimSuffix(row[1], ",")
		case row[0] == "Function Name":
			kernel = strings.TrimSuffix(strings.TrimSuffix(row[1], ","), `"`)
		case len(row) > 3 && row[0] != "" && row[0] != "Line No":
			var err error
			if line, err = strconv.ParseInt(row[0], 10, 32); err != nil {
				t.Fatal(text, err)
			}
			if got := strings.Split(c.texts[file], "\n"); strings.HasSuffix(file, ".cu") && strings.TrimSpace(got[line-1]) != strings.TrimSpace(row[1]) {
				t.Errorf("line %d of %s is %q", line, file, got[line-1])
			}
		case len(row) > 3 && strings.HasPrefix(row[2], "0x"):
			address, err := strconv.ParseUint(row[2][2:], 16, 64)
			if err != nil {
				t.Fatal(text, err)
			}
			if lines[kernel] == nil {
				lines[kernel] = map[uint64][]place{}
			}
			lines[kernel][address] = append(lines[kernel][address], place{file, line})
		}
	}
	compared, inlined := 0, 0
	for kernel, at := range lines {
		base := ^uint64(0)
		for address := range at {
			base = min(base, address)
		}
		for address, want := range at {
			i, known := c.instructions[kernel][int32(address-base)]
			if !known {
				continue // padding behind the code, which is not executed
			}
			compared++
			slices.SortFunc(want, func(a, b place) int { return strings.Compare(a.file, b.file) })
			want = slices.Compact(want)
			inner := want[len(want)-1] // the header of CUDA comes behind the file that calls it
			if got := (place{c.files[i.File], int64(i.Line)}); got != inner {
				t.Errorf("%s: instruction %#x is of %v, %v on the page", kernel, address-base, got, want)
			}
			if len(want) > 1 {
				inlined++
			}
		}
	}
	if compared != 494 || inlined != 2 || len(c.files) != 3 { // and the PTX
		t.Errorf("%d instructions of %d kernels, %d inlined, files %v", compared, len(lines), inlined, c.files)
	}
	for name, text := range c.texts {
		if len(text) < 2000 {
			t.Errorf("the text of %s has %d bytes", name, len(text))
		}
	}
}

// TestInstanceSums: what a launch has in all is the sum over its instructions.
func TestInstanceSums(t *testing.T) {
	for _, report := range []string{"lines", "nolines"} {
		c := readCode(t, reportOf(t, "source/"+report))
		compared := 0
		for kernel, at := range c.values {
			sums := map[string]float64{}
			for _, values := range at {
				for metric, v := range values {
					sums[metric] += v
				}
			}
			for metric, sum := range sums {
				if strings.HasPrefix(metric, "smsp__pcsamp") || strings.HasSuffix(metric, "inst_executed") || strings.HasPrefix(metric, "memory_l") {
					compared++
					if sum != c.own[kernel][metric] {
						t.Errorf("%s: %s is %v in all and %v over instructions", kernel, metric, c.own[kernel][metric], sum)
					}
				}
			}
		}
		if compared < 40 {
			t.Errorf("%s: %d sums were compared", report, compared)
		}
	}
}

// TestStoreSource: what the reader gives of instructions is stored, values that are 0 are not, and secrets in source texts are masked with
// their lines in place.
func TestStoreSource(t *testing.T) {
	const planted = "hf_examplesecret0123456789"
	comment := "// A handful of small kernels with NVTX stages: a workload whose ncu report is small."
	data := bytes.Replace(reportOf(t, "source/lines"), []byte(comment), []byte(fmt.Sprintf("%-*s", len(comment), "// HF_TOKEN="+planted)), 1)
	c := readCode(t, data)
	if !strings.Contains(c.texts["/opt/bench/.src/kernels.cu"], planted) {
		t.Fatal("nothing was planted")
	}
	var want []string
	for kernel, at := range c.values {
		for offset, values := range at {
			for metric, v := range values {
				if v != 0 {
					i := c.instructions[kernel][offset]
					want = append(want, fmt.Sprintf("%s|%d|%s|%.0f|%s|%d|%s|%s|%d", kernel, offset, metric, v, c.files[i.File], i.Line, i.Opcode, c.files[i.PTXFile], i.PTXLine))
				}
			}
		}
	}
	k, _ := stored(t, saved(t, "source.ncu-rep", data))
	files, symbols, at := map[string]string{}, map[string]string{}, map[string]rowstest.Row{}
	for _, r := range k.Table("ncu_source_file") {
		files[r.Text("file_id")] = r.Text("name")
	}
	for _, r := range k.Table("ncu_function") {
		symbols[r.Text("function_id")] = r.Text("symbol")
	}
	instructions := k.Table("ncu_instruction")
	for _, r := range instructions {
		at[r.Text("function_id")+"+"+r.Text("offset_bytes")] = r
	}
	var got []string
	for _, r := range k.Table("ncu_instance") {
		i, ok := at[r.Text("function_id")+"+"+r.Text("offset_bytes")]
		if !ok || symbols[r.Text("function_id")] != r.Text("launch_id.symbol") {
			t.Fatalf("a value at %s+%s, of %s", r.Text("function_id"), r.Text("offset_bytes"), r.Text("launch_id.symbol"))
		}
		got = append(got, fmt.Sprintf("%s|%s|%s|%.0f|%s|%s|%s|%s|%s", r.Text("launch_id.kernel_name_id.name"), r.Text("offset_bytes"), r.Text("metric_id.name"), r.Get("value"), files[i.Text("file_id")], i.Text("line"), i.Text("opcode"),
			files[i.Text("ptx_file_id")], i.Text("ptx_line")))
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) < 4000 || !slices.Equal(got, want) {
		t.Errorf("%d values are stored, %d were read", len(got), len(want))
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("%s is stored, %s was read", got[i], want[i])
			}
		}
	}
	text := k.Table("ncu_source_file").Where(func(r rowstest.Row) bool { return strings.HasSuffix(r.Text("name"), "kernels.cu") }).Texts("text sha256")
	if len(text) != 1 || !strings.HasPrefix(text[0], "// HF_TOKEN=***") || strings.Contains(text[0], planted) || strings.Count(text[0], "\n") != strings.Count(c.texts["/opt/bench/.src/kernels.cu"], "\n") {
		t.Errorf("stored is %.200q", text)
	}
	ptx := k.Table("ncu_source_file").Is("file_id", instructions[0].Text("ptx_file_id")).Texts("name text")
	for name, text := range c.texts {
		if strings.HasSuffix(name, ".ptx") && !slices.Equal(ptx, []string{name + "|" + text}) {
			t.Errorf("PTX is stored as %.200q", ptx)
		}
	}
	if len(instructions) != 494 || len(at) != 494 || len(instructions.Is("ptx_file_id", instructions[0].Text("ptx_file_id"))) != 494 {
		t.Errorf("%d instructions at %d places", len(instructions), len(at))
	}
	k.Table("source_part").Is("part", "values at instructions").Expect(t, "stored_count reason", fmt.Sprintf("%d|zeros are not stored", len(want)))
}

// oldReport makes the report source/lines as old versions of ncu wrote it: without its list of functions, and with the addresses to which code was loaded in
// the symbols of the code.
func oldReport(t testing.TB) []byte {
	t.Helper()
	head, parts := takeApart(t, reportOf(t, "source/lines"))
	lists, moved := 0, 0
	for _, p := range parts {
		header, _ := withoutField(p.header, 5)
		for i := range p.entries[:len(p.entries)-p.results] {
			left, list := withoutField(p.entries[i], 9)
			lists += len(list)
			left, _ = withoutField(left, 4)
			for _, cubin := range fieldsOf(t, p.entries[i], 4) {
				left = append(left, messageField(4, loadedAt(cubin, 0x7f6b00000000, &moved))...)
			}
			p.entries[i] = left
		}
		head = append(head, blockWith(header, p.entries...)...)
	}
	if lists == 0 || moved < 8 {
		t.Fatalf("%d bytes of lists, %d symbols", lists, moved)
	}
	return head
}

// loadedAt puts the addresses to which code was loaded into the symbols of a cubin, those of each section in a range of its own.
func loadedAt(cubin []byte, base uint64, moved *int) []byte {
	cubin = slices.Clone(cubin)
	number := binary.LittleEndian
	for i := range int(number.Uint16(cubin[60:])) {
		section := cubin[number.Uint64(cubin[40:])+uint64(i*64):]
		if number.Uint32(section[4:]) != uint32(elf.SHT_SYMTAB) {
			continue
		}
		at, size := number.Uint64(section[24:]), number.Uint64(section[32:])
		for ; size >= 24; at, size = at+24, size-24 {
			if in := number.Uint16(cubin[at+6:]); in > 0 && in < uint16(elf.SHN_LORESERVE) {
				number.PutUint64(cubin[at+8:], number.Uint64(cubin[at+8:])+base+uint64(in)<<20)
				*moved++
			}
		}
	}
	return cubin
}

// TestOldReport: of every kernel of a report without a list of functions, the values at instructions, their operations and lines are those of the report
// with one. A report of ncu 2021.3 has no list.
func TestOldReport(t *testing.T) {
	want, got := readCode(t, reportOf(t, "source/lines")), readCode(t, oldReport(t))
	if !reflect.DeepEqual(got, want) || len(want.values) != 4 {
		t.Errorf("it has %d instructions in %d kernels, and in the old form %d in %d", len(want.instructions), len(want.values), len(got.instructions), len(got.values))
	}
}

// TestNoTotal: of a metric that has values at instructions and none of its own, these are stored.
func TestNoTotal(t *testing.T) {
	at := func(address, v uint64) []byte {
		return messageField(3, messageField(1, uintField(5, address)), messageField(2, uintField(5, v)))
	}
	k, _ := stored(t, saved(t, "total.ncu-rep", oneKernel([]string{"launch__function_pcs", "memory_type"}, textField(5, "_Z1kv"), uintField(1, 7),
		messageField(13, uintField(1, 0), messageField(2, uintField(5, 1)), at(0, 1<<40)),
		messageField(13, uintField(1, 1), at(1<<40+16, 4), at(1<<40+32, 16)))))
	k.Table("ncu_instance").Expect(t, "metric_id.name offset_bytes value", "memory_type|16|4", "memory_type|32|16")
	if got := k.Table("ncu_metric").Is("metric_id.name", "memory_type"); len(got) > 0 {
		t.Errorf("it has a value of its own: %v", got.Texts("value"))
	}
}

// TestSourceOfAnotherVersion: the text of a file that was changed after it was compiled is not taken for the one that was compiled.
func TestSourceOfAnotherVersion(t *testing.T) {
	data := codeReport(t)
	c := readCode(t, data)
	name := "/opt/bench/.src/kernels.cu"
	if c.texts[name] == "" {
		t.Fatalf("files %v", c.files)
	}
	size := protowire.AppendVarint(nil, uint64(len(c.texts[name])))
	at := bytes.Index(data, append([]byte("kernels.cu\x00\x01"), 0)[:12]) // of the line table: directory 1, time, size
	if at < 0 {
		t.Fatal("the line table is not there")
	}
	place := at + bytes.Index(data[at:at+40], size)
	data[place]++
	if c := readCode(t, data); len(c.texts) != 2 || c.texts[name] != "" {
		t.Errorf("the text has %d bytes", len(c.texts[name]))
	}
}

// TestDamagedCode: values are read whatever the compiled code is; where its line table is damaged, the lines are unknown, with the reason.
func TestDamagedCode(t *testing.T) {
	real := codeReport(t)
	head := bytes.Index(real, []byte("\x7fELF"))
	table := bytes.Index(real, []byte("/opt/bench/.src\x00")) - 24 // the first folder stands behind the header
	relocation := bytes.Index(real, []byte("\x02\x00\x00\x00\x12\x00\x00\x00"))
	if table < head || relocation < table {
		t.Fatal(head, table, relocation)
	}
	for name, c := range map[string]struct {
		at       int
		to       []byte
		reason   string
		noOpcode bool
		noPTX    bool
	}{
		"no ELF":                  {head, []byte("X"), "it is no compiled code of a GPU", true, true},
		"another machine":         {head + 18, []byte{62}, "it is no compiled code of a GPU", true, true},
		"a section beyond":        {head + 40, []byte{255, 255, 255, 255, 255, 255, 255, 127}, "it is no compiled code of a GPU", true, true},
		"version 5 of DWARF":      {table + 4, []byte{5}, "in version 5 of DWARF", false, false},
		"a unit that is too long": {table, []byte{255, 255, 255, 127}, "a unit of 2147483647 bytes", false, false},
		"a header that is":        {table + 6, []byte{255, 255, 0, 0}, "line table .debug_line: unit at byte 0: ", false, false},
		"a kind of relocation":    {relocation, []byte{9}, "a relocation of kind 9", false, false},
		"a symbol":                {relocation + 4, []byte{255, 255}, "of symbol 65535", false, false},
		"a place":                 {relocation - 8, []byte{255, 255, 255}, "is not one of a line table", false, false},
		"compute capability 7.0":  {head + 49, []byte{70}, "", true, false},
	} {
		data := slices.Clone(real)
		copy(data[c.at:], c.to)
		r, err := ncu.OpenReport(bytes.NewReader(data), int64(len(data)), "test.ncu-rep")
		if err != nil {
			t.Fatal(name, err)
		}
		values := 0
		if err := r.Each(t.Context(), func(*ncu.Result) error {
			_, _, err := r.EachInstance(func(ncu.Instance) error { values++; return nil })
			return err
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		lines, ptxLines, opcodes := 0, 0, 0
		if err := r.EachInstruction(func(i ncu.Instruction) error {
			if i.Line > 0 {
				lines++
			}
			if i.PTXLine > 0 {
				ptxLines++
			}
			if i.Opcode != "" {
				opcodes++
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		faults := strings.Join(r.Faults(), "; ")
		if values < 500 || (lines > 0) != (c.reason == "") || (ptxLines == 0) != c.noPTX || (opcodes == 0) != c.noOpcode || !strings.Contains(faults, c.reason) || (faults == "") != (c.reason == "") || faults != "" && !strings.HasPrefix(faults, "compiled code at byte ") {
			t.Errorf("%s: %d values, %d lines, %d of PTX, %d opcodes: %s", name, values, lines, ptxLines, opcodes, faults)
		}
	}
}

// TestOpcodeCounts compares the operations with ncu's own counts of each (sass__inst_executed_per_opcode), where the larger reports are there.
func TestOpcodeCounts(t *testing.T) {
	for _, name := range []string{"dsocr-decode", "kernels-full"} {
		path := "../../../shared/captures/ncu/" + name + ".ncu-rep.gz"
		if _, err := os.Stat(path); err != nil {
			t.Skip(err)
		}
		data := fileBytes(t, path)
		c := readCode(t, data)
		_, parts := takeApart(t, data)
		var names [][]byte
		for _, p := range parts {
			for _, table := range fieldsOf(t, p.header, 4) {
				names = append(names, fieldsOf(t, table, 1)...)
			}
		}
		compared := 0
		for _, p := range parts {
			for _, e := range p.entries[len(p.entries)-p.results:] {
				kernel := string(slices.Concat(fieldsOf(t, e, 7)...))
				if kernel == "" {
					kernel = string(slices.Concat(fieldsOf(t, e, 6)...))
				}
				counts, unknown := map[string]float64{}, 0.
				for offset, values := range c.values[kernel] {
					if op := c.instructions[kernel][offset].Opcode; op != "" {
						counts[op] += values["inst_executed"]
					} else {
						unknown += values["inst_executed"]
					}
				}
				for _, m := range fieldsOf(t, e, 13) {
					id, _ := protowire.ConsumeVarint(m[1:])
					if m[0] != 8 || string(names[id]) != "sass__inst_executed_per_opcode" {
						continue
					}
					for _, i := range fieldsOf(t, m, 3) {
						op := string(fieldsOf(t, fieldsOf(t, i, 1)[0], 1)[0])
						want := math.Float64frombits(binary.LittleEndian.Uint64(fieldsOf(t, i, 2)[0][1:]))
						if compared++; counts[op] != want {
							t.Errorf("%s: %s: %v of %s, ncu counts %v", name, kernel, counts[op], op, want)
						}
					}
				}
				if unknown != 0 {
					t.Errorf("%s: %s: %v unknown operations", name, kernel, unknown)
				}
			}
		}
		if compared < 40 {
			t.Errorf("%s: %d operations were compared", name, compared)
		}
	}
}

// TestOpcodes compares the names of operations with what cuobjdump prints of programs compiled for each compute capability.
func TestOpcodes(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(fileBytes(t, "../../testdata/ncu/source/sass.csv.gz"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]int{}
	for _, row := range rows[1:] {
		capability, err := strconv.Atoi(row[0])
		if err != nil {
			t.Fatal(err)
		}
		var instruction []byte
		for _, word := range row[1:3] {
			bits, err := strconv.ParseUint(word, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			instruction = binary.LittleEndian.AppendUint64(instruction, bits)
		}
		known[row[0]]++
		if got := ncu.Opcode(capability, instruction); got != row[3] {
			t.Errorf("%s: %s %s is %q, want %s", row[0], row[1], row[2], got, row[3])
		}
		if ncu.Opcode(capability, instruction[:15]) != "" || ncu.Opcode(70, instruction) != "" {
			t.Errorf("%v: a part, or code for 7.0, has a name", row)
		}
	}
	if len(known) != 8 {
		t.Errorf("compute capabilities %v", known)
	}
	for capability, least := range known {
		if least < 30 {
			t.Errorf("%s has %d operations", capability, least)
		}
	}
}
