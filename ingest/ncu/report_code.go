package ncu

import (
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sort"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The sources of a report are messages of their own, before the results that ran their code: 1 module, 4 cubin, 8 source files that
// ncu imported (1 each: 1 name, 2 text), 9 functions that were profiled (1 each: 1 symbol, 2 address). A module's functions come in
// several sources, and its cubin with the first. Results name their module in field 15 (1).

// Limits of what the code of a report can make the reader hold.
const (
	maxFunctionBytes = 64 << 20 // code of one function whose size is not known
	maxFunctions     = 1 << 20  // in the report, as the next
	maxSourceFiles   = 1 << 16
	maxSourceText    = 8 << 20 // of one file, in bytes
	maxInstructions  = 8 << 20 // in the report
	maxSymbol        = 1 << 20 // a name, in bytes
)

// Function is a function of which values of single instructions are known.
type Function struct {
	ID     int32  // 1, 2, ... in the report
	Symbol string // mangled name; "" when not said

	address, size uint64 // size is 0 when not known
	module        *module
	offsets       map[int32]struct{} // of instructions with values
}

// SourceFile is a file that instructions come from, or the text of the PTX that code was compiled from.
type SourceFile struct {
	ID     int32  // 1, 2, ... in the report
	Name   string // of PTX, the begin of SHA256 and .ptx
	SHA256 string // of the text, as the report has it; "" without one
	text   place
	isPTX  bool
}

// Instruction is an instruction of a Function.
type Instruction struct {
	Function int32
	Offset   int32  // from the function's begin, in bytes
	File     int32  // 0 when not known
	Line     int32  // 1, 2, ...; 0 when not known
	PTXFile  int32  // 0 when not known
	PTXLine  int32  // 1, 2, ...; 0 when not known
	Opcode   string // operation without its modifiers, as LDG; "" when not known
}

// place is where something stands in a report; size 0 is nowhere.
type place struct{ at, size int64 }

// source is one message of compiled code, unread.
type source struct {
	place
	pid int32
}

// code is the compiled code of a report. Sources are noted as they are passed and read when a value of an instruction needs them.
type code struct {
	sources      []source
	modules      map[moduleKey]*module
	texts, known int         // of all modules: source files with text, and functions
	functions    []*Function // that have values
	files        []*SourceFile
	instructions int
	faults       map[string]int // what could not be read of sources, and how often
}

type moduleKey struct {
	pid int32
	id  uint64
}

// module is a loaded cubin.
type module struct {
	functions []*Function // by address
	cubin     place
	texts     []sourceText
	ptxBytes  int64 // that were read; sections that overlap could make it more than the cubin has
	read      *cubin
	isRead    bool
}

// sourceText is a file that ncu imported.
type sourceText struct {
	name string
	text place
}

func (c *code) fault(what string, err error) {
	if c.faults == nil {
		c.faults = map[string]int{}
	}
	if len(c.faults) < 8 { // one cause has many places
		c.faults[fmt.Sprintf("%s: %v", what, err)]++
	}
}

// Faults returns what of the compiled code could not be read. Instructions of it have no lines.
func (r *Report) Faults() []string {
	var out []string
	for what := range r.code.faults {
		out = append(out, what)
	}
	slices.Sort(out)
	return out
}

// readSources reads the sources that were passed since the last time. One that is damaged is a fault: the results do not need it.
func (r *Report) readSources() error {
	c := &r.code
	for _, s := range c.sources {
		err := r.readSource(s)
		if bad := (*wireError)(nil); errors.As(err, &bad) {
			c.fault(fmt.Sprintf("compiled code at byte %d", s.at), err)
		} else if err != nil {
			return err
		}
	}
	c.sources = c.sources[:0]
	return nil
}

func (r *Report) readSource(s source) error {
	key := moduleKey{pid: s.pid}
	var cubin place
	var files, functions []place
	err := r.eachPlace(s.place, func(f field, p place) error {
		switch {
		case f.number(1):
			key.id = f.int
		case f.message(4):
			cubin = p
		case f.message(8):
			files = append(files, p)
			return fewer(len(files), maxSourceFiles, "lists of source files")
		case f.message(9):
			functions = append(functions, p)
			return fewer(len(functions), maxSourceFiles, "lists of functions")
		}
		return nil
	})
	if err != nil {
		return err
	}
	m := r.code.modules[key]
	if m == nil {
		if r.code.modules == nil {
			r.code.modules = map[moduleKey]*module{}
		}
		m = &module{}
		r.code.modules[key] = m
	}
	if cubin.size > 0 && m.cubin.size == 0 {
		m.cubin = cubin
	}
	for _, p := range files {
		if err := r.eachPlace(p, func(f field, p place) error {
			if !f.message(1) || r.code.texts == maxSourceFiles {
				return nil
			}
			r.code.texts++
			return r.importedText(m, p)
		}); err != nil {
			return err
		}
	}
	for _, p := range functions {
		if err := r.eachPlace(p, func(f field, p place) error {
			if !f.message(1) || r.code.known == maxFunctions {
				return nil
			}
			r.code.known++
			return r.function(m, p)
		}); err != nil {
			return err
		}
	}
	slices.SortStableFunc(m.functions, func(a, b *Function) int { return cmp.Compare(a.address, b.address) })
	m.functions = slices.CompactFunc(m.functions, func(a, b *Function) bool { return a.address == b.address })
	return nil
}

func (r *Report) importedText(m *module, p place) error {
	var t sourceText
	var name place
	err := r.eachPlace(p, func(f field, p place) error {
		switch {
		case f.message(1):
			name = p
		case f.message(2):
			t.text = p
		}
		return nil
	})
	if err != nil {
		return err
	}
	if t.name, err = r.text(name, maxSymbol); err != nil {
		return err
	}
	m.texts = append(m.texts, t)
	return nil
}

func (r *Report) function(m *module, p place) error {
	f := &Function{module: m}
	var symbol place
	err := r.eachPlace(p, func(x field, p place) error {
		switch {
		case x.message(1):
			symbol = p
		case x.number(2):
			f.address = x.int
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.Symbol, err = r.text(symbol, maxSymbol); err != nil {
		return err
	}
	if m.isRead && m.read != nil {
		f.size = m.read.functions[f.Symbol].size
	}
	m.functions = append(m.functions, f)
	return nil
}

// text reads a text that is no longer than most; of a longer one, nothing.
func (r *Report) text(p place, most int64) (string, error) {
	if p.size == 0 || p.size > most {
		return "", nil
	}
	b := make([]byte, p.size)
	if err := r.read(b, p.at); err != nil {
		return "", err
	}
	return field{bytes: b}.text(), nil
}

// eachPlace is eachField for a message that is not read into memory: of fields with a length it gives the place.
func (r *Report) eachPlace(msg place, f func(field, place) error) error {
	var buf [24]byte // the longest tag and the longest number
	for at, end := msg.at, msg.at+msg.size; at < end; {
		head := buf[:min(int64(len(buf)), end-at)]
		if err := r.read(head, at); err != nil {
			return err
		}
		num, typ, n := protowire.ConsumeTag(head)
		if n < 0 {
			return &wireError{int(at - msg.at), protowire.ParseError(n)}
		}
		v, p, m := field{num: num, typ: typ}, place{}, 0
		switch typ {
		case protowire.VarintType:
			v.int, m = protowire.ConsumeVarint(head[n:])
		case protowire.BytesType:
			var size uint64
			if size, m = protowire.ConsumeVarint(head[n:]); m >= 0 {
				if size > uint64(end-at-int64(n+m)) {
					return &wireError{int(at - msg.at), io.ErrUnexpectedEOF}
				}
				p = place{at + int64(n+m), int64(size)}
			}
		default:
			m = protowire.ConsumeFieldValue(num, typ, head[n:])
		}
		if m < 0 {
			return &wireError{int(at - msg.at), protowire.ParseError(m)}
		}
		if err := f(v, p); err != nil {
			return err
		}
		at += int64(n+m) + p.size
	}
	return nil
}

// watched keeps the error of a file that could not be read, which is no fault of its content.
type watched struct {
	io.ReaderAt
	err error
}

func (w *watched) ReadAt(b []byte, at int64) (int, error) {
	n, err := w.ReaderAt.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// cubinOf reads the symbols and lines of a module once; nil where the report does not have them or they are damaged, which is a fault.
func (r *Report) cubinOf(m *module) (*cubin, error) {
	if m.isRead || m.cubin.size == 0 {
		return m.read, nil
	}
	m.isRead = true
	file := &watched{ReaderAt: r.file}
	c, err := readCubin(io.NewSectionReader(file, m.cubin.at, m.cubin.size))
	if file.err != nil {
		return nil, fmt.Errorf("%s: byte %d: %w", r.name, m.cubin.at, file.err)
	}
	at := fmt.Sprintf("compiled code at byte %d", m.cubin.at)
	if err != nil {
		r.code.fault(at, err)
		return nil, nil
	}
	for _, err := range c.faults {
		r.code.fault(at, err)
	}
	c.file, m.read = file, c
	for _, f := range m.functions {
		f.size = c.functions[f.Symbol].size
	}
	return c, nil
}

// functionAt finds the function with the instruction at an address; nil when it is in none that is known.
func (m *module) functionAt(address uint64) *Function {
	i := sort.Search(len(m.functions), func(i int) bool { return m.functions[i].address > address }) - 1
	if i < 0 {
		return nil
	}
	f := m.functions[i]
	size := f.size
	if size == 0 {
		size = maxFunctionBytes
	}
	if address-f.address >= size {
		return nil
	}
	return f
}

// note keeps that a function has an instruction with values at an offset, and gives the function its number; false when there are too many.
func (c *code) note(f *Function, offset int32) bool {
	if _, known := f.offsets[offset]; known {
		return true
	}
	if c.instructions == maxInstructions {
		return false
	}
	if f.ID == 0 {
		c.functions = append(c.functions, f)
		f.ID = int32(len(c.functions))
		f.offsets = map[int32]struct{}{}
	}
	f.offsets[offset] = struct{}{}
	c.instructions++
	return true
}

// Functions are those of which EachInstance gave values.
func (r *Report) Functions() []*Function { return r.code.functions }

// EachInstruction calls f for every instruction of which EachInstance gave values, by function and offset, with the lines of source and PTX
// that it comes from where the code was compiled with -lineinfo. Files then has the files.
func (r *Report) EachInstruction(f func(Instruction) error) error {
	files := map[fileKey]*SourceFile{}
	for _, fn := range r.code.functions {
		offsets := make([]int32, 0, len(fn.offsets))
		for o := range fn.offsets {
			offsets = append(offsets, o)
		}
		slices.Sort(offsets)
		c, err := r.cubinOf(fn.module)
		if err != nil {
			return err
		}
		var at codeRange
		var text []byte
		isKnown := false
		if c != nil {
			at, isKnown = c.functions[fn.Symbol]
		}
		if isKnown && hasOpcodes(c.capability) {
			if text, err = c.instructions(at); c.file.err != nil {
				return fmt.Errorf("%s: byte %d: %w", r.name, fn.module.cubin.at, c.file.err)
			} else if err != nil {
				r.code.fault(fmt.Sprintf("compiled code at byte %d", fn.module.cubin.at), err)
			}
		}
		for _, o := range offsets {
			i := Instruction{Function: fn.ID, Offset: o}
			if int(o) < len(text) {
				i.Opcode = Opcode(c.capability, text[o:])
			}
			if isKnown {
				if i.File, i.Line, err = r.lineOf(fn.module, c.source, at, o, files); err == nil {
					i.PTXFile, i.PTXLine, err = r.lineOf(fn.module, c.ptx, at, o, files)
				}
				if err != nil {
					return err
				}
			}
			if err := f(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// lineOf returns the file and line of the instruction at an offset in a function; 0 where they are not known.
func (r *Report) lineOf(m *module, t lineTable, f codeRange, offset int32, known map[fileKey]*SourceFile) (file, line int32, err error) {
	at, line, ok := t.line(f, offset)
	if !ok {
		return 0, 0, nil
	}
	s, err := r.sourceFile(m, at, known)
	if err != nil || s == nil {
		return 0, 0, err
	}
	return s.ID, line, nil
}

type fileKey struct {
	module *module
	codeFile
}

// sourceFile finds the file of a line table; nil for PTX whose text cannot be read, which is a fault.
func (r *Report) sourceFile(m *module, f codeFile, known map[fileKey]*SourceFile) (*SourceFile, error) {
	key := fileKey{m, f}
	if s, isKnown := known[key]; isKnown {
		return s, nil
	}
	found := SourceFile{Name: f.name, isPTX: f.ptx != nil}
	most := int64(maxSourceText)
	if found.isPTX {
		found.text, most = m.ptxText(f.ptx), maxDebug
	} else {
		found.text = m.sourceText(f)
	}
	text, err := r.textOf(&found, most)
	if err != nil {
		return nil, err
	}
	if text != "" {
		sum := sha256.Sum256([]byte(text))
		found.SHA256 = hex.EncodeToString(sum[:])
	} else {
		found.text = place{}
	}
	if found.isPTX { // of PTX there can be several with the same kernels: only the text tells them apart
		if text == "" {
			r.code.fault(fmt.Sprintf("compiled code at byte %d", m.cubin.at), fmt.Errorf("section %s: it has %d bytes, is compressed or overlaps another", f.name, f.ptx.FileSize))
			known[key] = nil
			return nil, nil
		}
		found.Name = found.SHA256[:12] + ".ptx"
	}
	for _, s := range r.code.files { // another module can have the same
		if s.Name == found.Name && s.SHA256 == found.SHA256 {
			known[key] = s
			return s, nil
		}
	}
	found.ID = int32(len(r.code.files) + 1)
	s := &found
	r.code.files = append(r.code.files, s)
	known[key] = s
	return s, nil
}

// sourceText finds the text of a source file: one that ncu imported for the module under the same path, or, where ncu followed
// a link, the same last name, and of the size that the compiler saw: a file that was changed since has other lines.
func (m *module) sourceText(f codeFile) (text place) {
	for _, t := range m.texts {
		isSame := path.Clean(t.name) == f.name && (f.size == 0 || f.size == t.text.size)
		if isSame || text.size == 0 && f.size > 0 && f.size == t.text.size && path.Base(t.name) == path.Base(f.name) {
			text = t.text
		}
	}
	return text
}

// ptxText is where the text of PTX stands: nowhere if the section is compressed, larger than what is left of the module, or none of its bytes.
func (m *module) ptxText(s *elf.Section) place {
	size := int64(s.FileSize)
	if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_COMPRESSED != 0 || s.FileSize > maxDebug || s.Offset > uint64(m.cubin.size) || size > m.cubin.size-int64(s.Offset) || size > m.cubin.size-m.ptxBytes {
		return place{}
	}
	m.ptxBytes += size
	return place{m.cubin.at + int64(s.Offset), size}
}

// Files are the source files and PTX of the instructions that EachInstruction gave.
func (r *Report) Files() []*SourceFile { return r.code.files }

// Text reads the text of a file; "" when the report has none.
func (r *Report) Text(f *SourceFile) (string, error) { return r.textOf(f, maxSourceText) }

func (r *Report) textOf(f *SourceFile, most int64) (string, error) {
	text, err := r.text(f.text, most)
	if f.isPTX {
		text = strings.ReplaceAll(text, "\x00", "\n")
	}
	return text, err
}

// Instance is the value of a metric at one instruction.
type Instance struct {
	Metric   string
	Unit     string
	Function int32 // Function.ID
	Offset   int32 // of the instruction in the function, in bytes
	Value    float64
}

// Addresses of code, among the keys of values: others are counts, numbers of units, and times in nanoseconds.
const (
	leastAddress = 1 << 32
	mostAddress  = 1 << 57
)

// EachInstance calls f for the values at single instructions of the result that Each is at, in the order of the report. Of the values read, those elsewhere are at instructions of no known function, or of too many, and f does not get them.
func (r *Report) EachInstance(f func(Instance) error) (read, elsewhere int64, err error) {
	if len(r.at.instanced) == 0 || r.at.result.Kind != Kernel {
		return 0, 0, nil
	}
	if err := r.readSources(); err != nil {
		return 0, 0, err
	}
	defer func() { err = r.damagedResult(err) }()
	m, err := r.module()
	if m == nil || err != nil {
		return 0, 0, err
	}
	if _, err := r.cubinOf(m); err != nil {
		return 0, 0, err
	}
	for _, msg := range r.at.instanced {
		var name string
		var unit string
		err := eachField(msg, func(x field) error {
			switch {
			case x.number(1) && x.int < uint64(len(r.strings)):
				name, unit = r.strings[x.int], r.unit(x.int)
			case x.message(3):
				address, v, ok, err := instance(x.bytes)
				if err != nil || !ok {
					return err
				}
				fn := m.functionAt(address)
				if fn == nil && (address < leastAddress || address > mostAddress) {
					return nil
				}
				read++
				if fn == nil || !r.code.note(fn, int32(address-fn.address)) {
					elsewhere++
					return nil
				}
				offset := int32(address - fn.address)
				return f(Instance{Metric: name, Unit: unit, Function: fn.ID, Offset: offset, Value: v})
			}
			return nil
		})
		if err != nil {
			return read, elsewhere, err
		}
	}
	return read, elsewhere, nil
}

// damagedResult names the result that Each is at in an error of its bytes.
func (r *Report) damagedResult(err error) error {
	if bad := (*wireError)(nil); errors.As(err, &bad) {
		return r.damaged(r.at.place, fmt.Errorf("result %d: %w", r.at.result.ID, err))
	}
	return err
}

// instance reads the value at an address; not ok where it has another key than a number, or is a text.
func instance(msg []byte) (address uint64, value float64, ok bool, err error) {
	var hasAddress bool
	var m Metric
	var has bool
	err = eachField(msg, func(f field) (err error) {
		switch {
		case f.message(1):
			err = eachField(f.bytes, func(k field) error {
				if k.number(5) || k.number(4) {
					address, hasAddress = k.int, true
				}
				return nil
			})
		case f.message(2):
			has, err = m.value(f.bytes)
		}
		return err
	})
	return address, m.Value, hasAddress && has && !m.IsText, err
}

// module finds the module of the result that Each is at; nil without a function. Its functions are those of the report's list and those whose addresses the
// result itself says, of which the first is the kernel: old versions of ncu wrote no list, and a report that was made smaller can lack the module.
func (r *Report) module() (*module, error) {
	key := moduleKey{r.at.result.PID, r.at.module}
	m := r.code.modules[key]
	if m == nil {
		m = &module{}
	}
	for _, msg := range r.at.instanced {
		isPlaces := false
		err := eachField(msg, func(x field) error {
			switch {
			case x.number(1):
				isPlaces = x.int < uint64(len(r.strings)) && r.strings[x.int] == "launch__function_pcs"
			case x.message(3) && isPlaces:
				nth, address, ok, err := instance(x.bytes)
				if err != nil || !ok {
					return err
				}
				symbol := ""
				if nth == 0 {
					symbol = r.at.result.Symbol
				}
				m.add(uint64(address), symbol)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(m.functions) == 0 {
		return nil, nil
	}
	if r.code.modules == nil {
		r.code.modules = map[moduleKey]*module{}
	}
	r.code.modules[key] = m
	return m, nil
}

// add adds a function at an address where none is known.
func (m *module) add(address uint64, symbol string) {
	at, known := slices.BinarySearchFunc(m.functions, address, func(f *Function, a uint64) int { return cmp.Compare(f.address, a) })
	if known || len(m.functions) == maxFunctions {
		return
	}
	f := &Function{address: address, Symbol: symbol, module: m}
	if m.read != nil {
		f.size = m.read.functions[symbol].size
	}
	m.functions = slices.Insert(m.functions, at, f)
}
