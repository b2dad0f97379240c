package places

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestTry(t *testing.T) {
	t.Parallel()
	p := New(3, 2)
	var leave []func()
	for _, c := range []struct {
		client string
		ok     bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"b", false}, {"c", false}} {
		l, ok := p.Try(c.client)
		if ok != c.ok {
			t.Errorf("%s gets a place: %v, want %v", c.client, ok, c.ok)
		}
		if ok {
			leave = append(leave, l)
		}
	}
	leave[0]()
	leave[0]() // it is given back once
	if _, ok := p.Try("c"); !ok {
		t.Error("a place that was given back is not there")
	}
	if _, ok := p.Try("a"); ok {
		t.Error("a place was given back twice")
	}
	leave[1]()
	leave[2]()
	if len(p.by) != 1 || p.taken != 1 {
		t.Errorf("%d places are taken, by %v", p.taken, p.by)
	}
}

// One client that waits for many places keeps no other waiting.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(2, 1)
		const work = 30 * time.Second
		done := make(chan time.Duration, 8)
		begin := time.Now()
		for range 8 {
			go func() {
				leave, err := p.Wait(t.Context(), "greedy")
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(work)
				leave()
				done <- time.Since(begin)
			}()
		}
		synctest.Wait()
		leave, err := p.Wait(t.Context(), "other")
		if err != nil || time.Since(begin) > 0 {
			t.Errorf("another waits %s, %v", time.Since(begin), err)
		}
		leave()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Wait(ctx, "greedy"); err == nil {
			t.Error("a place beyond its own")
		}
		for i := range 8 {
			if took := <-done; took != time.Duration(i+1)*work {
				t.Errorf("the %dth is done after %s", i+1, took)
			}
		}
	})
}
