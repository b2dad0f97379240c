package say

import "testing"

func TestAmounts(t *testing.T) {
	for _, c := range [][2]string{
		{Duration(0), "0 ns"}, {Duration(999.4), "999 ns"}, {Duration(999.6), "1.00 us"}, {Duration(12_340), "12.3 us"}, {Duration(631e6), "631 ms"}, {Duration(-2.5e9), "-2.50 s"}, {Duration(7.2e12), "7200 s"},
		{Time(12), "12 ns"}, {Time(1e3), "1.00 us"}, {Time(12.84e6), "12.84 ms"}, {Time(61e9), "61.00 s"},
		{Bytes(512), "512 B"}, {Bytes(51e9), "51.0 GB"}, {Bytes(2.5e3), "2.50 kB"}, {Bytes(999.6e6), "1.00 GB"}, {Bytes(5e15), "5000 TB"},
		{Whole(0), "0"}, {Whole(999), "999"}, {Whole(49711), "49,711"}, {Whole(-123456), "-123,456"}, {Whole(1234567), "1,234,567"},
		{Count(1, "pass", "passes"), "1 pass"}, {Count(0, "gap", "gaps"), "0 gaps"}, {Count(49711, "gap", "gaps"), "49,711 gaps"}, {Mean(2.5, "gap", "gaps"), "2 gaps"},
		{List(nil), ""}, {List([]string{"a"}), "a"}, {List([]string{"a", "b"}), "a and b"}, {List([]string{"a", "b", "c"}), "a, b and c"},
		{Clauses("", "a", "", "b"), "a; b"},
	} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}
