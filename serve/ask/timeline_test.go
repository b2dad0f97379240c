package ask

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestTurn leaves the places to other questions while those about timelines wait for an index that is made.
func TestTurn(t *testing.T) {
	busy := make(chan struct{}, 2)
	k := newTimelines(busy)
	k.turn <- struct{}{} // an index is made
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for range 5 {
		go func() {
			busy <- struct{}{}
			err := k.takeTurn(ctx)
			<-busy
			if err == nil {
				<-k.turn
			}
			ended <- err
		}()
	}
	time.Sleep(50 * time.Millisecond)
	for range cap(busy) {
		select {
		case busy <- struct{}{}:
		case <-time.After(5 * time.Second):
			t.Fatal("those who wait keep the places")
		}
	}
	cancel() // some give up, which needs a place
	<-busy
	<-busy
	for range 5 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	go func() {
		busy <- struct{}{}
		err := k.takeTurn(t.Context())
		<-busy
		ended <- err
	}()
	<-k.turn
	if err := <-ended; err != nil || len(k.turn) != 1 || len(busy) != 0 {
		t.Errorf("at last: %v, turn %d, places %d", err, len(k.turn), len(busy))
	}
}
