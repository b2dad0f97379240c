package nsys

import (
	"strconv"
	"strings"
)

// emitted is what a range of torch.autograd.profiler.emit_nvtx says of the call that it encloses.
type emitted struct {
	name     string // as PyTorch names the operator
	sequence int64  // autograd's sequence number; -1 none
	id       uint64 // op_id: PyTorch's own number of the call within its process; 0 none
	sizes    string // of each input tensor, as JSON: [[1, 512], [512, 64], []]; "" not recorded
}

// parseEmitted reads the text of a range as getNvtxStr in torch/csrc/profiler/util.cpp writes it:
//
//	name[, seq = N], op_id = N[, sizes = [[N, N], ...]][, input_op_ids = [(N,N), ...]]
//
// and, by PyTorch of before 2022, which has no op_id,
//
//	name, seq = N[, sizes = [[N, N], ...]]
//
// sizes has an entry for each input; for a list of tensors one for each of them, where the PyTorch profiler nests them.
//
// Any other text is not an operator's, however alike: there must be an op_id, or a sequence number after a name that only
// operators have (with ::, or a backward function's), and not a character may differ from these forms. What record_function
// enters looks the same, and counts as an operator. Not told from other ranges are the calls of old versions that have no
// sequence number, as only the name is written, and all calls of PyTorch 1.0, which writes ", seq=N".
//
// It reads from the end, so that other texts cost next to nothing.
func parseEmitted(text string) (e emitted, ok bool) {
	e.sequence = -1
	if text == "" || text[len(text)-1] != ']' && !isDigit(text[len(text)-1]) {
		return e, false
	}
	rest, inputs := cutList(text, ", input_op_ids =")
	if inputs != "" && !isPairs(inputs) {
		return e, false
	}
	if rest, e.sizes = cutList(rest, ", sizes ="); e.sizes != "" && !isSizes(e.sizes) {
		return e, false
	}
	rest, id, hasID := cutNumber(rest, ", op_id = ")
	rest, sequence, hasSequence := cutNumber(rest, ", seq = ")
	if hasSequence {
		if e.sequence = int64(sequence); e.sequence < 0 {
			return e, false
		}
	}
	e.name, e.id = rest, id
	switch {
	case rest == "":
		return e, false
	case hasID:
		return e, id > 0
	}
	return e, hasSequence && inputs == "" && isOperatorName(rest)
}

// cutList takes a list in brackets off the end of a text, together with its label; list is "" when there is none.
func cutList(text, label string) (rest, list string) {
	if !strings.HasSuffix(text, "]") {
		return text, ""
	}
	at := len(text)
	for at > 0 && inList(text[at-1]) {
		at--
	}
	if !strings.HasSuffix(text[:at], label) || !strings.HasPrefix(text[at:], " [") {
		return text, ""
	}
	return text[:at-len(label)], text[at+1:]
}

// cutNumber takes a number off the end of a text, together with its label.
func cutNumber(text, label string) (rest string, n uint64, ok bool) {
	at := len(text)
	for at > 0 && isDigit(text[at-1]) {
		at--
	}
	if !isNumber(text[at:]) || !strings.HasSuffix(text[:at], label) {
		return text, 0, false
	}
	n, err := strconv.ParseUint(text[at:], 10, 64)
	if err != nil {
		return text, 0, false
	}
	return text[:at-len(label)], n, true
}

// isSizes reports whether s is [[N, N], [], ...] to the character.
func isSizes(s string) bool {
	return isListOf(s, func(s string) (rest string, ok bool) { return cutListOf(s, cutInteger) })
}

// isPairs reports whether s is [(N,N), ...] to the character.
func isPairs(s string) bool { return isListOf(s, cutPair) }

// cutPair takes (N,N) off the beginning of a text.
func cutPair(s string) (rest string, ok bool) {
	if s, ok = strings.CutPrefix(s, "("); !ok {
		return s, false
	}
	if s, ok = cutInteger(s); !ok {
		return s, false
	}
	if s, ok = strings.CutPrefix(s, ","); !ok {
		return s, false
	}
	if s, ok = cutInteger(s); !ok {
		return s, false
	}
	return strings.CutPrefix(s, ")")
}

// isListOf reports whether s is nothing but a list, not empty, of what cut takes off the beginning.
func isListOf(s string, cut func(string) (string, bool)) bool {
	rest, ok := cutListOf(s, cut)
	return ok && rest == "" && s != "[]"
}

// cutListOf takes a list in brackets off the beginning of a text.
func cutListOf(s string, cut func(string) (string, bool)) (rest string, ok bool) {
	s, ok = strings.CutPrefix(s, "[")
	if !ok || strings.HasPrefix(s, "]") {
		return strings.TrimPrefix(s, "]"), ok
	}
	for {
		if s, ok = cut(s); !ok {
			return s, false
		}
		if rest, last := strings.CutPrefix(s, "]"); last {
			return rest, true
		}
		if s, ok = strings.CutPrefix(s, ", "); !ok {
			return s, false
		}
	}
}

// cutInteger takes an integer off the beginning of a text.
func cutInteger(s string) (rest string, ok bool) {
	s = strings.TrimPrefix(s, "-")
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return s[n:], isNumber(s[:n]) && n <= maxDigits
}

// maxDigits of an integer in a list fit 64 bits, and are more than any size has.
const maxDigits = 18

// isNumber reports whether digits are a number as one is written.
func isNumber(digits string) bool { return digits == "0" || digits != "" && digits[0] != '0' }

// inList reports whether c occurs in the lists.
func inList(c byte) bool {
	return isDigit(c) || c == ' ' || c == ',' || c == '[' || c == ']' || c == '(' || c == ')' || c == '-'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isOperatorName reports whether a name is of a registered operator, as aten::mm, or of a backward function, as MmBackward0.
func isOperatorName(name string) bool {
	return strings.Contains(name, "::") || strings.HasSuffix(strings.TrimRight(name, "0123456789"), "Backward")
}
