package averages_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/rows/rowstest"
	"prof/ingest/torch/averages"
)

const captures = "../../../testdata/torch/"

// store loads a file, in memory.
func store(t *testing.T, path string) (*rowstest.Kept, *load.SourceInfo, error) {
	t.Helper()
	k := rowstest.New(t, load.Options{})
	info, err := averages.Load(t.Context(), rowstest.Plain(t, path), path, k.Target)
	return k, info, err
}

// amounts are the columns of op_average behind the name.
const amounts = " kind shapes call_count self_cpu_ns total_cpu_ns self_device_ns total_device_ns self_device_bytes total_device_bytes self_host_bytes total_host_bytes flop_count"

func TestStored(t *testing.T) {
	var all []string
	for _, file := range []string{"train.shapes.key_averages.json.gz", "train.shapes.key_averages.csv.gz"} {
		k, info, err := store(t, captures+file)
		if err != nil || len(info.Warnings) > 0 || info.Rows != 326 || info.Status != "" || info.Reason != "" {
			t.Fatalf("%+v, %v", info, err)
		}
		k.Table("source_part").Expect(t, "part read_count stored_count reason", "key_averages|326|326|~")
		rows := k.Table("op_average").By("row_number")
		rows[:3].Expect(t, "name"+amounts,
			"ProfilerStep*|cpu|[]|2|231332|12857673|0|517502|-394240|0|0|0|0",
			"## data ##|cpu|[]|2|50848|264784|0|12545|0|393216|0|0|0",
			"aten::to|cpu|[[4, 3, 64, 64], [], [], [], [], [], [], []]|2|11011|213936|0|12545|0|393216|0|0|0")
		got := rows.Texts("row_number name" + amounts)
		if all == nil {
			all = got
		}
		if !slices.Equal(got, all) {
			t.Errorf("%s differs from the JSON", file)
		}
		// PyTorch printed "Self CPU time total: 18.082ms" under this table.
		if cpu, onDevice := rows.Sum("self_cpu_ns"), len(rows.Is("kind", "device")); len(rows) != 326 || cpu != 18081610 || onDevice != 41 || len(rows.Is("kind", "range")) != 4 {
			t.Errorf("%d rows, %d of devices, and %d ns", len(rows), onDevice, cpu)
		}
	}
}

// TestCutStored: what is whole of a table that was cut off is stored, and the source says that it is partial.
func TestCutStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cut.json")
	text := `[{"key": "a", "count": 1, "cpu_time_total": 3, "cuda_time_total": 0}, {"key": "b", "count": 2, "cpu_time_total": 4, "cuda_time_total": 0}, {"key": "c", "cou`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	k, info, err := store(t, path)
	if err != nil || len(info.Warnings) != 2 || info.Status != "partial" || info.Reason != "the file ends inside its table, after row 2: it was cut off" || info.Rows != 2 {
		t.Fatalf("%+v, %v", info, err)
	}
	k.Table("op_average").By("row_number").Expect(t, "row_number name kind call_count total_cpu_ns total_device_ns", "1|a|cpu|1|3000|~", "2|b|cpu|2|4000|~")
	said := k.Table("diagnostic").By("message")
	said.Expect(t, "origin severity", "ingest|warning", "ingest|warning")
	if got := said.Texts("message"); !strings.HasPrefix(got[0], "cuda_time_total: 0 in every row, so stored as ") || !strings.HasPrefix(got[1], "the file ends inside its table, after row 2: i") {
		t.Errorf("it says %q", got)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(text, `"count": 2`, `"count": -2`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if k, _, err = store(t, path); err == nil || !strings.Contains(err.Error(), path+`: row 2 (byte 70): column "count": "-2" is negative`) || len(k.Filled()) > 0 {
		t.Error(err, k.Filled())
	}
}
