package ncu_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/ingest/ncu"
)

// elfOf parses compiled code, in whose header the version of ELF is that of the compiler.
func elfOf(t testing.TB, cubin []byte) *elf.File {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(slices.Concat(cubin[:20], []byte{1, 0, 0, 0}, cubin[24:])))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// cubinReport makes a report of compiled code, with a value at each instruction of its functions.
func cubinReport(t testing.TB, cubin []byte) []byte {
	t.Helper()
	symbols, err := elfOf(t, cubin).Symbols()
	if err != nil {
		t.Fatal(err)
	}
	module, metric := [][]byte{uintField(1, 1), messageField(4, cubin)}, [][]byte{uintField(1, 0), messageField(2, doubleField(3, 1))}
	address := uint64(1) << 40
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 {
			continue
		}
		module = append(module, messageField(9, messageField(1, textField(1, s.Name), uintField(2, address))))
		for o := uint64(0); o < s.Size; o += 16 {
			metric = append(metric, messageField(3, messageField(1, uintField(5, address+o)), messageField(2, doubleField(3, 1))))
		}
		address += 1 << 20
	}
	return reportWith(blockWith(stringTable("inst_executed")), blockWith(uintField(1, 1), slices.Concat(module...)),
		blockWith(uintField(2, 1), slices.Concat(textField(7, "kernel"), messageField(15, uintField(1, 1)), messageField(13, metric...))))
}

// codeOf is the compiled code of a capture, or of a file of its own.
func codeOf(t testing.TB, name string) []byte {
	t.Helper()
	if name == "debug" || name == "linked" {
		return fileBytes(t, "../../testdata/ncu/source/"+name+".cubin.gz")
	}
	data := reportOf(t, "source/"+name)
	return data[bytes.Index(data, []byte("\x7fELF")):]
}

// ptxRead is what the reader gives of a report's PTX: the instructions by function and offset, and the texts.
type ptxRead struct {
	instructions map[string]ncu.Instruction // by symbol:offset
	texts        map[int32]string           // by file
}

func readPTX(t *testing.T, data []byte) ptxRead {
	t.Helper()
	r, err := ncu.OpenReport(bytes.NewReader(data), int64(len(data)), "test.ncu-rep")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Each(t.Context(), func(*ncu.Result) error {
		_, _, err := r.EachInstance(func(ncu.Instance) error { return nil })
		return err
	}); err != nil {
		t.Fatal(err)
	}
	out := ptxRead{map[string]ncu.Instruction{}, map[int32]string{}}
	functions := r.Functions()
	if err := r.EachInstruction(func(i ncu.Instruction) error {
		out.instructions[fmt.Sprintf("%s:%d", functions[i.Function-1].Symbol, i.Offset)] = i
		return nil
	}); err != nil || len(r.Faults()) > 0 {
		t.Fatal(err, r.Faults())
	}
	for _, f := range r.Files() {
		if !strings.HasSuffix(f.Name, ".ptx") {
			continue
		}
		if out.texts[f.ID], err = r.Text(f); err != nil || f.Name != f.SHA256[:12]+".ptx" {
			t.Fatal(f, err)
		}
	}
	return out
}

