package jobs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// orphanTime is how long prof may take to end whose server was killed, before it is killed with all that it started.
const orphanTime = 4 * time.Second

// under makes a command line run below a process of SuperviseVerb, in a process group of its own, so that the terminal's Ctrl-C reaches the server alone. That
// process gets SIGTERM when the server dies.
func under(cmd *exec.Cmd) {
	cmd.Args = append([]string{cmd.Args[0], SuperviseVerb}, cmd.Args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// Supervise runs the command line of a job, hands it the signals that stop a job, and ends as it does. Then it kills what the job left. It inherits the
// processes whose parents end, so that none gets away by a session, a parent or an environment of its own; and it sees to that also when the server is killed.
func Supervise(argv []string) int {
	runtime.LockOSThread() // a parent-death signal comes when the thread ends that started the process
	server, signals := os.Getppid(), make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintf(os.Stderr, "prof: inherit the processes of a job: %v\n", err)
		return 1
	}
	child, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}})
	if err != nil {
		fmt.Fprintf(os.Stderr, "prof: %v\n", err)
		return 1
	}
	ended := make(chan syscall.WaitStatus, 1)
	go func() {
		for {
			var status syscall.WaitStatus
			switch pid, err := syscall.Wait4(-1, &status, 0, nil); {
			case err == nil && pid == child.Pid:
				ended <- status
			case err != nil && err != syscall.EINTR: // there is none left
				return
			}
		}
	}()
	id := os.Getenv(jobVariable)
	var late <-chan time.Time
	for {
		select {
		case s := <-signals:
			_ = syscall.Kill(child.Pid, s.(syscall.Signal))
			if os.Getppid() != server { // which else sees to that
				late = time.After(orphanTime)
			}
		case <-late:
			endLeft(id)
		case status := <-ended:
			endLeft(id)
			if !status.Signaled() {
				return status.ExitStatus()
			}
			signal.Reset()
			_ = syscall.Kill(os.Getpid(), status.Signal())
			time.Sleep(time.Second)
			return 128 + int(status.Signal()) // a signal that does not end this process
		}
	}
}

// endLeft kills the processes of a job but this one, and waits until they have ended. They are found by their environment and by their parents, whatever became
// of their groups and sessions; new ones may come while the others are killed.
func endLeft(id string) {
	mark := []byte("\x00" + jobVariable + "=" + id + "\x00")
	killed := map[int]bool{} // which lose their environment first, and their files and devices later
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		parents, ours := map[int]int{}, map[int]bool{}
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}
			if parent, ended := stat(pid); !ended {
				parents[pid] = parent
				text, err := os.ReadFile("/proc/" + e.Name() + "/environ") // of others it cannot be read
				ours[pid] = killed[pid] || err == nil && bytes.Contains(append([]byte{0}, text...), mark)
			}
		}
		found := false
		for pid := range parents {
			above := pid
			for range len(parents) { // what was read at different moments may have rings
				if ours[above] || above == 0 {
					break
				}
				above = parents[above]
			}
			if ours[above] && pid != os.Getpid() {
				found, killed[pid] = true, true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !found {
			return
		}
	}
}

// gone reports whether a process has ended, if perhaps its parent does not know yet.
func gone(pid int) bool {
	_, ended := stat(pid)
	return ended
}

// stat is the parent of a process, and whether it has ended.
func stat(pid int) (parent int, ended bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(fields) < 2 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return 0, true
	}
	parent, _ = strconv.Atoi(string(fields[1]))
	return parent, false
}
