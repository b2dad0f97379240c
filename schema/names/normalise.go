package names

import "strings"

// Normalise strips what differs between instances of the same range: a run of digits that stands alone (not inside a word),
// a hexadecimal number and a UUID become #. `decode_step[17]` gives `decode_step[#]`, `layers.12.attn` gives `layers.#.attn`,
// `conv2d`, `fp16` and `H200` stay.
//
// Steps of vLLM (`execute_context_3(512)_generation_0(0)`, `execute_new_0_cached_3`) and TensorRT-LLM (`[Executor] _forward_step 7: 0 ctx reqs, ...`)
// keep their lone zeros: whether there are prompts and whether there is decoding distinguishes their kinds.
//
// Ranges of torch.autograd.profiler.emit_nvtx (`aten::mm, seq = 12, op_id = 3, sizes = [[1, 2]]`) are cut to the operator's
// name, because hardly two of them are alike.
func Normalise(name string) string {
	for _, mark := range []string{", seq = ", ", op_id = ", ", sizes = "} {
		if i := strings.Index(name, mark); i > 0 {
			name = name[:i]
		}
	}
	if !hasDigit(name) {
		return name
	}
	zeros := strings.HasPrefix(name, "execute_") && (strings.Contains(name, "context_") || strings.Contains(name, "_cached_")) || strings.HasPrefix(name, "[Executor]")
	var b strings.Builder
	b.Grow(len(name))
	for i := 0; i < len(name); {
		if !isWordByte(name[i]) {
			b.WriteByte(name[i])
			i++
			continue
		}
		if isUUID(name[i:]) {
			b.WriteByte('#')
			i += uuidLen
			continue
		}
		j := i
		for j < len(name) && isWordByte(name[j]) {
			j++
		}
		if isCounter(name[i:j]) && !(zeros && name[i:j] == "0") {
			b.WriteByte('#')
		} else {
			b.WriteString(name[i:j])
		}
		i = j
	}
	return b.String()
}

const uuidLen = len("01234567-89ab-cdef-0123-456789abcdef")

// isUUID reports whether s begins with a UUID that no word goes on after.
func isUUID(s string) bool {
	if len(s) < uuidLen || len(s) > uuidLen && isWordByte(s[uuidLen]) {
		return false
	}
	for i := range uuidLen {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// isWordByte reports whether c belongs to a word. The underscore parts words here: layer_12 is a word and a counter. Bytes of
// other alphabets are parts of words.
func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// isCounter reports whether a word is a number, an address (0x7f3c...) or a long hexadecimal id with digits and letters.
func isCounter(w string) bool {
	digits, hex := 0, true
	body := w
	if len(w) > 2 && w[0] == '0' && (w[1] == 'x' || w[1] == 'X') {
		body = w[2:]
	}
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
		default:
			hex = false
		}
	}
	if len(body) < len(w) {
		return hex
	}
	return digits == len(w) || hex && len(w) >= 8 && digits >= 2
}
