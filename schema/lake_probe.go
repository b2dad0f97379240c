package schema

import (
	"context"
	"database/sql"
	"fmt"
	"os"

	"github.com/google/uuid"
)

// Probed is one thing that a lake needs.
type Probed struct {
	Name, Title, Detail string
	Err                 error
	Advice              string // where there is an error
}

// Probe tries what a lake needs, one thing after the other, up to the first that fails: DuckDB's extensions, the catalog, and the place of the rows.
func (l *Lake) Probe(ctx context.Context) (out []Probed) {
	db, err := connect(ctx, "", "READ_WRITE", "", Options{})
	if err != nil {
		return []Probed{{Name: "duckdb", Title: "DuckDB", Err: err}}
	}
	defer db.Close()
	try := func(p Probed, do func(conn *sql.Conn) (string, error)) bool {
		conn, err := db.Conn(ctx)
		if err == nil {
			p.Detail, err = do(conn)
			conn.Close()
		}
		p.Err = err
		out = append(out, p)
		return err == nil
	}
	for _, name := range []string{"ducklake", "postgres_scanner", "httpfs"} {
		if name == "postgres_scanner" && !l.usesPostgres() {
			continue
		}
		ok := try(Probed{Name: name, Title: "DuckDB's extension " + name, Advice: "without a network: name a folder with " + name + ".duckdb_extension of DuckDB " + DuckDBVersion() + " for " + platform() + " with PROF_EXTENSIONS"},
			func(conn *sql.Conn) (string, error) { return "loads", l.Access.load(ctx, conn, name) })
		if !ok {
			return out
		}
	}
	where := ""
	ok := try(Probed{Name: "catalog", Title: "Catalog " + l.String(), Advice: "make the lake with `prof lake init --data-path PLACE`, or see docs/lake.md for the rights in PostgreSQL"}, func(conn *sql.Conn) (string, error) {
		if err := l.attach(ctx, conn, toRead); err != nil {
			return "", err
		}
		defer conn.ExecContext(context.WithoutCancel(ctx), "DETACH "+lakeName)
		s := LakeStatus{}
		err := s.read(ctx, conn)
		where = s.DataPath
		return fmt.Sprintf("DuckLake %s, runs: %d", s.Version, s.Runs), err
	})
	if !ok {
		return out
	}
	try(Probed{Name: "rows", Title: "Rows in " + where, Advice: "check the keys (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL) and the rights of the folder"}, func(conn *sql.Conn) (string, error) {
		if !isRemote(where) {
			_, err := os.ReadDir(where)
			return "a folder", err
		}
		name := Quote(where + "probe-" + uuid.NewString() + "*")
		_, err := texts(conn.QueryContext(ctx, "SELECT file FROM glob("+name+") LIMIT 1"))
		return "can be listed", err
	})
	return out
}
