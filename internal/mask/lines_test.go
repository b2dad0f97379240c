package mask_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"prof/internal/mask"
)

// byLine masks a text line by line.
func byLine(text string) string {
	var l mask.Lines
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, mask.Text(l.Line(line)))
	}
	return strings.Join(out, "\n")
}

// keys are private keys as tools write them.
func keys(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	add := func(kind string, der []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		out[kind] = string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	add("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(r), err)
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := x509.MarshalECPrivateKey(e)
	add("EC PRIVATE KEY", ec, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p8, err := x509.MarshalPKCS8PrivateKey(ed)
	add("PRIVATE KEY", p8, err)
	out["encrypted"] = string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-256-CBC,0A1B2C3D"}, Bytes: p8}))
	out["of PGP"] = "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n" + wrapped(ec) + "=aB3d\n-----END PGP PRIVATE KEY BLOCK-----\n"
	out["of SSH2"] = "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: \"ann\"\n" + wrapped(ec) + "---- END SSH2 ENCRYPTED PRIVATE KEY ----\n"
	out["of PuTTY"] = "Private-Lines: 3\n" + wrapped(ec) + "Private-MAC: 01\n"
	return out
}

func wrapped(der []byte) string {
	var out strings.Builder
	for text := base64.StdEncoding.EncodeToString(der); text != ""; {
		n := min(64, len(text))
		fmt.Fprintln(&out, text[:n])
		text = text[n:]
	}
	return out.String()
}

// leaks are the lines of a key that a text still has, or large parts of them.
func leaks(key, text string) (out []string) {
	for line := range strings.Lines(key) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.ContainsAny(line, "-: ") && strings.Contains(text, line) {
			out = append(out, line)
		}
	}
	return out
}

// A key that is written out is masked whatever stands before its lines, whether or not it ends, and nothing behind it is.
func TestLinesKeys(t *testing.T) {
	t.Parallel()
	each := func(key string, f func(i int, line string) string) string {
		var out []string
		for i, line := range strings.Split(strings.TrimRight(key, "\n"), "\n") {
			out = append(out, f(i, line))
		}
		return strings.Join(out, "\n") + "\n"
	}
	for kind, key := range keys(t) {
		lines := strings.Split(strings.TrimRight(key, "\n"), "\n")
		for name, text := range map[string]string{
			"plain":    key,
			"indented": each(key, func(_ int, line string) string { return "    " + line }),
			"by rank":  each(key, func(_ int, line string) string { return "[rank0]: " + line }),
			"with times": each(key, func(i int, line string) string {
				return fmt.Sprintf("2026-01-02 10:%02d:%02d,%d INFO %s", i, i, i, line)
			}),
			"numbered":   each(key, func(i int, line string) string { return fmt.Sprintf("%d:%s", i+8, line) }),
			"of cat -n":  each(key, func(i int, line string) string { return fmt.Sprintf("%6d\t%s", i+8, line) }),
			"in YAML":    "key: |\n" + each(key, func(_ int, line string) string { return "  " + line }),
			"in source":  each(key, func(_ int, line string) string { return `    "` + line + `\n" +` }),
			"in a list":  each(key, func(_ int, line string) string { return `  '` + line + `',` }),
			"of Windows": each(key, func(_ int, line string) string { return line + "\r" }),
			"cut":        strings.Join(lines[:len(lines)-1], "\n") + "\n",
			"in a word":  "KEY='" + strings.TrimSpace(key) + "' run",
			"twice":      key + key,
		} {
			if kind == "of PuTTY" && name != "plain" && name != "cut" && name != "twice" && name != "of Windows" { // its first line is known at the begin only
				continue
			}
			text = "loading model\n" + text + "3 of 4 is done, at 12 tokens/s\nstep 17: loss = 0.5\n"
			got := byLine(text)
			if leak := leaks(key, got); leak != nil {
				t.Errorf("%s, %s: %d lines, such as %q:\n%s", kind, name, len(leak), leak[0], got)
			}
			if !strings.HasPrefix(got, "loading model\n") || !strings.HasSuffix(got, "3 of 4 is done, at 12 tokens/s\nstep 17: loss = 0.5\n") {
				t.Errorf("%s, %s: more is masked than the key:\n%s", kind, name, got)
			}
			if strings.Count(got, "\n") != strings.Count(text, "\n") {
				t.Errorf("%s, %s: %d lines of %d", kind, name, strings.Count(got, "\n"), strings.Count(text, "\n"))
			}
			if got := mask.Text(text); leaks(key, got) != nil {
				t.Errorf("%s, %s, as a whole:\n%s", kind, name, got)
			}
		}
	}
}

// Lines of others between those of a key do not show the rest of it.
func TestLinesBetween(t *testing.T) {
	t.Parallel()
	key := keys(t)["RSA PRIVATE KEY"]
	got := byLine(strings.ReplaceAll(key, "\n", "\nINFO step 3 of 4\n"))
	for _, leak := range leaks(key, got) {
		if len(leak) >= 32 {
			t.Errorf("%q", leak)
		}
	}
	if n := strings.Count(got, "INFO step 3 of 4"); n != strings.Count(key, "\n") {
		t.Errorf("%d lines of others", n)
	}

	var l mask.Lines
	l.Lost()
	_, body, _ := strings.Cut(key, "\n")
	var out strings.Builder
	for line := range strings.SplitSeq(body, "\n") {
		fmt.Fprintln(&out, l.Line(line))
	}
	if leak := leaks(key, out.String()); leak != nil {
		t.Errorf("the beginning was lost: %q", leak)
	}
}

// A value on the line below its name is masked, a line of its own is not.
func TestLinesValues(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"export HF_TOKEN=\\\nhunter2", "export HF_TOKEN=***\n***"},
		{"export HF_TOKEN=abc\\\ndef\\\nghi\nx y", "export HF_TOKEN=***\n***\n***\nx y"},
		{"serve --api-key \\\n  hunter2 \\\n  --port 1", "serve --api-key ***\n  *** \\\n  --port 1"},
		{"--api-key\nhunter2\n--port\n1", "--api-key\n***\n--port\n1"},
		{"password:\n  hunter2\nuser: ann", "password:\n  ***\nuser: ann"},
		{"\"api_key\":\n  \"hunter2\",\n\"x\": 1", "\"api_key\":\n  ***,\n\"x\": 1"},
		{"[\n \"--api-key\",\n \"hunter2\",\n \"--port\",\n \"1\"]", "[\n \"--api-key\",\n ***,\n \"--port\",\n \"1\"]"},
		{"DB_PASSWORD=\nhunter2", "DB_PASSWORD=\n***"},
		{"Authorization:\n Bearer hunter2", "Authorization:\n Bearer ***"},
		{"token:\n" + random, "token:\n***"},
		{"- name: HF_TOKEN\n  value: hunter2\n- name: X", "- name: HF_TOKEN\n  value: ***\n- name: X"}, {"- name: \"HF_TOKEN\"\n  value: \"hunter2\"", "- name: \"HF_TOKEN\"\n  value: ***"},
		{"  {\n    \"name\": \"HF_TOKEN\",\n    \"value\": \"hunter2\"\n  }", "  {\n    \"name\": \"HF_TOKEN\",\n    \"value\": ***\n  }"},
		{"- name: MODEL\n  value: llama", "- name: MODEL\n  value: llama"}, {"- name: HF_TOKEN\n  valueFrom: x", "- name: HF_TOKEN\n  valueFrom: x"},
		{"api-key: |\n  hunter2\n\n  hunter2\nport: 1", "api-key: ***\n  ***\n\n  ***\nport: 1"}, {"  api-key: >-\n    hunter2\n  port: 1", "  api-key: ***\n    ***\n  port: 1"}, {"text: |\n  a b\n", "text: |\n  a b\n"},
		{"x = {password: \"one\n  hunter2\n two\"} y\nnext", "x = {password: ***\n  ***\n ***} y\nnext"}, {"password='one\nhunter2'\nnext", "password=***\n***\nnext"},
		{"password = \"\"\"\nhunter2\n\"\"\"\nnext", "password = \"\"\"\n***\n***\nnext"}, {"password=\"one\n\nhunter2\"", "password=***\n\n***"},
		{"it's a pass\ndon't", "it's a pass\ndon't"}, {"token: it's\nnext", "token: it's\nnext"}, {"password: it's wrong\nnext", "password: ***'s wrong\nnext"}, {"auth: \"no one\nhunter2\"", "auth: ***\n***"}, {"text = \"one\ntwo\"", "text = \"one\ntwo\""}, {"max_tokens: \"one\ntwo", "max_tokens: \"one\ntwo"}, {"a | token |\n  b", "a | token |\n  b"},
		// A line that was cut, and the next by itself.
		{"password=\"cut\nINFO api_key=\"hunter2\"\nx", "password=***\n***\nx"}, {"token='cut\nINFO step\nhf_token='hunter2' x=1", "token=***\n***\n*** x=1"}, {"N(api_key='cut\nN(api_key='hunter2', n=1)\nx", "N(api_key=***\n***, n=1)\nx"},
		{"password=\"cut\nDB_PASSWORD=\"cut too\n hunter2\"\nx", "password=***\n***\n ***\nx"}, {"password=\"cut\nauth='cut\n hunter2' hunter2\" x", "password=***\n***\n *** x"}, {"password=\"cut\nDB_PASSWORD:\nhunter2", "password=***\n***\n***"},
		{"  - password: |\n      hunter2\n    name: foo", "  - password: ***\n      ***\n    name: foo"},
		// Lists over lines, and with what a logger writes before each.
		{"{\n  \"api_key\": [\n    \"hunter2\",\n    \"hunter2\"\n  ],\n  \"port\": 1\n}", "{\n  \"api_key\": [\n    ***,\n    ***\n  ],\n  \"port\": 1\n}"},
		{"{'api_key': ['a',\n             'hunter2'],\n 'port': 1}", "{'api_key': ***\n             ***,\n 'port': 1}"}, {"Namespace(api_key=['x',\n    'hunter2'], port=1)\nx", "Namespace(api_key=***\n    ***, port=1)\nx"},
		{"api_key=[\n  'hunter2',\n]\nx", "api_key=[\n  ***,\n]\nx"}, {"\"password\": {\n   \"value\": \"hunter2\"\n}\nx", "\"password\": {\n   ***\n}\nx"},
		{"machine h\n  login ann\n  password hunter2\nx", "machine h\n  login ann\n  password ***\nx"}, {"machine h login ann\npassword hunter2", "machine h login ann\npassword ***"},
		{"INFO api_key=['a', 'b',\nINFO step 'x'\nINFO y", "INFO api_key=***\nINFO step 'x'\nINFO y"}, {"  \"api_key\": [\n  \"x\": 1", "  \"api_key\": [\n  \"x\": 1"},
		{"token: [\n 1,\n 22\n]", "token: [\n 1,\n 22\n]"}, {"tokens = [\n 'the',\n 'cat']", "tokens = [\n 'the',\n 'cat']"}, {"forward pass: (\n warm-up\n)", "forward pass: (\n warm-up\n)"}, {"key = [\n 'q'\n]", "key = [\n 'q'\n]"},
		{"auth:\n  user: ann\n  host: box", "auth:\n  user: ann\n  host: box"},
		{"Enter the password:\nIt is wrong, try again", "Enter the password:\nIt is wrong, try again"},
		{"pass:\nwarm-up", "pass:\nwarm-up"}, {"tokens:\n64", "tokens:\n64"}, {"max_tokens=\n64", "max_tokens=\n64"}, {"--verbose\ntrue", "--verbose\ntrue"},
		{"password:\n\nmodel\n", "password:\n\nmodel\n"}, {"use \\\nmore", "use \\\nmore"}, {"password: hunter2,\nmodel", "password: ***,\nmodel"},
	} {
		if got := byLine(c[0]); got != c[1] {
			t.Errorf("%q by line gives %q, want %q", c[0], got, c[1])
		}
		if whole := mask.Text(c[0]); strings.Contains(whole, word) || strings.Contains(whole, random) || !strings.Contains(c[1], "***") && whole != c[0] {
			t.Errorf("%q gives %q", c[0], whole)
		}
	}
}

