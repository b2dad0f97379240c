package seed

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// FindingColumns are the columns of the table finding_rule, in order.
var FindingColumns = []string{"finding_id", "title", "bound", "saving", "advice", "value", "unit", "subject", "query", "options", "detail", "needs", "reference"}

// FindingRules parses and checks the rules of findings, in the order of the file: of each the cells of FindingColumns, "" for none.
func FindingRules() ([][]string, error) { return load("finding_rule.csv", parseFindingRules) }

func parseFindingRules(r io.Reader) ([][]string, error) {
	var rules [][]string
	seen := lines[string]{}
	err := eachRow(r, FindingColumns, func(line int, col []string) error {
		if err := seen.add(line, col[0], "rule "+col[0]); err != nil {
			return err
		}
		if err := filled("finding_id", col[0], "title", col[1], "saving", col[3], "advice", col[4], "query", col[8], "needs", col[11], "reference", col[12]); err != nil {
			return err
		}
		if col[2] != "at most" && col[2] != "about" {
			return fmt.Errorf("bound %q is neither at most nor about", col[2])
		}
		if _, err := strconv.ParseFloat(col[5], 64); (err != nil || col[6] == "") && strings.Join(col[5:7], "") != "" {
			return fmt.Errorf("value %q with unit %q is no number with its unit", col[5], col[6])
		}
		rules = append(rules, col)
		return nil
	})
	return rules, err
}
