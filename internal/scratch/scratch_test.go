package scratch

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// parentEnv makes the test binary make a folder there and wait for its end.
const parentEnv = "PROF_TEST_SCRATCH"

func TestMain(m *testing.M) {
	if parent := os.Getenv(parentEnv); parent != "" {
		d, err := Make(parent)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(filepath.Base(d.Path))
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// entries are the names in a folder.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range all {
		out = append(out, e.Name())
	}
	return out
}

// start starts a process that has made a folder in parent and gives the folder's name.
func start(t *testing.T, parent string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentEnv+"="+parent)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	name, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, name[:len(name)-1]
}

// TestKilled holds that folders of killed processes go with the next one that is made, and that those of living processes, kept ones
// and what is not ours stay.
func TestKilled(t *testing.T) {
	parent := t.TempDir()
	_, alive := start(t, parent)
	killed, dead := start(t, parent)
	if err := os.WriteFile(filepath.Join(parent, dead, "left"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.Wait()
	if err := os.Mkdir(filepath.Join(parent, "prof-others"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(parent, prefix+"link")); err != nil {
		t.Fatal(err)
	}
	kept, err := Make(parent)
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.Keep(); err != nil {
		t.Fatal(err)
	}
	kept.lock.Close()
	d, err := Make(parent)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{alive, filepath.Base(kept.Path), filepath.Base(d.Path), prefix + "link", "prof-others"}
	slices.Sort(want)
	if got := entries(t, parent); !slices.Equal(got, want) {
		t.Errorf("there are %q, not %q", got, want)
	}
	if err := d.Remove(); err != nil {
		t.Error(err)
	}
	if slices.Contains(entries(t, parent), filepath.Base(d.Path)) {
		t.Error("a removed folder is there")
	}
}

// TestMakers has many make folders at once: none loses its own to another's clearing.
func TestMakers(t *testing.T) {
	parent := t.TempDir()
	done := make(chan error)
	const makers = 16
	for range makers {
		go func() {
			for range 20 {
				d, err := Make(parent)
				if err == nil {
					err = os.WriteFile(filepath.Join(d.Path, "x"), nil, 0o600)
				}
				if err == nil {
					err = d.Remove()
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range makers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if left := entries(t, parent); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
