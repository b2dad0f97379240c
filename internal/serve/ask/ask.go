// Package ask answers the questions that programs ask of a warehouse that others write meanwhile: over HTTP and over the Model Context Protocol. An
// answer is made once for each commit, and what depends on one run alone once for each change of that run. A verb is asked as on the command line, so that both give the same figures.
package ask

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"prof/internal/mask"
	"prof/internal/serve/places"
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
	busy   chan struct{}  // one place for each question that is worked on
	sql    *places.Places // for statements of clients, which take long: fewer, so that they leave places for other questions
	salt   string         // of this process: another may be another version, with other answers
	mutex  sync.Mutex
	kept   answers

	subjects subjects

	timelines *timelines
}

// atATime is how many questions are worked on at a time for each processor: more would take memory and finish no earlier.
const atATime = 2

// AnswerTime bounds the work for an answer, and the wait for it.
const AnswerTime = 60 * time.Second

// New makes an Asker.
func New(live *schema.Live, verb Verb, runner Runner) *Asker {
	busy := make(chan struct{}, atATime*max(2, runtime.GOMAXPROCS(0)))
	return &Asker{live: live, verb: verb, runner: runner, busy: busy, sql: places.New(cap(busy)/2, cap(busy)/4), salt: rand.Text(), kept: answers{entries: map[string]*answer{}}, timelines: newTimelines(busy)}
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

// Maker writes an answer about a warehouse.
type Maker func(ctx context.Context, w *schema.Warehouse, out *bytes.Buffer) (mediaType string, err error)

// Make returns the answer to what key names, made by the first that asks for it of a commit. An error is not kept.
func (a *Asker) Make(ctx context.Context, key string, make Maker) (Answer, error) {
	ctx, e, done := a.begin(ctx)
	defer done()
	return a.made(ctx, e, tagOf(e.ID, key), make)
}

// subject is a run as it is in an edition.
type subject struct {
	id string
	schema.Digest
}

// makeOfRun is Make of what depends on one run alone, by any reference: a commit that leaves the run as it was leaves its answers.
func (a *Asker) makeOfRun(ctx context.Context, run, key string, make func(ctx context.Context, w *schema.Warehouse, of subject, out *bytes.Buffer) (mediaType string, err error)) (Answer, error) {
	ctx, e, done := a.begin(ctx)
	defer done()
	of, err := a.subject(ctx, e, run)
	if err != nil {
		return Answer{}, failed(ctx, err, e)
	}
	return a.made(ctx, e, tagOf(a.salt, of.id, of.Rows, of.Names, key), func(ctx context.Context, w *schema.Warehouse, out *bytes.Buffer) (string, error) {
		return make(ctx, w, of, out)
	})
}

// makeEachTime is Make of what may differ though nothing was committed.
func (a *Asker) makeEachTime(ctx context.Context, make Maker) (Answer, error) {
	ctx, e, done := a.begin(ctx)
	defer done()
	return a.made(ctx, e, "", make)
}

// begin gives a question the last commit, and its time, until done.
func (a *Asker) begin(ctx context.Context) (_ context.Context, e *schema.Edition, done func()) {
	ctx, cancel := context.WithTimeout(ctx, AnswerTime)
	e, end := a.live.Use()
	return ctx, e, func() { end(); cancel() }
}

// made returns the answer with a tag, or makes it. Without a tag, it is not kept.
func (a *Asker) made(ctx context.Context, e *schema.Edition, tag string, make Maker) (Answer, error) {
	a.mutex.Lock()
	known := a.kept.get(tag)
	a.mutex.Unlock()
	if known != nil {
		return *known, nil
	}
	leave, err := a.enter(ctx)
	if err != nil {
		return Answer{}, failed(ctx, err, e)
	}
	defer leave()
	var out bytes.Buffer
	kind, err := make(ctx, e.Warehouse, &out)
	if err != nil {
		return Answer{}, failed(ctx, err, e)
	}
	made := Answer{Type: kind, Body: bytes.Clone(out.Bytes()), Tag: tag} // without the room that a buffer has beyond
	if tag == "" {
		made.Tag = tagOf(out.String())
		return made, nil
	}
	a.mutex.Lock()
	a.kept.put(tag, made)
	a.mutex.Unlock()
	return made, nil
}

// failed is why there is no answer.
func failed(ctx context.Context, err error, e *schema.Edition) error {
	switch ctx.Err() {
	case nil:
		return hidden(err, e.Warehouse)
	case context.DeadlineExceeded:
		return &reworded{fmt.Sprintf("the answer took longer than %s: ask for less, or again when there is less to do", AnswerTime), ctx.Err()}
	}
	return ctx.Err()
}

// enter takes one of the places for questions, until leave.
func (a *Asker) enter(ctx context.Context) (leave func(), err error) {
	select {
	case a.busy <- struct{}{}:
		return func() { <-a.busy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Tag is what Make would give for a key, without making the answer.
func (a *Asker) Tag(key string) string {
	e, done := a.live.Use()
	defer done()
	return tagOf(e.ID, key)
}

// Look returns when questions are answered from what had been committed when it was called.
func (a *Asker) Look(ctx context.Context) error { return a.live.Look(ctx) }

// Use returns the last commit until done is called, for what is not kept.
func (a *Asker) Use() (w *schema.Warehouse, done func()) {
	e, done := a.live.Use()
	return e.Warehouse, done
}

// tagOf names the answer to what is asked of something.
func tagOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:12])
}

// subjects are the runs by the references that were asked for, in one edition of the warehouse.
type subjects struct {
	of    *schema.Edition
	byRef map[string]subject
}

// mostNames bounds the references that are kept.
const mostNames = 10_000

// subject returns the run that a reference means: looking takes as long as a small query.
func (a *Asker) subject(ctx context.Context, e *schema.Edition, ref string) (subject, error) {
	a.mutex.Lock()
	if a.subjects.of != e || len(a.subjects.byRef) >= mostNames {
		a.subjects = subjects{e, map[string]subject{}}
	}
	found, known := a.subjects.byRef[ref]
	a.mutex.Unlock()
	if known {
		return found, nil
	}
	leave, err := a.enter(ctx)
	if err != nil {
		return subject{}, err
	}
	defer leave()
	run, err := e.Resolve(ctx, ref)
	if err != nil {
		return subject{}, err
	}
	digest, err := e.Digest(ctx, run.ID)
	if err != nil {
		return subject{}, err
	}
	found = subject{run.ID, digest}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.subjects.of == e {
		a.subjects.byRef[ref] = found
	}
	return found, nil
}

// Verb answers as a verb of the command line.
func (a *Asker) Verb(ctx context.Context, mediaType string, args ...string) (Answer, error) {
	return a.Make(ctx, verbKey(args), a.run(mediaType, args))
}

// VerbOfRun answers as a verb whose output depends on one run alone, its option --run.
func (a *Asker) VerbOfRun(ctx context.Context, mediaType, run string, args ...string) (Answer, error) {
	if run == "" { // it would be another
		return Answer{}, invalid("name the run")
	}
	return a.makeOfRun(ctx, run, verbKey(args), func(ctx context.Context, w *schema.Warehouse, of subject, out *bytes.Buffer) (string, error) {
		return a.run(mediaType, append(args, "--run="+of.id))(ctx, w, out)
	})
}

func verbKey(args []string) string {
	return strings.Join(append([]string{"verb"}, args...), "\x00")
}

// run runs a verb.
func (a *Asker) run(mediaType string, args []string) Maker {
	return func(ctx context.Context, w *schema.Warehouse, out *bytes.Buffer) (string, error) {
		var text bytes.Buffer
		if err := a.verb(ctx, w, &text, args...); err != nil {
			return "", err
		}
		out.WriteString(hide(text.String(), w))
		return mediaType, nil
	}
}

// Problem returns why answers are from an older commit than the last; "" if they are not.
func (a *Asker) Problem() string {
	w, done := a.Use()
	defer done()
	return hide(a.live.Problem(), w)
}

// hide writes the folders of this machine as the names that users have for them: where the warehouse lies is nobody's business.
func hide(text string, w *schema.Warehouse) string {
	if !strings.Contains(text, "/") {
		return text
	}
	text = mask.Folder(text, w.Home.Dir, "$PROF_HOME")
	text = mask.Folder(text, w.Spill(), "$TMPDIR")
	if home, err := os.UserHomeDir(); err == nil {
		text = mask.Folder(text, home, "~")
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
