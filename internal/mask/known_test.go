package mask

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
)

// TestKnown masks secrets that have no form of one, by the names that they were given under.
func TestKnown(t *testing.T) {
	t.Parallel()
	text := Known([]string{"MY_API_TOKEN=plain words", "DB_PASSWORD=plain words and more", "SHORT_SECRET=abc", "AUTH_TOKEN=true", "INNOCENT=python3", "HTTP_PROXY=http://ann:pass%3Aphrase@box:3128", "GIT=ssh://ubuntu@box", "WEB_PASSWORD=password", "PWD=/srv/models", "OLDPWD=/srv/models/old", "nothing", "GCP_CREDENTIALS={\n \"type\": \"service account\",\n \"id\": \"a b c d e f g h\"\n}"},
		[]string{"python3", "run.py", "--api-key", "sesame-open", "--password=open-sesame", "--prompt", "a prompt", "--proxy", "http://ann:a-proxys@box", "--api-key", "key-of-one", "key-of-two"})
	for in, want := range map[string]string{
		"it is plain words":             "it is ***",
		"plain words and more, x":       "***, x",
		"abc true python3 a prompt":     "abc true python3 a prompt",
		"[sesame-open|open-sesame]":     "[***|***]",
		"password=hunter2":              "password=***",
		"[pass%3Aphrase|pass:phrase]":   "[***|***]",
		"a-proxys, key-of-two":          "***, ***",
		"ubuntu, ann":                   "ubuntu, ann",
		"open /srv/models/old/x":        "open /srv/models/old/x",
		"  \"id\": \"a b c d e f g h\"": "  ***",
		"":                              "",
	} {
		if got := text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestKnownWritten masks secrets as programs write them: escaped, in an address, encoded, and over lines.
func TestKnownWritten(t *testing.T) {
	t.Parallel()
	const secret, lines = `a"b&c/d'e f+gh`, "firstline\nsecondline"
	text := Known([]string{"APP_SECRET=" + secret, "MULTI_TOKEN=" + lines, "LONG_SECRET=" + strings.Repeat("0123456789-", 20)}, nil)
	asJSON := func(s string) string {
		out, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	for _, c := range [][2]string{ // what is written, and what no part of it may be left
		{lines, "line"}, {"a firstline", "firstline"}, {"secondline", "secondline"}, {`first: 'firstline\nsecondline'`, "line"}, {asJSON(lines), "line"}, {asJSON(asJSON(lines)), "line"},
		{asJSON(secret), "gh"}, {asJSON(asJSON(secret)), "f+gh"}, {`'a"b&c/d\'e f+gh'`, "gh"}, {`"a\"b&c\/d'e f+gh"`, "gh"}, {html.EscapeString(secret), "gh"}, {`'a"b&c/d'\''e f+gh'`, "gh"},
		{"https://h/?x=" + url.QueryEscape(secret), "gh"}, {"https://h/" + url.PathEscape(secret), "gh"}, {"a%22b%26c/d%27e%20f%2Bgh", "gh"}, {"a%22b%26c%2fd%27e%20f%2bgh", "gh"}, {"a%22b%26c%2Fd'e%20f%2Bgh", "gh"},
		{base64.StdEncoding.EncodeToString([]byte(secret)), "ImImYy"}, {base64.StdEncoding.EncodeToString([]byte(secret + "\n")), "ImImYy"}, {base64.RawURLEncoding.EncodeToString([]byte(secret)), "ImImYy"},
		{base64.StdEncoding.EncodeToString([]byte("bob:" + secret)), base64.StdEncoding.EncodeToString([]byte("bob:" + secret))[6:20]},
		{base64.StdEncoding.EncodeToString([]byte("bobo:" + secret + "!")), base64.StdEncoding.EncodeToString([]byte("bobo:" + secret))[8:20]},
		{base64.StdEncoding.EncodeToString([]byte(strings.Repeat("0123456789-", 20)))[:76], "MDEy"},
	} {
		if got := text(c[0]); strings.Contains(got, c[1]) || !strings.Contains(got, masked) {
			t.Errorf("%q: %q", c[0], got)
		}
	}
	for _, plain := range []string{"line", "first line, second line", "a b&c/d", "0123456789", fmt.Sprintf("%x", secret)} {
		if got := text(plain); got != plain {
			t.Errorf("%q: %q", plain, got)
		}
	}
}
