//go:build !lake || !linux

// Package laketest tests prof on a lake: a catalog in PostgreSQL, rows in an S3 server, both started here on the loopback. Its tests have the build tag lake: they take long,
// and need more than Go.
package laketest

import "testing"

func TestLake(t *testing.T) {
	t.Skip("`.ci/run lake` fetches what the tests of a lake need and runs them; with that, they are `go test -tags lake ./internal/laketest` on Linux")
}
