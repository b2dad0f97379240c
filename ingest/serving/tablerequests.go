package serving

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"prof/internal/file"
)

// requestTable says how a tool has its requests one by one.
type requestTable struct {
	lists string // the lists of them
	names string // what a request says, with the names of its fields as in a table of benchmarks
	// failed are fields of which one is there and not null where a request failed.
	failed string
}

// said is what a file says of a request, times in ns.
type said struct {
	Request
	tpot                      *float64
	began, first, last, ended *float64 // by the client's clock, in s
}

// requestMeasures are all that a table of requests may name.
var requestMeasures = []struct {
	name string
	set  func(p *parser, q *said, names []string)
}{
	{"input_tokens", func(p *parser, q *said, n []string) { q.InputTokens = p.count(n...) }},
	{"output_tokens", func(p *parser, q *said, n []string) { q.OutputTokens = p.count(n...) }},
	{"ttft_ms", func(p *parser, q *said, n []string) { q.TTFTNs = p.number(6, n...) }},
	{"ttft_s", func(p *parser, q *said, n []string) { q.TTFTNs = p.number(9, n...) }},
	{"tpot_ms", func(p *parser, q *said, n []string) { q.tpot = p.number(6, n...) }},
	{"after_s", func(p *parser, q *said, n []string) { q.AfterNs = p.number(9, n...) }},
	{"tpot_s", func(p *parser, q *said, n []string) { q.tpot = p.number(9, n...) }},
	{"e2e_s", func(p *parser, q *said, n []string) { q.E2ENs = p.number(9, n...) }},
	{"tokens_received", func(p *parser, q *said, n []string) { q.Gaps = gapsOf(p.count(n...)) }},
	{"began_s", func(p *parser, q *said, n []string) { q.began = p.number(0, n...) }},
	{"first_s", func(p *parser, q *said, n []string) { q.first = p.number(0, n...) }},
	{"last_s", func(p *parser, q *said, n []string) { q.last = p.number(0, n...) }},
	{"ended_s", func(p *parser, q *said, n []string) { q.ended = p.number(0, n...) }},
}

// gapsOf are the times between so many tokens or chunks.
func gapsOf(n *int64) *int32 {
	if n == nil || *n < 1 || *n > math.MaxInt32 {
		return nil
	}
	return new(int32(*n - 1))
}

// wanted are the names that a table of requests needs, with those of the objects and lists that they are in.
func (t requestTable) wanted() map[string]bool {
	out := map[string]bool{}
	add := func(name string) {
		for ; name != ""; name = name[:max(strings.LastIndexByte(name, '/'), 0)] {
			out[name] = true
		}
	}
	for entry := range strings.FieldsSeq(t.names) {
		_, names, _ := strings.Cut(entry, "=")
		for name := range strings.SplitSeq(names, ",") {
			add(name)
		}
	}
	for name := range strings.SplitSeq(t.failed, ",") {
		add(name)
	}
	return out
}

// each reads the requests of a list that has begun, and calls a function for each: whether it succeeded.
func (p *parser) each(t requestTable, depth int, one func(q said, ok bool) error) error {
	f, items, want := p.f, p.items, p.want
	defer func() { p.f, p.items, p.want = f, items, want }()
	p.f, p.items, p.want = fields{}, map[string]int{}, t.wanted()
	type setter struct {
		set   func(p *parser, q *said, names []string)
		names []string
	}
	var setters []setter
	for entry := range strings.FieldsSeq(t.names) {
		name, names, _ := strings.Cut(entry, "=")
		for _, m := range requestMeasures {
			if m.name == name {
				setters = append(setters, setter{m.set, strings.Split(names, ",")})
			}
		}
	}
	for p.d.More() {
		clear(p.f)
		clear(p.items)
		if err := p.begin('{'); err != nil {
			return err
		}
		if err := p.object("", depth+1); err != nil {
			return err
		}
		ok := true
		for name := range strings.SplitSeq(t.failed, ",") {
			ok = ok && p.f[name] == nil
		}
		var q said
		for _, s := range setters {
			s.set(p, &q, s.names)
		}
		if !ok {
			q = said{Request: Request{InputTokens: q.InputTokens, OutputTokens: new(int64)}}
		}
		q.complete()
		if err := one(q, ok); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

// complete computes times of moments, and the time behind the first token of that per token.
func (q *said) complete() {
	between := func(to **float64, begin, end *float64) {
		if *to == nil && begin != nil && end != nil && *end >= *begin {
			*to = new(1e9 * (*end - *begin))
		}
	}
	between(&q.TTFTNs, q.began, q.first)
	between(&q.AfterNs, q.first, q.last)
	between(&q.E2ENs, q.began, q.ended)
	many := q.OutputTokens != nil && *q.OutputTokens > 1
	switch {
	case many && q.tpot != nil && q.AfterNs == nil:
		q.AfterNs = new(*q.tpot * float64(*q.OutputTokens-1))
	case many && q.tpot == nil && q.AfterNs != nil:
		q.tpot = new(*q.AfterNs / float64(*q.OutputTokens-1))
	}
}

// tableRequests reads a list of requests of a benchmark. What is wrong with one makes the requests useless, but not the benchmark.
func (p *parser) tableRequests(name string, depth int) error {
	l := &p.lists
	err := p.each(p.table.requests, depth, func(q said, _ bool) error {
		if p.err != nil {
			l.refuse(fmt.Sprintf("of request %d, %v", len(l.requests)+1, p.err))
			p.err = nil
		}
		if len(l.requests) == maxRequests {
			l.refuse(fmt.Sprintf("%s has more than %d of them", name, maxRequests))
			return nil
		}
		l.requests = append(l.requests, q.Request)
		return nil
	})
	p.f[name] = nil // so that it counts as there
	return err
}

// ends reads a list that has begun, and keeps its first and last items that are no object or list, and how many it has.
func (p *parser) ends(name string) error {
	n := 0
	for ; p.d.More(); n++ {
		token, err := p.token()
		if err != nil {
			return err
		}
		if _, nested := token.(json.Delim); nested {
			return fmt.Errorf("%s is a list of lists or objects, want numbers", name)
		}
		if p.f[name+"/last"] = token; n == 0 {
			p.f[name+"/0"] = token
		}
	}
	p.f[name+"/count"] = json.Number(fmt.Sprint(n))
	_, err := p.token()
	return err
}

// Bounds of files beside a result.
const (
	maxBeside  = 1 << 20 // bytes of one
	besideKept = 64      // items of a list that are kept
)

// reader reads files of the table that lie in a folder; "" for one that is not known.
func (g generator) reader(folder string) func(io.Reader) ([]Benchmark, error) {
	return objects(&g, func(p *parser) {
		for _, name := range g.beside {
			if folder == "" || p.err != nil {
				break
			}
			if err := p.alongside(filepath.Join(folder, name), name); err != nil {
				p.warn(fmt.Sprintf("%s next to it is not read: %v", name, err))
			}
		}
		g.read(p)
	})
}

// alongside adds the fields of a file that lies next to the one that is read.
func (p *parser) alongside(path, name string) error {
	if _, err := os.Stat(path); err != nil {
		return nil // it need not be there
	}
	text, err := file.Read(path, maxBeside)
	if err != nil {
		return err
	}
	side, err := newParser(strings.NewReader(string(text)))
	if err != nil {
		return err
	}
	side.f, side.items, side.keep = fields{}, p.items, besideKept
	if err := side.value(name, 1); err != nil {
		return side.at(err)
	}
	for field, value := range side.f {
		p.f[field] = value
	}
	return nil
}
