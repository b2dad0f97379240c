package serving

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"prof/capture/plan"
)

// How often an engine is asked whether it serves, and for how long one question waits.
const (
	askEvery  = 500 * time.Millisecond
	askAtMost = 5 * time.Second
)

// Ask returns nil where a URL answers with a status of 200 to 299.
func Ask(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, askAtMost)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}} // the engine is on this machine, whatever proxy the others are behind
	a, err := client.Do(q)
	if err != nil {
		return err
	}
	a.Body.Close()
	if a.StatusCode/100 != 2 {
		return fmt.Errorf("it answers %s", a.Status)
	}
	return nil
}

// ErrNotReady is wrapped by the error that an engine did not begin to serve in time.
var ErrNotReady = errors.New("the engine is not ready")

// waitReady waits until the engine serves.
func (r *recording) waitReady() error {
	o := r.Options
	if o.Ready == "" {
		return nil
	}
	r.Talk("waiting for the engine: " + r.Shown(o.Ready))
	begun := r.M.Now()
	for {
		err := Ask(r.ctx, o.Ready)
		took := r.M.Now().Sub(begun)
		if err == nil {
			r.out.Ready = took
			r.Talk(fmt.Sprintf("the engine is ready after %s", plan.Roughly(took)))
			return nil
		}
		if took >= o.ReadyTimeout {
			return fmt.Errorf("%w: %s did not answer with a status of 2xx within %s (--ready-timeout): %w", ErrNotReady, r.Shown(o.Ready), o.ReadyTimeout, err)
		}
		if err := r.pause(askEvery); err != nil {
			return err
		}
	}
}