// What a logger writes before each line hides no value below its name.
func TestLinesOfLoggers(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"(Core pid=9) {'a': 1,\n(Core pid=9)  'api_key':\n(Core pid=9)    'hunter2'}\nx", "(Core pid=9) {'a': 1,\n(Core pid=9)  'api_key':\n(Core pid=9)    ***}\nx"},
		{"(Core pid=9) \"api_key\": [\n(Core pid=12)    \"hunter2\"\n(Core pid=9)  ],\nx", "(Core pid=9) \"api_key\": [\n(Core pid=12)    ***\n(Core pid=9)  ],\nx"},
		{"10:00:09 INFO password:\n10:00:10 INFO hunter2\n10:00:11 INFO x", "10:00:09 INFO password:\n10:00:10 INFO ***\n10:00:11 INFO x"},
		{"(Core pid=9) - name: HF_TOKEN\n(Core pid=9)   value: hunter2", "(Core pid=9) - name: HF_TOKEN\n(Core pid=9)   value: ***"}, {"INFO step 1:\nINFO done", "INFO step 1:\nINFO done"}, {"INFO the pass:\nINFO done", "INFO the pass:\nINFO done"},
	} {
		if got := byLine(c[0]); got != c[1] {
			t.Errorf("%q by line gives %q, want %q", c[0], got, c[1])
		}
	}
}

