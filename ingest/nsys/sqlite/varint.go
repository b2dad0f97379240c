package sqlite

// varint decodes the variable-length integer at the start of b (section 1.6): up to eight bytes of seven bits, high
// ones first, then a ninth of eight. It gives the bytes used, 0 when b ends first.
func varint(b []byte) (uint64, int) {
	var x uint64
	for i, c := range b {
		if i == 8 {
			return x<<8 | uint64(c), 9
		}
		x = x<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return x, i + 1
		}
	}
	return 0, 0
}

// varintAt decodes the varint at b[p]; the nine bytes from p must exist. It gives the offset behind it.
func varintAt(b []byte, p int) (uint64, int) {
	w := b[p : p+9]
	var x uint64
	for i := range 8 {
		x = x<<7 | uint64(w[i]&0x7f)
		if w[i] < 0x80 {
			return x, p + i + 1
		}
	}
	return x<<8 | uint64(w[8]), p + 9
}
