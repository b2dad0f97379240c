package schema

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"slices"
)

// An id of a run's own names, paths, ranges and the like is the base of the run plus the number 1, 2, ... that the thing has within
// the run, so that no two runs share one and a join by id alone is right. 0 stands for none of them.

// idBits is the room for numbers below the bits of a base; an id has 63.
const idBits = 27

// MaxIDs is how many things of one kind a run can number.
const MaxIDs = 1<<idBits - 1

// IDBase is the base of a run: 36 bits of the MD5 of its id's text, as the macro _id_base tells it in SQL.
func IDBase(runID string) int64 {
	sum := md5.Sum([]byte(runID))
	return int64(binary.BigEndian.Uint64(sum[:8])>>(idBits+1)) << idBits
}

// IDNumber is the number that what has an id has within its run.
func IDNumber(id int64) int32 { return int32(id & MaxIDs) }

// idColumns are the columns that hold such ids.
var idColumns = []string{"kernel_name_id", "before_kernel_name_id", "after_kernel_name_id", "kernel_shape_id", "api_name_id", "launch_name_id", "path_id", "stage_path_id", "note_path_id", "name_path_id", "lineage",
	"range_context_id", "range_id", "parent_range_id", "decode_range_id", "op_id", "parent_op_id", "forward_op_id", "op_name_id", "caller_op_name_id", "outermost_op_name_id", "op_name_ids", "op_input_id", "stack_id", "parent_stack_id", "own_stack_id", "file_stack_id", "launch_id", "model_id"}

// IsID reports whether a column holds ids of that kind, or lists of them.
func IsID(table, column string) bool {
	return slices.Contains(idColumns, column) || column == "metric_id" && table != "gpu_metric" && table != "gpu_metric_name"
}

// FreeRunID makes the id of a new run of the warehouse: one with a base that no other run has.
func FreeRunID(ctx context.Context, q SQL) (string, error) {
	runs, err := texts(q.QueryContext(ctx, `SELECT run_id::VARCHAR FROM run`))
	if err != nil {
		return "", fmt.Errorf("read the ids of runs: %w", err)
	}
	return freeRunID(runs, NewRunID)
}

func freeRunID(runs []string, draw func() (string, error)) (string, error) {
	taken := map[int64]bool{}
	for _, id := range runs {
		taken[IDBase(id)] = true
	}
	for {
		id, err := draw()
		if err != nil || !taken[IDBase(id)] {
			return id, err
		}
	}
}
