package nsys

import (
	"fmt"
	"regexp"
	"sync"

	"prof/ingest/attribute"
	"prof/ingest/nsys/table"
)

// stringTable reads the export's strings as rows refer to them; no other string of the export is ever looked at, because the
// table also holds the profiled process's environment. It is safe for concurrent use.
type stringTable struct {
	export table.Export
	file   string
	mu     sync.RWMutex
	known  map[int64]string
}

func newStrings(e table.Export, file string) *stringTable {
	return &stringTable{export: e, file: file, known: map[int64]string{}}
}

func (s *stringTable) get(id int64) (string, error) {
	s.mu.RLock()
	v, ok := s.known[id]
	s.mu.RUnlock()
	if ok {
		return v, nil
	}
	v, ok, err := s.export.String(id)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("%s: a row refers to string %d, which StringIds lacks: the export is incomplete; export it again", s.file, id)
	}
	s.mu.Lock()
	s.known[id] = v
	s.mu.Unlock()
	return v, nil
}

// apiVersion is what CUPTI appends to the names of API calls: cudaLaunchKernel_v7000. nsys' own summaries take four digits off
// and leave five; so does prof, to name functions as they do.
var apiVersion = regexp.MustCompile(`_v\d{4}$`)

// nameCache maps string ids to ids of names in the warehouse, or to what names say, for one worker.
type nameCache[ID int32 | int64 | attribute.CallKind] struct {
	make   func(str int64) (ID, error)
	ids    map[int64]ID
	last   int64
	lastID ID
	warm   bool
}

// id gives the id of a string's name.
func (c *nameCache[ID]) id(str int64) (ID, error) {
	if c.warm && str == c.last {
		return c.lastID, nil
	}
	id, ok := c.ids[str]
	if !ok {
		var err error
		if id, err = c.make(str); err != nil {
			return 0, err
		}
		c.ids[str] = id
	}
	c.last, c.lastID, c.warm = str, id, true
	return id, nil
}

// apiNames maps string ids to the numbers of API functions.
func (l *loader) apiNames() *nameCache[int32] {
	return &nameCache[int32]{ids: map[int64]int32{}, make: func(str int64) (int32, error) {
		name, err := l.strings.get(str)
		return l.target.Run.APIs.Add(apiVersion.ReplaceAllString(name, "")), err
	}}
}

// callKinds maps string ids of API functions to what their calls do.
func (l *loader) callKinds() *nameCache[attribute.CallKind] {
	return &nameCache[attribute.CallKind]{ids: map[int64]attribute.CallKind{}, make: func(str int64) (attribute.CallKind, error) {
		name, err := l.strings.get(str)
		return attribute.KindOfCall(name), err
	}}
}
