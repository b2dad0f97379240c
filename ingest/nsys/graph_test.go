package nsys_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/rows/rowstest"
	"prof/internal/exports"
)

const (
	whileNode   = "../../testdata/odd/while-node.sqlite.gz"
	deviceGraph = "../../testdata/odd/device-graph.sqlite.gz"
)

// TestConditionalNodes: the bodies of a WHILE and an IF node are of the five launches of their graph, and so of the range decode.
func TestConditionalNodes(t *testing.T) {
	k, info := stored(t, whileNode)
	of := map[string]int{}
	for _, kernel := range k.Table("kernel").Texts("kernel_name_id.short_name path_id.path launch_name_id.name") {
		of[kernel]++
	}
	if got := fmt.Sprint(of); got != "map[arm|decode|cudaGraphLaunch_v10000:5 loop_body|decode|cudaGraphLaunch_v10000:50 work_a|decode|cudaGraphLaunch_v10000:50 work_b|decode|cudaGraphLaunch_v10000:5]" {
		t.Error(got)
	}
	if n := len(k.Table("kernel").Is("correlation_id", "~")); n > 0 {
		t.Errorf("%d kernels have no launch", n)
	}
	k.Table("graph_launch").Expect(t, "mode graph_id kernel_count", "node|3|22", "node|3|22", "node|3|22", "node|3|22", "node|3|22")
	if len(info.Warnings) > 0 {
		t.Error(info.Warnings)
	}
}

// changed stores an export some of whose rows were changed.
func changed(t *testing.T, path, table string, change func(at func(column string) *any, i int)) (*rowstest.Kept, *load.SourceInfo) {
	t.Helper()
	tables, err := exports.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tables {
		if x.Name == table {
			for i, row := range x.Rows {
				change(func(column string) *any { return &row[x.Column(column)] }, i)
			}
		}
	}
	out := filepath.Join(t.TempDir(), "a.sqlite")
	if err := exports.Repeat(out, tables, 1); err != nil {
		t.Fatal(err)
	}
	return stored(t, out)
}

// TestUnknownBodies: a body that may be of either of two launches has none, and is said.
func TestUnknownBodies(t *testing.T) {
	k, info := changed(t, whileNode, "CUPTI_ACTIVITY_KIND_RUNTIME", func(at func(string) *any, _ int) { // the second launch is called while the first runs
		if *at("correlationId") == int64(131) {
			*at("start"), *at("end") = int64(627_460_000), int64(627_470_000)
		}
	})
	if n := len(k.Table("kernel").Is("correlation_id", "~")); n > 0 {
		t.Errorf("%d kernels within their launch have none", n)
	}
	const last = int64(627_773_217) // of the first launch
	k, info = changed(t, whileNode, "CUPTI_ACTIVITY_KIND_KERNEL", func(at func(string) *any, i int) {
		if i == 1 {
			*at("start"), *at("end") = last+9_000, last+10_000 // after the call of the second
		}
	})
	k.Table("kernel").Is("correlation_id", "~").Expect(t, "kernel_name_id.short_name path_id launch_start_ns", "work_a|~|~")
	if said := strings.Join(info.Warnings, "\n"); !strings.Contains(said, "1 rows are bodies of conditional nodes") {
		t.Error(said)
	}
}

// TestLaunchedByDevice: graphs that a kernel launched are replays without a call, in the range of the launch in which they began.
func TestLaunchedByDevice(t *testing.T) {
	const columns = "duration_ns stream_id correlation_id launch_start_ns launch_name_id.name path_id.path graph_id"
	k, info := stored(t, deviceGraph)
	by := k.Table("graph_launch").Is("launch_name_id.name", "cudaGraphLaunch (device)")
	by.By("start_ns").Expect(t, columns, "18368|~|~|~|cudaGraphLaunch (device)|decode|2", "16865|~|~|~|cudaGraphLaunch (device)|decode|2",
		"16832|~|~|~|cudaGraphLaunch (device)|decode|2", "16833|~|~|~|cudaGraphLaunch (device)|decode|2", "16832|~|~|~|cudaGraphLaunch (device)|decode|2")
	if len(k.Table("graph_launch")) != 10 || len(info.Warnings) > 0 {
		t.Error(len(k.Table("graph_launch")), info.Warnings)
	}
	ranges := k.Table("range_device")
	if sum, count := ranges.Sum("sum_ns"), ranges.Sum("graph_count"); sum != 130_466 || count != 10 {
		t.Errorf("ranges hold %d replays of %d ns", count, sum)
	}
	for _, c := range []struct {
		what string
		from int64 // start of the first, the parent of which runs until 554,401,814
		path string
	}{
		{"just after its parent", 554_405_000, "decode"},
		{"long after", 554_430_000, "~"},
		{"before all", 554_390_000, "~"},
	} {
		k, _ := changed(t, deviceGraph, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", func(at func(string) *any, i int) {
			if *at("start") == int64(554_398_582) {
				*at("start"), *at("end") = c.from, c.from+1
			}
		})
		if got := k.Table("graph_launch").Is("duration_ns", "1").Texts("path_id.path launch_name_id.name"); len(got) != 1 || got[0] != c.path+"|cudaGraphLaunch (device)" {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
