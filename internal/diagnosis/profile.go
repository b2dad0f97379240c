package diagnosis

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// profiled is an export, and a page of Nsight Compute on the same program.
type profiled struct {
	export file
	page   [][]string // its first rows are names and units of columns
}

// Profiled puts a raw page of Nsight Compute, as CSV, next to an export.
func Profiled(c *Capture, page []byte) (*Capture, error) {
	rows, err := csv.NewReader(bytes.NewReader(page)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("page of Nsight Compute: %w", err)
	}
	return &Capture{Events: c.Events, file: &profiled{c.file, rows}}, nil
}

// scale multiplies metrics of kernels of a name. One that the page lacks is a mistake of the case.
func (p *profiled) scale(kernel string, by float64, metrics ...string) {
	name := slices.Index(p.page[0], "Kernel Name")
	for _, metric := range metrics {
		at := slices.Index(p.page[0], metric)
		for _, row := range p.page[2:] {
			if row[name] != kernel {
				continue
			}
			value, err := strconv.ParseFloat(strings.ReplaceAll(row[at], ",", ""), 64)
			if err != nil {
				panic(fmt.Sprintf("%s of %s: %v", metric, kernel, err))
			}
			row[at] = strconv.FormatFloat(by*value, 'f', 0, 64)
		}
	}
}

func (p *profiled) clone() file {
	x := &profiled{p.export.clone(), nil}
	for _, row := range p.page {
		x.page = append(x.page, slices.Clone(row))
	}
	return x
}

func (p *profiled) write(dir, id string, events []*Event) ([]string, error) {
	paths, err := p.export.write(dir, id, events)
	if err != nil {
		return nil, err
	}
	for _, row := range p.page[2:] {
		row[slices.Index(p.page[0], "Process Name")] = id
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(p.page); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "profile.csv")
	return append(paths, path), os.WriteFile(path, text.Bytes(), 0o644)
}
