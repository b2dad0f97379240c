package averages

import "strings"

// maxDepth bounds nested lists: a list of tensors among the inputs makes three.
const maxDepth = 16

// shapesJSON returns the sizes of inputs as JSON, [[1, 2], []]. It takes JSON, and Python's text of lists, tuples and torch.Size.
func shapesJSON(s string) (string, bool) {
	p := shapeReader{rest: strings.TrimSpace(s)}
	if !p.list(1) || p.rest != "" {
		return "", false
	}
	return p.out.String(), true
}

type shapeReader struct {
	rest string
	out  strings.Builder
}

// take removes a text from the beginning, and blanks after it.
func (p *shapeReader) take(s string) bool {
	rest, ok := strings.CutPrefix(p.rest, s)
	if ok {
		p.rest = strings.TrimLeft(rest, " \t\r\n")
	}
	return ok
}

// list reads one list with all that is in it.
func (p *shapeReader) list(depth int) bool {
	if depth > maxDepth {
		return false
	}
	if p.take("torch.Size(") {
		return p.list(depth+1) && p.take(")")
	}
	end := "]"
	if p.take("(") {
		end = ")"
	} else if !p.take("[") {
		return false
	}
	p.out.WriteByte('[')
	for i := 0; !p.take(end); i++ {
		if i > 0 {
			if !p.take(",") {
				return false
			}
			if p.take(end) { // (3,)
				break
			}
			p.out.WriteString(", ")
		}
		if !p.size() && !p.list(depth+1) {
			return false
		}
	}
	p.out.WriteByte(']')
	return true
}

// size reads one number; symbolic sizes are printed as -1 or names, of which only the number is taken.
func (p *shapeReader) size() bool {
	n := 0
	for n < len(p.rest) && (p.rest[n] >= '0' && p.rest[n] <= '9' || n == 0 && p.rest[0] == '-') {
		n++
	}
	if n == 0 || n > 20 || p.rest[:n] == "-" || n > 1 && strings.TrimLeft(p.rest[:n], "-")[0] == '0' {
		return false
	}
	p.out.WriteString(p.rest[:n])
	p.rest = strings.TrimLeft(p.rest[n:], " \t\r\n")
	return true
}
