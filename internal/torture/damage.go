package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"prof/internal/exports"
)

// whole are files of every format that prof reads.
var wholeFiles = []string{
	"nsys/kernels/kernels.sqlite.gz", "nsys/variants-graph/variants-graph.sqlite.gz", "graph/node.sqlite.gz", "capture/environment/environment.sqlite.gz",
	"nsys/variants-node/variants-node_pqtdir/StringIds.parquet", "nsys/variants-node/variants-node_pqtdir/CUPTI_ACTIVITY_KIND_KERNEL.parquet",
	"ncu/llama.ncu-rep.gz", "ncu/variants-graph.ncu-rep.gz", "ncu/variants-graph.raw-base.csv.gz",
	"torch/cpu.trace.json.gz", "torch/llama-stack.trace.json.gz", "torch/cpu.key_averages.json.gz", "torch/train.key_averages.csv.gz", "torch/train.key_averages.table.csv.gz",
	"workload/llama-graph-node.workload.json", "nsys/kernels/kernels.proftrace",
}

// wholeFile reads a file of testdata, unpacked. A trace is made out of the export of its name.
func (l *lab) wholeFile(name string) ([]byte, error) {
	path := filepath.Join(l.repo, "testdata", filepath.FromSlash(name))
	if base, ok := strings.CutSuffix(path, ".proftrace"); ok {
		tables, err := exports.ReadFile(base + ".sqlite.gz")
		if err != nil {
			return nil, err
		}
		return exports.Trace(exports.Traced(tables))
	}
	b, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(name, ".gz") {
		b, err = gunzip(b)
	}
	return b, err
}

// damage ingests damaged files: an error or a run whose views all answer, never a crash, a hang or much memory.
func (l *lab) damage(ctx context.Context, n int) (string, error) {
	contents := make([][]byte, len(wholeFiles))
	for i, name := range wholeFiles {
		b, err := l.wholeFile(name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		contents[i] = b
	}
	var stored atomic.Int64
	tried := l.each(ctx, n, func(ctx context.Context, trial int, rng *rand.Rand) {
		p, err := l.place("damage", trial)
		if err != nil {
			l.fail("damage %d: %v", trial, err)
			return
		}
		defer os.RemoveAll(p.dir)
		p.wrap = []string{"prlimit", "--data=6000000000"}
		i := rng.IntN(len(wholeFiles))
		name := strings.TrimSuffix(filepath.Base(wholeFiles[i]), ".gz")
		content, how := damaged(rng, contents[i])
		path := filepath.Join(p.dir, name)
		if strings.HasSuffix(name, ".parquet") { // one part of a folder
			path = filepath.Join(p.dir, "damaged_pqtdir", name)
			err = os.CopyFS(filepath.Dir(path), os.DirFS(filepath.Join(l.repo, "testdata", filepath.FromSlash(filepath.Dir(wholeFiles[i])))))
		}
		if err == nil {
			err = os.WriteFile(path, content, 0o644)
		}
		if err != nil {
			l.fail("damage %d: %v", trial, err)
			return
		}
		what := path
		if strings.HasSuffix(name, ".parquet") {
			what = filepath.Dir(path)
		}
		r := p.run(ctx, "ingest", "--run", "x", what)
		if r.crashed() || r.code < 0 || r.code > 2 {
			l.fail("damage %d: %s, %s: %s", trial, name, how, r)
			return
		}
		if r.code == 1 && r.err == "" {
			l.fail("damage %d: %s, %s: no word of why", trial, name, how)
		}
		if r.code != 0 {
			return
		}
		stored.Add(1)
		for _, args := range [][]string{{"show", "x"}, {"explain", "x"}, {"report", "x", "--out", p.dir}} {
			if r := p.run(ctx, args...); (r.crashed() || r.code != 0) && !strings.Contains(r.err, "nothing to ") {
				l.fail("damage %d: %s, %s: %s: %s", trial, name, how, args[0], r)
			}
		}
	})
	return fmt.Sprintf("%d files of %d forms, %d stored all the same", tried, len(wholeFiles), stored.Load()), nil
}

func gunzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
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
