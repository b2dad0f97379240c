package queries_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// lane is a stream in a stage.
type lane struct {
	stage          string
	device, stream int
}

// laneSum is what concurrency says of a lane.
type laneSum struct{ work, busy, overlap, stageBusy, sum, stageSum int64 }

// TestConcurrency holds how streams overlap to what is found nanosecond by nanosecond, of work thrown at random on streams of two GPUs.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	draw(t, w, "PD")
	const length = 400
	for seed := range uint64(14) {
		random := rand.New(rand.NewPCG(seed, 1))
		want, pieces := map[lane]*laneSum{}, []string(nil)
		open := [2][length]map[lane]bool{} // by GPU and time
		for range 1 + random.IntN(60) {
			l := lane{[]string{"(none)", "prefill", "decode"}[random.IntN(3)], random.IntN(2), 7 + random.IntN(1+int(seed)%4)}
			start := random.IntN(length - 40)
			end := start + random.IntN(1+40/(1+int(seed)%7)) // few meet, or most
			path := map[string]string{"(none)": []string{"0", "NULL"}[random.IntN(2)], "prefill": "1", "decode": "2"}[l.stage]
			pieces = append(pieces, fmt.Sprintf("(%d, %d, %d, %d, %s)", l.device, l.stream, start, end-start, path))
			if want[l] == nil {
				want[l] = &laneSum{}
			}
			want[l].work++
			want[l].sum += int64(end - start)
			for i := start; i < end; i++ {
				if open[l.device][i] == nil {
					open[l.device][i] = map[lane]bool{}
				}
				open[l.device][i][l] = true
			}
		}
		for l, s := range want {
			for _, at := range open[l.device] {
				stage := false
				for other := range at {
					stage = stage || other.stage == l.stage
				}
				if stage {
					s.stageBusy++
				}
				if at[l] {
					s.busy++
					if len(at) > 1 {
						s.overlap++
					}
				}
			}
			for other, o := range want {
				if other.stage == l.stage && other.device == l.device {
					s.stageSum += o.sum
				}
			}
		}
		store(t, w, random, pieces)
		f, err := queries.Raw(t.Context(), w, "FROM concurrency('drawn')")
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Rows) != len(want) {
			t.Errorf("seed %d: %d rows, want %d", seed, len(f.Rows), len(want))
		}
		for _, r := range f.Rows {
			n := func(column string) int64 { return number(f, r, column) }
			l := lane{r[f.Index("stage")].(string), int(whole(r[f.Index("device")])), int(whole(r[f.Index("stream")]))}
			s := want[l]
			if s == nil {
				t.Fatalf("seed %d: %v is not there", seed, l)
			}
			got := laneSum{n("work_count"), n("busy_ns"), n("overlap_ns"), n("stage_busy_ns"), n("sum_ns"), s.stageSum}
			if got != *s || ratio(r[f.Index("share_ratio")]) != share(s.busy, s.stageBusy) || ratio(r[f.Index("overlap_ratio")]) != share(s.overlap, s.busy) ||
				ratio(r[f.Index("concurrency_count")]) != share(s.stageSum, s.stageBusy) {
				t.Errorf("seed %d: %v: %+v, want %+v: %v", seed, l, got, *s, r)
			}
		}
	}
}

// store puts random work into the tables of kernels, copies and graph replays; what a replay traced by node is made of has rows of its own.
func store(t *testing.T, w *schema.Warehouse, random *rand.Rand, pieces []string) {
	t.Helper()
	var kinds [3][]string
	for _, p := range pieces {
		kind := random.IntN(len(kinds))
		kinds[kind] = append(kinds[kind], p)
	}
	stmts := []string{"BEGIN"}
	for kind, into := range []string{"kernel (kernel_name_id, ", "memop (operation, ", "graph_launch (busy_ns, mode, "} {
		stmts = append(stmts, "DELETE FROM "+strings.Fields(into)[0])
		if len(kinds[kind]) > 0 {
			more := []string{"1", "'memset'", "0, unnest(['graph', 'node'])"}[kind]
			stmts = append(stmts, fmt.Sprintf("INSERT INTO %srun_id, source_id, pid, device_id, stream_id, start_ns, duration_ns, path_id) SELECT %s, run_id, 1, 1, x.* FROM run, (VALUES %s) x", into, more, strings.Join(kinds[kind], ", ")))
		}
	}
	testkit.Exec(t, w, strings.Join(append(stmts, "COMMIT"), ";\n"))
	testkit.DeriveOnly(t, w, "timeline")
}

// share is a part of a whole; -1 stands for none of nothing.
func share(part, of int64) float64 {
	if of == 0 {
		return -1
	}
	return float64(part) / float64(of)
}

// ratio is a cell that holds a share.
func ratio(v any) float64 {
	if x, ok := v.(float64); ok {
		return x
	}
	return -1
}
