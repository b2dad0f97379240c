package file

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpen opens what is no file, none of which may wait or be read.
func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), []byte("text"), 0o600), syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("/dev/zero", at("link")), os.Symlink("file", at("good"))); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]string{
		"file": "", "good": "", "pipe": "pipe: it is a named pipe, not a file", "socket": "not a file", "link": "link: it is a device, not a file", ".": "it is a folder, not a file", "none": "no such file",
	} {
		check := func(how string, err error) {
			t.Helper()
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s %s: %v, want %q", how, name, err, want)
			}
		}
		_, err := Open(at(name))
		check("open", err)
		_, err = Read(at(name), 4)
		check("read", err)
		if name != "socket" { // Check says which of the two it is
			check("check", Check(at(name)))
		}
		if name != "link" { // it leads out of the root
			_, err = OpenIn(root, name)
			check("open below", err)
		}
	}
	if _, err := Read(at("file"), 3); !errors.Is(err, ErrTooLarge) || !strings.HasSuffix(err.Error(), "file is larger than 3 bytes, the limit for such input") {
		t.Errorf("a larger file: %v", err)
	}
	if _, err := ReadAll(strings.NewReader("text"), "stdin", 3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a longer stream: %v", err)
	}
}

// TestReplace checks what is in the place of a file after writes that went well, failed half way, or must not happen.
func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("old"), []byte("old"), 0o640), os.Symlink("old", at("link")), os.Mkdir(at("folder"), 0o755)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the text broke")
	half := func(w io.Writer) error { _, err := io.WriteString(w, "half"); return errors.Join(err, broken) }
	if err := Replace(at("old"), half); !errors.Is(err, broken) {
		t.Errorf("a write that failed: %v", err)
	}
	if err := Write(at("link"), []byte("new")); err == nil || !strings.Contains(err.Error(), "is a symbolic link") {
		t.Errorf("a link: %v", err)
	}
	if err := os.Symlink("folder", at("way")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"way", "way/", "way//."} {
		if err := NoLink(dir + "/" + path); err == nil {
			t.Errorf("%s is no link", path)
		}
	}
	if isStream("/dev/shm/report.md") || !isStream("/dev/stdout") || !isStream("/dev/null") {
		t.Error("a file in /dev/shm is a stream, or stdout or a device is none")
	}
	if err := Write(at("folder"), []byte("new")); !errors.Is(err, ErrNotFile) {
		t.Errorf("a folder: %v", err)
	}
	if err := Write(at("none/new"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if text, err := os.ReadFile(at("old")); string(text) != "old" {
		t.Errorf("the old file holds %q, %v", text, err)
	}
	if err := errors.Join(Write(at("old"), []byte("new")), Write(at("new"), []byte("new")), Write("/dev/null", []byte("new"))); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat(at("old")); err != nil || st.Mode() != 0o640 || st.Size() != 3 {
		t.Errorf("the old file became %v, %v", st, err)
	}
	if names, err := filepath.Glob(at("*")); err != nil || len(names) != 5 {
		t.Errorf("the folder holds %q, %v", names, err)
	}
	if names, err := filepath.Glob(at(".*")); err != nil || len(names) != 0 {
		t.Errorf("left aside: %q, %v", names, err)
	}
}

// TestReplacePipe checks that a pipe gets the text: it cannot be replaced.
func TestReplacePipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		text, err := os.ReadFile(pipe)
		if err != nil {
			t.Error(err)
		}
		got <- string(text)
	}()
	if err := Write(pipe, []byte("text")); err != nil {
		t.Error(err)
	}
	if text := <-got; text != "text" {
		t.Errorf("the pipe gave %q", text)
	}
}

// TestRights makes homes, and in them folders and files, and adopts those of other programs.
func TestRights(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name         string
		shared       bool
		folder, file fs.FileMode
	}{
		{"private", false, 0o700 | fs.ModeDir, 0o600}, {"shared", true, 0o770 | fs.ModeDir | fs.ModeSetgid, 0o660},
	} {
		home := filepath.Join(dir, c.name, "home")
		if err := errors.Join(MakeHome(home, c.shared), MakeHome(home, !c.shared), MakeDir(home+"/a/b"), Write(home+"/a/b/written", nil), os.MkdirAll(home+"/x/y", 0o777), os.WriteFile(home+"/x/y/z", nil, 0o666)); err != nil {
			t.Fatal(err)
		}
		f, err := Create(home + "/a/created")
		if err = errors.Join(err, f.Close(), os.Chmod(home+"/x/y/z", 0o666), Adopt(home)); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]fs.FileMode{"": c.folder, "a": c.folder, "a/b": c.folder, "x/y": c.folder, "a/b/written": c.file, "a/created": c.file, "x/y/z": c.file} {
			if st, err := os.Stat(filepath.Join(home, name)); err != nil || st.Mode() != want {
				t.Errorf("%s/%s: %v, want %v", c.name, name, st.Mode(), want)
			}
		}
	}
}
