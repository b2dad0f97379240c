//go:build lake

package laketest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// toolsEnv names a folder with DuckDB's extensions and versitygw, as .ci/run makes it; without it the one in the user's cache is taken.
const toolsEnv = "LAKE_TOOLS"

// servers are PostgreSQL and an S3 server with a bucket, for all tests.
type servers struct {
	missing string    // what is not here; "" if nothing
	address string    // of PostgreSQL, as the superuser prof, without a database's name
	env     []string  // of clients
	first   sync.Once // which makes the lake that those of the tests are copies of
	programs
}

// startServers starts the servers, which put their files into a folder, where their programs are here.
func startServers(dir string) (s *servers, err error) {
	s = &servers{programs: programs{dir: dir}}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	tools := os.Getenv(toolsEnv)
	if tools == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		tools = filepath.Join(cache, "prof-lake")
	}
	found, err := filepath.Glob(filepath.Join(tools, "ext", "*ducklake*"))
	if err != nil {
		return nil, err
	}
	initdb, postgres, gateway := program("initdb", postgresPrograms+"initdb"), program("postgres", postgresPrograms+"postgres"), program("versitygw", filepath.Join(tools, "versitygw"))
	switch owner, unknown := user.Lookup("postgres"); {
	case len(found) == 0:
		s.missing = tools + " has no DuckLake extension of DuckDB: .ci/run puts it there"
	case gateway == "":
		s.missing = "versitygw is not installed: .ci/run builds it"
	case initdb == "" || postgres == "":
		s.missing = "PostgreSQL is not installed"
	case os.Getuid() == 0 && unknown != nil:
		s.missing = "PostgreSQL does not run as root, and there is no user postgres"
	default:
		if s.env, err = s.objectStore(gateway); err != nil {
			return nil, err
		}
		s.env = append(s.env, "PROF_EXTENSIONS="+filepath.Join(tools, "ext"))
		s.address, err = s.postgres(initdb, postgres, owner)
	}
	return s, err
}

// postgresPrograms is where Debian has them.
const postgresPrograms = "/usr/lib/postgresql/*/bin/"

// program finds a server's program.
func program(name string, patterns ...string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, p := range patterns {
		if found, err := filepath.Glob(p); err == nil && len(found) > 0 {
			return slices.Max(found)
		}
	}
	return ""
}

// freePort is a port of the loopback that nobody had a moment ago.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// patience is how long a server may take to begin, on a busy machine.
const patience = time.Minute

// waitFor waits until a server listens.
func waitFor(port string) error {
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(end) {
			return fmt.Errorf("no server on port %s: %w", port, err)
		}
	}
}

// programs are servers that run.
type programs struct {
	dir     string // of their logs
	running []*exec.Cmd
	folders []string // to remove with them
}

// start starts a server.
func (p *programs) start(cmd *exec.Cmd) error {
	log, err := os.Create(filepath.Join(p.dir, filepath.Base(cmd.Path)+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		return err
	}
	p.running = append(p.running, cmd)
	return nil
}

// stop ends what was started.
func (p *programs) stop() {
	for _, cmd := range p.running {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	}
	for _, dir := range p.folders {
		os.RemoveAll(dir)
	}
}

// said is the end of what each has printed.
func (p *programs) said() string {
	var out strings.Builder
	for _, cmd := range p.running {
		name := filepath.Base(cmd.Path)
		if text, err := os.ReadFile(filepath.Join(p.dir, name+".log")); err == nil {
			fmt.Fprintf(&out, "%s said:\n%s\n", name, text[max(0, len(text)-4000):])
		}
	}
	return out.String()
}

// serve starts prof serve on a machine until the test ends, and returns its address.
func (m machine) serve(t testing.TB, args ...string) (address string) {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	p := &programs{dir: t.TempDir()}
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Log(p.said())
		}
	})
	if err := p.start(m.command(append([]string{"serve", "--listen", "127.0.0.1:" + port}, args...)...)); err != nil {
		t.Fatal(err)
	}
	if err := waitFor(port); err != nil {
		t.Fatal(err)
	}
	return "http://127.0.0.1:" + port
}

// postgres starts PostgreSQL, as the user owner where this one is root, which it refuses to be.
func (s *servers) postgres(initdb, postgres string, owner *user.User) (address string, err error) {
	dir, err := os.MkdirTemp("", "lake-pg-") // of a short path, for its socket
	if err != nil {
		return "", err
	}
	s.folders = append(s.folders, dir)
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			return "", err
		}
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	data := filepath.Join(dir, "data")
	first := exec.Command(initdb, "-D", data, "-A", "trust", "-U", "prof", "--no-sync", "--no-instructions")
	first.SysProcAttr, first.Dir = as, dir
	if out, err := first.CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(postgres, "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+dir, "-c", "fsync=off", "-c", "max_connections=400")
	cmd.SysProcAttr, cmd.Dir = as, dir
	if err := s.start(cmd); err != nil {
		return "", err
	}
	address = "host=127.0.0.1 port=" + port + " user=prof"
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		out, err := psql(address, "postgres", "SELECT 1")
		if err == nil {
			return address, nil
		}
		if time.Now().After(end) {
			return "", fmt.Errorf("PostgreSQL does not answer: %w\n%s%s", err, out, s.said())
		}
	}
}

// psql runs a statement.
func psql(address, database, statement string) (string, error) {
	out, err := exec.Command(program("psql", postgresPrograms+"psql"), "-X", "-At", "-d", address+" dbname="+database, "-c", statement).CombinedOutput()
	return string(out), err
}

// The keys of the S3 server.
const accessKey, secretKey = "lake-access", "lake-secret-3f9c"

// objectStore starts an S3 server with a bucket, and returns its environment for clients.
func (s *servers) objectStore(gateway string) (env []string, err error) {
	dir := filepath.Join(s.dir, "objects")
	if err := os.MkdirAll(filepath.Join(dir, "lake"), 0o755); err != nil { // a bucket
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(gateway, "--quiet", "--port", "127.0.0.1:"+port, "posix", dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+secretKey)
	if err := s.start(cmd); err != nil {
		return nil, err
	}
	if err := waitFor(port); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, s.said())
	}
	return []string{"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_REGION=us-east-1", "AWS_ENDPOINT_URL=http://127.0.0.1:" + port}, nil
}
