package workload

import (
	"fmt"
	"math"
)

// means reads the means of a metrics.json into a row that holds for every pass. What only a pass can have is left out.
func (r *reader) means(o object, p Pass) Pass {
	r.warning("aggregates do not have prompt lengths: give --prefill N")
	tokens := o.sub("tokens")
	mean, said := tokens.amount("mean")
	std, _ := tokens.amount("std")
	switch {
	case !said:
		r.warning("aggregates.tokens.mean is missing: give the decode steps with --decode M")
	case std != 0:
		r.warning(fmt.Sprintf("aggregates.tokens.std is %g: passes had different numbers of decode steps, and their mean fits none: give --decode M", std))
	case mean != math.Trunc(mean):
		r.warning(fmt.Sprintf("aggregates.tokens.mean is %g, not a whole number: give the decode steps with --decode M", mean))
	default:
		p.Decode = tokens.count(0, "mean")
	}
	return p
}
