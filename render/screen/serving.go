package screen

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/table"
	"prof/render/typeset"
)

// screenBenchmarks is how many benchmarks of a serving engine a screen has room for.
const screenBenchmarks = 4

// writeScreenServing writes what load generators measured at the client, up to three lines a benchmark.
func writeScreenServing(out *bytes.Buffer, r *judge.Report, o typeset.Options) error {
	f, latencies := r.Frame("serving"), r.Frame("serving-latency")
	if f == nil || latencies == nil || len(f.Rows) == 0 {
		return nil
	}
	rows, err := f.Records("benchmark", "target_requests_per_s", "concurrency_limit_count", "is_rate_unlimited", "requests_per_s", "output_tokens_per_s", "failed_count", "tool")
	if err != nil {
		return err
	}
	times, err := latencies.Records("benchmark", "metric", "mean_ns", "p50_ns", "p99_ns")
	if err != nil {
		return err
	}
	var pairs [][2]string
	for i, row := range rows {
		if i == screenBenchmarks {
			pairs = append(pairs, [2]string{"more", fmt.Sprintf("%d benchmarks: prof query serving", len(rows)-i)})
			break
		}
		load := servingLoad(row)
		if text := servingThroughput(row); text != "" {
			pairs, load = append(pairs, [2]string{load, text}), ""
		}
		for _, metrics := range [][]string{{"ttft", "tpot"}, {"itl", "e2e"}} {
			if text := servingTimes(row.Count("benchmark"), metrics, times); text != "" {
				pairs, load = append(pairs, [2]string{load, text}), ""
			}
		}
	}
	out.WriteString("\n" + typeset.Style(o, typeset.Dim)("serving, measured by the client") + "\n")
	table.WriteFacts(out, pairs, o)
	return nil
}

// servingLoad names a benchmark by the load that was asked for.
func servingLoad(row frame.Record) string {
	var out []string
	if v := row.Number("target_requests_per_s"); v != nil {
		out = append(out, "rate "+typeset.Digits(*v)+"/s")
	}
	if v := row.Number("concurrency_limit_count"); v != nil {
		out = append(out, typeset.Digits(*v)+" at once")
	}
	switch unlimited := row.Flag("is_rate_unlimited"); {
	case len(out) > 0:
		return strings.Join(out, ", ")
	case unlimited != nil && *unlimited:
		return "all at once"
	}
	return typeset.Neutral(row.Text("tool"))
}

func servingThroughput(row frame.Record) string {
	var out []string
	for _, part := range [][2]string{{"requests_per_s", " requests/s"}, {"output_tokens_per_s", " output tokens/s"}, {"failed_count", " failed"}} {
		if v := row.Number(part[0]); v != nil && (*v > 0 || part[0] != "failed_count") {
			out = append(out, servingNumber(*v)+part[1])
		}
	}
	return strings.Join(out, ", ")
}

func servingNumber(v float64) string {
	if v < 10_000 {
		return typeset.Digits(v)
	}
	return typeset.Scaled(v)
}

// servingTimes writes the median and the 99th percentile of some latencies, or its mean where the file has no median.
func servingTimes(benchmark int64, metrics []string, times []frame.Record) string {
	var out []string
	for _, row := range times {
		if row.Count("benchmark") != benchmark || !slices.Contains(metrics, row.Text("metric")) {
			continue
		}
		text := ""
		switch p50, mean := row.Number("p50_ns"), row.Number("mean_ns"); {
		case p50 != nil:
			text = typeset.Nanoseconds(*p50)
		case mean != nil:
			text = "mean " + typeset.Nanoseconds(*mean)
		}
		if p99 := row.Number("p99_ns"); p99 != nil {
			text = strings.TrimSpace(text + " (p99 " + typeset.Nanoseconds(*p99) + ")")
		}
		if text != "" {
			out = append(out, strings.ToUpper(row.Text("metric"))+" "+text)
		}
	}
	return strings.Join(out, ", ")
}
