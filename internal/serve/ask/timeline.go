package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"prof/queries"
	"prof/schema"
)

// mostHeld bounds the indexes of timelines that are kept, in items and bins: some 50 bytes each.
const mostHeld = 2_000_000

// timelines keeps the indexes of the timelines that were asked for last: making one reads all of a run.
type timelines struct {
	busy chan struct{} // the places of an Asker
	turn chan struct{} // one makes an index at a time, for which it needs memory
	kept []timeline    // the last used first
}

// timeline is an index of a run as it was when it had a digest: of every edition in which it has it still.
type timeline struct {
	run, source, digest string
	index               *queries.Timeline
}

func newTimelines(busy chan struct{}) *timelines {
	return &timelines{busy: busy, turn: make(chan struct{}, 1)}
}

// get returns the index of a run's timeline to who has a place. Who asks first and gives up makes it all the same, for the next.
func (k *timelines) get(ctx context.Context, w *schema.Warehouse, of subject, source string) (*queries.Timeline, error) {
	if err := k.takeTurn(ctx); err != nil {
		return nil, err
	}
	defer func() { <-k.turn }()
	ctx = context.WithoutCancel(ctx)
	at := slices.IndexFunc(k.kept, func(t timeline) bool { return t.run == of.id && t.source == source && t.digest == of.Rows })
	if at >= 0 {
		t := k.kept[at]
		k.kept = slices.Insert(slices.Delete(k.kept, at, at+1), 0, t)
		return t.index, nil
	}
	index, err := queries.NewTimeline(ctx, queries.NewAsker(w), of.id, source)
	if err != nil {
		return nil, err
	}
	k.kept = slices.DeleteFunc(k.kept, func(t timeline) bool { return t.run == of.id && t.digest != of.Rows })
	k.kept = slices.Insert(k.kept, 0, timeline{of.id, source, of.Rows, index})
	held := 0
	for i, t := range k.kept {
		if held += t.index.Held(); i > 0 && held > mostHeld {
			k.kept = slices.Delete(k.kept, i, len(k.kept))
			break
		}
	}
	return index, nil
}

// takeTurn waits for the turn, and gives its place to others meanwhile: an index may take long.
func (k *timelines) takeTurn(ctx context.Context) (err error) {
	select {
	case k.turn <- struct{}{}:
		return nil
	default:
	}
	<-k.busy
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		err = ctx.Err()
	}
	k.busy <- struct{}{} // who has a place and no turn gives it back, so that this one comes
	return err
}

// Timeline answers a question about the timeline of a run: key says which, with what is asked.
func (a *Asker) Timeline(ctx context.Context, run, source, key string, make func(ctx context.Context, w *schema.Warehouse, t *queries.Timeline) (any, error)) (Answer, error) {
	return a.makeOfRun(ctx, run, fmt.Sprintf("timeline\x00%s\x00%s", source, key), func(ctx context.Context, w *schema.Warehouse, of subject, out *bytes.Buffer) (string, error) {
		t, err := a.timelines.get(ctx, w, of, source)
		if err != nil {
			return "", err
		}
		v, err := make(ctx, w, t)
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(v)
		out.WriteString(hide(string(text), w))
		return JSON, err
	})
}
