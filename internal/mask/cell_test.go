package mask_test

import (
	"testing"

	"prof/internal/mask"
)

// TestTwice: what is masked stays as it is, so that a run can travel.
func TestTwice(t *testing.T) {
	for _, texts := range forms {
		for _, text := range append(texts, "/home/ann/models", "/root/.cache/x") {
			once := mask.Stored(text)
			if again := mask.Stored(once); again != once {
				t.Errorf("%q is masked as %q, and then as %q", text, once, again)
			}
			for _, key := range []string{"server.api_key", "name"} {
				once := mask.Cell("source_fact", "value", key, text)
				if again := mask.Cell("source_fact", "value", key, once); again != once {
					t.Errorf("%s: %q is masked as %q, and then as %q", key, text, once, again)
				}
			}
		}
	}
}
