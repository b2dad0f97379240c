package torch

import (
	"bytes"

	"prof/ingest/torch/trace"
)

// mostOpen bounds the events that began and did not end yet: no program nests so deep on so many threads.
const mostOpen = 1 << 16

// begin keeps the beginning of an interval that a trace has as two events, as tools write them that converted or merged it.
func (c *collector) begin(e *trace.Event) {
	if c.open == mostOpen {
		c.half(e, "begin where too many others are open")
		return
	}
	if c.begun == nil {
		c.begun = map[[2]int64][]*trace.Event{}
	}
	place := [2]int64{e.PID, e.TID}
	c.begun[place] = append(c.begun[place], e.Clone())
	c.open++
}

// ended returns the whole event that an end belongs to, nil for none: of the open ones of its thread the last, or where it has a name or a
// correlation id, the last of these, for kernels of one stream overlap.
func (c *collector) ended(e *trace.Event) *trace.Event {
	place := [2]int64{e.PID, e.TID}
	open := c.begun[place]
	i := len(open) - 1
	for i >= 0 && !endOf(open[i], e) {
		i--
	}
	if i < 0 {
		c.half(e, "end what nothing began")
		return nil
	}
	whole := open[i]
	c.begun[place] = append(open[:i], open[i+1:]...)
	c.open--
	whole.Fill(e)
	whole.Phase = 'X'
	if e.Has&trace.StartTime != 0 && whole.Has&trace.StartTime != 0 {
		whole.Duration = e.Start - whole.Start
		whole.Has |= trace.DurationTime
	}
	return whole
}

// endOf reports whether an end fits a beginning: all that both say of themselves is equal.
func endOf(begin, end *trace.Event) bool {
	id, has := end.Int(trace.Correlation)
	of, known := begin.Int(trace.Correlation)
	return (len(end.Name) == 0 || bytes.Equal(end.Name, begin.Name)) && (len(end.Label) == 0 || bytes.Equal(end.Label, begin.Label)) && (!has || !known || id == of) &&
		bytes.Equal(end.PIDText, begin.PIDText)
}

// half counts an event that is only the beginning or the end of one.
func (c *collector) half(e *trace.Event, why string) {
	p := c.part(valid(string(e.Label)))
	p.read++
	p.leave(why)
}

// neverEnded counts what is open at the end of the trace.
func (c *collector) neverEnded() {
	for _, open := range c.begun {
		for _, e := range open {
			c.half(e, "begin and have no end")
		}
	}
	c.begun = nil
}
