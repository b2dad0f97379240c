package schema_test

import (
	"testing"

	"prof/schema"
)

// TestIDBase pins bases: warehouses hold them.
func TestIDBase(t *testing.T) {
	if base := schema.IDBase("01900000-0000-7000-8000-00000000000a"); base != 3979256676485169152 {
		t.Errorf("the base is %d", base)
	}
	if n := schema.IDNumber(schema.IDBase(idB) + schema.MaxIDs); n != schema.MaxIDs {
		t.Errorf("the number is %d", n)
	}
}
