package manifest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/ingest/serving"
	"prof/internal/mask"
	"prof/schema/rundir"
)

// Identify knows no more of a run.json than that it is one: it is not a capture itself.
func Identify(context.Context, string, string) (*load.SourceInfo, error) {
	return &load.SourceInfo{}, nil
}

// Load stores a run.json, the environment and the samples beside it as one source of the target's run. Samples and an environment
// that cannot be read become warnings, since a capture that was killed may leave such.
func Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	r, err := Read(path, name)
	if err != nil {
		return nil, err
	}
	s := &storing{ctx: ctx, t: t, r: r, info: &load.SourceInfo{ToolVersion: r.Manifest.ProfVersion, SchemaVersion: fmt.Sprint(r.Manifest.Version),
		Command: r.Command(), Host: r.Manifest.Host, StartedAt: utc(r.Manifest.StartedAt), DurationNs: r.duration()}}
	for _, step := range []func() error{s.capture, s.node, s.passes, s.serving, s.inputs, s.inputTags, s.kept, s.devices, s.environment, s.samples, s.times, s.parts, s.diagnostics} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return s.info, nil
}

// storing is one run.json at work.
type storing struct {
	ctx  context.Context
	t    *load.Target
	r    *Run
	info *load.SourceInfo
	part []part
}

// part is one row of source_part.
type part struct {
	name         string
	read, stored any // NULL where nothing was read
	reason       any
}

func utc(t time.Time) *time.Time {
	t = t.UTC()
	return &t
}

// duration is the length of the capture; nil when prof was killed.
func (r *Run) duration() *int64 {
	if r.Manifest.EndedAt == nil {
		return nil
	}
	ns := r.Manifest.EndedAt.Sub(r.Manifest.StartedAt).Nanoseconds()
	return &ns
}

// append stores rows of a table, run and source put before each.
func (s *storing) append(table string, each func(add rows.Add) error) error {
	run, source := s.t.RunID, int32(s.t.SourceID)
	n, err := s.t.Append(s.ctx, table, func(add rows.Add) error {
		return each(func(values ...any) error { return add(append([]any{run, source}, values...)...) })
	})
	s.info.Rows += n
	return err
}

func (s *storing) capture() error {
	m := s.r.Manifest
	return s.append("capture", func(add rows.Add) error {
		var commit, branch, dirty any
		if m.Git != nil {
			commit, branch, dirty = text(m.Git.Commit), text(m.Git.Branch), m.Git.Dirty
		}
		return add(m.Mode, s.r.Command(), m.WorkloadKey, m.Folder, commit, branch, dirty, m.StartedAt.UTC(), whole(s.r.duration()), m.Status, text(m.Reason), text(m.OptionsKey))
	})
}

func (s *storing) node() error {
	n := s.r.Manifest.Node
	if n == nil {
		return nil
	}
	return s.append("capture_node", func(add rows.Add) error {
		var count any
		if n.Count > 0 {
			count = int32(n.Count)
		}
		return add(int32(n.Rank), count, text(s.r.Manifest.Host), n.Job)
	})
}

func (s *storing) passes() error {
	passes := s.r.Manifest.Passes
	s.part = append(s.part, part{"passes", int64(len(passes)), int64(len(passes)), nil})
	return s.append("capture_pass", func(add rows.Add) error {
		for _, p := range passes {
			var exit any
			if p.ExitCode != nil {
				exit = int32(*p.ExitCode)
			}
			if err := add(int32(p.ID), p.Name, p.Tool, p.Mode, int32(p.Repeat), mask.Command(p.Argv), text(p.ToolVersion), p.StartedAt.UTC(), whole(p.DurationNs), whole(p.WorkloadNs),
				exit, text(p.Signal), p.Status, text(p.Reason), whole(p.ArtifactBytes), p.Marked, text(p.ClockControl)); err != nil {
				return err
			}
		}
		return nil
	})
}