// TestPlainLines knows lines that depend on none and on which none depends, also where they hold signs.
func TestPlainLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "y": 0, "y\n": 2, "y\ny": 2, "\n\n": 2, "step 3: loss = 0.5, -1.5 s | x > 2 y\n": 37, "| a | b |\n": 0, "a\nname: X\nb\n": 2, "a\nx -v\n": 2, "x-y\n": 4, "a=1\n": 4, "a:\n": 0, "a:\n1,\n2\n3,\n": 8, "a,\nb,\n": 3, "token:\n1\n": 0, "1,\ntoken,\n": 0, "1,\n0123456789abcdefghij\n": 0, "it's\n": 0, "a\rb\n": 0, "\x1b[31m\n": 0,
		"----\n": 0, "---\n": 0, "Private-Lines: 3\n": 0, "x \n": 0, "tab\tx\n": 6, "é 1\n": 5, "time: 3\n": 8, "model name: X y\n": 16,
	} {
		var l mask.Lines
		if got := l.Plain([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for _, before := range []string{"password:", "api-key: |", "-----BEGIN X-----", `password="x`} {
		var l mask.Lines
		l.Line(before)
		if got := l.Plain([]byte("hunter2\n")); got != 0 {
			t.Errorf("after %q: %d", before, got)
		}
	}
}

func BenchmarkPlain(b *testing.B) {
	text := []byte(strings.Repeat("y\n", 1<<15))
	b.SetBytes(int64(len(text)))
	var l mask.Lines
	for b.Loop() {
		if l.Plain(text) != len(text) {
			b.Fatal()
		}
	}
}

func BenchmarkLines(b *testing.B) {
	line := "INFO 01-02 10:00:00 [loggers.py:127] Engine 000: Avg prompt throughput: 512.0 tokens/s, Running: 8 reqs"
	b.SetBytes(int64(len(line)))
	var l mask.Lines
	for b.Loop() {
		l.Line(line)
	}
}

// FuzzLines holds masking by line to what must be so of any text: one line for a line, the same whatever follows, no more of it than Text shows.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"-----BEGIN X-----\nabc\n-----END X-----", "password:\nx", "export X=\\\nabc", "---- BEGIN \n\n---- END ----- BEGIN ", "Private-Lines: 1\nabc=", "x: |2\n  a\n", "name: HF_TOKEN\nvalue: x", "NAME\\ = HF_TOKEN\nvalue: x", "a.key=HF_TOKEN\nvalue=x", "a -b\nc\n--token\nx", "key: |\n a\n", "y\ny=1\nt:\n\tx"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole := byLine(text)
		if strings.Count(whole, "\n") > strings.Count(text, "\n") {
			t.Errorf("%q has more lines than %q", whole, text)
		}
		var l mask.Lines
		var out strings.Builder
		for rest := text + "\n"; rest != ""; {
			n := l.Plain([]byte(rest))
			for line := range strings.Lines(rest[:n]) {
				out.WriteString(mask.Text(strings.TrimSuffix(line, "\n")) + "\n")
			}
			if rest = rest[n:]; rest == "" {
				break
			}
			line, below, _ := strings.Cut(rest, "\n")
			rest = below
			out.WriteString(mask.Text(l.Line(line)) + "\n")
		}
		if out.String() != whole+"\n" {
			t.Errorf("%q: with what is plain left out %q, else %q", text, out.String(), whole)
		}
	})
}
