package ncu

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sort"
	"strings"
)

// A cubin is an ELF file. Code compiled with -lineinfo or -G has line tables in the form of DWARF: .debug_line with the lines of the
// source, .nv_debug_line_sass with those of the PTX. A table has an address 0 for the begin of each function; relocations name the
// function. The text of the PTX is the section .nv_debug_ptx_txt, lines ended by zero bytes, without comments, paths and line marks.
// Code that was compiled to be linked has a number behind that name, which its table names as the file; other tables name none.

const (
	emCUDA       = 190      // e_machine of a cubin
	absolute64   = 2        // type of the relocations of a line table: a 64-bit address
	maxDebug     = 64 << 20 // bytes of a section that is read; those of the largest libraries have some MiB
	maxLines     = 4 << 20  // lines kept of a cubin
	sectionShift = 40       // of a section's number within the addresses that a line table is given
	ptxText      = ".nv_debug_ptx_txt"
)

// errNoCubin means that something is no code of a GPU.
var errNoCubin = errors.New("it is no compiled code of a GPU")

// cubin is what is known of compiled code: its functions and, where it was compiled with -lineinfo, their lines.
type cubin struct {
	functions   map[string]codeRange // by symbol
	sections    []*elf.Section
	file        *watched
	capability  int // compute capability, 90 for 9.0; 0 when not known
	source, ptx lineTable
	kept        int     // lines of both
	faults      []error // of the tables: one that is damaged has no lines
}

// lineTable says of which line instructions are.
type lineTable struct {
	lines map[uint64][]codeLine // by section, in the order of from
	files []codeFile
}

// codeFile is a source file as a line table names it, or the text of PTX.
type codeFile struct {
	name string
	size int64        // in bytes; 0 when not said
	ptx  *elf.Section // nil for a source file
}

// codeRange is where a function is.
type codeRange struct{ section, from, size uint64 }

// codeLine says of which line the code is from an offset in its section on.
type codeLine struct {
	from uint64
	file int32 // in lineTable.files; -1 for code of no line
	line int32
}

// readCubin reads the symbols and the line tables of a cubin. No code is read.
func readCubin(r io.ReaderAt) (*cubin, error) {
	f, err := elf.NewFile(plainVersion{r})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoCubin, err)
	}
	if f.Machine != emCUDA || f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		return nil, errNoCubin
	}
	for _, s := range f.Sections {
		if (s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_STRTAB) && (s.Flags&elf.SHF_COMPRESSED != 0 || s.Size > maxDebug) {
			return nil, fmt.Errorf("section %s has %d bytes or is compressed", s.Name, s.Size)
		}
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("symbols: %w", err)
	}
	unload(symbols)
	c := &cubin{functions: map[string]codeRange{}, sections: f.Sections}
	if c.capability, err = capability(r, f.OSABI); err != nil {
		return nil, err
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section < elf.SHN_LORESERVE {
			c.functions[s.Name] = codeRange{section: uint64(s.Section), from: s.Value, size: s.Size}
		}
	}
	texts := map[string]*elf.Section{}
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ptxText) {
			texts[s.Name] = s
		}
	}
	c.source = c.readTable(f, symbols, ".debug_line", func(e *dwarf.LineFile) (codeFile, bool) {
		if e == nil {
			return codeFile{}, false
		}
		return codeFile{name: path.Clean(e.Name), size: int64(e.Length)}, true
	})
	c.ptx = c.readTable(f, symbols, ".nv_debug_line_sass", func(e *dwarf.LineFile) (codeFile, bool) {
		name := ptxText
		if e != nil {
			name = e.Name
		}
		return codeFile{name: name, ptx: texts[name]}, texts[name] != nil
	})
	return c, nil
}

// unload makes the values of symbols offsets in their sections: in reports of old versions they are the addresses to which the code was loaded, those of
// sections too; else sections have 0.
func unload(symbols []elf.Symbol) {
	loaded := map[elf.SectionIndex]uint64{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_SECTION {
			loaded[s.Section] = s.Value
		}
	}
	for i := range symbols {
		symbols[i].Value -= loaded[symbols[i].Section]
	}
}

// readTable reads the line table of that name; empty where there is none. fileOf says which file one of the table is, nil where it names none.
func (c *cubin) readTable(f *elf.File, symbols []elf.Symbol, name string, fileOf func(*dwarf.LineFile) (codeFile, bool)) lineTable {
	var t lineTable
	s := f.Section(name)
	if s == nil {
		return t
	}
	data, err := sectionData(s)
	if err == nil {
		err = relocate(f, symbols, name, data)
	}
	if err == nil {
		t, err = c.readLines(data, fileOf)
	}
	if err != nil {
		c.faults = append(c.faults, fmt.Errorf("line table %s: %w", name, err))
		return lineTable{}
	}
	return t
}

// plainVersion gives a cubin's header the version that ELF has: some cubins have that of their compiler there.
type plainVersion struct{ io.ReaderAt }

func (v plainVersion) ReadAt(b []byte, at int64) (int, error) {
	n, err := v.ReaderAt.ReadAt(b, at)
	version := [4]byte{byte(elf.EV_CURRENT)}
	for i := range version {
		if place := 20 + int64(i) - at; place >= 0 && place < int64(n) {
			b[place] = version[i]
		}
	}
	return n, err
}

func sectionData(s *elf.Section) ([]byte, error) {
	if s.Flags&elf.SHF_COMPRESSED != 0 || s.FileSize > maxDebug {
		return nil, fmt.Errorf("section %s has %d bytes or is compressed", s.Name, s.FileSize)
	}
	data, err := s.Data()
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", s.Name, err)
	}
	return data, nil
}

