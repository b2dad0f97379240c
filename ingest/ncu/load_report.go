package ncu

import (
	"context"
	"fmt"

	"prof/ingest/load"
	"prof/internal/file"
	"prof/internal/mask"
)

// SniffReport reports whether a file's first bytes are those of a report.
func SniffReport(head []byte) bool {
	return len(head) >= len(Magic) && string(head[:len(Magic)]) == Magic
}

// IdentifyReport reads what a report says of the whole capture, from its headers alone.
func IdentifyReport(_ context.Context, path, name string) (*load.SourceInfo, error) {
	r, close, err := openReport(path, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = close() }()
	return r.info(), nil
}

// LoadReport stores a report (.ncu-rep) as one source of the target's run. Of a report that was cut off it stores the whole
// results and warns.
func LoadReport(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	r, close, err := openReport(path, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = close() }()
	info := r.info()
	s := NewStore(ctx, t)
	s.report = r
	if err := r.Each(ctx, s.Add); err != nil {
		return nil, err
	}
	if r.Cut && r.Results == 0 {
		return nil, fmt.Errorf("%s: %w", name, load.ErrNothingWhole)
	}
	s.Warn(info, r.lossWarning())
	if r.Unknown > 0 {
		s.Warn(info, fmt.Sprintf("%d bytes are results of a kind that this version of prof does not know", r.Unknown))
	}
	if r.Results == 0 && !r.Cut {
		s.Warn(info, "the report has no results: nothing was profiled")
	}
	for _, w := range r.odd.Warnings() {
		s.Warn(info, w)
	}
	if r.Cut {
		info.Status, info.Reason = "partial", r.lossWarning()
	}
	s.sections(r.Sections)
	if err := s.code(info); err != nil {
		return nil, err
	}
	var code int64
	for _, b := range r.blocks {
		code += int64(b.counts[sources])
	}
	s.part("sources", code, 0, "compiled code is not stored; of instructions with values, their lines are")
	s.session(&r.Session, r.Processes())
	s.Facts([][2]string{{"capture.id", info.CaptureID}})
	return info, s.Finish(info)
}

// lossWarning returns what a cut report lacks; "" for a whole one.
func (r *Report) lossWarning() string {
	if !r.Cut {
		return ""
	}
	if r.Lost == 0 {
		return fmt.Sprintf("the report is cut off between two results; the %d results before that are stored", r.Results)
	}
	return fmt.Sprintf("the report is cut off: its last %d bytes are part of a result; the %d results before that are stored", r.Lost, r.Results)
}

func openReport(path, name string) (*Report, func() error, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	r, err := OpenReport(f, st.Size(), name)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return r, f.Close, nil
}

func (r *Report) info() *load.SourceInfo {
	s := &r.Session
	info := &load.SourceInfo{Host: s.Target.Name, Command: mask.Command(ParseCommand(s.Command).Program), SchemaVersion: r.version}
	for _, v := range s.Versions {
		if v[0] == "Nsight Compute Target" {
			info.ToolVersion = v[1]
		}
	}
	info.StartedAt = unixTime(s.Created)
	if p := r.Processes(); len(p) > 0 && s.Created > 0 {
		info.CaptureID = fmt.Sprintf("ncu %s %d %d", s.Target.Name, s.Created, p[0].PID)
	}
	return info
}
