package schema

import (
	"context"
	"slices"
	"testing"
)

// ForgetImages makes this process look for kept files again, as another process would.
func ForgetImages() {
	images.Lock()
	defer images.Unlock()
	images.known, images.told = nil, false
}

// LakeImage is the file with the views and macros for a lake.
func LakeImage(ctx context.Context, o Options, dir string) ([]byte, error) {
	return image(ctx, lakeImage, o, dir)
}

// WithMigration adds a migration to those of the program until the test ends.
func WithMigration(t *testing.T, text string) {
	known, err := knownMigrations()
	if err != nil {
		t.Fatal(err)
	}
	before := knownMigrations
	t.Cleanup(func() { knownMigrations = before })
	next := migration{version: len(known) + 1, name: "news", sql: text, checksum: checksum(text)}
	knownMigrations = func() ([]migration, error) { return append(slices.Clone(known), next), nil }
}
