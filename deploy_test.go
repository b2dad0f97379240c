package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"prof/internal/cli"
	"prof/internal/serve"
	"prof/internal/serve/jobs"
)

// TestDeploy holds the files for deployment to the program: the image is built with the Go of go.mod, nothing runs as root, and each option is one
// that the verb has.
func TestDeploy(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	image, unit, docs := read("Dockerfile"), read("deploy/prof.service"), read("docs/serve.md")
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read("go.mod"))[1]
	if !strings.Contains(image, "FROM golang:"+version+"-") {
		t.Errorf("the Dockerfile builds with another Go than %s of go.mod", version)
	}
	for name, user := range map[string]string{"Dockerfile": `(?m)^USER (\S+)`, "deploy/prof.service": `(?m)^User=(\S+)`} {
		if m := regexp.MustCompile(user).FindStringSubmatch(read(name)); m == nil || m[1] == "root" {
			t.Errorf("%s: the user is %v", name, m)
		}
	}
	var help, said bytes.Buffer
	if code := cli.Main([]string{"prof", "help", "serve"}, nil, &help, &said); code != 0 {
		t.Fatalf("prof help serve: exit %d, %s", code, said.String())
	}
	for name, text := range map[string]string{"deploy/prof.service": unit, "docs/serve.md": docs} {
		for _, line := range regexp.MustCompile(`(?m)^.*\bprof\b.*\bserve\b.*$`).FindAllString(text, -1) {
			_, options, _ := strings.Cut(line, "serve")
			for _, option := range regexp.MustCompile(`--[a-z-]+`).FindAllString(options, -1) {
				if !strings.Contains(help.String(), option) {
					t.Errorf("%s: prof serve has no %s: %s", name, option, line)
				}
			}
		}
	}
	if m := regexp.MustCompile(`--listen (\S+)`).FindStringSubmatch(unit); m == nil || !strings.HasPrefix(m[1], "127.0.0.1:") || !strings.Contains(unit, "--token-file") {
		t.Errorf("the unit listens on %v", m)
	}
	stop, err := time.ParseDuration(regexp.MustCompile(`(?m)^TimeoutStopSec=(.*)$`).FindStringSubmatch(unit)[1] + "s")
	if least := serve.JobsTime(jobs.Options{Config: jobs.DefaultConfig()}) + 5*time.Second; err != nil || stop < least {
		t.Errorf("systemd kills the server after %v, %v; to stop its job takes up to %v", stop, err, least)
	}
	if !strings.Contains(unit, "\nKillMode=mixed\n") {
		t.Error("systemd sends SIGTERM to the job too, and what it captured is not stored")
	}
}

// TestUnit asks systemd what is wrong with the unit.
func TestUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	text, err := os.ReadFile("deploy/prof.service")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "prof.service")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/prof", os.Args[0])), 0o600); err != nil { // a program that is there
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", "--man=no", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
