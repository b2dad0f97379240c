package cli

import (
	"fmt"
	"testing"
	"time"

	"prof/capture/ncu"
	"prof/capture/plan"
)

// Fewer kernels are profiled where the budget has no time for all; their time is that of the last one in the timeline, of the launches before it
// and of those that are profiled.
func TestPlanFits(t *testing.T) {
	t.Parallel()
	planned := func(top int) (rows []planRow) {
		for i := range top {
			rows = append(rows, planRow{Symbol: fmt.Sprint("k", i), Invocation: new(int64(1)), Match: new(int64(2 * (i + 1))), SkipCount: new(int64(9000)), BeforeCount: 10_000, RecordingNs: new(int64(12_400_000_000))})
		}
		return rows
	}
	const ten = 12400*time.Millisecond + 4300*time.Millisecond + 5*time.Second // and twenty launches that are matched
	for name, c := range map[string]struct {
		budget  time.Duration // 0: none
		counted bool
		top     int
		takes   time.Duration
		said    string
	}{
		"no budget":      {0, true, 10, ten + 10*time.Second, "Nsight Compute profiles 10 launches of 10 kernels, chosen from the timeline"},
		"enough":         {time.Minute, true, 10, ten + 10*time.Second, "Nsight Compute profiles 10 launches of 10 kernels, chosen from the timeline"},
		"for some":       {ten + 4600*time.Millisecond, true, 4, ten + 4*time.Second, "Nsight Compute profiles 4 launches of 4 kernels, chosen from the timeline, without 6 kernels that --budget has no time for"},
		"for none":       {time.Second, true, 1, ten + time.Second, "Nsight Compute profiles 1 launch of 1 kernel, chosen from the timeline, without 9 kernels that --budget has no time for"},
		"number unknown": {0, false, 10, ten + 5*time.Second, "Nsight Compute profiles 10 launches of 10 kernels, chosen from the timeline"},
	} {
		var out ncu.Target
		over := func() time.Duration {
			if c.budget == 0 {
				return 0
			}
			return ncu.Takes(plan.Defaults(), out) - c.budget
		}
		said, err := fit(&out, planned(10), c.counted, over, func(top int) ([]planRow, error) { return planned(top), nil })
		if takes := ncu.Takes(plan.Defaults(), out); err != nil || len(out.Launches) != c.top || takes.Round(time.Millisecond) != c.takes || said != c.said || out.Skip != 9000 {
			t.Errorf("%s: %d launches, %s, %q, %v, want %d, %s, %q", name, len(out.Launches), takes, said, err, c.top, c.takes, c.said)
		}
	}
	// Where the timeline is not one of this capture, the time is not known.
	rows := planned(3)
	rows[1].RecordingNs = nil
	var out ncu.Target
	if _, err := fit(&out, rows, true, func() time.Duration { return 0 }, nil); err != nil || ncu.Takes(plan.Defaults(), out) != 0 {
		t.Errorf("takes %s, %v", ncu.Takes(plan.Defaults(), out), err)
	}
}
