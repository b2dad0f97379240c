// Package ask answers the questions that programs ask of a warehouse that others write meanwhile: over HTTP and over the Model Context Protocol. An
// answer is made once for each commit. A verb is asked as on the command line, so that both give the same figures.
package ask

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	"prof/schema"
)

// Verb runs a verb of the command line that only reads, with its options, on an open warehouse. Its error wraps ErrInvalid where the arguments are
// wrong.
type Verb func(ctx context.Context, w *schema.Warehouse, out io.Writer, args ...string) error

// ErrInvalid is wrapped by errors about what was asked, and not what was found.
var ErrInvalid = errors.New("invalid request")

// ErrUnknownStage is wrapped by errors that name the stages that a run has.
var ErrUnknownStage = errors.New("the run has no stage")

// Asker answers questions. It may be used by several goroutines.
type Asker struct {
	live   *schema.Live
	verb   Verb
	runner Runner
	busy   chan struct{} // one place for each question that is worked on
	mutex  sync.Mutex
	kept   answers
	names  names

	timelines *timelines
}

// atATime is how many questions are worked on at a time for each processor: more would take memory and finish no earlier.
const atATime = 2

// New makes an Asker.
func New(live *schema.Live, verb Verb, runner Runner) *Asker {
	busy := make(chan struct{}, atATime*max(2, runtime.GOMAXPROCS(0)))
	return &Asker{live: live, verb: verb, runner: runner, busy: busy, kept: answers{entries: map[string]*answer{}}, timelines: newTimelines(busy)}
}

// Answer is what is given back.
type Answer struct {
	Type string // media type
	Body []byte // nobody may change it
	Tag  string // changes whenever the body may have changed
}

// The media types of answers.
const (
	JSON = "application/json"
	CSV  = "text/csv; charset=utf-8"
)

// Make gives the answer to what key names, made by the first that asks for it of a commit. An error is not kept.
func (a *Asker) Make(ctx context.Context, key string, make func(ctx context.Context, w *schema.Warehouse, out *bytes.Buffer) (mediaType string, err error)) (Answer, error) {
	w, edition, done := a.live.Use()
	defer done()
	tag := tagOf(edition, key)
	a.mutex.Lock()
	known := a.kept.get(tag)
	a.mutex.Unlock()
	if known != nil {
		return *known, nil
	}
	select {
	case a.busy <- struct{}{}:
		defer func() { <-a.busy }()
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	var out bytes.Buffer
	kind, err := make(ctx, w, &out)
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return Answer{}, hidden(err, w)
	}
	made := Answer{Type: kind, Body: out.Bytes(), Tag: tag}
	a.mutex.Lock()
	a.kept.put(tag, made)
	a.mutex.Unlock()
	return made, nil
}

// Tag is what Make would give for a key, without making the answer.
func (a *Asker) Tag(key string) string {
	_, edition, done := a.live.Use()
	defer done()
	return tagOf(edition, key)
}

// Use gives the last commit until done is called, for what is not kept.
func (a *Asker) Use() (w *schema.Warehouse, done func()) {
	w, _, done = a.live.Use()
	return w, done
}

// tagOf names the answer to what key names in an edition.
func tagOf(edition, key string) string {
	sum := sha256.Sum256([]byte(edition + "\n" + key))
	return hex.EncodeToString(sum[:12])
}

// names are the ids of runs by the references that were asked for, in one edition of the warehouse.
type names struct {
	w   *schema.Warehouse
	ids map[string]string
}

// mostNames bounds the references that are kept.
const mostNames = 10_000

// resolve gives the id of the run that a reference means: looking takes as long as a small query.
func (a *Asker) resolve(ctx context.Context, w *schema.Warehouse, ref string) (string, error) {
	a.mutex.Lock()
	if a.names.w != w || len(a.names.ids) >= mostNames {
		a.names = names{w, map[string]string{}}
	}
	id := a.names.ids[ref]
	a.mutex.Unlock()
	if id != "" {
		return id, nil
	}
	run, err := w.Resolve(ctx, ref)
	if err != nil {
		return "", err
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.names.w == w {
		a.names.ids[ref] = run.ID
	}
	return run.ID, nil
}

// Verb answers as a verb of the command line.
func (a *Asker) Verb(ctx context.Context, mediaType string, args ...string) (Answer, error) {
	return a.Make(ctx, strings.Join(append([]string{"verb"}, args...), "\x00"), func(ctx context.Context, w *schema.Warehouse, out *bytes.Buffer) (string, error) {
		var text bytes.Buffer
		if err := a.verb(ctx, w, &text, args...); err != nil {
			return "", err
		}
		out.WriteString(hide(text.String(), w))
		return mediaType, nil
	})
}

// Problem says why answers are from an older commit than the last; "" if they are not.
func (a *Asker) Problem() string {
	w, _, done := a.live.Use()
	defer done()
	return hide(a.live.Problem(), w)
}

// hide writes the folders of this machine as the names that users have for them: where the warehouse lies is nobody's business.
func hide(text string, w *schema.Warehouse) string {
	if !strings.Contains(text, "/") {
		return text
	}
	text = strings.ReplaceAll(text, w.Home.Dir, "$PROF_HOME")
	if spill := w.Spill(); spill != "" {
		text = strings.ReplaceAll(text, spill, "$TMPDIR")
	}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		text = strings.ReplaceAll(text, home+"/", "~/")
	}
	return text
}

// hidden is an error whose text hides folders.
func hidden(err error, w *schema.Warehouse) error {
	if text := hide(err.Error(), w); text != err.Error() {
		return &reworded{text, err}
	}
	return err
}

type reworded struct {
	text string
	err  error
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.err }

// invalid is an error about what was asked.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}
