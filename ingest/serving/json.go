package serving

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"prof/ingest/load"
	"prof/internal/file"
)

// Bounds of what one object may say. Lists of requests and tokens are passed over, whatever their length.
const (
	maxDepth   = 32
	maxFields  = 20_000
	maxToken   = 8 << 20  // bytes of what a text or number is read through, the ones ahead of it included
	maxRequest = 64 << 20 // bytes of what a client noted of one request
	maxText    = 1 << 10  // bytes of one text, and of a name with those of the objects that it is in
	keptItems  = 2        // of a list: whether it has one item or more, and aiperf's phase behind a warm-up
)

// fields are the values of one object by their names: those of objects in it as outer/inner, items of lists as list/0. A value is a
// text, a number as text, a bool, or nil for null.
type fields map[string]any

// parser reads objects one after the other and keeps what is wrong first, so that fields can be read one after the other.
type parser struct {
	d     decoder
	limit *tokenLimit
	f     fields
	items map[string]int // of lists, how many; nil where nobody asks
	lists requestLists
	err   error
	b     Benchmark
	table *generator      // nil for forms without one
	found func() error    // takes the benchmark of an item of the table's list
	outer fields          // of the object that the list is in
	want  map[string]bool // names that are kept, and those of objects and lists that they are in; nil for all
	keep  int             // items of a list that are kept
}

// tokenLimit bounds what one token, or one request, makes the decoder hold.
type tokenLimit struct {
	in    io.Reader
	read  int64 // since the last one
	whole bool  // it is a request
	fault error // why it stopped
}

func (l *tokenLimit) Read(p []byte) (int, error) {
	switch {
	case l.whole && l.read > maxRequest:
		l.fault = fmt.Errorf("it is longer than %d MiB", maxRequest>>20)
	case !l.whole && l.read > maxToken:
		l.fault = fmt.Errorf("a text or number is longer than %d MiB", maxToken>>20)
	}
	if l.fault != nil {
		return 0, l.fault
	}
	n, err := l.in.Read(p)
	l.read += int64(n)
	return n, err
}

func (p *parser) token() (json.Token, error) {
	p.limit.read, p.limit.whole = 0, false
	token, err := p.d.Token()
	return token, p.limit.or(err)
}

// or returns the limit that an error is of, in its place.
func (l *tokenLimit) or(err error) error {
	if err != nil && l.fault != nil {
		return l.fault
	}
	return err
}

// request reads one request, or what a client noted of it.
func (p *parser) request(into any) error {
	p.limit.read, p.limit.whole = 0, true
	return p.limit.or(p.d.Decode(into))
}

// newParser begins to read a file, past a mark of its encoding.
func newParser(in io.Reader) (*parser, error) {
	r := bufio.NewReader(in)
	if head, _ := r.Peek(len(file.Mark)); string(head) == file.Mark {
		if _, err := r.Discard(len(head)); err != nil {
			return nil, err
		}
	}
	limit := &tokenLimit{in: load.FiniteJSON(r)}
	return &parser{d: newDecoder(limit), limit: limit, keep: keptItems}, nil
}

// at returns where an error is.
func (p *parser) at(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCut
	}
	return fmt.Errorf("byte %d: %w", p.d.InputOffset(), err)
}

var errCut = errors.New("it ends inside an object: was it cut off?")

// objects makes a reader of a file of such objects, or, by a table, of objects with a list of such.
func objects(table *generator, one func(*parser)) func(io.Reader) ([]Benchmark, error) {
	return func(in io.Reader) (out []Benchmark, err error) {
		p, err := newParser(in)
		if err != nil {
			return nil, err
		}
		p.table = table
		p.found = func() error {
			one(p)
			if p.err != nil {
				return &placed{fmt.Errorf("benchmark %d, which ends at byte %d: %w", len(out)+1, p.d.InputOffset(), p.err)}
			}
			if len(out) == maxBenchmarks {
				return &placed{fmt.Errorf("byte %d: over %d benchmarks in one file", p.d.InputOffset(), maxBenchmarks)}
			}
			out = append(out, p.b)
			return nil
		}
		for {
			token, err := p.token()
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return out, nil
			}
			if err == nil && token != json.Delim('{') {
				err = errors.New("want an object")
			}
			p.begins()
			if err == nil {
				err = p.object("", 1)
			}
			if err == nil && (table == nil || table.each == "") {
				err = p.found()
			}
			switch {
			case errors.As(err, new(*placed)):
				return nil, err
			case err != nil:
				return nil, p.at(err)
			}
		}
	}
}

