package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestUserOf(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH == "s390x" {
		t.Skip("the list is that of a little-endian machine")
	}
	const list = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1C99 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1568 1 0 100 0 0 10 0
   1: 0100007F:1C99 0100007F:E4A0 01 00000000:00000000 00:00000000 00000000  1000        0 1569 1 0 100 0 0 10 0
   2: 0100007F:E4A0 0100007F:1C99 01 00000000:00000000 00:00000000 00000000  1001        0 1570 1 0 100 0 0 10 0
   3: 0100007F:E4A1 0100007F:1C99 05 00000000:00000000 03:00000544 00000000     0        0 0 3 0
   4: 0100007F:E4A2 0100007F:1C9A 01 00000000:00000000 00:00000000 00000000  1002        0 1571 1 0 100 0 0 10 0
   5: 00000000000000000000000001000000:E4A3 00000000000000000000000001000000:1C99 01 00000000:00000000 00:00000000 00000000  1003        0 1572 1 0 100 0 0 10 0
   6: 0000000000000000FFFF00000100007F:E4A4 0000000000000000FFFF00000100007F:1C99 01 00000000:00000000 00:00000000 00000000  1004        0 1573 1 0 100 0 0 10 0
   7: short
`
	for peer, want := range map[string]int{"127.0.0.1:58528": 1001, "127.0.0.1:58529": -1, "127.0.0.1:58530": -1, "[::1]:58531": 1003, "127.0.0.1:58532": 1004, "[::ffff:127.0.0.1]:58528": 1001, "127.0.0.2:58528": -1} {
		at := netip.MustParseAddrPort(peer)
		to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), 7321)
		if at.Addr().Is6() && !at.Addr().Is4In6() {
			to = netip.AddrPortFrom(netip.IPv6Loopback(), 7321)
		}
		if uid, found := userOf(strings.NewReader(list), at, to); found != (want >= 0) || found && uid != want {
			t.Errorf("%s: user %d, %v, want %d", peer, uid, found, want)
		}
	}
}

// asOther is the address that the process of another user asks, which is this test once more.
const asOther = "PROF_TEST_ASK"

// Without a token the server answers its own user, and no other: a real one, where the test may become one.
func TestOtherUser(t *testing.T) {
	if url := os.Getenv(asOther); url != "" {
		got, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(got.Body)
		t.Logf("status %d %s %v", got.StatusCode, text, err)
		return
	}
	if !KnowsUsers() {
		t.Skip("this system does not say whose a connection is")
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("no %s: %v", address, err)
			continue
		}
		inside := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") })
		s := &http.Server{Handler: Guard{Own: true}.wrap(inside), ConnContext: withPeer}
		go func() { _ = s.Serve(l) }()
		defer s.Shutdown(context.Background())
		url := "http://" + l.Addr().String() + "/profile/x/artifacts/kept%2Fout.txt"
		got, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		if got.StatusCode != 200 {
			t.Errorf("%s: its own user gets %d", address, got.StatusCode)
		}
		if os.Getuid() != 0 {
			continue
		}
		// The test's program may lie where another user cannot read it, so it is run from its open file.
		self, err := os.Open("/proc/self/exe")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/fd/3", "-test.run=^TestOtherUser$", "-test.v")
		cmd.ExtraFiles, cmd.Dir, cmd.Env = []*os.File{self}, "/", []string{asOther + "=" + url}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		said, err := cmd.CombinedOutput()
		self.Close()
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
			t.Skipf("this test cannot become another user: %v", err)
		}
		if err != nil || !strings.Contains(string(said), "status 403") || strings.Contains(string(said), "inside") {
			t.Errorf("%s: another user gets %s %v", address, said, err)
		}
	}
}
