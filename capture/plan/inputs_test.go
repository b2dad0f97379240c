package plan

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"prof/internal/golden"
	"prof/schema/rundir"
)

// Sums of "" and "abc" as FIPS 180-2 has them.
const (
	sumEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	sumABC   = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
)

func TestReadInputs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	golden.Write(t, "data/b.bin", "abc")
	golden.Write(t, "data/a/z.bin", "")
	golden.Write(t, "one.txt", "abc")
	golden.Write(t, "@odd", "abc")
	golden.Write(t, "list.txt", "# what it reads\r\none.txt\n\ndata/b.bin\nmissing\n")
	if err := os.Symlink("../one.txt", "data/c.link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, "data/d.link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("data/a", "link"); err != nil {
		t.Fatal(err)
	}
	got, err := ReadInputs(t.Context(), []string{"data", "@list.txt", "./@odd", "one.txt", "data", "link"})
	if err != nil {
		t.Fatal(err)
	}
	n0, n3 := new(int64(0)), new(int64(3))
	want := []rundir.Input{
		{Path: "data/a/z.bin", Size: n0, SHA256: sumEmpty},
		{Path: "data/b.bin", Size: n3, SHA256: sumABC},
		{Path: "data/c.link", Size: n3, SHA256: sumABC},
		{Path: "data/d.link", Reason: "a link to a folder; give the folder itself"},
		{Path: "one.txt", Size: n3, SHA256: sumABC},
		{Path: "missing", Reason: "no such file or directory"},
		{Path: "./@odd", Size: n3, SHA256: sumABC},
		{Path: "link/z.bin", Size: n0, SHA256: sumEmpty},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestInputErrors(t *testing.T) {
	if _, err := ReadInputs(t.Context(), []string{"@" + filepath.Join(t.TempDir(), "no")}); !errors.Is(err, ErrInputs) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a list that is missing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadInputs(ctx, []string{"inputs.go"}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	got, err := ReadInputs(t.Context(), []string{os.DevNull})
	if err != nil || len(got) != 1 || got[0].Reason != "it is a device, not a file" || got[0].Size != nil {
		t.Errorf("a device: %+v, %v", got, err)
	}
}

// TestInputsYAML: whatever a path is, a reader of YAML gets it back.
func TestInputsYAML(t *testing.T) {
	in := []rundir.Input{
		{Path: "a b: c#d", Size: new(int64(1 << 40)), SHA256: sumABC}, {Path: "yes"}, {Path: "1e3"}, {Path: "- x\n  y"}, {Path: "'\"\\\t"}, {Path: "~"},
		{Path: " lead"}, {Path: "ünï/模型"}, {Path: "{a}"}, {Path: "@x"}, {Path: "0x1F"}, {Path: "gone", Reason: "permission denied: really"},
		{Path: "n", SHA256: strings.Repeat("1", 63) + "e"}, {Path: "n", SHA256: "12e45678"},
	}
	text, err := InputsYAML(in)
	if err != nil {
		t.Fatal(err)
	}
	var got inputsFile
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var back []rundir.Input
	for _, i := range got.Inputs {
		back = append(back, rundir.Input(i))
	}
	if !reflect.DeepEqual(back, in) {
		t.Errorf("got  %+v\nwant %+v\n%s", back, in, text)
	}
	if text, err := InputsYAML(nil); err != nil || string(text) != "inputs: []\n" {
		t.Errorf("none: %q, %v", text, err)
	}
}