// placed is an error that says where it is.
type placed struct{ error }

func (p *placed) Unwrap() error { return p.error }

// begins forgets what was read before an object.
func (p *parser) begins() {
	p.f, p.items, p.b, p.lists = fields{}, map[string]int{}, Benchmark{}, requestLists{}
}

// benchmarks reads the list of a table of which each item is a benchmark, which has begun.
func (p *parser) benchmarks(depth int) error {
	f, items, b, lists, outer := p.f, p.items, p.b, p.lists, p.outer
	defer func() { p.f, p.items, p.b, p.lists, p.outer = f, items, b, lists, outer }()
	for p.d.More() {
		if err := p.begin('{'); err != nil {
			return err
		}
		p.begins()
		p.outer = f
		if err := p.object("", depth+1); err != nil {
			return err
		}
		if err := p.found(); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

// object reads the members of an object that has begun.
func (p *parser) object(within string, depth int) error {
	return p.members(func(key string) error { return p.value(join(within, key), depth) })
}

// members calls a function for each member of an object that has begun; it reads the value.
func (p *parser) members(value func(key string) error) error {
	for p.d.More() {
		key, err := p.token()
		if err != nil {
			return err
		}
		if err := value(key.(string)); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

func join(within, key string) string {
	if within == "" {
		return key
	}
	return within + "/" + key
}

// value reads one value and keeps it, or those in it, where it has a name.
func (p *parser) value(name string, depth int) error {
	if p.want != nil && !p.want[name] {
		return p.skip(depth)
	}
	token, err := p.token()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return errDeep
	}
	switch token {
	case json.Delim('{'):
		return p.object(name, depth+1)
	case json.Delim('['):
		switch {
		case p.want != nil: // within a request
		case p.table != nil && p.table.each == name && p.outer == nil && name != "":
			return p.benchmarks(depth)
		case p.table != nil && slices.Contains(strings.Fields(p.table.requests.lists), name):
			return p.tableRequests(name, depth)
		case isRequestList(name):
			return p.requestList(name, depth)
		}
		if last := name + "/last"; p.want[last] {
			return p.ends(name)
		}
		i := 0
		for ; p.d.More(); i++ {
			if i < p.keep {
				err = p.value(join(name, strconv.Itoa(i)), depth+1)
			} else {
				err = p.skip(depth + 1)
			}
			if err != nil {
				return err
			}
		}
		if p.items != nil && len(name) <= maxText && len(p.items) < maxFields {
			p.items[name] = i
		}
		_, err = p.token()
		return err
	}
	if text, ok := token.(string); ok && len(text) > maxText {
		token = strings.ToValidUTF8(text[:maxText], "") + "..."
	}
	if len(name) > maxText {
		return nil
	}
	if _, twice := p.f[name]; twice {
		return fmt.Errorf("%q is there twice", name)
	}
	if len(p.f) == maxFields {
		return fmt.Errorf("an object has more than %d values", maxFields)
	}
	p.f[name] = token
	return nil
}

// skip passes over one value.
func (p *parser) skip(depth int) error {
	for open := 0; ; {
		p.limit.read, p.limit.whole = 0, false
		kind, err := p.d.kind()
		if err != nil {
			return p.limit.or(err)
		}
		if open += nesting(kind); open+depth > maxDepth {
			return errDeep
		}
		if open == 0 {
			return nil
		}
	}
}

// rest passes over what is left of a value that begins with a token.
func (p *parser) rest(token json.Token, depth int) error {
	open, _ := token.(json.Delim)
	for left := nesting(jsontext.Kind(open)); left > 0; {
		if left+depth > maxDepth {
			return errDeep
		}
		p.limit.read, p.limit.whole = 0, false
		kind, err := p.d.kind()
		if err != nil {
			return p.limit.or(err)
		}
		left += nesting(kind)
	}
	return nil
}

var errDeep = fmt.Errorf("objects are nested more than %d deep", maxDepth)

// nesting is by how much a token changes how many objects and lists are open.
func nesting(kind jsontext.Kind) int {
	switch kind {
	case '{', '[':
		return 1
	case '}', ']':
		return -1
	}
	return 0
}

// sniffKeys makes a Sniff of a question about the names of values in the first object, as far as the beginning has it.
func sniffKeys(is func(fields) bool) func(string, []byte) bool {
	return func(_ string, head []byte) bool {
		head = file.PastMark(head)
		if text := bytes.TrimLeft(head, " \t\r\n"); len(text) == 0 || text[0] != '{' {
			return false
		}
		p, err := newParser(bytes.NewReader(head))
		if err != nil {
			return false
		}
		p.f = fields{}
		if _, err := p.token(); err != nil {
			return false
		}
		_ = p.object("", 1) // the beginning need not end where an object does
		return is(p.f)
	}
}

func (f fields) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, ok := f[name]; return !ok })
}

