package suggest

import (
	"reflect"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"top-kernels", "stages", "stage-kernels", "stage-notes", "streams"}
	for _, c := range []struct {
		word string
		want []string
	}{
		{"stages", []string{"stages"}},
		{"stags", []string{"stages"}},
		{"Stages", []string{"stages"}},
		{"kernels", []string{"top-kernels", "stage-kernels"}},
		{"stage", []string{"stages", "stage-notes", "stage-kernels"}},
		{"steams", []string{"stages", "streams"}},
		{"zzz", nil},
	} {
		got := Nearest(c.word, names)
		if c.word == "steams" || c.word == "stages" { // only the first is settled
			got, c.want = got[:1], map[string][]string{"steams": {"streams"}, "stages": {"stages"}}[c.word]
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("Nearest(%q) is %q, want %q", c.word, got, c.want)
		}
	}
	if got := Nearest(strings.Repeat("x", 64<<20), names); got != nil { // which took minutes where its letters were compared
		t.Errorf("near a word of megabytes is %q", got)
	}
	for _, c := range []struct{ word, want string }{
		{"stags", "; did you mean stages?"},
		{"kernels", "; did you mean top-kernels or stage-kernels?"},
		{"zzz", "; available: top-kernels, stages, stage-kernels, stage-notes, streams"},
	} {
		if got := DidYouMean(c.word, names); got != c.want {
			t.Errorf("DidYouMean(%q) is %q", c.word, got)
		}
	}
	if got := DidYouMean("x", nil); got != "" {
		t.Errorf("of no candidates: %q", got)
	}
	if got := List([]string{"a", "b", "c"}, 2); got != "a, b and 1 more" {
		t.Errorf("List gives %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"qurey", "query", 1}, {"ca", "abc", 3}, {"abcd", "badc", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