// serving stores how engines were recorded under load, with what their clients measured meanwhile.
func (s *storing) serving() error {
	return s.append("serving_window", func(add rows.Add) error {
		for _, p := range s.r.Manifest.Passes {
			v := p.Serving
			if v == nil || v.WindowNs == 0 {
				continue
			}
			client, err := s.clientIn(v)
			if err != nil {
				return err
			}
			if err := add(int32(p.ID), whole(v.ReadyNs), v.WaitedNs, v.IsSteady, real(v.LaunchesPerS), int32(v.ProcessCount), v.WindowNs, client.Tokens, real(client.TPOTNs), client.Requests, real(client.TTFTNs)); err != nil {
				return err
			}
		}
		return nil
	})
}

// clientIn is what the client measured within a window: the only one whose result says when each token came. Of several it is unknown which it is.
func (s *storing) clientIn(v *rundir.Serving) (out serving.Window, err error) {
	found := 0
	for _, name := range v.Results {
		w, err := serving.InWindow(s.r.path(name), v.FromNs, v.ToNs)
		if err != nil {
			s.warn("%s: when its tokens came is unknown: %v", name, err)
		}
		if w.Tokens > 0 || w.Requests > 0 {
			out = w
			found++
		}
	}
	if found > 1 {
		return serving.Window{}, nil
	}
	return out, nil
}

func (s *storing) inputs() error {
	return s.append("capture_input", func(add rows.Add) error {
		for _, in := range s.r.Manifest.Inputs {
			if err := add(in.Path, whole(in.Size), text(in.SHA256), text(in.ID), whole(in.Width), whole(in.Height), whole(in.Pages), whole(in.Tokens)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *storing) kept() error {
	return s.append("capture_kept", func(add rows.Add) error {
		for _, k := range s.r.Manifest.Kept {
			if err := add(int32(k.Pass), k.Path, whole(k.Size), text(k.SHA256), text(k.Reason)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *storing) inputTags() error {
	return s.append("capture_input_tag", func(add rows.Add) error {
		for _, in := range s.r.Manifest.Inputs {
			for _, key := range slices.Sorted(maps.Keys(in.Tags)) {
				if err := add(in.ID, key, in.Tags[key]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (s *storing) devices() error {
	return s.append("capture_device", func(add rows.Add) error {
		for _, d := range s.r.Manifest.Devices {
			if err := add(int32(d.Index), d.UUID, text(d.Name), text(d.BusID), whole(d.MemoryBytes), real(d.PowerLimitW), whole(d.MaxSMClockHz), whole(d.MaxMemoryClockHz),
				truth(d.ECC), truth(d.MIG), whole(d.OtherProcesses)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *storing) parts() error {
	return s.append("source_part", func(add rows.Add) error {
		for _, p := range s.part {
			if err := add(p.name, p.read, p.stored, p.reason); err != nil {
				return err
			}
		}
		return nil
	})
}

// diagnostics stores what the capture warned of, and this reading.
func (s *storing) diagnostics() error {
	return s.append("diagnostic", func(add rows.Add) error {
		for _, w := range s.r.Manifest.Warnings {
			if err := add("capture", "warning", nil, nil, w); err != nil {
				return err
			}
		}
		for _, in := range s.r.Manifest.Inputs {
			if in.Reason != "" {
				if err := add("capture", "warning", nil, nil, in.Path+": "+in.Reason); err != nil {
					return err
				}
			}
		}
		for _, w := range s.info.Warnings {
			if err := add("ingest", "warning", nil, nil, w); err != nil {
				return err
			}
		}
		return nil
	})
}

// warn notes what could not be read.
func (s *storing) warn(format string, args ...any) {
	s.info.Warnings = append(s.info.Warnings, mask.Text(fmt.Sprintf(format, args...)))
}

func text(v string) any {
	if v == "" {
		return nil
	}
	return v
}

func whole(v *int64) any {
	if v == nil {
		return nil
	}
	return *v
}

func real(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

func truth(v *bool) any {
	if v == nil {
		return nil
	}
	return *v
}
