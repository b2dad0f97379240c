package queries

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"prof/queries/frame"
	"prof/schema"
)

// Args are the arguments of a query, Question is what it is asked.
type (
	Args     = frame.Args
	Question = frame.Question
)

// Asker asks queries of a warehouse that does not change meanwhile, several at a time, and each kind of note once for the same
// arguments: many queries have the same notes, and planning those takes longer than planning the queries. It may be used by several
// goroutines, and nobody may change the frames that it gives.
type Asker struct {
	w     *schema.Warehouse
	busy  chan struct{} // one place for each query that runs
	mutex sync.Mutex
	// What was asked, by statement; frames by the kinds of their notes too.
	notes  map[string]func() (map[string][]string, error)
	frames map[string]func() (*frame.Frame, error)
}

// NewAsker asks as many queries at a time as there are processors: planning takes most of their time, one thread each.
func NewAsker(w *schema.Warehouse) *Asker {
	return &Asker{w: w, busy: make(chan struct{}, max(2, runtime.GOMAXPROCS(0))), notes: map[string]func() (map[string][]string, error){}, frames: map[string]func() (*frame.Frame, error){}}
}

// Run gives what the function of that name gives.
func (a *Asker) Run(ctx context.Context, q Query, args Args) (*frame.Frame, error) {
	return run(ctx, a.w, q, args, a.notesOf)
}

// Ask runs the newest query of that name with those of the arguments that it takes; once for the same arguments.
func (a *Asker) Ask(ctx context.Context, name string, args Args) (*frame.Frame, error) {
	return a.answer(ctx, Question{Query: name, Args: args})
}

func (a *Asker) answer(ctx context.Context, x Question) (*frame.Frame, error) {
	q, err := Find(x.Query)
	if err != nil {
		return nil, err
	}
	args := q.taken(x.Args)
	stmt, err := q.Statement(args)
	if err != nil {
		return nil, err
	}
	if x.Notes != nil {
		q.Notes = slices.DeleteFunc(slices.Clone(q.Notes), func(kind string) bool { return !x.Notes(kind) })
	}
	return once(a, a.frames, strings.Join(append([]string{stmt}, q.Notes...), " "), func() (*frame.Frame, error) { return a.Run(ctx, q, args) })
}

// once gives what is kept by that key, made by the first that asks for it.
func once[T any](a *Asker, kept map[string]func() (T, error), key string, get func() (T, error)) (T, error) {
	a.mutex.Lock()
	if kept[key] == nil {
		kept[key] = sync.OnceValues(get)
	}
	made := kept[key]
	a.mutex.Unlock()
	return made()
}

// Notes gives what the function of that name gives.
func (a *Asker) Notes(ctx context.Context, args Args, kinds ...string) ([]string, error) {
	return a.notesOf(ctx, a.w, args, kinds...)
}

// AskAll asks several questions and gives their answers in the same order. Those that take longest should come first.
func (a *Asker) AskAll(ctx context.Context, list []Question) ([]*frame.Frame, error) {
	frames, errs := make([]*frame.Frame, len(list)), make([]error, len(list))
	var wait sync.WaitGroup
	for i, r := range list {
		a.busy <- struct{}{}
		wait.Go(func() {
			defer func() { <-a.busy }()
			frames[i], errs[i] = a.answer(ctx, r)
		})
	}
	wait.Wait()
	return frames, errors.Join(errs...)
}

func (a *Asker) notesOf(ctx context.Context, w *schema.Warehouse, args Args, kinds ...string) ([]string, error) {
	// Those of all kinds are kept, so that questions with other kinds find them.
	return notesBy(kinds, func(q Query, _ ...string) (map[string][]string, error) { return a.known(ctx, w, q, args) })
}

// known asks a query of notes where it was not asked yet.
func (a *Asker) known(ctx context.Context, w *schema.Warehouse, q Query, args Args) (map[string][]string, error) {
	stmt, err := q.Statement(q.taken(args))
	if err != nil {
		return nil, err
	}
	return once(a, a.notes, stmt, func() (map[string][]string, error) { return readNotes(ctx, w, q, args) })
}
