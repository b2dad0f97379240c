package plan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func readText(t *testing.T, text string, o *Options) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return ReadConfig(path, o)
}

func TestReadConfig(t *testing.T) {
	for text, change := range map[string]func(*Options){
		"":                              func(o *Options) {},
		"# nothing\n":                   func(o *Options) {},
		"---\n":                         func(o *Options) {},
		"mode: light\n":                 func(o *Options) { o.Mode = "light" },
		"mode:\n":                       func(o *Options) {},
		"ncu:\n":                        func(o *Options) {},
		"ncu:\n  top: 3\n":              func(o *Options) { o.Ncu.Top = 3 },
		"ncu: {top: 3, args: [-x, 5]}":  func(o *Options) { o.Ncu.Top, o.Ncu.Args = 3, []string{"-x", "5"} },
		"tools: [nsys, torch]\n":        func(o *Options) { o.Tools = []string{"nsys", "torch"} },
		"tools:\n- nsys\n- ncu\n":       func(o *Options) { o.Tools = []string{"nsys", "ncu"} },
		"tools: []\n":                   func(o *Options) { o.Tools = []string{} },
		"timeout: 1h30m\n":              func(o *Options) { o.Timeout = 90 * time.Minute },
		"delay: 0\n":                    func(o *Options) {},
		"max_artifact_bytes: 500MB\n":   func(o *Options) { o.MaxArtifactBytes = 500e6 },
		"max_artifact_bytes: 4 GiB # x": func(o *Options) { o.MaxArtifactBytes = 4 << 30 },
		"max_artifact_bytes: 12345\n":   func(o *Options) { o.MaxArtifactBytes = 12345 },
		"sample_hz: 5\n":                func(o *Options) { o.SampleHz = 5 },
		"sample_hz: 0.5\n":              func(o *Options) { o.SampleHz = 0.5 },
		"baseline: true\ntorch: false":  func(o *Options) { o.Baseline = true },
		"range: 'LLM\\@prefill@x'\n":    func(o *Options) { o.Range = `LLM\@prefill@x` },
		"range: 7\n":                    func(o *Options) { o.Range = "7" },
		"range: 1.50\n":                 func(o *Options) { o.Range = "1.50" },
		"range: |-\n  a b\n":            func(o *Options) { o.Range = "a b" },
	} {
		got := Defaults()
		if err := readText(t, text, &got); err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if want := With(change); !reflect.DeepEqual(got, want) {
			t.Errorf("%q gives\n%+v, want\n%+v", text, got, want)
		}
	}
}

func TestReadConfigRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"mode: deep\nrepeat: 3\n":        "config.yaml:2: cannot read the options: unknown option repeat; did you mean repeats or ",
		"max-artifact-bytes: 5\n":        "did you mean max_artifact_bytes?",
		"ncu:\n  top: 3\n  launch: 1\n":  "config.yaml:3: cannot read the options: unknown option ncu.launch; did you mean ",
		"ncu:\n  trace: [cuda]\n":        "unknown option ncu.trace",
		"mode: light\nncu: 3\n":          ":2: cannot read the options: ncu must have keys and values",
		"- a\n":                          ":1: cannot read the options: the file must have keys and values (mode, tools, ",
		"just text":                      ":1: cannot read the options: the file must have keys and values",
		"ncu:\n  top: 1.5\n":             ":2: cannot read the options: ncu.top: it must be a whole number, not 1.5",
		"repeats: many\n":                "repeats: it must be a whole number, not many",
		"torch: yes\n":                   "torch: it must be true or false, not yes",
		"torch: 1\n":                     "torch: it must be true or false, not 1",
		"sample_hz: fast\n":              "sample_hz: it must be a number, not fast",
		"timeout: 30\n":                  `timeout: duration "30": write it with a unit, such as 30s or 30m`,
		"\n\ntimeout: soon\n":            `:3: cannot read the options: timeout: duration "soon": write it with a unit, such as 30s`,
		"max_artifact_bytes: 2 gigs\n":   `max_artifact_bytes: size "2 gigs": unknown unit gigs; use B, kB`,
		"max_artifact_bytes: -1\n":       `size "-1": write a number of bytes`,
		"tools: nsys\n":                  "tools must be a list, such as [a, b]",
		"tools: [nsys, [ncu]]\n":         "tools: it must be one value, not sequence",
		"tools: [nsys, null]\n":          "tools: it must be one value, not null",
		"mode: [deep]\n":                 "mode: it must be one value, not sequence",
		"mode: &a deep\n":                "mode: it must be one value, not anchor",
		"mode: deep\nmode: light\n":      ":2: cannot read the options: mapping key",
		"mode: \"deep\n":                 ":1: cannot read the options: could not find end character",
		"mode: deep\n---\nmode: light\n": ":3: cannot read the options: a second document begins",
		"mode: light\n# " + strings.Repeat("x", maxConfig): "larger than 1 MiB",
	} {
		got := Defaults()
		err := readText(t, text, &got)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.40q: want %q, got %v", text, says, err)
		}
		if !reflect.DeepEqual(got, Defaults()) {
			t.Errorf("%.40q changed options before it failed: %+v", text, got)
		}
	}
}

