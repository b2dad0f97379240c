package ncu_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/ingest/ncu"
	"prof/internal/sample"
)

// maxAllocated bounds what the reading of a fuzzed report may allocate: 1 MiB, and so much for each of its bytes. Ranges that take
// two bytes each in the file take the most.
const maxAllocated = 512

// checkReport reads what may be a report. Whole results or an error that the reader documents are right; a panic, results that
// cannot be, or more memory than the file accounts for are not.
func checkReport(t *testing.T, data []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := ncu.OpenReport(bytes.NewReader(data), int64(len(data)), "test.ncu-rep")
	n, values := int32(0), 0
	if err == nil {
		if r.Lost < 0 || r.Lost > int64(len(data)) || r.Lost > 0 && !r.Cut {
			t.Errorf("%d of %d bytes lost, cut: %v", r.Lost, len(data), r.Cut)
		}
		err = r.Each(t.Context(), func(x *ncu.Result) error {
			checkResult(t, x, n)
			n++
			_, _, err := r.EachInstance(func(i ncu.Instance) error {
				values++
				if i.Metric == "" || i.Function < 1 || i.Offset < 0 {
					t.Errorf("%+v", i)
				}
				return nil
			})
			if err == nil {
				err = checkSamples(t, r)
			}
			return err
		})
	}
	if err == nil {
		functions := int32(len(r.Functions()))
		err = r.EachInstruction(func(i ncu.Instruction) error {
			values--
			if i.Function < 1 || i.Function > functions || i.Offset < 0 || i.Line < 0 || (i.File > 0) != (i.Line > 0) || (i.PTXFile > 0) != (i.PTXLine > 0) || max(int(i.File), int(i.PTXFile)) > len(r.Files()) {
				t.Errorf("%+v", i)
			}
			return nil
		})
		for _, f := range r.Files() {
			if text, err := r.Text(f); err != nil || len(text) > 3*len(data) {
				t.Errorf("%d bytes of text in %d: %v", len(text), len(data), err)
			}
		}
		if values < 0 {
			t.Errorf("there are %d more instructions than values", -values)
		}
	}
	if err != nil && !errors.Is(err, ncu.ErrDamaged) && !errors.Is(err, ncu.ErrNotReport) {
		t.Errorf("an error of another kind: %v", err)
	}
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<20+maxAllocated*uint64(len(data)) {
		t.Errorf("%d bytes of input took %d bytes of memory", len(data), spent)
	}
	if int(n) > len(data)/4 { // the size of a result alone takes 4 bytes
		t.Errorf("%d results in %d bytes", n, len(data))
	}
}

// checkResult checks what holds of every result.
func checkResult(t *testing.T, x *ncu.Result, id int32) {
	t.Helper()
	for _, m := range x.Metrics {
		if m.Text != "" && !m.IsText && m.Value < 1<<53 {
			t.Errorf("%s = %v is written as %s", m.Name, m.Value, m.Text)
		}
		if m.IsText && m.Value != 0 {
			t.Errorf("%s is the text %q and the number %v", m.Name, m.Text, m.Value)
		}
	}
	if x.ID != id || x.Kind.String() == "" || x.PID < 0 || x.TID < 0 || !x.HasNVTX && len(x.Ranges) > 0 {
		t.Errorf("result %d: %+v", id, x)
	}
	for _, f := range x.Findings {
		if f.Message == "" {
			t.Errorf("a finding of %s without a message", f.Rule)
		}
	}
}

// firstOf leaves only the first n fields of that number, and of these only short ones.
func firstOf(t testing.TB, msg []byte, number protowire.Number, n int) []byte {
	t.Helper()
	left, _ := withoutField(msg, number)
	for _, x := range fieldsOf(t, msg, number) {
		if n > 0 && len(x) < 1500 {
			left = append(left, messageField(number, x)...)
			n--
		}
	}
	return left
}

