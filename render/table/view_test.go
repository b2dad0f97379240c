package table

import "testing"

// TestShorterPath: the innermost module and operator are what is left of a path.
func TestShorterPath(t *testing.T) {
	for _, c := range []struct {
		path string
		to   int
		want string
	}{
		{"M_0 > Attention_1 > aten::add", 40, "M_0 > Attention_1 > aten::add"},
		{"M_0 > Layer_0 > Attention_1 > aten::add", 30, "… > Attention_1 > aten::add"},
		{"M_0 > Attention_1 > aten::add", 13, "… > aten::add"},
		{"M_0 > Norm_1 > aten::pow + aten::mean + aten::mul", 40, "M_0 > Norm_1 > aten::pow + 2 more"},
		{"M_0 > Norm_1 > aten::pow + aten::mean + aten::mul", 30, "… > aten::pow + 2 more"},
		{"M_0 > aten::scaled_dot_product_attention", 16, "… > aten::…ntion"},
		{"", 5, ""},
	} {
		if got := shorterPath(c.path, c.to); got != c.want {
			t.Errorf("%q in %d is %q, want %q", c.path, c.to, got, c.want)
		}
	}
}
