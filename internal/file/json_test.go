package file_test

import (
	"errors"
	"testing"

	"prof/internal/file"
)

func TestFewValues(t *testing.T) {
	for text, n := range map[string]int{
		`1`: 1, `[]`: 1, `[ ]`: 1, `[1]`: 2, `[1,2]`: 3, `[[],[]]`: 3, `{"a":1}`: 2, `{"a":[{},{"b":""}]}`: 5, `"[,,\"[,"`: 1, `{"a,\\":"[","b":2}`: 3,
		"[\n{\t},\r\n{ }]": 3,
	} {
		if err := file.FewValues([]byte(text), n); err != nil {
			t.Errorf("%s has more than %d values: %v", text, n, err)
		}
		if err := file.FewValues([]byte(text), n-1); n > 1 && !errors.Is(err, file.ErrTooLarge) {
			t.Errorf("%s has %d values, and %d were found to suffice: %v", text, n, n-1, err)
		}
	}
}
