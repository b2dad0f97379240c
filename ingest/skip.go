package ingest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Skip is a file of a folder that is not read, and why.
type Skip struct{ Path, Why string }

// pictures are ends of names of files that show to people what others hold.
var pictures = []string{".png", ".svg", ".jpg", ".jpeg", ".gif", ".pdf", ".dot", ".mmd"}

// reportHeads begin reports for people, prof's own and those of the first implementation; their figures are those of the files next to them.
var reportHeads = []string{"# Stakeholder Summary", "# Stage 1 Profiling Report", "# Deep Profiling Report", "# Static Compute", "# Operator Summary", "# Kernel Summary", "# Assumptions", "# TorchInfo", "# Run ", "<!DOCTYPE html", "<!doctype html"}

// whySkipped says why no format knows a file.
func whySkipped(path string) string {
	head, _, err := readHead(path)
	st, statErr := os.Stat(path)
	text := bytes.TrimSpace(head)
	begins := func(mark string) bool { return bytes.HasPrefix(text, []byte(mark)) }
	switch {
	case err != nil:
		return strings.TrimPrefix(err.Error(), path+": ")
	case statErr == nil && st.Size() == 0:
		return "it is empty"
	case cutFile(path) != plainFile:
		return "it is cut short"
	case slices.Contains(pictures, strings.ToLower(filepath.Ext(path))):
		return "it is a picture"
	case slices.ContainsFunc(reportHeads, begins):
		return "it is a report for people, of figures that other files hold"
	case begins("# How the run was captured") || begins("# What the workload was given") || begins("{") && bytes.Contains(text, []byte(`"missing"`)) && bytes.Contains(text, []byte(`"prof_version"`)):
		return "prof report wrote it from what a warehouse holds"
	case begins("kernel_id,"):
		return "another tool computed it from the pages of Nsight Compute next to it"
	case strings.HasSuffix(path, ".log"):
		return "it is a log"
	}
	return "no known format"
}