// thin makes a report of two results with a few metrics, a section and a finding each, without sources, so that a fuzzer comes
// far in it.
func thin(t testing.TB, data []byte, metrics int) []byte {
	t.Helper()
	head, parts := takeApart(t, data)
	var all [][]byte // names in the report
	for _, p := range parts {
		for _, table := range fieldsOf(t, p.header, 4) {
			all = append(all, fieldsOf(t, table, 1)...)
		}
	}
	var names []string
	var blocks [][]byte
	results := 0
	for _, p := range parts {
		if results += p.results; p.results > 0 && results > 2 {
			continue
		}
		header := p.header
		for _, number := range []protowire.Number{5, 4, 1} { // sizes, names, sources
			header, _ = withoutField(header, number)
		}
		for _, session := range fieldsOf(t, header, 3) {
			header, _ = withoutField(header, 3)
			for _, device := range fieldsOf(t, session, 6) {
				session, _ = withoutField(session, 6)
				session = append(session, messageField(6, firstOf(t, device, 3, 4))...)
			}
			header = append(header, messageField(3, session)...)
		}
		metric, section, rule := protowire.Number(4), protowire.Number(7), protowire.Number(22)
		if p.fields[2] > 0 {
			metric, section, rule = 13, 17, 19
		}
		var entries [][]byte
		for _, e := range p.entries[len(p.entries)-p.results:] {
			left := firstOf(t, firstOf(t, firstOf(t, e, section, 1), rule, 1), 15, 0)
			left, _ = withoutField(left, metric)
			for _, m := range fieldsOf(t, firstOf(t, e, metric, metrics), metric) {
				id, _ := protowire.ConsumeVarint(m[1:])
				rest, _ := withoutField(m, 1)
				left = append(left, messageField(metric, uintField(1, uint64(len(names))), rest)...)
				names = append(names, string(all[id]))
			}
			entries = append(entries, left)
		}
		blocks = append(blocks, blockWith(header, entries...))
	}
	return slices.Concat(head, blockWith(stringTable(names...)), slices.Concat(blocks...))
}

// thinReports are those of testdata, thinned.
func thinReports(t testing.TB) (out [][]byte) {
	t.Helper()
	for _, name := range []string{"kernels-prefill", "kernels-range", "variants-apprange", "variants-graph"} {
		data := thin(t, reportOf(t, name), 12)
		r, got := results(t, data)
		if len(got) != 2 || len(data) > 8<<10 || len(got[0].Metrics) != 12 || r.Lost != 0 || got[0].Metrics[0].Name == "" {
			t.Fatalf("%s: %d results of %d bytes", name, len(got), len(data))
		}
		out = append(out, data)
	}
	return out
}

// patched overwrites, cuts or grows a report: each patch takes three bytes of place, a byte of what to do and one of value.
func patched(data, patches []byte) []byte {
	data = slices.Clone(data)
	for ; len(patches) >= 5 && len(data) > 0; patches = patches[5:] {
		at := (int(patches[0])<<16 | int(binary.BigEndian.Uint16(patches[1:]))) % len(data)
		switch v := patches[4]; patches[3] % 8 {
		case 0:
			data = data[:at]
		case 1:
			clear(data[at:])
		case 2:
			data = slices.Insert(data, at, bytes.Repeat([]byte{v}, int(v)%16)...)
		case 3:
			data = slices.Delete(data, at, min(at+int(v), len(data)))
		default:
			data[at] = v
		}
	}
	return data
}

// checkSamples holds the samples of a result to what they are: each after the one before, of a time of its own, and all read ones counted.
func checkSamples(t *testing.T, r *ncu.Report) error {
	t.Helper()
	count := int64(0)
	read, err := r.EachSampled(func(metric, _ string, list []ncu.Sample) error {
		for i, s := range list {
			count += int64(s.Count)
			if metric == "" || s.Count < 1 || s.EndNs <= s.StartNs || i > 0 && s.StartNs < list[i-1].EndNs || len(list) > 1024 {
				t.Errorf("%s: sample %d of %d: %+v", metric, i, len(list), s)
			}
		}
		return nil
	})
	if err == nil && read != count {
		t.Errorf("%d samples are given, %d are said to be read", count, read)
	}
	return err
}

