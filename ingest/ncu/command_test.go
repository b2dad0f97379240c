package ncu

import (
	"slices"
	"strings"
	"testing"
)

// Options of `ncu --help` (2025.3.1), by whether it says that they take a value.
var (
	helpBare = strings.Fields(`-h --help -v --version --forward-signals --call-stack --nvtx --support-32bit --null-stdin --list-sets --list-sections
		--section-folder-restore --list-rules --list-metrics --query-metrics --list-chips --disable-profiler-start-stop --quiet --verbose
		--disable-extra-suffixes -f --force-overwrite --open-in-ui --csv --print-metric-attribution --print-fp --print-rule-details`)
	helpValued = strings.Fields(`--mode -p --port --max-connections --config-file --config-file-path --mps --mps-num-clients --mps-timeout --check-exit-code
		--injection-path-32 --injection-path-64 --preload-library --call-stack-type --target-processes --target-processes-filter --nvtx-push-pop-scope
		--hostname --kill --replay-mode --app-replay-buffer --app-replay-match --app-replay-mode --graph-profiling --range-replay-options --set
		--section-folder --section-folder-recursive --apply-rules --rule --import-sass --import-source --source-folders --query-metrics-mode
		--query-metrics-collection --chips --profile-from-start --cache-control --clock-control --pipeline-boost-state --devices --filter-mode
		--kernel-id -k --kernel-name --kernel-name-base --rename-kernels --rename-kernels-export --rename-kernels-path -c --launch-count -s --launch-skip
		--launch-skip-before-match --section --metrics --nvtx-include --nvtx-exclude --range-filter --native-include --native-exclude
		--python-include --python-exclude --pm-sampling-interval --pm-sampling-buffer-size --pm-sampling-max-passes --warp-sampling-interval
		--warp-sampling-max-passes --warp-sampling-buffer-size --log-file -o --export -i --import --page --print-source --resolve-source-file
		--print-details --print-metric-name --print-units --print-kernel-base --print-metric-instances --print-nvtx-rename --print-summary`)
	// Of nv-nsight-cu-cli and the first ncu: --summary per-kernel, --units base; --details-all and --fp alone.
	oldBare, oldValued = []string{"--details-all", "--fp"}, []string{"--summary", "--units", "--kernel-regex"}
)

// TestCommandKnowsEveryOption: the profiled program is found behind any option, with its value or without one.
func TestCommandKnowsEveryOption(t *testing.T) {
	for _, bare := range slices.Concat(helpBare, oldBare) {
		if c := ParseCommand("ncu " + bare + " --set full ./prog -x"); strings.Join(c.Program, " ") != "./prog -x" || !slices.Equal(c.options["set"], []string{"full"}) {
			t.Errorf("%s: program %q, options %q", bare, c.Program, c.options)
		}
	}
	for _, valued := range slices.Concat(helpValued, oldValued) {
		for _, line := range []string{"ncu " + valued + " value --nvtx ./prog -x", "ncu --nvtx " + valued + "=value ./prog -x"} {
			c := ParseCommand(line)
			if strings.Join(c.Program, " ") != "./prog -x" {
				t.Errorf("%s: program %q, options %q", line, c.Program, c.options)
			}
		}
	}
}

