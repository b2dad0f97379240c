package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"prof/internal/exports"
)

// filesText names files of every format that prof reads, which a test of the ingest holds: FORM PATH, or FORM FOLDER//PATH where the folder is ingested.
//
//go:embed files.txt
var filesText string

// sample is a whole file of one format.
type sample struct {
	form, folder, name string // folder is what is ingested with it; "" for the file alone
	content            []byte
	// What prof stores of it, rows, and what it says, once it was asked.
	learned sync.Once
	rows    int64
	said    []string
}

// samples reads the files, unpacked. A trace is made out of the export of its name.
func (l *lab) samples() (out []*sample, err error) {
	for line := range strings.Lines(filesText) {
		s := &sample{}
		var path string
		if s.form, path, _ = strings.Cut(strings.TrimSpace(line), " "); strings.Contains(path, "//") {
			s.folder, s.name, _ = strings.Cut(path, "//")
			s.folder = filepath.Join(l.repo, s.folder)
		} else {
			s.name = filepath.Base(path)
		}
		at := filepath.Join(l.repo, path)
		if base, ok := strings.CutSuffix(at, ".proftrace"); ok {
			tables, err := exports.ReadFile(base + ".sqlite.gz")
			if err == nil {
				s.content, err = exports.Trace(exports.Traced(tables))
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		} else if s.content, err = os.ReadFile(at); err != nil {
			return nil, err
		}
		if name, ok := strings.CutSuffix(s.name, ".gz"); ok {
			if s.content, err = gunzip(s.content); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			s.name = name
		}
		out = append(out, s)
	}
	return out, nil
}

// put writes a file in place of the sample's, and returns what to ingest.
func (s *sample) put(p *place, content []byte, suffix string) (string, error) {
	in, out := p.dir, ""
	if s.folder != "" {
		in = filepath.Join(p.dir, filepath.Base(s.folder))
		out = in
		if err := os.CopyFS(in, os.DirFS(s.folder)); err != nil {
			return "", err
		}
	}
	path := filepath.Join(in, filepath.FromSlash(s.name))
	if suffix != "" && s.folder != "" {
		if err := os.Remove(path); err != nil {
			return "", err
		}
	}
	return cmp.Or(out, path+suffix), os.WriteFile(path+suffix, content, 0o644)
}

// sources says of the run x of how many rows its sources are, of which forms, and whether prof said that they are not whole.
func (p *place) sources(ctx context.Context) (forms string, rows int64, partial bool, err error) {
	r := p.run(ctx, "sql", "--format", "csv", `SELECT string_agg(form, ' '), sum(row_count), bool_or(status <> 'ok') FROM source JOIN run r USING (run_id) WHERE r.name = 'x'`)
	fields := strings.Split(strings.TrimSpace(r.out[strings.IndexByte(r.out, '\n')+1:]), ",")
	if r.code != 0 || len(fields) != 3 {
		return "", 0, false, fmt.Errorf("sources: %s", r)
	}
	rows, err = strconv.ParseInt(fields[1], 10, 64)
	return fields[0], rows, fields[2] == "true", err
}

// words are what prof said of an ingest, but for the line that counts.
func (r result) words() []string {
	return slices.DeleteFunc(strings.Split(r.err, "\n"), func(line string) bool { return strings.Contains(line, " rows from ") })
}

// damage ingests damaged files: an error that names the file, or a run whose views all answer, never a crash, a hang or much memory. What was there stays as it was.
func (l *lab) damage(ctx context.Context, n int) (string, error) {
	if n == 0 {
		return "none tried", nil
	}
	base, err := l.base(ctx, "ranks")
	if err != nil {
		return "", err
	}
	before, err := base.state(ctx)
	if err != nil {
		return "", err
	}
	samples, err := l.samples()
	if err != nil {
		return "", err
	}
	var mu sync.Mutex
	stored, memory, silent := 0, int64(0), map[string]int{}
	tried := l.each(ctx, n, func(ctx context.Context, trial int, rng *rand.Rand) {
		p, err := base.copied("damage", trial)
		if err != nil {
			l.fail("damage %d: %v", trial, err)
			return
		}
		defer os.RemoveAll(p.dir)
		p.wrap = []string{"prlimit", "--data=6000000000"}
		s := samples[rng.IntN(len(samples))]
		s.learned.Do(func() { l.learn(ctx, s) })
		whole, suffix := s.content, ""
		if rng.IntN(8) == 0 {
			whole, suffix = gzipped(whole), ".gz"
		}
		content, how := damaged(rng, whole)
		what, err := s.put(p, content, suffix)
		if err != nil {
			l.fail("damage %d: %v", trial, err)
			return
		}
		bad := func(format string, args ...any) {
			if ctx.Err() == nil {
				l.fail("damage %d: %s, %s%s, %s: %s", trial, s.form, s.name, suffix, how, fmt.Sprintf(format, args...))
			}
		}
		r := p.run(ctx, "ingest", "--run", "x", what)
		mu.Lock()
		memory = max(memory, r.memory)
		mu.Unlock()
		switch {
		case r.crashed() || r.code != 0 && r.code != 1:
			bad("%s", r)
			return
		case r.code == 1 && !strings.Contains(r.err, filepath.Base(what)) && !strings.Contains(r.err, s.name):
			bad("the error does not name the file: %s", r)
		}
		after, err := p.state(ctx)
		_, is := after["x"]
		if err != nil || after["ranks"] != before["ranks"] || after["without a run"] != "" || is != (r.code == 0) {
			bad("%s; run x is stored: %v; what was there: %v, now %v, %v", r, is, before, after, err)
		}
		if !is {
			return
		}
		verbs := [][]string{{"show", "x"}, {"explain", "x"}, {"report", "x", "--out", p.dir}}
		args := verbs[rng.IntN(len(verbs))]
		if r := p.run(ctx, args...); (r.crashed() || r.code != 0) && !strings.Contains(r.err, "nothing to ") {
			bad("%s: %s", args[0], r)
		}
		_, rows, partial, err := p.sources(ctx)
		if err != nil {
			bad("%v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		stored++
		if said := slices.ContainsFunc(r.words(), func(line string) bool { return !slices.Contains(s.said, line) }); rows < s.rows && !partial && !said {
			silent[s.form]++
			if suffix != "" { // its checksum says it
				bad("stored with %d of %d rows, and nothing says so", rows, s.rows)
			}
		}
	})
	out := fmt.Sprintf("%d files of %d whole ones, %d stored all the same, at most %d MB of memory", tried, len(samples), stored, memory>>20)
	if len(silent) > 0 {
		out += fmt.Sprintf("; fewer rows and no word of it: %v", silent)
	}
	return out, nil
}

// learn ingests a whole file and keeps what prof stores and says of it.
func (l *lab) learn(ctx context.Context, s *sample) {
	p, err := l.place("whole-"+strings.ReplaceAll(s.name, "/", "-"), 0)
	if err != nil {
		l.fail("%s: %v", s.name, err)
		return
	}
	defer os.RemoveAll(p.dir)
	what, err := s.put(p, s.content, "")
	var r result
	if err == nil {
		r = p.run(ctx, "ingest", "--run", "x", what)
		s.said = r.words()
	}
	var forms string
	if err == nil && r.code == 0 {
		forms, s.rows, _, err = p.sources(ctx)
	}
	if (err != nil || !slices.Contains(strings.Fields(forms), s.form)) && ctx.Err() == nil {
		l.fail("%s, undamaged, is stored as %q, not as %s: %s, %v", s.name, forms, s.form, r, err)
	}
}

func gunzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b) // into memory
	_ = w.Close()
	return out.Bytes()
}

// damaged changes a file in one to four ways.
func damaged(rng *rand.Rand, whole []byte) (content []byte, how string) {
	b := bytes.Clone(whole)
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	for range 1 + rng.IntN(4) {
		if len(b) < 16 {
			break
		}
		at := rng.IntN(len(b) - 8)
		if rng.IntN(3) == 0 { // headers lie at the begin and at the end
			at = rng.IntN(min(len(b)-8, 512))
		} else if rng.IntN(4) == 0 {
			at = len(b) - 8 - rng.IntN(min(len(b)-8, 512))
		}
		size := min(1+rng.IntN(4096), len(b)-at)
		switch rng.IntN(9) {
		case 0:
			b = b[:at]
			say("cut at %d", at)
		case 1:
			b[at] ^= 1 << rng.IntN(8)
			say("a bit at %d", at)
		case 2:
			clear(b[at : at+size])
			say("%d zeros at %d", size, at)
		case 3:
			for i := range b[at : at+size] {
				b[at+i] = byte(rng.Uint32())
			}
			say("%d random bytes at %d", size, at)
		case 4:
			b = append(b[:at:at], b[at+size:]...)
			say("%d bytes missing at %d", size, at)
		case 5:
			from := rng.IntN(len(b) - size + 1)
			b = append(b[:at:at], append(bytes.Clone(b[from:from+size]), b[at:]...)...)
			say("%d bytes of %d once more at %d", size, from, at)
		case 6:
			v := []uint64{0, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}[rng.IntN(7)]
			binary.LittleEndian.PutUint64(b[at:], v)
			say("%#x at %d", v, at)
		case 7: // a number in a text
			for i := at; i < len(b); i++ {
				if b[i] >= '0' && b[i] <= '9' {
					text := []string{"-1", "1e308", "9223372036854775807", "99999999999999999999999", "NaN", "null", "\"x\"", "[[[[[[[["}[rng.IntN(8)]
					b = append(b[:i:i], append([]byte(text), b[i+1:]...)...)
					say("%s for a digit at %d", text, i)
					break
				}
			}
		case 8:
			at2 := rng.IntN(len(b) - 8)
			b[at], b[at2] = b[at2], b[at]
			say("bytes of %d and %d exchanged", at, at2)
		}
	}
	return b, strings.Join(said, ", ")
}