// relocate writes into a line table the addresses of its functions, each in a range of its section's own.
func relocate(f *elf.File, symbols []elf.Symbol, of string, table []byte) error {
	for prefix, size := range map[string]int{".rela": 24, ".rel": 16} {
		name := prefix + of
		s := f.Section(name)
		if s == nil {
			continue
		}
		data, err := sectionData(s)
		if err != nil {
			return err
		}
		for ; len(data) >= size; data = data[size:] {
			at, info := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
			symbol, kind := info>>32, info&0xffffffff
			if kind != absolute64 || symbol == 0 || symbol > uint64(len(symbols)) || at > uint64(len(table)) || uint64(len(table))-at < 8 {
				return fmt.Errorf("section %s: a relocation of kind %d of symbol %d at byte %d is not one of a line table", name, kind, symbol, at)
			}
			to := symbols[symbol-1]
			address := binary.LittleEndian.Uint64(table[at:])
			if size == 24 {
				address = binary.LittleEndian.Uint64(data[16:])
			}
			binary.LittleEndian.PutUint64(table[at:], uint64(to.Section)<<sectionShift+(address+to.Value)&(1<<sectionShift-1))
		}
	}
	return nil
}

// readLines reads the units of a line table: one of each file that was compiled.
func (c *cubin) readLines(table []byte, fileOf func(*dwarf.LineFile) (codeFile, bool)) (lineTable, error) {
	t := lineTable{lines: map[uint64][]codeLine{}}
	numbers := map[codeFile]int32{}
	for at := 0; at < len(table); {
		if len(table)-at < 6 {
			return t, fmt.Errorf("byte %d: it ends inside a header", at)
		}
		size, version := binary.LittleEndian.Uint32(table[at:]), binary.LittleEndian.Uint16(table[at+4:])
		if int64(size) > int64(len(table)-at-4) || size < 2 || version < 2 || version > 4 {
			return t, fmt.Errorf("byte %d: a unit of %d bytes in version %d of DWARF", at, size, version)
		}
		unit := table[at : at+4+int(size)]
		reader, err := lineReader(unit)
		if err != nil {
			return t, fmt.Errorf("unit at byte %d: %w", at, err)
		}
		for {
			var e dwarf.LineEntry
			if err := reader.Next(&e); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return t, fmt.Errorf("unit at byte %d: %w", at, err)
			}
			if c.kept++; c.kept > maxLines {
				return t, fmt.Errorf("more than %d lines", maxLines)
			}
			l := codeLine{from: e.Address & (1<<sectionShift - 1), file: -1}
			if !e.EndSequence && e.Line > 0 && e.Line == int(int32(e.Line)) {
				if file, has := fileOf(e.File); has {
					n, known := numbers[file]
					if !known {
						n = int32(len(t.files))
						numbers[file] = n
						t.files = append(t.files, file)
					}
					l.file, l.line = n, int32(e.Line)
				}
			}
			section := e.Address >> sectionShift
			lines := t.lines[section]
			// Of several lines of one address the last one counts.
			if n := len(lines); n > 0 && lines[n-1].from == l.from && !e.EndSequence {
				lines[n-1] = l
			} else {
				lines = append(lines, l)
			}
			t.lines[section] = lines
		}
		at += len(unit)
	}
	for _, lines := range t.lines { // sections that hold several functions can have them in any order
		slices.SortStableFunc(lines, func(a, b codeLine) int {
			return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(min(a.file, 0), min(b.file, 0))) // where one function ends and the next begins, the line counts
		})
	}
	return t, nil
}

// lineReader reads one unit of a line table. The package dwarf finds one from the description of a unit only, so it gets the least that is one.
func lineReader(unit []byte) (*dwarf.LineReader, error) {
	abbrev := []byte{1, 0x11, 0, 0x10, 0x06, 0, 0, 0}               // 1: DW_TAG_compile_unit, no children, DW_AT_stmt_list as DW_FORM_data4
	info := []byte{12, 0, 0, 0, 2, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0} // version 2, abbreviations at 0, addresses of 8 bytes; entry 1, lines at 0
	d, err := dwarf.New(abbrev, nil, nil, info, unit, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	entry, err := d.Reader().Next()
	if err != nil {
		return nil, err
	}
	return d.LineReader(entry)
}

// capability reads for which compute capability code is: the place in e_flags depends on the version of CUDA's ABI.
func capability(r io.ReaderAt, abi elf.OSABI) (int, error) {
	var flags [4]byte
	if _, err := r.ReadAt(flags[:], 48); err != nil {
		return 0, fmt.Errorf("header: %w", err)
	}
	switch abi {
	case 0x33:
		return int(flags[0]), nil
	case 0x41:
		return int(flags[1]), nil
	}
	return 0, nil
}

// instructions reads the code of a function; nil for one that is in no section of the file.
func (c *cubin) instructions(f codeRange) ([]byte, error) {
	if f.section >= uint64(len(c.sections)) {
		return nil, nil
	}
	s := c.sections[f.section]
	if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_COMPRESSED != 0 || f.from > s.FileSize || f.size > s.FileSize-f.from || f.size > maxFunctionBytes {
		return nil, nil
	}
	code := make([]byte, f.size)
	if n, err := s.ReadAt(code, int64(f.from)); n < len(code) {
		return nil, fmt.Errorf("section %s: %w", s.Name, err)
	}
	return code, nil
}

// line returns the file and line of the instruction at an offset in a function; ok is false where none is known.
func (t lineTable) line(f codeRange, offset int32) (file codeFile, line int32, ok bool) {
	at := f.from + uint64(offset)
	lines := t.lines[f.section]
	i := sort.Search(len(lines), func(i int) bool { return lines[i].from > at }) - 1
	if i < 0 || lines[i].file < 0 {
		return codeFile{}, 0, false
	}
	return t.files[lines[i].file], lines[i].line, true
}