func TestReadConfigMissing(t *testing.T) {
	o := Defaults()
	if err := ReadConfig(filepath.Join(t.TempDir(), "config.yaml"), &o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := ReadConfig(t.TempDir(), &o); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder gives %v", err)
	}
}

// TestConfigRoundTrip writes and reads options in which every field differs from the defaults.
func TestConfigRoundTrip(t *testing.T) {
	odd := []string{"5", "true", "null", "~", "", " a ", "a: b", "# c", "-", "- d", "[e]", "{f}", "'g'", `"h"`, "i\\j", "k\nl", "m\tn", "1e3", "0x10", "&o", "*p", "!q", "%r", "@s", "é", "r\rs", "\x01", "p\u2028q", "\ufeff", "日本", `t\nu`, "<v>", "--x=y z", "yes", "0o7", "2001-01-01", ":", "a:", "|", ">"}
	full := Options{
		Mode: "custom", Tools: []string{"nsys", "ncu"}, Torch: true, TorchOptions: TorchOptions{Stack: true, Flops: true, Skip: 4, Passes: 2}, Repeats: 3, Baseline: true,
		Nsys:  NsysOptions{Trace: []string{"cuda"}, GraphTrace: "graph", Args: odd},
		Ncu:   NcuOptions{Top: 7, Launches: 5, Preset: "full", Set: "basic", Sections: []string{"regex:.*"}, Metrics: []string{"a.sum"}, Kernels: `^(a|b)\.c$`, LaunchSkip: 1, LaunchCount: 2, Rank: "1", Replay: "range", ClockControl: "base", Args: odd},
		Range: `LLM\@prefill@x`, After: 50, Window: 20, Paused: true, ProfilerAPI: true, Delay: 90 * time.Second, Duration: 26 * time.Hour, AutoStages: true, Warmup: 2,
		Serving: ServingOptions{On: true, Ready: "http://a:1/b?c=d", ReadyTimeout: time.Second, Load: "bench 'a b' | tee \"x\"", LoadResult: []string{"out/*.json"}, LoadTimeout: 3 * time.Second, Window: 4 * time.Second, Warm: 5 * time.Minute, SteadyTimeout: 6 * time.Hour},
		Inputs:  []string{"a b.txt", "~/c"}, InputsManifest: "pages.yaml", Subset: "dev 20.txt", RepeatInputs: 3, Keep: []string{"out/**/*.json"}, SampleHz: 0.25, NoLog: true, MaxArtifactBytes: 123456789012, Budget: 3 * time.Hour, Timeout: time.Hour, Stall: 90 * time.Second, ReportTimeout: 1500 * time.Millisecond, Grace: time.Minute,
	}
	for i := range reflect.TypeFor[Options]().NumField() {
		if reflect.ValueOf(full).Field(i).IsZero() {
			t.Errorf("%s is not tried", reflect.TypeFor[Options]().Field(i).Name)
		}
	}
	for _, o := range []Options{full, Defaults()} {
		text, err := o.YAML()
		if err != nil {
			t.Fatal(err)
		}
		got := Defaults()
		if err := readText(t, string(text), &got); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !reflect.DeepEqual(got, o) {
			t.Errorf("%s\ngives\n%+v, want\n%+v", text, got, o)
		}
	}
}