// tabledReport has a kernel with a finding of two tables: texts, numbers one by one and packed.
func tabledReport() []byte {
	table := func(title string, columns ...[]byte) []byte {
		return messageField(12, messageField(1, textField(1, title)), slices.Concat(columns...))
	}
	return oneKernel([]string{"a"}, metricField(0, doubleField(3, 1)), messageField(19, textField(1, "Rule"), messageField(3, messageField(1, messageField(1, textField(1, "found")),
		table("one", messageField(2, textField(1, "Source"), textField(4, "x += y;"), textField(4, "z")), messageField(2, textField(1, "Count"), uintField(6, 5), uintField(6, 1))),
		table("two", messageField(2, textField(1, "Share"), doubleField(5, 0.5)), messageField(2, textField(1, "Packed"), messageField(6, []byte{5, 0x81, 1})))))))
}

// FuzzReport reads bytes as a report.
func FuzzReport(f *testing.F) {
	for i, data := range thinReports(f) {
		f.Add(data)
		f.Add(data[:len(data)*2/3])
		f.Add(patched(data, []byte{0, byte(3 + i), 1, 4, 255, 0, byte(20 + i), 7, 5, 0, 0, 200, 0, 2, 9}))
	}
	code := codeReport(f)
	f.Add(code)
	f.Add(cubinReport(f, codeOf(f, "linked")))
	f.Add(patched(code, []byte{0, 90, 200, 7, 5, 0, 0, 200, 7, 255}))
	f.Add([]byte(ncu.Magic))
	f.Add(sampledKernel(20, func(i int) float64 { return float64(i % 3) }))
	f.Add(tabledReport())
	f.Add(oneKernel([]string{"a"}, metricField(0, doubleField(3, 1)), state(thread(0, stack(1, open{"r", 1})), startEnd(0, open{"s", 2})),
		messageField(19, messageField(3, messageField(1, messageField(1, textField(1, "x")), messageField(10, uintField(1, 1), doubleField(2, 5)))))))
	many := bytes.Repeat(messageField(3), 10_001) // ranges, and cells
	f.Add(oneKernel([]string{"a"}, metricField(0, doubleField(3, 1)), messageField(21, messageField(3, many))))
	f.Add(oneKernel([]string{"a"}, metricField(0, doubleField(3, 1)), messageField(19, messageField(3, messageField(1, messageField(12, messageField(2, bytes.Repeat(messageField(4), 100_001))))))))
	f.Fuzz(func(t *testing.T, data []byte) { checkReport(t, data) })
}

// randomPatches are patches that know what a report is made of: sizes, tags and texts.
func randomPatches(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 9))
	patches := make([]byte, 5*(1+random.IntN(4)))
	for i := range patches {
		patches[i] = byte(random.Uint32())
		if i%5 == 4 {
			patches[i] = []byte{0, 1, 8, 18, 127, 128, 255, patches[i]}[random.IntN(8)]
		}
	}
	return patches
}

// TestDamagedReports is a short FuzzReport.
func TestDamagedReports(t *testing.T) {
	reports := append(thinReports(t), smallReport(t), codeReport(t), cubinReport(t, codeOf(t, "linked")), sampledKernel(20, func(i int) float64 { return float64(i % 3) }), tabledReport())
	for seed := range sample.Of(make([]int, 4000), 4) {
		i := seed % len(reports)
		if checkReport(t, patched(reports[i], randomPatches(uint64(seed)))); t.Failed() {
			t.Fatalf("seed %d, report %d", seed, i)
		}
	}
}

// TestDamagedReportsStored: what the reader takes the warehouse takes, whatever the texts and numbers are.
func TestDamagedReportsStored(t *testing.T) {
	reports := append(thinReports(t), codeReport(t), sampledKernel(20, func(i int) float64 { return float64(i % 3) }), tabledReport())
	stored, rounds := 0, 60
	for seed := range rounds {
		data := patched(reports[seed%len(reports)], randomPatches(uint64(seed)))
		k, _, err := tryStored(t, saved(t, "damaged.ncu-rep", data))
		if err != nil {
			if !isRefusal(err) {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		}
		stored++
		for _, what := range []string{"a metric has no name", "a metric has no launch", "a launch has no kernel name", "a path is missing",
			"a section's metric has no name", "a finding's metric has none"} {
			if rows := storeFaults[what](k); len(rows) > 0 {
				t.Errorf("seed %d: %s: %d rows, the first %s", seed, what, len(rows), rows[0])
			}
		}
	}
	t.Logf("%d of %d were stored", stored, rounds)
	if stored < rounds/4 {
		t.Errorf("only %d of %d were stored", stored, rounds)
	}
}
