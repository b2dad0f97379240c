package torch_test

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/rows/rowstest"
	"prof/ingest/torch"
)

// captures is where traces lie that are shipped with the sources.
const captures = "../../testdata/torch/"

// tryStored stores traces as the sources of one run, in memory.
func tryStored(t *testing.T, paths ...string) (*rowstest.Kept, []*load.SourceInfo, error) {
	t.Helper()
	return storedBy(t, 2, paths...)
}

// storedBy does so in a number of goroutines.
func storedBy(t *testing.T, threads int, paths ...string) (*rowstest.Kept, []*load.SourceInfo, error) {
	t.Helper()
	k := rowstest.New(t, load.Options{Threads: threads})
	var infos []*load.SourceInfo
	for i, path := range paths {
		k.SourceID = i + 1
		info, err := torch.Load(t.Context(), path, path, k.Target)
		if err != nil {
			return nil, nil, err
		}
		infos = append(infos, info)
	}
	return k, infos, errors.Join(k.StoreShared(t.Context()), torch.StoreStacks(t.Context(), k.Target))
}

// stored stores traces that must be read without an error and returns the warnings.
func stored(t *testing.T, paths ...string) (*rowstest.Kept, []string) {
	t.Helper()
	k, infos, err := tryStored(t, paths...)
	if err != nil {
		t.Fatal(err)
	}
	var warnings []string
	for _, i := range infos {
		warnings = append(warnings, i.Warnings...)
	}
	return k, warnings
}

// unpack opens a file that may be gzip.
func unpack(tb testing.TB, path string) io.ReadCloser {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return f
	}
	tb.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	return z
}

func readAll(tb testing.TB, path string) []byte {
	tb.Helper()
	src := unpack(tb, path)
	defer src.Close()
	text, err := io.ReadAll(src)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// write makes a trace file of the given text.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDeviceNumbers: where one GPU is described and all work ran on one of another number, as under ROCm, these are the same; of several none is guessed.
func TestDeviceNumbers(t *testing.T) {
	const one = `{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": 5, "dur": 2, "args": {"correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 9, "tid": 7, "ts": 20, "dur": 3, "args": {"correlation": 9, "device": 9, "stream": 7}}]}`
	same := strings.NewReplacer(`"pid": 9,`, `"pid": 0,`, `"device": 9`, `"device": 0`).Replace(one)
	two := strings.Replace(one, `{"id": 0, "name": "GPU"}`, `{"id": 0, "name": "GPU"}, {"id": 1, "name": "GPU"}`, 1)
	for name, c := range map[string]struct {
		text string
		want []string
	}{"one": {one, []string{"9|AMD GPU"}}, "two": {two, []string{"0|AMD GPU", "1|AMD GPU"}}, "same": {same, []string{"0|AMD GPU"}}} {
		k, _ := stored(t, write(t, name+".json", c.text))
		k.Table("device").By("device_id").Expect(t, "device_id name", c.want...)
	}
}

// TestThreads: all that is stored is the same, in however many goroutines a trace is parsed.
func TestThreads(t *testing.T) {
	var want map[string][]string
	for _, threads := range []int{1, 2, 5} {
		k, _, err := storedBy(t, threads, captures+"llama-stack.trace.json.gz", captures+"train.trace.json.gz")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{}
		for _, table := range k.Filled() {
			got[table] = slices.Sorted(slices.Values(k.Table(table).Texts(strings.Join(rowstest.Columns(t)[table], " "))))
		}
		if len(got) < 15 {
			t.Fatalf("few tables are filled: %d", len(got))
		}
		if want == nil {
			want = got
		}
		for table := range want {
			if !slices.Equal(got[table], want[table]) {
				t.Errorf("%d goroutines give another %s than one", threads, table)
			}
		}
	}
}
