package testkit_test

import (
	"testing"

	"prof/internal/testkit"
)

func TestAll(t *testing.T) {
	w := testkit.All(t)
	runs, err := w.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != len(testkit.Captures) {
		t.Errorf("%d runs of %d captures", len(runs), len(testkit.Captures))
	}
}
