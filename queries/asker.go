package queries

import (
	"context"
	"errors"
	"math"
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

// Asker asks queries of a warehouse that does not change meanwhile, several at a time, and nothing twice. It may be used by several
// goroutines, and nobody may change the frames that it gives.
type Asker struct {
	w     *schema.Warehouse
	most  int           // rows of an answer; more are an error
	busy  chan struct{} // one place for each query that runs
	mutex sync.Mutex
	// What was asked, by statement; frames by the topics of their caveats too.
	known  map[string]func() ([]frame.Caveat, error)
	frames map[string]func() (*frame.Frame, error)
}

// NewAsker asks as many queries at a time as there are processors: planning takes most of their time, one thread each.
func NewAsker(w *schema.Warehouse) *Asker {
	return &Asker{w: w, most: math.MaxInt, busy: make(chan struct{}, max(2, runtime.GOMAXPROCS(0))), known: map[string]func() ([]frame.Caveat, error){}, frames: map[string]func() (*frame.Frame, error){}}
}

// Within refuses answers of more than so many rows: they are in memory at once.
func (a *Asker) Within(rows int) *Asker {
	a.most = rows
	return a
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

// once returns what is kept by that key, made by the first that asks for it. An error, such as that its context has ended, is not kept.
func once[T any](a *Asker, kept map[string]func() (T, error), key string, get func() (T, error)) (T, error) {
	a.mutex.Lock()
	if kept[key] == nil {
		kept[key] = sync.OnceValues(get)
	}
	made := kept[key]
	a.mutex.Unlock()
	v, err := made()
	if err != nil {
		a.mutex.Lock()
		delete(kept, key)
		a.mutex.Unlock()
	}
	return v, err
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
