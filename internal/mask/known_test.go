package mask

import "testing"

// TestKnown masks secrets that have no form of one, by the names that they were given under.
func TestKnown(t *testing.T) {
	t.Parallel()
	text := Known([]string{"MY_API_TOKEN=plain words", "DB_PASSWORD=plain words and more", "SHORT_SECRET=abc", "AUTH_TOKEN=true", "INNOCENT=python3", "PWD=/srv/models", "OLDPWD=/srv/models/old", "nothing", "GCP_CREDENTIALS={\n \"type\": \"service account\",\n \"id\": \"a b c d e f g h\"\n}"},
		[]string{"python3", "run.py", "--api-key", "sesame-open", "--password=open-sesame", "--prompt", "a prompt"})
	for in, want := range map[string]string{
		"it is plain words":             "it is ***",
		"plain words and more, x":       "***, x",
		"abc true python3 a prompt":     "abc true python3 a prompt",
		"[sesame-open|open-sesame]":     "[***|***]",
		"password=hunter2":              "password=***",
		"open /srv/models/old/x":        "open /srv/models/old/x",
		"  \"id\": \"a b c d e f g h\"": "  ***",
		"":                              "",
	} {
		if got := text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
