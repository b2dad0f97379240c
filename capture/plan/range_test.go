package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseRange(t *testing.T) {
	for _, c := range []struct {
		text string
		want Range
		nsys string
		ncu  []string
	}{
		{"prefill", Range{"prefill", ""}, "prefill", []string{"prefill/", "prefill"}},
		{"prefill@LLM", Range{"prefill", "LLM"}, "prefill@LLM", []string{"LLM@prefill/", "LLM@prefill"}},
		{`LLM\@prefill`, Range{"LLM@prefill", ""}, `LLM\@prefill`, []string{`LLM\@prefill/`, `LLM\@prefill`}},
		{`a\@b@c\@d`, Range{"a@b", "c@d"}, `a\@b@c\@d`, []string{`c\@d@a\@b/`, `c\@d@a\@b`}},
		{"decode_step[17]", Range{"decode_step[17]", ""}, "decode_step[17]", []string{`decode_step\[17\]/`, `decode_step\[17\]`}},
		{"a/b, c*+", Range{"a/b, c*+", ""}, "a/b, c*+", []string{`a\/b\, c\*\+/`, `a\/b\, c\*\+`}},
		{"Präfix (1)", Range{"Präfix (1)", ""}, "Präfix (1)", []string{"Präfix (1)/", "Präfix (1)"}},
		{"prefill@*", Range{"prefill", AnyDomain}, "prefill@*", []string{`\*@prefill/`, `\*@prefill`}},
	} {
		got, err := ParseRange(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q gives %+v (%v), want %+v", c.text, got, err, c.want)
			continue
		}
		if got.Nsys() != c.nsys {
			t.Errorf("%q is %q for nsys, want %q", c.text, got.Nsys(), c.nsys)
		}
		if !slices.Equal(got.Ncu(), c.ncu) {
			t.Errorf("%q is %q for ncu, want %q", c.text, got.Ncu(), c.ncu)
		}
	}
}

func TestParseRangeRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"": "no name", "@LLM": "no name", "prefill@": "no domain", "a@b@c": "more than one @", `a\b`: "may only precede @", `a\\`: "may only precede @",
		`a\`: "ends in a backslash", "a\nb": "control character", "a\x00": "control character",
	} {
		if got, err := ParseRange(text); !errors.Is(err, errRange) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q gives %+v, %v; want an error with %q", text, got, err, says)
		}
	}
}

func TestRangesThatNcuLacks(t *testing.T) {
	for _, c := range []struct {
		r    Range
		says string
	}{{Range{"a", AnyDomain}, "every domain"}, {Range{"regex:a", ""}, "regular expression"}, {Range{"a", "regex:b"}, "regular expression"}} {
		if err := c.r.checkNcu(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v gives %v, want an error with %q", c.r, err, c.says)
		}
	}
	for _, r := range []Range{{"a", ""}, {"a", "b"}, {"regex:a", "b"}} {
		if err := r.checkNcu(); err != nil {
			t.Errorf("%+v is refused: %v", r, err)
		}
	}
}
