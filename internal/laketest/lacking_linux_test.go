//go:build lake

package laketest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/schema"
)

// starving are facts that never fit DuckDB's memory.
type starving struct{ derive.Facts }

func (starving) Derive(context.Context, schema.SQL, string) error {
	return errors.New("Out of Memory Error: failed to pin block")
}

// TestLacking: a capture whose facts do not fit DuckDB's memory is in the lake all the same, without them, and an upgrade of the lake derives them.
func TestLacking(t *testing.T) {
	s := newSite(t)
	lake := s.machine(s.lake)
	w := lake.openAs(schema.Options{Write: true, Store: true})
	w.Facts, w.Budget = starving{}, schema.NewBudget(schema.LeastMemory)
	if _, err := ingest.Run(t.Context(), w, []string{capture("nsys/kernels/kernels.sqlite.gz")}, ingest.Options{Name: "r", Now: time.Now(), ProfVersion: "test", Warn: func(string) {}}); err != nil {
		t.Fatal(err)
	}
	const lacks = "is missing, since DuckDB had too little memory"
	if text := strings.Join(strings.Fields(lake.ok("show", "r")), " "); !strings.Contains(text, lacks) {
		t.Error(text)
	}
	lake.ok("lake", "upgrade")
	if text := strings.Join(strings.Fields(lake.ok("show", "r")), " "); strings.Contains(text, lacks) {
		t.Error(text)
	}
}
