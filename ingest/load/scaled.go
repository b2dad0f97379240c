package load

import (
	"strconv"
	"strings"
)

// Scaled reads a number times a power of ten, rounded once: 16.13 MB are 16130000 bytes, and not a product of two numbers that are rounded.
func Scaled(text string, power int) (float64, error) {
	digits, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if exponent != "" {
		e, err := strconv.Atoi(exponent)
		if err != nil {
			return 0, err
		}
		power += e
	}
	return strconv.ParseFloat(digits+"e"+strconv.Itoa(power), 64)
}
