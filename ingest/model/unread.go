package model

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// foreign are the model_types of transformers 5.17 that are neither read nor what the standard names describe, one a line.
//
//go:embed foreign.txt
var foreignText string

var foreign = sync.OnceValue(func() []string { return strings.Fields(foreignText) })

// shapes are words in the names of fields that say what layers are made of, and how many there are of each kind.
var shapes = regexp.MustCompile(`moe|expert|shared|attn_type|attention_type|layer_type|layers_type|block_type|hybrid|conv|ssm|mamba|recurr|linear_attn|lightning|multi_query|interleave|lora_rank|latent|altup|laurel|engram|ngram|hyper_conn|mhc|indexer|index_n|index_head|_layer_freq|_layer_period|_layer_offset|_layer_interval|sparse_step|mtp|nextn|cross_attention_layers|layers_block`)

// broad are words that bear on shapes in families whose code is not known.
var broad = regexp.MustCompile(`bias|norm|glu|gate|mlp|ffn|ffw|inner|kernel|chunk|window|block|sparse|group|rank|head|kv_|layer|n_|num_|_dim|_size|dim_|hidden|parallel|residual|position|embed|proj|tie_|untie|_per_|memory|depth|width|multiplier|state`)

// harmless are fields that the words fit and that change neither shapes nor the matrices multiplied.
//
//go:embed harmless.txt
var harmlessText string

var harmless = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^(" + strings.Join(strings.Fields(harmlessText), "|") + ")$")
})

// unread finds the fields of a decoder's configuration that bear on its shape and that nothing looked at. In a family that is not known
// more of them do.
func (r *reader) unread(c config, family string, known bool) {
	if !known && slices.Contains(foreign(), family) {
		r.faults.foreign = true
		r.unknown("model_type %s is not supported: the standard field names do not describe its layers", family)
	}
	var names []string
	for name, v := range c.fields {
		if c.faults.asked[c.path+name] || isNothing(v) || harmless().MatchString(name) {
			continue
		}
		if shapes.MatchString(name) || !known && broad.MatchString(name) {
			names = append(names, c.path+name)
		}
	}
	slices.Sort(names)
	switch len(names) {
	case 0:
	case 1:
		r.unknown("%s is not supported", names[0])
	default:
		r.unknown("%s are not supported", strings.Join(names, ", "))
	}
}

// isNothing reports whether a value says that there is none of a thing.
func isNothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case json.Number:
		f, err := v.Float64()
		return err == nil && f == 0
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// unknown says why figures would be a guess; they are given as one where that was asked for.
func (r *reader) unknown(format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	if r.faults.assume {
		config{faults: r.faults}.assume("ignored because of --assume: %s", why)
		return
	}
	r.faults.unread = append(r.faults.unread, why)
}
