package nsys

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"prof/internal/file"
)

// gpuTables are those of an export that hold work of GPUs. nsys makes a table when it has a row for it.
var gpuTables = []string{"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}

// contextTable names the contexts of CUDA in which processes of the workload used a GPU.
const contextTable = "TARGET_INFO_CUDA_CONTEXT_INFO"

// IsBlind reports whether an export has no work of a GPU although the workload used one: the importer of nsys 2025.3 loses all of it where it misses a
// text, as in programs of JAX.
func IsBlind(path string) (bool, error) {
	names, err := tables(path)
	return slices.Contains(names, contextTable) && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(gpuTables, name) }), err
}

// interiorTable is the mark of a page that lists other pages of its table.
const interiorTable = 0x05

// tables returns the names of a SQLite file's tables, from the pages that say which there are.
func tables(path string) (names []string, err error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := openPages(f)
	if err == nil {
		names, err = p.schema(1, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return names, nil
}

// maxDepth is more than the pages of any schema lie below each other.
const maxDepth = 20

// schema returns the names of the tables that a page of the schema lists, itself or by the pages below it.
func (p *pages) schema(n int64, depth int) (names []string, err error) {
	if n < 1 || n > p.count || depth > maxDepth {
		return nil, errors.New("its list of tables is broken")
	}
	page := make([]byte, p.size)
	if _, err := p.f.ReadAt(page, (n-1)*p.size); err != nil {
		return nil, err
	}
	head := int64(0)
	if n == 1 {
		head = fileHeader
	}
	isLeaf, first := page[head] == leafTable, head+8
	if !isLeaf {
		first = head + 12
	}
	if !isLeaf && page[head] != interiorTable {
		return nil, errors.New("its list of tables is broken")
	}
	for i := range int64(binary.BigEndian.Uint16(page[head+3:])) {
		if first+2*i+2 > p.usable {
			return nil, errors.New("its list of tables is broken")
		}
		at := int64(binary.BigEndian.Uint16(page[first+2*i:]))
		if isLeaf {
			row, err := p.row(n, page, at, true)
			if err != nil {
				return nil, err
			}
			if c := row.columns(); len(c) > 1 && string(c[0].bytes) == "table" { // type, name, name of the table, definition
				names = append(names, string(c[1].bytes))
			}
			continue
		}
		if at+pageLink > p.usable {
			return nil, errors.New("its list of tables is broken")
		}
		below, err := p.schema(int64(binary.BigEndian.Uint32(page[at:])), depth+1)
		if err != nil {
			return nil, err
		}
		names = append(names, below...)
	}
	if isLeaf {
		return names, nil
	}
	below, err := p.schema(int64(binary.BigEndian.Uint32(page[head+8:])), depth+1)
	return append(names, below...), err
}
