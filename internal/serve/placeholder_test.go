package serve

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"prof/internal/serve/ask"
)

// TestPlaceholders holds that an empty field of the page shows what the API takes then.
func TestPlaceholders(t *testing.T) {
	text, err := os.ReadFile("page/static/trend.js")
	if err != nil {
		t.Fatal(err)
	}
	f, _ := reflect.TypeFor[ask.Course]().FieldByName("Kernels")
	if want := `placeholder: "` + f.Tag.Get("default") + `", title: "look for the cause of a change in so many kernels`; !strings.Contains(string(text), want) {
		t.Errorf("trend.js has no %s", want)
	}
}
