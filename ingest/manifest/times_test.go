package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzTimes holds that a file of times is read or refused, and that what is read can be stored.
func FuzzTimes(f *testing.F) {
	for _, c := range timesCases {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readText(t, text)
		if err != nil {
			return
		}
		for _, e := range got.Executions {
			if *e[0] >= int64(len(got.Paths)) || len(got.Paths[*e[0]]) == 0 || *e[1] < 0 || e[2] != nil && *e[2] < 0 || got.PID <= 0 {
				t.Errorf("%q gives %v", text, e)
			}
		}
	})
}

func readText(t *testing.T, text string) (*stageTimes, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report-1.times-7.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return readTimes(path)
}

var timesCases = []struct{ text, want string }{
	{`{"pid":7,"rank":null,"left_out":0,"fault":null,"paths":[["warmup","prefill"],["decode"]],"executions":[[0,1,2,null,null,1],[1,3,null,4,5,0]]}`, ""},
	{`{"pid":7,"paths":[["decode"]],"executions":[[1,1,null,null,null,0]]}`, "executions[0][0] is 1 of 1 paths"},
	{`{"pid":7,"paths":[["decode"]],"executions":[[0,null,null,null,null,0]]}`, "executions[0][1] is null"},
	{`{"pid":7,"paths":[["decode"]],"executions":[[0,1,-5,null,null,0]]}`, "executions[0][2] is -5"},
	{`{"pid":7,"paths":[["decode"]],"executions":[[0,1]]}`, "executions[0][5] is null"},
	{`{"pid":7,"paths":[["decode"]],"executions":[[0,1,null,null,null,0]],"memory":[[0,0,1,2,3,4,5,6,7,8],[0,1,1,2,3,4,5,6,7,8]]}`, ""},
	{`{"pid":7,"paths":[["decode"]],"executions":[[0,1,null,null,null,0]],"memory":[[1,0,1,2,3,4,5,6,7,8]]}`, "memory[0][0] is 1 of 1 executions"},
	{`{"pid":7,"paths":[["decode"]],"executions":[[0,1,null,null,null,0]],"memory":[[0,0,1,2,3,4,5,6,7]]}`, "memory[0] has 9 values, want 10"},
	{`{"pid":7,"paths":[["decode"]],"executions":[[0,1,null,null,null,0]],"memory":[[0,0,1,2,3,-4,5,6,7,8]]}`, "memory[0][5] is -4"},
	{`{"pid":7,"paths":[[]],"executions":[]}`, "paths[0] has 0 names"},
	{`{"paths":[],"executions":[]}`, "pid is 0"},
	{`{"pid":7,"paths":[["decode"]],"executions":[[0,1,2,`, "it is not a file of stage times"},
	{`[]`, "it is not a file of stage times"},
}

// TestTimes holds what is refused, and where it says that the fault is.
func TestTimes(t *testing.T) {
	for _, c := range timesCases {
		if _, err := readText(t, c.text); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