func (f fields) hasAny(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.has(name) })
}

func (p *parser) wrong(name, want string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s is %.40q, want %s", name, fmt.Sprint(p.f[name]), want)
	}
}

// text returns the first of some texts that is there; "" without one.
func (p *parser) text(names ...string) string {
	for _, name := range names {
		switch v := p.f[name].(type) {
		case string:
			if v != "" {
				return v
			}
		case nil:
		default:
			p.wrong(name, "text")
		}
	}
	return ""
}

// number returns the first of some numbers that is there, times a power of ten; nil without one. Infinity and NaN, which Python writes, are none.
func (p *parser) number(power int, names ...string) *float64 {
	for _, name := range names {
		v := p.f[name]
		if v == nil || v == "N" {
			continue
		}
		n, ok := v.(json.Number)
		if !ok {
			p.wrong(name, "a number")
			return nil
		}
		f, err := load.Scaled(n.String(), power)
		if err != nil || f < 0 {
			p.wrong(name, "a number of 0 or more")
			return nil
		}
		return &f
	}
	return nil
}

// count returns the first of some whole numbers that is there; some tools write 40 as 40.0.
func (p *parser) count(names ...string) *int64 {
	f := p.number(0, names...)
	if f == nil {
		return nil
	}
	n := int64(*f)
	if *f > 1<<53 || float64(n) != *f {
		p.err = errors.Join(p.err, fmt.Errorf("%s is %v, want a whole number", strings.Join(names, " or "), *f))
		return nil
	}
	return &n
}

// moment is the time of a clock that counts seconds since 1970, in UTC.
func (p *parser) moment(names ...string) string {
	ns := p.number(9, names...)
	if ns == nil || *ns > math.MaxInt64/2 {
		return ""
	}
	return time.Unix(0, int64(*ns)).UTC().Format(time.RFC3339)
}

// rate reads the rate that was asked for: a number, or infinity as a text or as Python writes it.
func (p *parser) rate(name string) {
	switch v := p.f[name]; v {
	case nil:
	case "inf", "Infin.":
		p.b.Unlimited = new(true)
	default:
		p.b.TargetRate = p.number(0, name)
		p.b.Unlimited = new(false)
	}
}

// latency notes the statistics of a latency. names are those of its values in the order of Statistics, several of one separated by spaces.
func (p *parser) latency(metric, reportedAs string, power int, names [len(Statistics)]string) {
	l := Latency{Metric: metric, ReportedAs: reportedAs}
	for i, name := range names {
		for _, name := range strings.Fields(name) {
			name = strings.ReplaceAll(name, "~", " ")
			if n, ok := p.f[name].(json.Number); ok && strings.HasPrefix(n.String(), "-") { // clocks and token counts of tools are off at times
				p.warn(fmt.Sprintf("%s is not stored: it is negative", name))
				continue
			}
			if l.Ns[i] = p.number(power, name); l.Ns[i] != nil {
				break
			}
		}
	}
	p.b.add(l)
}

func (p *parser) warn(text string) { p.b.Warnings = append(p.b.Warnings, text) }

// add notes a latency. One that is 0 throughout was not measured: tools write 0 where no request had such a time.
func (b *Benchmark) add(l Latency) {
	isThere, isZero := false, true
	for _, v := range l.Ns {
		isThere = isThere || v != nil
		isZero = isZero && (v == nil || *v == 0)
	}
	switch {
	case !isThere:
	case isZero:
		b.Warnings = append(b.Warnings, fmt.Sprintf("%s is not stored: it is 0 in all of its figures, so no request had such a time", l.ReportedAs))
	default:
		b.Latencies = append(b.Latencies, l)
	}
}
