package queries_test

import (
	"testing"

	"prof/internal/testkit"
	"prof/schema"
)

func loadNCCL(t *testing.T) *schema.Warehouse { return testkit.All(t) }
