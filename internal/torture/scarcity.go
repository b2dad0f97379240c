package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
)

// scarcity returns commands too little address space or too few descriptors, or fills the disk: those come first. They fail with a word of why or do their work; the warehouse has the run or does not.
func (l *lab) scarcity(ctx context.Context, disks, others int) (string, error) {
	if disks+others == 0 {
		return "none tried", nil
	}
	if _, err := exec.LookPath("prlimit"); err != nil {
		return "prlimit is not installed", nil
	}
	if err := l.makeLarge(); err != nil {
		return "", err
	}
	base, err := l.base(ctx, "kernels")
	if err != nil {
		return "", err
	}
	var mounted atomic.Int64
	captures := l.capturesOf()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(captures)), func(name string) bool { return name == "kernels" }) // is stored already
	tried := l.each(ctx, disks+others, func(ctx context.Context, trial int, rng *rand.Rand) {
		p, err := l.place("scarce", trial)
		if err != nil {
			l.fail("scarcity %d: %v", trial, err)
			return
		}
		defer os.RemoveAll(p.dir)
		room := 1<<16 + rng.Int64N(24<<20)
		full := trial < disks && p.mount(1<<30) == nil
		if full {
			defer p.unmount()
			mounted.Add(1)
		}
		if err := os.CopyFS(p.home(), os.DirFS(base.home())); err != nil {
			l.fail("scarcity %d: %v", trial, err)
			return
		}
		before, err := p.state(ctx)
		if err != nil {
			l.fail("scarcity %d: %v", trial, err)
			return
		}
		var limit string
		switch {
		case full:
			limit = fmt.Sprintf("a disk with %d bytes", room)
		case trial < disks: // the next that a user without rights can have
			limit = fmt.Sprintf("--fsize=%d", room)
		case rng.IntN(2) == 0:
			limit = fmt.Sprintf("--as=%d", 1<<29+rng.Int64N(6<<30))
		default:
			limit = fmt.Sprintf("--nofile=%d", 16+rng.IntN(40))
		}
		name := names[rng.IntN(len(names))]
		verbs := [][]string{
			append([]string{"ingest", "--run", "new"}, captures[name]...), append([]string{"ingest", "--run", "new"}, captures["large"]...),
			{"tag", "kernels", "k=v"}, {"report", "kernels", "--out", p.dir, "--file", "report.html"}, {"show", "kernels"}, {"rm", "kernels"},
		}
		args := verbs[rng.IntN(len(verbs))]
		if full {
			err = p.resize(room)
		} else {
			p.wrap = []string{"prlimit", limit}
		}
		r := p.run(ctx, args...)
		refused := !full && r.code != 0 && p.run(ctx, "--version").code != 0 // by prof, which says so, or by Go's runtime before prof is asked anything
		p.wrap = nil
		if full && err == nil {
			err = p.resize(1 << 30)
		}
		if err != nil {
			l.fail("scarcity %d: %v", trial, err)
			return
		}
		if r.hung || !refused && (r.code != 0 && r.err == "" || r.crashed()) {
			l.fail("scarcity %d: %s: %q: %s", trial, limit, args, r)
		}
		if again := p.run(ctx, "tag", "kernels", "after=scarcity"); again.code != 0 && args[0] != "rm" {
			l.fail("scarcity %d: %s: %q, then tag: %s", trial, limit, args, again)
		} else if again.code == 0 {
			if got := p.leftovers(); len(got) > 0 {
				l.fail("scarcity %d: %s: %q left %q", trial, limit, args, got)
			}
		}
		after, err := p.state(ctx)
		if err != nil {
			l.fail("scarcity %d: %s: %q: %v", trial, limit, args, err)
			return
		}
		_, stored := after["new"]
		switch {
		case stored && r.code != 0:
			l.fail("scarcity %d: %s: %q failed and stored a run: %s", trial, limit, args, r)
		case args[0] == "ingest" && !stored && r.code == 0:
			l.fail("scarcity %d: %s: %q stored no run", trial, limit, args)
		case args[0] != "rm" && withoutTags(before["kernels"]) != withoutTags(after["kernels"]):
			l.fail("scarcity %d: %s: %q changed a run", trial, limit, args)
		case after["without a run"] != "":
			l.fail("scarcity %d: %s: %q left rows without a run: %s", trial, limit, args, after["without a run"])
		}
	})
	return fmt.Sprintf("%d commands, %d on a full disk", tried, mounted.Load()), nil
}

// mount makes the home a disk of its own, of a size.
func (p *place) mount(size int64) error {
	if err := os.MkdirAll(p.home(), 0o755); err != nil {
		return err
	}
	return exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("mode=700,size=%d", size), "tmpfs", p.home()).Run()
}

func (p *place) unmount() { _ = exec.Command("umount", "-l", p.home()).Run() }

// resize leaves so much room on the disk of the home.
func (p *place) resize(room int64) error {
	var used int64
	err := filepath.WalkDir(p.home(), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			used += (info.Size() + 4095) &^ 4095
		}
		return err
	})
	if err != nil {
		return err
	}
	said, err := exec.Command("mount", "-o", fmt.Sprintf("remount,size=%d", used+room), p.home()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("remount: %w: %s", err, said)
	}
	return nil
}
