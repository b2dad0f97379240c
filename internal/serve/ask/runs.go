package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// RunFilter picks runs; what is empty picks all.
type RunFilter struct {
	Search   string   `query:"search" json:"search" required:"false" doc:"only runs whose name, command, tags or GPU contain this text" maxLength:"200"`
	Tags     []string `query:"tag,explode" json:"tags" required:"false" nullable:"false" doc:"only runs with this tag, key=value; with all of several" maxItems:"20"`
	Workload string   `query:"workload" json:"workload" required:"false" doc:"only runs of this workload, by its key or command" maxLength:"4000"`
	Device   string   `query:"device" json:"device" required:"false" doc:"only runs on a GPU whose name contains this text" maxLength:"200"`
	Since    string   `query:"since" json:"since" required:"false" doc:"only runs stored at or after this time: 2026-11-26 or 2026-11-26 08:00:00, UTC" maxLength:"40"`
	Until    string   `query:"until" json:"until" required:"false" doc:"only runs stored before this time" maxLength:"40"`
	Cursor   string   `query:"cursor" json:"cursor" required:"false" doc:"next of the page before" maxLength:"100"`
	Limit    int      `query:"limit" json:"limit" required:"false" minimum:"1" maximum:"500" default:"50" doc:"runs of a page"`
}

// Run is a run in a list.
type Run struct {
	ID        string   `json:"id" col:"run_id"`
	Name      string   `json:"name" col:"run"`
	CreatedAt string   `json:"created_at" col:"created_at" doc:"time of the ingest, UTC"`
	StartedAt string   `json:"started_at,omitempty" col:"started_at" doc:"start of the capture, UTC"`
	Stage     string   `json:"stage,omitempty" col:"stage" doc:"stage that takes most of its time"`
	StageNs   *float64 `json:"stage_ns" col:"stage_ns" doc:"median GPU span of one pass of that stage, ns"`
	TokenNs   *float64 `json:"token_time_ns" col:"token_time_ns" doc:"median time of an output token of a sequence, ns"`
	FirstNs   *float64 `json:"first_token_ns" col:"first_token_ns" doc:"median GPU span of a prefill pass, ns"`
	Kinds     []string `json:"kinds" doc:"what its files are of"`
	Device    string   `json:"device,omitempty" col:"device" doc:"GPU names"`
	GPUs      *int64   `json:"gpus" col:"gpus" doc:"number of GPUs that ran work; without a timeline, of those that its sources name"`
	Tags      []string `json:"tags" doc:"key=value"`
	Workload  string   `json:"workload,omitempty" col:"workload" doc:"what its workload is known by"`
	Host      string   `json:"host,omitempty" col:"host"`
	Command   string   `json:"command,omitempty" col:"command"`
}

// runRow is a row of run-list.
type runRow struct {
	Run
	KindWords string `col:"kinds"`
}

var runRows = frame.RowsOf[runRow]("run-list")

// RunPage is a part of a list of runs, newest first.
type RunPage struct {
	Runs []Run  `json:"runs" nullable:"false"`
	Next string `json:"next" doc:"cursor of the next page; empty on the last"`

	Notes []string `json:"notes,omitempty" doc:"what is to be known of them all, such as which lack their facts"`
}

// Runs lists runs as a RunPage.
func (a *Asker) Runs(ctx context.Context, f RunFilter) (Answer, error) {
	args := queries.Args{"top": strconv.Itoa(f.Limit + 1)}
	for name, value := range map[string]string{"search": f.Search, "tag": strings.Join(f.Tags, "\n"), "workload": f.Workload, "gpu": f.Device, "since": f.Since, "until": f.Until, "before": f.Cursor} {
		if value != "" {
			args[name] = value
		}
	}
	for _, tag := range f.Tags {
		if _, _, err := schema.ParseTag(tag); err != nil {
			return Answer{}, invalid("%v", err)
		}
	}
	key, err := json.Marshal(f)
	if err != nil {
		return Answer{}, err
	}
	return a.Make(ctx, "runs "+string(key), func(ctx context.Context, w *schema.Warehouse, out *bytes.Buffer) (string, error) {
		found, err := queries.NewAsker(w).Ask(ctx, "run-list", args)
		if err != nil {
			return "", &reworded{strings.NewReplacer("--before ", "cursor ", "--", "").Replace(err.Error()), err}
		}
		rows, err := runRows.Of(found)
		if err != nil {
			return "", err
		}
		tags, err := w.AllTags(ctx) // in the query's column, a value with a space is two
		if err != nil {
			return "", err
		}
		page := RunPage{Runs: []Run{}, Notes: found.Notes}
		for i, r := range rows {
			if i == f.Limit {
				last := page.Runs[i-1]
				page.Next = strings.Replace(last.CreatedAt, " ", "T", 1) + "/" + last.ID // a place, not a run: the run may be removed before the next page is asked for
				break
			}
			page.Runs = append(page.Runs, r.listed(w, tags[r.ID]))
		}
		return JSON, json.NewEncoder(out).Encode(page)
	})
}

// listed is the run as it is listed.
func (r runRow) listed(w *schema.Warehouse, tags []string) Run {
	run := r.Run
	run.Kinds, run.Workload, run.Command = strings.Fields(r.KindWords), hide(run.Workload, w), hide(run.Command, w)
	run.Tags = []string{} // a list without any too
	for _, tag := range tags {
		run.Tags = append(run.Tags, hide(tag, w))
	}
	return run
}
