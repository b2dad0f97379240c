package ncu

import (
	"fmt"
	"math"
	"path"
	"strings"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/internal/mask"
)

// instanceRows are rows of ncu_instance by column. DuckDB's threads take them in chunks.
type instanceRows struct {
	launch, metric, function, offset []int32
	value                            []float64
	cursor                           chunkCursor
}

func (m *instanceRows) len() int { return len(m.launch) }

func (m *instanceRows) clear() {
	m.launch, m.metric, m.function, m.offset, m.value = m.launch[:0], m.metric[:0], m.function[:0], m.offset[:0], m.value[:0]
	m.cursor.next.Store(0)
}

// Columns, Estimate and Worker make instanceRows rows.Rows.
func (m *instanceRows) Columns() []rows.Column {
	return []rows.Column{{Name: "launch_id", Type: rows.Integer}, {Name: "metric_id", Type: rows.Integer}, {Name: "function_id", Type: rows.Integer},
		{Name: "offset_bytes", Type: rows.Integer}, {Name: "value", Type: rows.Double}}
}

func (m *instanceRows) Estimate() int64 { return int64(m.len()) }

func (m *instanceRows) Worker() rows.Worker { return m }

// Fill writes the next chunk. It only reads the rows, so that threads may share it.
func (m *instanceRows) Fill(c *rows.Chunk) (int, error) {
	from, to := m.cursor.take(c.Cap(), m.len())
	for i, column := range [][]int32{m.launch, m.metric, m.function, m.offset} {
		copy(c.Int32(i), column[from:to])
	}
	copy(c.Float64(4), m.value[from:to])
	return to - from, nil
}

// addInstances stores the values at single instructions of the result that the report is at.
func (s *Store) addInstances(launch int32) error {
	var metric int32
	var last string
	read, elsewhere, err := s.report.EachInstance(func(i Instance) error {
		if i.Value == 0 {
			return nil
		}
		if math.IsNaN(i.Value) || math.Abs(i.Value) >= mostValue {
			s.metrics.odd.Add("instructions", i.Value)
			return nil
		}
		if i.Metric != last {
			last, metric = i.Metric, s.target.Run.Metrics.Add(i.Metric, unitOrUnknown(i.Unit))
		}
		m := &s.instances
		m.launch, m.metric, m.function, m.offset, m.value = append(m.launch, launch), append(m.metric, metric), append(m.function, i.Function), append(m.offset, i.Offset), append(m.value, i.Value)
		if m.len() < flushRows {
			return nil
		}
		return s.flushInstances()
	})
	s.instancesRead += read
	s.instancesElsewhere += elsewhere
	return err
}

func (s *Store) flushInstances() error {
	n, err := s.target.Insert(s.ctx, "ncu_instance", &s.instances)
	s.instanceCount += n
	s.instances.clear()
	return err
}

// addSamples stores what was sampled while the result that the report is at ran.
func (s *Store) addSamples(launch int32) error {
	read, err := s.report.EachSampled(func(metric, unit string, list []Sample) error {
		if s.sampled == nil {
			s.sampled = map[string]bool{}
		}
		s.sampled[metric] = true
		id := s.target.Run.Metrics.Add(metric, unitOrUnknown(unit))
		for _, x := range list {
			if math.IsNaN(x.Value) || math.IsInf(x.Value, 0) {
				s.metrics.odd.Add("samples", x.Value)
				continue
			}
			s.samples = append(s.samples, []any{s.target.RunID, int32(s.target.SourceID), launch, id, x.StartNs, x.EndNs, x.Count, x.Value})
			s.sampleCount += int64(x.Count)
		}
		return nil
	})
	s.samplesRead += read
	return err
}

// code stores the instructions that have values, their functions and source files.
func (s *Store) code(info *load.SourceInfo) error {
	r, id := s.report, int32(s.target.SourceID)
	var rows [][]any
	for _, f := range r.Functions() {
		rows = append(rows, []any{s.target.RunID, id, f.ID, orNull(f.Symbol, "")})
	}
	if err := s.append("ncu_function", rows); err != nil {
		return err
	}
	rows = rows[:0]
	err := r.EachInstruction(func(i Instruction) error {
		rows = append(rows, []any{s.target.RunID, id, i.Function, i.Offset, orNull(i.File, 0), orNull(i.Line, 0), orNull(i.Opcode, ""), orNull(i.PTXFile, 0), orNull(i.PTXLine, 0)})
		if len(rows) < flushOthers {
			return nil
		}
		defer func() { rows = rows[:0] }()
		return s.append("ncu_instruction", rows)
	})
	if err != nil {
		return err
	}
	if err := s.append("ncu_instruction", rows); err != nil {
		return err
	}
	var folder string
	if processes := r.Processes(); len(processes) > 0 {
		folder = path.Dir(processes[0].Name)
	}
	for _, f := range r.Files() {
		text, err := r.Text(f)
		if err != nil {
			return err
		}
		row := []any{s.target.RunID, id, f.ID, relative(f.Name, folder), nil, nil}
		if text != "" {
			if strings.Count(mask.Stored(text), "\n") == strings.Count(text, "\n") {
				row[4], row[5] = f.SHA256, text
			} else {
				s.Warn(info, fmt.Sprintf("the text of %s is not stored: with its secrets masked, its lines would have other numbers", path.Base(f.Name)))
			}
		}
		if err := s.append("ncu_source_file", [][]any{row}); err != nil {
			return err
		}
	}
	for _, w := range r.Faults() {
		s.Warn(info, w+": what it says of instructions is unknown")
	}
	if err := s.flushInstances(); err != nil {
		return err
	}
	s.part("values at instructions", s.instancesRead, s.instanceCount, notZero(s.instancesRead, s.instanceCount, s.instancesElsewhere))
	s.part("samples while kernels ran", s.samplesRead, s.sampleCount, "")
	s.part("other metric instances", r.Instances-s.instancesRead-s.samplesRead, 0, "values per opcode and setting, and samples of the time before and after kernels, are not stored")
	return nil
}

func notZero(read, stored, elsewhere int64) string {
	switch {
	case elsewhere > 0:
		return fmt.Sprintf("%d are at instructions of no known function; zeros are not stored", elsewhere)
	case stored < read:
		return "zeros are not stored"
	}
	return ""
}

// relative is a path below a folder without the folder.
func relative(name, folder string) string {
	if rest, below := strings.CutPrefix(name, strings.TrimSuffix(folder, "/")+"/"); below && len(folder) > 1 {
		return rest
	}
	return name
}
