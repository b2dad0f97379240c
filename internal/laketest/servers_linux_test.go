package laketest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// toolsEnv names a folder with DuckDB's extensions and versitygw, as .ci/run makes it; without it the one in the user's cache is taken.
const toolsEnv = "LAKE_TOOLS"

// tools gives the folder of extensions; tests skip where there is none.
func tools(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(toolsEnv)
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("no cache folder with DuckDB's extensions: ", err)
		}
		dir = filepath.Join(cache, "prof-lake")
	}
	found, err := filepath.Glob(filepath.Join(dir, "ext", "*ducklake*"))
	if err != nil || len(found) == 0 {
		t.Skipf("%s has no DuckLake extension of DuckDB: .ci/run puts it there", dir)
	}
	return dir
}

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
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// waitFor waits until a server listens.
func waitFor(t testing.TB, port string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no server on port %s: %v", port, err)
		}
	}
}

// server starts a program that ends with the test.
func server(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Error(err)
		}
		if t.Failed() {
			if text, err := os.ReadFile(log.Name()); err == nil {
				t.Logf("%s said:\n%s", filepath.Base(cmd.Path), text[max(0, len(text)-4000):])
			}
		}
	})
}

// postgres starts PostgreSQL and gives how to connect to it as the superuser prof, without a database's name. It runs as another user where this one is root, which it
// refuses to be.
func postgres(t testing.TB) (address string) {
	t.Helper()
	const bins = "/usr/lib/postgresql/*/bin/"
	initdb, postgres := program("initdb", bins+"initdb"), program("postgres", bins+"postgres")
	if initdb == "" || postgres == "" {
		t.Skip("PostgreSQL is not installed")
	}
	dir, err := os.MkdirTemp("", "lake-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			t.Skip("PostgreSQL does not run as root, and there is no user postgres")
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	data := filepath.Join(dir, "data")
	first := exec.Command(initdb, "-D", data, "-A", "trust", "-U", "prof", "--no-sync", "--no-instructions")
	first.SysProcAttr, first.Dir = as, dir
	if out, err := first.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	port := freePort(t)
	cmd := exec.Command(postgres, "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+dir, "-c", "fsync=off", "-c", "max_connections=200")
	cmd.SysProcAttr, cmd.Dir = as, dir
	server(t, cmd)
	waitFor(t, port)
	address = "host=127.0.0.1 port=" + port + " user=prof"
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) { // it listens before it answers
		out, err := psql(address, "postgres", "SELECT 1")
		if err == nil {
			return address
		}
		if time.Now().After(end) {
			t.Fatalf("PostgreSQL does not answer: %v\n%s", err, out)
		}
	}
}

// psql runs a statement.
func psql(address, database, statement string) (string, error) {
	out, err := exec.Command(program("psql", "/usr/lib/postgresql/*/bin/psql"), "-X", "-At", "-d", address+" dbname="+database, "-c", statement).CombinedOutput()
	return string(out), err
}

// The keys of the S3 server.
const accessKey, secretKey = "lake-access", "lake-secret-3f9c"

// objectStore starts an S3 server with a bucket, and gives its environment for clients.
func objectStore(t testing.TB, tools string) (env []string) {
	t.Helper()
	gateway := program("versitygw", filepath.Join(tools, "versitygw"))
	if gateway == "" {
		t.Skip("versitygw is not installed: .ci/run builds it")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "lake"), 0o755); err != nil { // a bucket
		t.Fatal(err)
	}
	port := freePort(t)
	cmd := exec.Command(gateway, "--quiet", "--port", "127.0.0.1:"+port, "posix", dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+secretKey)
	server(t, cmd)
	waitFor(t, port)
	return []string{"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_REGION=us-east-1", fmt.Sprintf("AWS_ENDPOINT_URL=http://127.0.0.1:%s", port)}
}