func TestYAML(t *testing.T) {
	o := With(func(o *Options) {
		o.Nsys.Args = []string{"--env-var=HF_TOKEN=hf_examplesecret0123456789", "--api-key", "abc", "--stats=true"}
		o.Ncu.Args, o.Inputs, o.Range = []string{"--password=abc"}, []string{"https://me:hunter2@host/x"}, "hf_examplesecret0123456789"
	})
	given := o.Nsys.Args[0]
	text, err := o.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# ", "timeout: 30m\n", "max_artifact_bytes: 2147483648\n", "HF_TOKEN=***", "--password=***", "https://me:***@host/x", "--stats=true", "delay: 0s\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, secret := range []string{"hf_examplesecret", "hunter2", "abc"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%q is in\n%s", secret, text)
		}
	}
	if o.Nsys.Args[0] != given {
		t.Error("the options themselves were masked")
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", time.Second: "1s", 30 * time.Minute: "30m", time.Hour: "1h", 90 * time.Minute: "1h30m", 10 * time.Hour: "10h", time.Hour + time.Second: "1h0m1s", 1500 * time.Millisecond: "1.5s"} {
		got := FormatDuration(d)
		if back, err := parseDuration(got); got != want || err != nil || back != d {
			t.Errorf("%v gives %q, want %q; read again %v, %v", d, got, want, back, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "2147483648": 2 << 30, "2GiB": 2 << 30, " 2 gib ": 2 << 30, "500MB": 500e6, "1kB": 1000, "1KiB": 1024, "1.5 TiB": 3 << 39, "0.1KiB": 102, "7B": 7, "3tb": 3e12, "9223372036854775807": 1<<63 - 1,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q gives %d, %v; want %d", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		"": "write a number of bytes", "GiB": "write a number", "-1": "write a number", "1e3": "write a number", "2GiBs": "unknown unit GiBs", "2 x": "unknown unit x", "1.2.3": "write a number",
		"9223372036854775808": "more than 9223372036854775807 bytes", "99999999TiB": "more than", "0x10": "write a number", "2G": "unknown unit G",
	} {
		if got, err := ParseSize(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q gives %d, %v; want an error with %q", text, got, err, says)
		}
	}
}

// FuzzConfig reads bytes as a config.yaml: options that are taken are written as a file that gives the same ones, and a fault names
// the file.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{"", "mode: light\nncu: {top: 3, args: [-x, 5]}\n", "tools:\n- nsys\n- ncu\ntimeout: 1h30m\nmax_artifact_bytes: 1.5 GiB # x\n",
		"range: 'LLM\\@prefill@x'\nsample_hz: 0.5\n", "range: |-\n  a b\n", "a: &a [*a]\n", "mode: light\nmode: deep\n", "inputs: [\"\\t\", 'y', ~]\n"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "config.yaml")
	read := func(t *testing.T, text []byte) (o Options, err error) {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		o = Defaults()
		return o, ReadConfig(path, &o)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := read(t, data)
		if err != nil {
			if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), path) {
				t.Errorf("%q does not name the file", err)
			}
			return
		}
		text, err := o.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := read(t, text)
		if err != nil {
			t.Fatalf("%q is written as\n%s\nwhich is refused: %v", data, text, err)
		}
		if twice, err := again.YAML(); err != nil || string(twice) != string(text) {
			t.Errorf("%q is written as\n%s\nand then as\n%s (%v)", data, text, twice, err)
		}
	})
}
