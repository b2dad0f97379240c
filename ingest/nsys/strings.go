package nsys

import (
	"fmt"
	"regexp"
	"sync"

	"prof/ingest/attribute"
	"prof/ingest/load"
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

// apiName is a function of an API: its number, and what its calls do.
type apiName struct {
	id   int32
	kind attribute.CallKind
	// isKept reports whether short calls have rows too: those that begin or end a stream capture, and those that order streams.
	isKept bool
	effect attribute.Effect
}

// apiNames are functions by the string ids of their names, which are dense.
type apiNames = load.Memo[int64, apiName]

func (l *loader) apiNames() *apiNames {
	return load.NewMemo(func(str int64) uint64 { return uint64(str) }, func(str int64) (apiName, error) {
		name, err := l.strings.get(str)
		a := apiName{id: l.target.Run.APIs.Add(apiVersion.ReplaceAllString(name, "")), kind: attribute.KindOfCall(name), effect: attribute.EffectOf(name)}
		a.isKept = a.effect == attribute.BeginsCapture || a.effect == attribute.EndsCapture || attribute.OrdersStreams(name)
		return a, err
	})
}