// TestPTXLines compares the line of each instruction with what nvdisasm -gp prints of the same code: compiled with -lineinfo, by Triton,
// with -G, and linked of two files.
func TestPTXLines(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(fileBytes(t, "../../testdata/ncu/source/ptx.csv.gz"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	read, compared, sections := map[string]ptxRead{}, map[string]int{}, map[string]int32{}
	for _, row := range rows[1:] {
		name := row[0]
		if _, known := read[name]; !known {
			read[name] = readPTX(t, cubinReport(t, codeOf(t, name)))
		}
		i, known := read[name].instructions[row[1]+":"+row[2]]
		if line, err := strconv.ParseInt(row[4], 10, 32); err != nil || !known || int64(i.PTXLine) != line {
			t.Errorf("%v: line %d", row, i.PTXLine)
		}
		section := name + row[3]
		if sections[section] == 0 {
			sections[section] = i.PTXFile
		}
		if i.PTXFile == 0 || sections[section] != i.PTXFile {
			t.Errorf("%v: file %d, others of the section have %d", row, i.PTXFile, sections[section])
		}
		compared[name]++
	}
	if fmt.Sprint(compared) != "map[debug:504 lines:544 linked:56 triton:96]" || len(sections) != 5 {
		t.Errorf("%v instructions were compared, of %v", compared, sections)
	}
	for function, want := range map[string]string{"ka:48": "ld.global.b32 %r1, [%rd2];", "kb:48": "ld.global.b32 %r1, [%rd2];", "kb:64": "add.s32 %r1, %r1, 5;", "helper:0": "mad.lo.s32 %r2, %r1, %r1, 7;"} {
		i := read["linked"].instructions[function]
		if got := strings.Split(read["linked"].texts[i.PTXFile], "\n"); int(i.PTXLine) > len(got) || got[i.PTXLine-1] != want {
			t.Errorf("%s: line %d of %q, want %q", function, i.PTXLine, got, want)
		}
	}
}

// TestPTXText compares the text with ncu's page of it (--page source --print-source ptx).
func TestPTXText(t *testing.T) {
	for name, lines := range map[string]int{"triton": 198, "debug": 1756} {
		var want strings.Builder
		for _, line := range strings.Split(string(fileBytes(t, "../../testdata/ncu/source/"+name+".ptx.csv.gz")), "\n")[1:] {
			if row := sourceRow(line); len(row) > 1 {
				fmt.Fprintln(&want, strings.Join(row[1:], `","`))
			}
		}
		texts := readPTX(t, cubinReport(t, codeOf(t, name))).texts
		for _, got := range texts {
			if got != want.String() || strings.Count(got, "\n") != lines {
				t.Errorf("%s: the text has %d lines, the page %d", name, strings.Count(got, "\n"), strings.Count(want.String(), "\n"))
			}
		}
		if len(texts) != 1 {
			t.Errorf("%s: %d texts", name, len(texts))
		}
	}
}

// headerOf is where the header of a section stands in compiled code: type at 4, flags at 8, offset at 24, size at 32.
func headerOf(t testing.TB, cubin []byte, name string) int {
	t.Helper()
	i := slices.IndexFunc(elfOf(t, cubin).Sections, func(s *elf.Section) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no section %s", name)
	}
	return int(binary.LittleEndian.Uint64(cubin[40:])) + 64*i
}

// withTable puts a line table of PTX into compiled code.
func withTable(t testing.TB, cubin, table []byte) []byte {
	out := slices.Concat(cubin, table)
	header := out[headerOf(t, cubin, ".nv_debug_line_sass"):]
	binary.LittleEndian.PutUint64(header[24:], uint64(len(cubin)))
	binary.LittleEndian.PutUint64(header[32:], uint64(len(table)))
	return out
}

// tableOf is the line table of PTX of compiled code.
func tableOf(t testing.TB, cubin []byte) []byte {
	header := cubin[headerOf(t, cubin, ".nv_debug_line_sass"):]
	at := binary.LittleEndian.Uint64(header[24:])
	return cubin[at : at+binary.LittleEndian.Uint64(header[32:])]
}

// FuzzLines reads bytes as a line table of PTX.
func FuzzLines(f *testing.F) {
	cubin := codeOf(f, "linked")
	real := tableOf(f, cubin)
	f.Add(real)
	f.Add(real[:len(real)/2])
	f.Add(tableOf(f, codeOf(f, "triton")))
	f.Add(slices.Concat(real[:60], bytes.Repeat([]byte{0x03, 0xff, 0xff, 0xff, 0x07, 0x01}, 90)))       // lines beyond
	f.Add(slices.Concat(real[:63], bytes.Repeat([]byte{0x02, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x01}, 90))) // addresses beyond
	f.Add(append(slices.Clone(real), 0xff, 0xff, 0xff, 0xff, 2, 0))
	f.Fuzz(func(t *testing.T, table []byte) { checkReport(t, cubinReport(t, withTable(t, cubin, table))) })
}

// TestDamagedPTX: where the PTX or its lines are damaged, its lines alone are unknown, with the reason and place.
func TestDamagedPTX(t *testing.T) {
	cubin := codeOf(t, "linked")
	table, first, second := tableOf(t, cubin), headerOf(t, cubin, ".nv_debug_ptx_txt.725059556"), headerOf(t, cubin, ".nv_debug_ptx_txt.1939249170")
	with := func(at int, b ...byte) []byte {
		out := slices.Clone(cubin)
		copy(out[at:], b)
		return out
	}
	changed := func(at int, b ...byte) []byte {
		out := slices.Clone(table)
		copy(out[at:], b)
		return withTable(t, cubin, out)
	}
	overlapping := with(second+24, cubin[first+24:first+32]...)
	copy(overlapping[second+32:], binary.LittleEndian.AppendUint64(nil, 7000))
	copy(overlapping[first+24:], make([]byte, 8))
	copy(overlapping[first+32:], binary.LittleEndian.AppendUint64(nil, 7000))
	copy(overlapping[second+24:], make([]byte, 8))
	for name, c := range map[string]struct {
		cubin   []byte
		lines   int // of PTX that are known, of 56
		reasons []string
	}{
		"nothing":            {cubin, 56, nil},
		"no text":            {with(first+4, 8), 32, []string{"section .nv_debug_ptx_txt.725059556: it has 391 bytes, is compressed or overlaps another"}},
		"a compressed text":  {with(first+9, 8), 32, []string{"section .nv_debug_ptx_txt.725059556: it has 391 bytes, is compressed or overlaps another"}},
		"a text beyond":      {with(first+24, 0, 0, 0, 0, 0, 0, 0, 1), 32, []string{"section .nv_debug_ptx_txt.725059556: "}},
		"a text of 2^56":     {with(first+32, 0, 0, 0, 0, 0, 0, 0, 1), 32, []string{"section .nv_debug_ptx_txt.725059556: "}},
		"texts that overlap": {overlapping, 24, []string{"section .nv_debug_ptx_txt.1939249170: it has 7000 bytes, is compressed or overlaps another"}},
		"version 5":          {changed(0x61+4, 5), 0, []string{"line table .nv_debug_line_sass: byte 97: a unit of 113 bytes in version 5 of DWARF"}},
		"a unit too long":    {changed(0x61, 255, 255, 255, 127), 0, []string{"line table .nv_debug_line_sass: byte 97: a unit of 2147483647 bytes"}},
		"a header that is":   {changed(0x61+6, 255, 255, 0, 0), 0, []string{"line table .nv_debug_line_sass: unit at byte 97: "}},
		"a part of a header": {withTable(t, cubin, table[:0x61+3]), 0, []string{"line table .nv_debug_line_sass: section .rela.nv_debug_line_sass: "}},
		"another file":       {changed(26, 'x'), 32, nil},
	} {
		r, err := ncu.OpenReport(bytes.NewReader(cubinReport(t, c.cubin)), int64(len(cubinReport(t, c.cubin))), "test.ncu-rep")
		if err != nil {
			t.Fatal(name, err)
		}
		if err := r.Each(t.Context(), func(*ncu.Result) error {
			_, _, err := r.EachInstance(func(ncu.Instance) error { return nil })
			return err
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		lines, sourceLines := 0, 0
		if err := r.EachInstruction(func(i ncu.Instruction) error {
			if (i.PTXLine > 0) != (i.PTXFile > 0) {
				t.Errorf("%s: %+v", name, i)
			}
			if i.PTXLine > 0 {
				lines++
			}
			if i.Line > 0 {
				sourceLines++
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		faults := r.Faults()
		if lines != c.lines || sourceLines != 56 || len(faults) != len(c.reasons) {
			t.Errorf("%s: %d lines of PTX, %d of the source: %q", name, lines, sourceLines, faults)
		}
		for i := range min(len(faults), len(c.reasons)) {
			if !strings.HasPrefix(faults[i], "compiled code at byte ") || !strings.Contains(faults[i], c.reasons[i]) {
				t.Errorf("%s: %s", name, faults[i])
			}
		}
	}
}
