package workload

import (
	"fmt"
	"math"
)

// means reads the means of a metrics.json into a row that holds for every pass. What only a pass can have is left out.
func (r *reader) means(o object, p Pass) Pass {
	r.warning("aggregates do not say how long the prompts were: say it with --prefill N")
	tokens := o.sub("tokens")
	mean, said := tokens.amount("mean")
	std, _ := tokens.amount("std")
	switch {
	case !said:
		r.warning("aggregates.tokens.mean is not there: say the decode steps with --decode M")
	case std != 0:
		r.warning(fmt.Sprintf("aggregates.tokens.std is %g: passes had different numbers of decode steps, which their mean does not tell: say them with --decode M", std))
	case mean != math.Trunc(mean):
		r.warning(fmt.Sprintf("aggregates.tokens.mean is %g, not a whole number: say the decode steps with --decode M", mean))
	default:
		p.Decode = tokens.count(0, "mean")
	}
	return p
}
