package proton_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/proton"
	"prof/ingest/rows/rowstest"
)

const capturedTrace = "../../testdata/proton/h200.chrome_trace"

// stored loads a text as a file, in memory.
func stored(t testing.TB, with func(path string, k *rowstest.Kept) (*load.SourceInfo, error), text []byte) (*rowstest.Kept, *load.SourceInfo, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	k := rowstest.New(t, load.Options{Threads: 2})
	info, err := with(path, k)
	if err == nil {
		err = k.StoreShared(t.Context())
	}
	return k, info, err
}

func storedTrace(t testing.TB, text []byte) (*rowstest.Kept, *load.SourceInfo, error) {
	t.Helper()
	return stored(t, func(path string, k *rowstest.Kept) (*load.SourceInfo, error) {
		return proton.LoadTrace(t.Context(), path, "p.chrome_trace", k.Target)
	}, text)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// kernelsOf returns the kernels of a trace by the standard library's reader: stream, start, duration, stack.
func kernelsOf(t testing.TB, text []byte) (out []string) {
	t.Helper()
	for line := range bytes.Lines(text) {
		var doc struct {
			TraceEvents []struct {
				TID     int
				TS, Dur float64
				Args    struct {
					CallStack []string `json:"call_stack"`
				}
			}
		}
		if err := json.Unmarshal(line, &doc); err != nil {
			t.Fatal(err)
		}
		for _, e := range doc.TraceEvents {
			stack := e.Args.CallStack[1 : len(e.Args.CallStack)-1]
			path := strings.ReplaceAll(strings.Join(stack, " > "), "<captured_at> > ", "")
			out = append(out, fmt.Sprintf("%d %.0f %.0f %s", e.TID, math.Round(1000*e.TS), math.Round(1000*e.Dur), path))
		}
	}
	slices.Sort(out)
	return out
}

// TestTrace holds a real trace to the standard library's reading of it, kernel by kernel: several documents, paths of scopes, those of a capture apart.
func TestTrace(t *testing.T) {
	t.Parallel()
	text := read(t, capturedTrace)
	if !proton.SniffTrace(text) {
		t.Error("it is not recognised")
	}
	k, info, err := storedTrace(t, text)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[int64]string{}
	for _, r := range k.Table("range_path").Where(func(rowstest.Row) bool { return true }) {
		paths[r.Int("path_id")] = r.Text("path")
	}
	var got []string
	kernels := k.Table("kernel").Where(func(rowstest.Row) bool { return true })
	for _, r := range kernels {
		got = append(got, fmt.Sprintf("%d %d %d %s", r.Int("stream_id"), r.Int("start_ns"), r.Int("duration_ns"), paths[r.Int("path_id")]))
	}
	slices.Sort(got)
	if want := kernelsOf(t, text); len(want) != 19 || !slices.Equal(got, want) {
		t.Errorf("%d kernels are stored:\n%s\n%d are in the file:\n%s", len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
	k.Table("range_path").By("path").Expect(t, "path depth domain name", "capture|1||capture", "decode|1||decode", "replay|1||replay", "replay > capture|2|captured_at|capture")
	k.Table("kernel_name").By("name").Expect(t, "name", "add", "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
		"void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<long>, std::array<char*, 1ul> >(int, at::native::FillFunctor<long>, std::array<char*, 1ul>)")
	if info.Rows != 19 || info.Status != "" || len(info.Warnings) != 2 {
		t.Errorf("%+v", info)
	}
}

const kernelText = `{"args":{"call_stack":["ROOT","a","k"]},"cat":"kernel","dur":2.5,"name":"k","ph":"X","tid":7,"ts":%s}`

func traceOf(events ...string) string {
	return `{"displayTimeUnit":"us","traceEvents":[` + strings.Join(events, ",") + "]}\n"
}

// TestTraceSaid holds what is said of what a trace has and lacks.
func TestTraceSaid(t *testing.T) {
	t.Parallel()
	one := traceOf(fmt.Sprintf(kernelText, "1.5"))
	for name, c := range map[string]struct {
		text    string
		kernels int
		said    string // by a warning, or by the error where there are no kernels
	}{
		"several GPUs":        {traceOf(fmt.Sprintf(kernelText, "0.0"), fmt.Sprintf(kernelText, "1.0")), 2, "1 kernels begin before another of their stream ends"},
		"no scopes":           {strings.ReplaceAll(one, `"ROOT","a","k"`, `"ROOT","k"`), 1, "do not say which GPU"},
		"named streams":       {traceOf(`{"ph":"M","pid":0,"tid":7,"name":"thread_name","args":{"name":"GPU Stream 9"}}`, fmt.Sprintf(kernelText, "0.0")), 1, "do not say which GPU"},
		"cut":                 {one + one[:len(one)-20], 1, "the trace ends before it is complete"},
		"without kernels":     {traceOf(), 0, "p.chrome_trace: it has no kernels with times"},
		"instrumented":        {traceOf(`{"args":{"call_stack":["ROOT","a"]},"cat":"add","dur":2.5,"name":"load","ph":"X","pid":"core 0","tid":"warp 0","ts":0.0}`), 0, "p.chrome_trace: it has no kernels with times"},
		"no document":         {one + "x", 0, "p.chrome_trace: at byte 144: not a trace: more data follows"},
		"a stack of no texts": {strings.ReplaceAll(one, `"ROOT","a","k"`, `"ROOT",1`), 0, "p.chrome_trace: at byte 39: not a trace: call_stack"},
	} {
		k, info, err := storedTrace(t, []byte(c.text))
		switch {
		case c.kernels == 0:
			if err == nil || !strings.Contains(err.Error(), c.said) {
				t.Errorf("%s: %v, want %q", name, err, c.said)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case k.Count("kernel") != c.kernels || !slices.ContainsFunc(info.Warnings, func(w string) bool { return strings.Contains(w, c.said) }):
			t.Errorf("%s: %d kernels, %q", name, k.Count("kernel"), info.Warnings)
		case name == "named streams":
			k.Table("kernel").Expect(t, "stream_id", "9")
		}
	}
}

// FuzzTrace stores any file, or says what is wrong with it, with its name.
func FuzzTrace(f *testing.F) {
	f.Add(read(f, capturedTrace))
	f.Add([]byte(traceOf(fmt.Sprintf(kernelText, "1e3")) + traceOf()))
	f.Add([]byte(`{"traceEvents":[]}{`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, _, err := storedTrace(t, text); err != nil && !strings.HasPrefix(err.Error(), "p.chrome_trace: ") {
			t.Fatal(errors.Unwrap(err), err)
		}
	})
}
