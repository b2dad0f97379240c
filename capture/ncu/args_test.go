package ncu

import (
	"prof/capture/plan"
	"slices"
	"strings"
	"testing"
)

func TestNcuArgs(t *testing.T) {
	const common = "--target-processes all --force-overwrite --export /r/report-1 --log-file /r/report-1.log --nvtx "
	const head = common + "--clock-control none --replay-mode kernel "
	const picked = "--kernel-name-base mangled --kernel-id ::regex:^(_Z1av|k\\$0\\.1)$:^(1|7)$ "
	const roofline = "--set roofline --section ComputeWorkloadAnalysis --section LaunchStats --section MemoryWorkloadAnalysis --section Occupancy --section SchedulerStats --section WarpStateStats "
	const dram = "--metrics dram__bytes_read.sum,dram__bytes_write.sum "
	const usual = roofline + dram
	launches := []Launch{{"k$0.1", 7, 0}, {"_Z1av", 1, 0}}
	for name, c := range map[string]struct {
		change   func(*plan.Options)
		launches []Launch
		want     string
	}{
		"top kernels":    {func(o *plan.Options) {}, launches, head + picked + usual},
		"until the last": {func(o *plan.Options) {}, []Launch{{"a", 1, 1}, {"b", 3, 4}}, head + "--kernel-name-base mangled --kernel-id ::regex:^(a|b)$:^(1|3)$ --launch-count 4 --kill yes " + usual},
		"all launches":   {func(o *plan.Options) {}, nil, head + usual},
		"kernels": {func(o *plan.Options) { o.Ncu.Kernels = "^(gemm|flash).*" }, launches,
			head + "--kernel-name-base function --kernel-name regex:^(gemm|flash).* " + usual},
		"kernels, as ncu writes it": {func(o *plan.Options) { o.Ncu.Kernels = "regex:gemm" }, nil, head + "--kernel-name-base function --kernel-name regex:gemm " + usual},
		"kernels, skip and count": {func(o *plan.Options) { o.Ncu.Kernels, o.Ncu.LaunchSkip, o.Ncu.LaunchCount = "gemm", 3, 2 }, nil,
			head + "--kernel-name-base function --kernel-name regex:gemm --launch-skip 3 --launch-count 2 --kill yes " + usual},
		"clocks":       {func(o *plan.Options) { o.Ncu.ClockControl = "base" }, launches, common + "--clock-control base --replay-mode kernel " + picked + usual},
		"application":  {func(o *plan.Options) { o.Ncu.Replay = "application" }, launches, common + "--clock-control none --replay-mode application " + picked + usual},
		"range":        {func(o *plan.Options) { o.Range = "prefill@LLM" }, launches, head + picked + "--nvtx-include LLM@prefill/ --nvtx-include LLM@prefill " + usual},
		"range with @": {func(o *plan.Options) { o.Range = `LLM\@prefill` }, launches, head + picked + `--nvtx-include LLM\@prefill/ --nvtx-include LLM\@prefill ` + usual},
		"profiler API": {func(o *plan.Options) { o.ProfilerAPI = true }, launches, head + picked + "--profile-from-start off " + usual},
		"ranges replayed": {func(o *plan.Options) { o.Ncu.Replay, o.Range, o.Ncu.LaunchCount = "range", "a", 4 }, launches,
			common + "--clock-control none --replay-mode range --launch-count 4 --nvtx-include a/ --nvtx-include a " + usual},
		"ranges of the application": {func(o *plan.Options) { o.Ncu.Replay, o.ProfilerAPI = "app-range", true }, nil,
			common + "--clock-control none --replay-mode app-range --profile-from-start off " + usual},
		"memory": {func(o *plan.Options) { o.Ncu.Preset = "memory" }, launches, head + picked + "--section SpeedOfLight --section MemoryWorkloadAnalysis " +
			"--section MemoryWorkloadAnalysis_Chart --section MemoryWorkloadAnalysis_Tables --section LaunchStats --section Occupancy --section SchedulerStats --section WarpStateStats "},
		"full":             {func(o *plan.Options) { o.Ncu.Preset = "full" }, launches, head + picked + "--set full "},
		"set":              {func(o *plan.Options) { o.Ncu.Set = "detailed" }, launches, head + picked + "--set detailed "},
		"sections":         {func(o *plan.Options) { o.Ncu.Sections = []string{"Occupancy", "regex:.*Stats"} }, launches, head + picked + "--section Occupancy --section regex:.*Stats "},
		"set and sections": {func(o *plan.Options) { o.Ncu.Set, o.Ncu.Sections = "basic", []string{"Occupancy"} }, launches, head + picked + "--set basic --section Occupancy "},
		"metrics":          {func(o *plan.Options) { o.Ncu.Metrics = []string{"a.sum", "dram__bytes_read.sum"} }, launches, head + picked + roofline + "--metrics dram__bytes_read.sum,dram__bytes_write.sum,a.sum "},
		"metrics of a set": {func(o *plan.Options) { o.Ncu.Set, o.Ncu.Metrics = "basic", []string{"a.sum", "b.avg"} }, launches, head + picked + "--set basic --metrics a.sum,b.avg "},
		"metrics beside":   {func(o *plan.Options) { o.Ncu.Preset, o.Ncu.Metrics = "full", []string{"a.sum"} }, launches, head + picked + "--set full --metrics a.sum "},
		"sources":          {func(o *plan.Options) { o.Ncu.Source = true }, launches, head + picked + roofline + "--section SourceCounters " + dram + "--import-source yes "},
		"sources, full":    {func(o *plan.Options) { o.Ncu.Preset, o.Ncu.Source = "full", true }, launches, head + picked + "--set full --import-source yes "},
		"more arguments":   {func(o *plan.Options) { o.Ncu.Args = []string{"--cache-control", "none"} }, launches, head + picked + usual + "--cache-control none "},
		"light, ncu named": {func(o *plan.Options) { o.Mode, o.Tools = plan.ModeLight, []string{"nsys", "ncu"} }, launches, head + picked + usual},
		"of nsys":          {func(o *plan.Options) { o.Nsys.Args, o.Nsys.Trace = []string{"--x"}, []string{"cuda"} }, launches, head + picked + usual},
	} {
		o := plan.With(c.change)
		if err := o.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := append(strings.Fields(c.want), "/usr/bin/prof", "launched", "--", "python", "run me.py")
		if got := Args(o, Target{Launches: c.launches}, "/r/report-1", "/r/report-1.log", want[len(want)-5:]); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
}

// What comes before the first launch that is chosen is skipped.
func TestNcuSkip(t *testing.T) {
	got := strings.Join(Args(plan.Defaults(), Target{Launches: []Launch{{"k", 1, 1}}, Skip: 7864}, "/r/o", "/r/l", []string{"app"}), " ")
	if !strings.Contains(got, " --kernel-id ::regex:^(k)$:^(1)$ --launch-skip-before-match 7864 --launch-count 1 --kill yes ") {
		t.Errorf("arguments: %s", got)
	}
}

// A job of several ranks is profiled on one GPU.
func TestNcuDevices(t *testing.T) {
	device := int64(2)
	got := strings.Join(Args(plan.Defaults(), Target{Launches: []Launch{{"k", 1, 0}}, Device: &device}, "/r/o", "/r/l", []string{"app"}), " ")
	if !strings.Contains(got, " --devices 2 ") {
		t.Errorf("no --devices: %s", got)
	}
}

// TestNcuRank checks which rank runs under ncu.
func TestNcuRank(t *testing.T) {
	launches, n := []Launch{{"k", 1, 0}}, int64(3)
	kernels := func(rank string) plan.Options {
		return plan.With(func(o *plan.Options) { o.Ncu.Kernels, o.Ncu.Rank = "gemm", rank })
	}
	for name, c := range map[string]struct {
		o       plan.Options
		plan    Target
		argv    string
		environ []string
		want    []string
	}{
		"no job":             {plan.Defaults(), Target{Launches: launches}, "python3 x.py", nil, nil},
		"not planned":        {plan.Defaults(), Target{}, "python3 x.py", nil, nil},
		"a job of one":       {plan.Defaults(), Target{Launches: launches}, "torchrun --nproc-per-node 1 x.py", nil, []string{"PROF_MARK_NCU_LOCAL_RANK=0"}},
		"rank":               {plan.Defaults(), Target{Launches: launches, Device: &n, Rank: &n, Local: &n}, "x", nil, []string{"PROF_MARK_NCU_RANK=3"}},
		"GPU":                {plan.Defaults(), Target{Launches: launches, Device: &n, Local: &n}, "x", nil, []string{"PROF_MARK_NCU_LOCAL_RANK=3"}},
		"kernels":            {kernels(""), Target{}, "/opt/bin/torchrun x.py", nil, []string{"PROF_MARK_NCU_LOCAL_RANK=0"}},
		"kernels, a module":  {kernels(""), Target{}, "python3 -m torch.distributed.run x.py", nil, []string{"PROF_MARK_NCU_LOCAL_RANK=0"}},
		"kernels, no job":    {kernels(""), Target{}, "python3 torchrun.py --strategy deepspeed", nil, nil},
		"kernels, by a tool": {kernels(""), Target{}, "uv run torchrun x.py", nil, []string{"PROF_MARK_NCU_LOCAL_RANK=0"}},
		"kernels of a rank":  {kernels("5"), Target{}, "x", nil, []string{"PROF_MARK_NCU_RANK=5"}},
		"kernels of all":     {kernels("all"), Target{}, "torchrun x.py", nil, nil},
		"ranges":             {plan.With(func(o *plan.Options) { o.Ncu.Replay = "range" }), Target{}, "torchrun x.py", nil, []string{"PROF_MARK_NCU_LOCAL_RANK=0"}},
		"within a rank":      {kernels(""), Target{}, "torchrun x.py", []string{"LOCAL_RANK=1"}, nil},
	} {
		n := Rank(c.o, c.plan, strings.Fields(c.argv), c.environ)
		n.Command = []string{"/opt/ncu", "a\"b"}
		if len(c.want) > 0 {
			c.want = append([]string{`PROF_MARK_NCU=["/opt/ncu","a\"b"]`}, c.want...)
		}
		if got := n.Env(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
