// Package proton reads what Proton, Triton's profiler, writes: traces of kernels (.chrome_trace) and trees of sums (.hatchet).
//
// Each kernel says the scopes that it was launched in, by name alone: they become paths of ranges without ranges. Of a kernel that a CUDA graph replays
// these are the scopes of the replay and, behind <captured_at>, those of the capture, which get a domain of their own: work belongs to the range of its
// launch, and that is the replay.
package proton

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"prof/ingest/load"
	"prof/internal/mask"
)

// ErrNoKernels is wrapped by errors for files without kernels that have times.
var ErrNoKernels = errors.New("it has no kernels with times")

// SniffTrace reports whether a file is a trace, by its beginning.
func SniffTrace(head []byte) bool { return bytes.Contains(head, []byte(`"call_stack":["`+root+`"`)) }

// Identify knows no more of the files than that they are: they do not name their capture.
func Identify(context.Context, string, string) (*load.SourceInfo, error) {
	return &load.SourceInfo{}, nil
}

// Frames that are no scopes of the program's.
const (
	root     = "ROOT"
	captured = "<captured_at>"
)

// capturedAt is the domain of scopes in which a graph was captured that a kernel is a node of.
const capturedAt = "captured_at"

// scope is a scope by its name as stored.
type scope struct{ domain, name string }

// scopesOf returns the scopes of frames, outermost first.
func scopesOf(frames []string) (out []scope) {
	domain := ""
	for i, f := range frames {
		switch {
		case i == 0 && f == root:
		case f == captured:
			domain = capturedAt
		default:
			out = append(out, scope{domain, load.RangeName(mask.Stored(strings.ToValidUTF8(f, "\uFFFD")))})
		}
	}
	return out
}