func TestParseCommand(t *testing.T) {
	for _, c := range []struct {
		line, program, options string // options as name=value, those given more than once joined by |
	}{
		{"", "", ""},
		{"ncu", "", ""},
		{"ncu ./kernels ", "./kernels", ""},
		{"/opt/nvidia/nsight-compute/2025.3.1/target/linux-desktop-glibc_2_11_3-x64/ncu --set full --import-source yes --nvtx --clock-control none -f -o ncu/kernels-full ./kernels ",
			"./kernels", "clock-control=none export=ncu/kernels-full f= import-source=yes nvtx= set=full"},
		{"ncu --replay-mode range --nvtx --nvtx-include LLM@prefill/ --nvtx-include LLM@decode_all/ --metrics gpu__time_duration.sum,dram__bytes_read.sum ./kernels",
			"./kernels", "metrics=gpu__time_duration.sum,dram__bytes_read.sum nvtx-include=LLM@prefill/|LLM@decode_all/ nvtx= replay-mode=range"},
		{"ncu -k regex:gemm -c 5 -s 10 python3.12 train.py --set small -o out", "python3.12 train.py --set small -o out", "kernel-name=regex:gemm launch-count=5 launch-skip=10"},
		{"ncu --kernel-name=regex:a=b --launch-count=1 ./a --b=c", "./a --b=c", "kernel-name=regex:a=b launch-count=1"},
		{"ncu -c=3 ./a", "./a", "launch-count=3"},
		{"ncu -c5 -s10 ./a", "./a", "launch-count=5 launch-skip=10"},
		{"ncu --nvtx -- ./a --nvtx", "./a --nvtx", "nvtx="},
		{"ncu --target-process all ./a", "./a", "target-process=all"},
		{"ncu --mode attach --hostname 127.0.0.1", "", "hostname=127.0.0.1 mode=attach"},
		{"ncu --set", "", "set="},
		{"nv-nsight-cu-cli --profile-from-start off -f --summary per-kernel --csv --units base julia cudanative.jl 128 FP16",
			"julia cudanative.jl 128 FP16", "csv= f= profile-from-start=off summary=per-kernel units=base"},
		{"ncu --details-all --set full --csv ./YOLO0 1 546", "./YOLO0 1 546", "csv= details-all= set=full"},
	} {
		got := ParseCommand(c.line)
		var options []string
		for name, values := range got.options {
			options = append(options, name+"="+strings.Join(values, "|"))
		}
		slices.Sort(options)
		if program, options := strings.Join(got.Program, " "), strings.Join(options, " "); program != c.program || options != c.options {
			t.Errorf("%s\n  program %q, want %q\n  options %q, want %q", c.line, program, c.program, options, c.options)
		}
	}
}

func TestCommandFacts(t *testing.T) {
	const defaults = "capture.replay_mode=kernel (ncu's default);capture.clock_control=base (ncu's default)"
	for line, want := range map[string]string{
		"ncu ./a": defaults,
		"ncu --set full --section SpeedOfLight --section Occupancy --metrics regex:dram__.* ./a": "capture.set=full;capture.section=SpeedOfLight, Occupancy;capture.metrics=regex:dram__.*;" + defaults,
		"ncu --replay-mode=app-range --clock-control base --clock-control none ./a":              "capture.replay_mode=app-range;capture.clock_control=none",
		"ncu -k hf_examplesecret0123456789 ./a":                                                  "capture.kernel_name=***;" + defaults,
		"ncu --nvtx-include A/ --nvtx-exclude B/ -c 3 ./a --set full --replay-mode range":        "capture.launch_count=3;capture.nvtx_include=A/;capture.nvtx_exclude=B/;" + defaults,
	} {
		var got []string
		for _, f := range ParseCommand(line).facts(nil) {
			got = append(got, f[0]+"="+f[1])
		}
		if s := strings.Join(got, ";"); s != want {
			t.Errorf("%s\n  gives %s\n  want  %s", line, s, want)
		}
	}
}

// TestSessionFacts: what the settings of a report say is stronger than the command line only where ncu itself wrote no line.
func TestSessionFacts(t *testing.T) {
	fact := func(s *Session, key string) (out []string) {
		for _, f := range s.facts() {
			if f[0] == key {
				out = append(out, f[1])
			}
		}
		return out
	}
	for _, c := range []struct {
		session Session
		key     string
		want    string
	}{
		{Session{Command: "ncu --replay-mode range ./a", Replay: "kernel"}, "capture.replay_mode", "range"},
		{Session{Command: "ncu ./a", Replay: "application"}, "capture.replay_mode", "application"},
		{Session{Command: "ncu ./a", Clock: "none"}, "capture.clock_control", "none"},
		{Session{Command: "ncu ./a"}, "capture.clock_control", "base (ncu's default)"},
		{Session{Versions: [][2]string{{"Nsight Compute Target", "2025.3.1.0"}}}, "ncu.version", "2025.3.1.0"},
		{Session{Versions: [][2]string{{"CUDA Version", "13.0"}}}, "driver.cuda_version", "13.0"},
		{Session{Versions: [][2]string{{"PerfWorks", "0.1.0"}}}, "ncu.perfworks_version", "0.1.0"},
		{Session{Target: System{OS: "Linux", Build: "#1 SMP"}}, "os.description", "Linux #1 SMP"},
	} {
		if got := fact(&c.session, c.key); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%+v: %s is %q, want %q", c.session, c.key, got, c.want)
		}
	}
}
