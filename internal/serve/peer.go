package serve

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Linux lists here who has which connection.
const (
	connections4 = "/proc/net/tcp"
	connections6 = "/proc/net/tcp6"
)

// KnowsUsers reports whether this system says which user has the other end of a connection of this machine.
func KnowsUsers() bool {
	f, err := os.Open(connections4)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// peerKey is the place of a connection in the contexts of its requests.
type peerKey struct{}

// withPeer remembers a connection, whose user is looked up once.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, sync.OnceValue(func() bool { return isOwn(c) }))
}

// isOfOwner reports whether a request comes from a process of the user of this one.
func isOfOwner(r *http.Request) bool {
	own, ok := r.Context().Value(peerKey{}).(func() bool)
	return ok && own()
}

// isOwn reports whether the other end of a connection is a socket of the user of this process, or of root, who can read all anyway.
func isOwn(c net.Conn) bool {
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	own, err2 := netip.ParseAddrPort(c.LocalAddr().String())
	if err != nil || err2 != nil {
		return false
	}
	for range 3 { // a list that changes while it is read may leave one out
		for _, path := range []string{connections4, connections6} {
			f, err := os.Open(path)
			if err != nil { // there may be no IPv6
				continue
			}
			uid, found := userOf(f, peer, own)
			f.Close()
			if found {
				return uid == 0 || uid == os.Geteuid()
			}
		}
	}
	return false
}

// userOf finds in a list of connections the user of the socket that is at one end of a connection. A socket that its process has closed is nobody's:
// the list says root of it.
func userOf(list io.Reader, at, to netip.AddrPort) (uid int, found bool) {
	for lines := bufio.NewScanner(list); lines.Scan(); {
		f := strings.Fields(lines.Text()) // sl local_address rem_address st queues tr:when retrnsmt uid timeout inode
		if len(f) < 10 || f[9] == "0" || !isAddress(f[1], at) || !isAddress(f[2], to) {
			continue
		}
		uid, err := strconv.Atoi(f[7])
		return uid, err == nil
	}
	return 0, false
}

// isAddress reports whether the list's text of an address, words of four bytes as the machine has them, is of one.
func isAddress(text string, a netip.AddrPort) bool {
	ip, port, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil || uint16(n) != a.Port() {
		return false
	}
	b, err := hex.DecodeString(ip)
	if err != nil || len(b)%4 != 0 {
		return false
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	of, ok := netip.AddrFromSlice(b)
	return ok && of.Unmap() == a.Addr().Unmap().WithZone("")
}
