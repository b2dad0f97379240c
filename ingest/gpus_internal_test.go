package ingest

import (
	"fmt"
	"strings"
	"testing"
)

// TestNumberGPUs holds what proves that two GPUs are one or two, by what sources say of them.
func TestNumberGPUs(t *testing.T) {
	pid := func(n ...any) []any { return n }
	gpu := func(source, number int, m member) *member {
		m.source, m.number, m.own, m.to, m.path = source, number, number, number, fmt.Sprint(source)
		if m.pids != nil {
			m.isUsed, m.isMain = true, true
		}
		return &m
	}
	for _, c := range []struct {
		name    string
		members []*member
		want    string
	}{
		{"one UUID by two numbers", []*member{gpu(1, 0, member{uuid: "x", rank: -1}), gpu(1, 1, member{uuid: "y", rank: -1}), gpu(2, 0, member{uuid: "y", rank: -1}), gpu(2, 1, member{uuid: "x", rank: -1})}, "0 1 1 0"},
		{"other UUIDs", []*member{gpu(1, 0, member{uuid: "x", rank: -1}), gpu(2, 0, member{uuid: "y", rank: -1})}, "0 1"},
		{"other hosts", []*member{gpu(1, 0, member{host: "a", rank: -1, pids: pid(1)}), gpu(2, 0, member{host: "b", rank: -1, pids: pid(1)}), gpu(3, 0, member{kind: "ncu", host: "b", rank: -1, pids: pid(2)})}, "0 1 1"},
		{"a trace beside nsys", []*member{gpu(1, 0, member{kind: "nsys", host: "a", uuid: "x", rank: -1, pids: pid(1), begin: 1, end: 9}), gpu(2, 0, member{kind: "torch", rank: 0, pids: pid(2), begin: 1, end: 9})}, "0 0"},
		{"ranks of a node of the second half", []*member{gpu(1, 0, member{kind: "torch", rank: 0, pids: pid(1)}), gpu(2, 1, member{kind: "torch", rank: 1, pids: pid(2)}), gpu(3, 0, member{kind: "torch", rank: 2, pids: pid(1)}),
			gpu(4, 1, member{kind: "torch", rank: 3, pids: pid(2)})}, "0 1 2 3"},
		{"one process twice", []*member{gpu(1, 0, member{kind: "torch", rank: -1, pids: pid(1), begin: 1, end: 9}), gpu(2, 0, member{kind: "torch", rank: -1, pids: pid(1), begin: 4, end: 12})}, "0 0"},
		{"processes at once", []*member{gpu(1, 0, member{kind: "torch", rank: -1, pids: pid(1), begin: 1, end: 9}), gpu(2, 0, member{kind: "torch", rank: -1, pids: pid(2), begin: 4, end: 12})}, "0 1"},
		{"processes one after another", []*member{gpu(1, 0, member{kind: "torch", rank: -1, pids: pid(1), begin: 1, end: 9}), gpu(2, 0, member{kind: "torch", rank: -1, pids: pid(2), begin: 9, end: 12})}, "0 0"},
		{"sources at once that name no process", []*member{gpu(1, 0, member{kind: "xla", rank: -1, pids: []any{}, begin: 1, end: 9}), gpu(2, 0, member{kind: "xla", rank: -1, pids: []any{}, begin: 4, end: 12})}, "0 1"},
		{"a copy to another rank's GPU", []*member{gpu(1, 0, member{kind: "torch", rank: 0, pids: pid(1)}), gpu(2, 0, member{kind: "torch", rank: 1, isUsed: true}), gpu(2, 1, member{kind: "torch", rank: 1, pids: pid(2)})}, "0 0 1"},
		{"of another node of prof capture", []*member{gpu(1, 0, member{kind: "torch", rank: 0, pids: pid(1)}), gpu(2, 1000, member{kind: "torch", rank: 1, pids: pid(1)}), gpu(3, 1000, member{kind: "torch", rank: 2, pids: pid(2)})}, "0 1000 1001"},
		{"ranks that see all GPUs and share them", []*member{gpu(1, 0, member{kind: "torch", host: "a", seesAll: true, rank: 0, pids: pid(1)}), gpu(1, 1, member{kind: "torch", host: "a", seesAll: true, rank: 0}),
			gpu(2, 0, member{kind: "torch", host: "a", seesAll: true, rank: 1}), gpu(2, 1, member{kind: "torch", host: "a", seesAll: true, rank: 1, pids: pid(2)}), gpu(3, 0, member{kind: "torch", host: "a", seesAll: true, rank: 2, pids: pid(3)}),
			gpu(3, 1, member{kind: "torch", host: "a", seesAll: true, rank: 2})}, "0 1 0 1 0 1"},
		{"ranks that see some", []*member{gpu(1, 0, member{kind: "torch", host: "a", rank: 0, pids: pid(1)}), gpu(2, 0, member{kind: "torch", host: "a", rank: 1, pids: pid(2)})}, "0 1"},
		{"beside what is stored", []*member{gpu(1, 0, member{kind: "torch", rank: 1, pids: pid(1), isStored: true}), gpu(2, 0, member{kind: "torch", rank: 0, pids: pid(2)})}, "0 1"},
	} {
		numberGPUs(c.members)
		var got []string
		for _, m := range c.members {
			got = append(got, fmt.Sprint(m.to))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
