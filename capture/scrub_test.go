package capture

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// database makes a file that looks like a SQLite database whose one text lies in overflow pages, each of which begins with a link.
func database(t *testing.T, page int, text string) string {
	t.Helper()
	var b bytes.Buffer
	head := make([]byte, page)
	copy(head, sqliteMagic)
	head[16], head[17] = byte(page>>8), byte(page)
	b.Write(head)
	for i := 0; len(text) > 0; i++ {
		n := min(len(text), page-pageLink)
		b.Write([]byte{0, 0, 0, byte(i + 3)})
		b.WriteString(text[:n])
		b.Write(make([]byte, page-pageLink-n))
		text = text[n:]
	}
	path := filepath.Join(t.TempDir(), "x.sqlite")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Wherever an environment lies in the pages, what is beyond the allow-list is gone, and everything else is as it was.
func TestScrub(t *testing.T) {
	m, err := newMarker()
	if err != nil {
		t.Fatal(err)
	}
	environ := []string{"PATH=/bin", "HF_TOKEN=hf_examplesecret0123456789", "INNOCENT=innocent", "CUDA_VISIBLE_DEVICES=0", "EMPTY=", "LONG=" + strings.Repeat("long value ", 100)}
	given := []string{"PATH=/bin", "CUDA_VISIBLE_DEVICES=0"}
	variables := beyond(environ, given)
	if fmt.Sprint(len(variables)) != "3" {
		t.Fatalf("beyond the allow-list: %q", variables)
	}
	for shift := range 600 {
		block := strings.Join(m.around(environ), "\x00")
		text := strings.Repeat("x", shift) + block + "\x00cudaLaunchKernel INNOCENT=innocent, HF_TOKEN=hf"
		path := database(t, 512, text)
		n, err := scrub(path, m, variables)
		if err != nil || n != len(variables) {
			t.Fatalf("shift %d: %d places, %v", shift, n, err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range variables {
			text = strings.Replace(text, v, strings.Repeat("*", len(v)), 1)
		}
		want, err := os.ReadFile(database(t, 512, text))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("shift %d: the file differs from one without these variables", shift)
		}
	}
}

// An environment that is marked nowhere is not found; a secret in it is told.
func TestScrubLeftOver(t *testing.T) {
	m, err := newMarker()
	if err != nil {
		t.Fatal(err)
	}
	path := database(t, 4096, strings.Repeat("x", 5000)+"HF_TOKEN=hf_examplesecret0123456789")
	if _, err := scrub(path, m, []string{"HF_TOKEN=hf_examplesecret0123456789"}); err == nil || !strings.Contains(err.Error(), "HF_TOKEN") || strings.Contains(err.Error(), "hf_example") {
		t.Errorf("error %v", err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no database, long enough for a header"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := scrub(text, m, nil); err == nil {
		t.Error("a text was taken for a database")
	}
}
