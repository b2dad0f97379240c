package page

import (
	"bytes"
	"strings"
)

// sessionTable is a table of the session page.
type sessionTable int

const (
	noTable sessionTable = iota
	sessionAttributes
	sessionProcesses
	sessionDevices
)

// sessionHeads are how the tables of a session page begin.
var sessionHeads = map[string]sessionTable{
	"Launch Attribute": sessionAttributes, "Session Attribute": sessionAttributes, "Process Id": sessionProcesses, "Device Attribute": sessionDevices,
}

// sessionLine takes a line that is neither of a page of results nor said by ncu: of a session page, or of the program.
func (p *pageReader) sessionLine() error {
	line := p.lines.text
	if len(line) == 0 || line[0] != '"' {
		if len(line) == 0 {
			p.session = noTable
		}
		return nil
	}
	if p.session == noTable && !isSessionHead(line) {
		return nil
	}
	r := &p.record
	r.reset(line)
	for lines := 1; !bytes.HasSuffix(r.text, []byte{'"'}) && lines < maxRowLines; lines++ { // an argument with line ends
		if more, err := p.lines.next(); err != nil || !more {
			return err
		}
		if r.extend(p.lines.text); len(r.text) > maxPageLine {
			return nil
		}
	}
	key, value, ok := bytes.Cut(bytes.Trim(r.text, `"`), []byte(`","`))
	if !ok {
		return nil
	}
	if table, ok := sessionHeads[string(key)]; ok {
		p.session = table
		p.sessionColumns = strings.Split(cleanText(value), `","`)
		if p.info.Form == "" {
			p.info.Form = SessionForm
		}
		return nil
	}
	p.sessionRow(cleanText(key), cleanText(value))
	return nil
}

func isSessionHead(line []byte) bool {
	for head := range sessionHeads {
		if strings.HasPrefix(string(line[:min(len(line), 24)]), `"`+head+`","`) {
			return true
		}
	}
	return false
}

func (p *pageReader) sessionRow(key, value string) {
	switch p.session {
	case sessionAttributes:
		value = strings.TrimSpace(value)
		p.fact(key, value)
		if key == "Profiler Command Line" {
			p.info.Command = value
		}
	case sessionProcesses:
		p.fact("Process "+key, value)
	case sessionDevices:
		for i, v := range strings.Split(value, `","`) {
			if i < len(p.sessionColumns) {
				p.fact(p.sessionColumns[i]+" "+key, v)
			}
		}
	}
}

// fact keeps what the page says of the capture, within bounds that no session comes near.
func (p *pageReader) fact(key, value string) {
	if p.factBytes += len(key) + len(value); p.factBytes <= 1<<20 {
		p.info.Facts[key] = value
	}
}
