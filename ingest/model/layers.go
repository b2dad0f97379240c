package model

import (
	"fmt"
	"strings"
)

// layerNames names layers by their indexes, which must ascend: "layer 0", "layers 1-11", "layers 0-1,3-4".
func layerNames(indexes []int) string {
	var ranges []string
	for i := 0; i < len(indexes); {
		first := i
		for i++; i < len(indexes) && indexes[i] == indexes[i-1]+1; i++ {
		}
		if first == i-1 {
			ranges = append(ranges, fmt.Sprint(indexes[first]))
			continue
		}
		ranges = append(ranges, fmt.Sprintf("%d-%d", indexes[first], indexes[i-1]))
	}
	if len(indexes) == 1 {
		return "layer " + ranges[0]
	}
	return "layers " + strings.Join(ranges, ",")
}
