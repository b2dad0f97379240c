package ingest

import (
	"errors"
	"fmt"
	"slices"

	"prof/internal/mask"
	"prof/internal/suggest"
)

// deviceKey is the fact that says that the name of a source's GPUs was given by an option.
const deviceKey = "device.name"

// gpu is what a source of a run says of a GPU.
type gpu struct {
	source, id       int
	name, capability string // "" for what it does not say
	isGiven          bool   // the name was given by an option
}

// nameDevices names the GPUs that the captures of a run do not name.
func (in *ingester) nameDevices(id string) error {
	name := in.o.Device
	if name == "" {
		return nil
	}
	known, err := in.w.DevicesWithPeaks(in.ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(known, name) {
		return fmt.Errorf("%w: device_peak has no %q%s (docs/warehouse.md says how to add a row)", ErrDevice, name, suggest.DidYouMean(name, known))
	}
	capabilities, err := in.texts(`SELECT DISTINCT r.compute_capability FROM sm_rate r WHERE r.device = ? OR r.device IN (SELECT a.device FROM device_alias a WHERE a.alias = ?) ORDER BY 1`, name, name)
	if err != nil {
		return err
	}
	gpus, err := in.gpus(id)
	if err != nil {
		return err
	}
	if len(gpus) == 0 {
		return fmt.Errorf("%w: no capture of run %s numbers a GPU", ErrDevice, in.o.Name)
	}
	for _, g := range gpus {
		switch {
		case g.name != "" && !g.isGiven && g.name != name:
			return fmt.Errorf("%w: a capture of run %s says that GPU %d is %s, not %s", ErrDevice, in.o.Name, g.id, g.name, name)
		case g.capability != "" && len(capabilities) > 0 && !slices.Contains(capabilities, g.capability):
			return fmt.Errorf("%w: GPU %d of run %s has compute capability %s, %s has %s", ErrDevice, g.id, in.o.Name, g.capability, name, suggest.List(capabilities, 3))
		}
	}
	named := map[int]bool{} // several captures may be of one GPU
	for _, g := range gpus {
		if g.name == name || g.name != "" && !g.isGiven {
			continue
		}
		if _, err := in.conn.ExecContext(in.ctx, `UPDATE device SET name = ? WHERE run_id = ?::UUID AND source_id = ? AND device_id = ?`, name, id, g.source, g.id); err != nil {
			return err
		}
		if _, err := in.conn.ExecContext(in.ctx, `DELETE FROM source_fact WHERE run_id = ?::UUID AND source_id = ? AND key = ?`, id, g.source, deviceKey); err != nil {
			return err
		}
		if _, err := in.conn.ExecContext(in.ctx, `INSERT INTO source_fact VALUES (?::UUID, ?, ?, ?)`, id, g.source, deviceKey, mask.Stored(name)); err != nil {
			return err
		}
		named[g.id] = true
	}
	in.result.Named = len(named)
	return nil
}

// gpus lists the GPUs of a run's captures.
func (in *ingester) gpus(id string) (out []gpu, err error) {
	rows, err := in.conn.QueryContext(in.ctx, `SELECT d.source_id, d.device_id, coalesce(d.name, ''), coalesce(d.compute_capability, ''), coalesce(f.value = d.name, false)
		FROM device d LEFT JOIN source_fact f ON f.run_id = d.run_id AND f.source_id = d.source_id AND f.key = ? WHERE d.run_id = ?::UUID ORDER BY d.source_id, d.device_id`, deviceKey, id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var g gpu
		if err := rows.Scan(&g.source, &g.id, &g.name, &g.capability, &g.isGiven); err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, rows.Err()
}

// texts reads a result of one text column.
func (in *ingester) texts(query string, args ...any) (out []string, err error) {
	rows, err := in.conn.QueryContext(in.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, rows.Err()
}
