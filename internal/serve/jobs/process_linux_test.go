package jobs

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

// What a job leaves behind is gone when endLeft returns, and not still about to free its memory: the environment of a process, by which it is found, goes first.
func TestEndLeft(t *testing.T) {
	t.Parallel()
	id := newID("do")
	left := exec.Command(os.Args[0], "--home=", "capture", "--", "large")
	left.Env = []string{jobVariable + "=" + id}
	out, err := left.StdoutPipe()
	if err == nil {
		err = left.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "begun"; {
	}
	endLeft(id)
	if !gone(left.Process.Pid) {
		t.Error("it goes on")
	}
	if err := left.Wait(); err == nil {
		t.Error("nothing killed it")
	}
}
