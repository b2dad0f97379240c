package typeset

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"prof/render/rendertest"
)

func TestNeutral(t *testing.T) {
	for text, want := range map[string]string{
		"plain":              "plain",
		"a\nb\tc\rd":         `a\nb\tc\rd`,
		"\x1b[2J\x00\x7f":    `\x1b[2J\x00\x7f`,
		"\u0085\u009b31m":    `\x85\x9b31m`,
		"\u202eabc\u2066":    `\u202eabc\u2066`,
		"\u2028\u2029\ufeff": `\u2028\u2029\ufeff`,
		"\U000e0041":         `\U000e0041`,
		"bad \xff":           `bad \xff`,
		"生命 é ☀\ufe0f":       "生命 é ☀",
		"a\u200bb":           `a\u200bb`,
	} {
		if got := Neutral(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestLongTexts holds that no text is shown in more than LongestText bytes, that different ones stay different, and that what is shown is shown
// as it is.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("生命\n", 1<<20)
	for _, text := range []string{strings.Repeat("k", 3<<20), long, "x" + long, long + "x", long[:len(long)/2] + "x" + long[len(long)/2:], strings.Repeat("\xff", LongestText), strings.Repeat("\x80", 1<<20)} {
		got := Neutral(text)
		if len(got) > LongestText || len(got) < LongestText-100 || !utf8.ValidString(got) {
			t.Errorf("%.20q of %d bytes takes %d", text, len(text), len(got))
		}
		if again := Neutral(got); again != got {
			t.Errorf("%.20q is shown as %.20q and then as %.20q", text, got, again)
		}
		if other := Neutral(text + text[:1] + text); other == got {
			t.Errorf("%.20q cannot be told from one twice as long", text)
		}
	}
	if a, b := Neutral(long+"a"+long), Neutral(long+"b"+long); a == b {
		t.Error("texts that differ in the middle look alike")
	}
	if text := strings.Repeat("k", LongestText); Neutral(text) != text {
		t.Error("a text that has room is cut")
	}
}

// TestLongWords holds that lines and fences are found in one pass over a text: these would take hours if each were looked for from the start.
func TestLongWords(t *testing.T) {
	const size = 8 << 20
	if lines := Wrap(strings.Repeat("k", size), 16); len(lines) != size/16 {
		t.Errorf("%d lines", len(lines))
	}
	ticks := strings.Repeat("`", size)
	if code := MarkdownCode(ticks + "|"); len(code) != 3*size+6 {
		t.Errorf("a span of %d bytes", len(code))
	}
	if got := fenceFor("a``b`c", 1); got != "```" {
		t.Errorf("the fence is %s", got)
	}
}

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "生命": 4, "e\u0301": 1, "🚀": 2, "…": 1, "─": 1, "°": 1, "ﬁ": 1, "ｆ": 2, "한글": 4, "✓": 1, "✅": 2, "é": 1,
	} {
		if got := Width(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

// TestApart holds that different texts stay different in short: those that differ in the middle of long words, and at several places at once.
func TestApart(t *testing.T) {
	var names []string
	long := strings.Repeat("abcdefghij", 20)
	for _, middle := range []string{"1", "2", "12"} {
		for _, tail := range []string{"x", "y", ""} {
			names = append(names, long+middle+long+tail, "gemm<"+long+", "+middle+", "+long+", "+tail+">(int)", "void at::"+long+"<"+middle+">::run<"+tail+long+">")
		}
	}
	for _, to := range []int{27, 40, LongName} {
		for name, short := range map[string]func(string) string{"texts": Shortener(names, to), "kernels": Kernels(names, to)} {
			seen := map[string]string{}
			for _, text := range names {
				got := short(text)
				if other, is := seen[got]; is || Width(got) > to {
					t.Errorf("%s to %d: %q of %q, as of %q", name, to, got, text, other)
				}
				seen[got] = text
			}
		}
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct {
		text      string
		to, share int
		want      string
	}{
		{"abcdefghij", 10, 60, "abcdefghij"}, {"abcdefghijk", 10, 60, "abcde…hijk"}, {"abcdefghijk", 10, 100, "abcdefghi…"},
		{"abcdefghijk", 1, 60, "…"}, {"abcdefghijk", 0, 60, ""}, {"生命生命生命", 6, 60, "生…命"}, {"ae\u0301e\u0301e\u0301z", 4, 60, "a…e\u0301z"},
	} {
		if got := Shorten(test.text, test.to, test.share); got != test.want {
			t.Errorf("%q to %d: got %q, want %q", test.text, test.to, got, test.want)
		}
	}
}

func TestDifferentTextsStayDifferent(t *testing.T) {
	for _, texts := range [][]string{
		{rendertest.Addition, rendertest.Product, rendertest.Flash},
		{"nvjet_hsh_128x64_64x9_1x2_h_bz_coopB_TNT", "nvjet_hsh_128x64_64x9_1x2_h_bz_coopB_TNN"},
		{"sm80_xmma_gemm_f16f16_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel",
			"sm80_xmma_gemm_f16f16_tilesize64x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel"},
	} {
		short := Shortener(texts, 24)
		seen := map[string]bool{}
		for _, text := range texts {
			if Width(short(text)) > 24 {
				t.Errorf("%q is too wide", short(text))
			}
			seen[short(text)] = true
		}
		if len(seen) != len(texts) {
			t.Errorf("%q look alike: %v", texts, seen)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text string
		to   int
		want []string
	}{
		{"", 10, []string{""}}, {"a b", 0, []string{"a b"}}, {"one two three", 7, []string{"one two", "three"}},
		{"abcdefgh i", 3, []string{"abc", "def", "gh", "i"}}, {"生命", 3, []string{"生", "命"}}, {"生a", 1, []string{"…", "a"}},
	} {
		if got := Wrap(test.text, test.to); !slices.Equal(got, test.want) {
			t.Errorf("%q to %d: got %q, want %q", test.text, test.to, got, test.want)
		}
	}
}

// TestPlainResult: a return type that is a template says nothing of a kernel; a conversion to a type is its name.
func TestPlainResult(t *testing.T) {
	for name, want := range map[string]string{
		"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, (int)7>(T13)": "kernel<int, 7>",
		"std::tuple<int, (int)3> make<float>(int)":                                  "make<float>",
		"void k<a b, c d>(int)":                                                     "k<a b, c d>",
		"Memcpy HtoD (Pinned -> Device)":                                            "Memcpy HtoD (Pinned -> Device)",
		"Box<int>::operator float()":                                                "Box<int>::operator float",
		"triton_red_fused 0d1":                                                      "triton_red_fused 0d1",
	} {
		if got := PlainNames([]string{name})[0]; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestMarkdownLine holds that a line begins no list or heading of its own, and is not escaped where it would not.
func TestMarkdownLine(t *testing.T) {
	for text, want := range map[string]string{"33.4 % of it": "33.4 % of it", "1. first": `1\. first`, "12)": `12\)`, "3.": `3\.`, "# a": `\# a`, "- a": `\- a`, "a 1. b": "a 1. b"} {
		if got := MarkdownLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
