package page

import (
	"bytes"
	"prof/ingest/ncu"
	"slices"
	"strings"
)

// nvtxCell reads the cells of the NVTX columns of one result. A cell of push/pop ranges is
//
//	476  ""LLM:prefill:none:none:none:none:REGISTERED:prefill""  ""<default domain>:layer[0]:none:none:none:none:none:none""
//
// with the launching thread and its ranges, domain by domain, outermost first in each; where ranges were scoped by process, more
// threads with theirs follow. A cell of start/end ranges has no thread, and its entries begin with the range's number:
// ""0:LLM:prefill:none:...". Names stand there as they are, with any quotes and colons that they have.
type nvtxCell struct {
	quote   []byte // what stands around an entry
	text    func([]byte) string
	ranges  []ncu.NVTXRange
	threads []int32
	bad     int // entries that could not be taken apart, kept whole as names
}

func (c *nvtxCell) read(cell []byte, startEnd bool) {
	for rest := bytes.TrimSpace(cell); len(rest) > 0; {
		entry, ok := bytes.CutPrefix(rest, c.quote)
		if !ok {
			word, after, _ := bytes.Cut(rest, []byte{' '})
			if id, ok := number32(word); ok && !startEnd {
				c.threads = append(c.threads, id)
			} else {
				c.bad++
			}
			rest = bytes.TrimLeft(after, " ")
			continue
		}
		entry, rest = c.entry(entry, startEnd)
		domain, name, ok := splitEntry(entry)
		if !ok {
			c.bad++
			name = entry
		}
		r := ncu.NVTXRange{StartEnd: startEnd, Domain: c.text(domain), Name: c.text(name)}
		if r.Domain == ncu.DefaultDomain {
			r.Domain = ""
		}
		c.ranges = append(c.ranges, r)
	}
}

// entry finds where an entry ends: at the first quote after which the cell ends or goes on as a cell does and before which stands
// a whole entry. rest is what follows, without the blanks between.
func (c *nvtxCell) entry(b []byte, startEnd bool) (entry, rest []byte) {
	first := -1
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], c.quote)
		if i < 0 {
			break
		}
		at += i
		if !c.goesOn(b[at+len(c.quote):]) {
			continue
		}
		if first < 0 {
			first = at
		}
		entry := withoutNumber(b[:at], startEnd)
		if _, _, ok := splitEntry(entry); ok {
			return entry, bytes.TrimLeft(b[at+len(c.quote):], " ")
		}
	}
	if first < 0 {
		return b, nil
	}
	return withoutNumber(b[:first], startEnd), bytes.TrimLeft(b[first+len(c.quote):], " ")
}

// goesOn reports whether what follows a quote is the end of a cell, another entry or another thread.
func (c *nvtxCell) goesOn(b []byte) bool {
	next := bytes.TrimLeft(b, " ")
	if len(next) == 0 {
		return true
	}
	digits := bytes.TrimLeft(next, "0123456789")
	return len(next) < len(b) && bytes.HasPrefix(bytes.TrimLeft(digits, " "), c.quote)
}

// withoutNumber cuts the number of a start/end range.
func withoutNumber(entry []byte, startEnd bool) []byte {
	if number, rest, ok := bytes.Cut(entry, []byte{':'}); ok && startEnd && len(bytes.Trim(number, "0123456789")) == 0 {
		return rest
	}
	return entry
}

// messageTypes are how a page names the type of a message. Texts in wide characters it leaves out.
var messageTypes = [][]byte{[]byte(":REGISTERED:"), []byte(":ASCII:"), []byte(":UNICODE:")}

// splitEntry takes an entry apart: domain, name, type and value of the payload, type and value of the colour, type and text of the
// message. Names and domains hold colons, so it is read from the right. A range has either a plain name, in the default domain, or
// a message, which is its name.
func splitEntry(entry []byte) (domain, name []byte, ok bool) {
	if head, ok := bytes.CutSuffix(entry, []byte(":none:none")); ok {
		if head, ok = cutAttributes(head); ok {
			return splitPlainName(head)
		}
	}
	for _, kind := range messageTypes {
		for end := len(entry); ; {
			at := bytes.LastIndex(entry[:end], kind)
			if at < 0 {
				break
			}
			end = at + len(kind) - 1
			message := entry[at+len(kind):]
			head, ok := cutAttributes(entry[:at])
			if n := len(head) - len(message) - 1; ok && n >= 0 && head[n] == ':' && bytes.Equal(head[n+1:], message) {
				return head[:n], message, true
			}
		}
	}
	return nil, nil, false
}

// splitPlainName splits domain and name of a range without a message. In a domain that somebody made such a range has no name.
func splitPlainName(b []byte) (domain, name []byte, ok bool) {
	if name, ok := bytes.CutPrefix(b, []byte(ncu.DefaultDomain+":")); ok {
		return nil, name, true
	}
	if domain, ok := bytes.CutSuffix(b, []byte{':'}); ok {
		return domain, nil, true
	}
	return bytes.Cut(b, []byte{':'})
}

// payloadTypes are how a page names the type of a payload.
var payloadTypes = []string{"none", "Uint64", "Int64", "Double", "Uint32", "Int32", "Float"}

// cutAttributes cuts payload and colour from the end of an entry.
func cutAttributes(b []byte) (head []byte, ok bool) {
	parts := [4][]byte{} // value and type of the colour, value and type of the payload
	for i := range parts {
		at := bytes.LastIndexByte(b, ':')
		if at < 0 {
			return nil, false
		}
		parts[i], b = b[at+1:], b[:at]
	}
	isType := func(t string) bool { return strings.EqualFold(t, string(parts[3])) }
	return b, slices.ContainsFunc(payloadTypes, isType)
}
