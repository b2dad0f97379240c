package schema

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"prof/internal/file"
)

// LakeAccess is what opens a lake: where DuckDB's extensions are, and what the object store and PostgreSQL ask for. None of it is written anywhere.
type LakeAccess struct {
	Extensions string // a folder with DuckDB's extensions; "" takes them from DuckDB's own folder, into which INSTALL gets them from the network
	keys       map[string]string
}

// accessKeys are the names that other programs know the same things by, in the environment and in the file.
var accessKeys = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_ENDPOINT_URL", "PGPASSWORD"}

// maxSecret bounds the file of a secret.
const maxSecret = 64 << 10

// ReadLakeAccess takes from a file with lines KEY=VALUE, and for what that lacks from the environment, what opens a lake. path may be "". Others must not be able to
// read the file.
func ReadLakeAccess(path string, getenv func(string) string) (LakeAccess, error) {
	a := LakeAccess{Extensions: getenv("PROF_EXTENSIONS"), keys: map[string]string{}}
	if path != "" {
		if err := a.readFile(path); err != nil {
			return a, fmt.Errorf("secret of the lake: %w", err)
		}
	}
	for _, k := range accessKeys {
		if a.keys[k] == "" {
			a.keys[k] = getenv(k)
		}
	}
	return a, nil
}

func (a LakeAccess) readFile(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: others can read it: chmod 600 it", path)
	}
	text, err := file.Read(path, maxSecret)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export "))
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, is := strings.Cut(line, "=")
		known := false
		for _, k := range accessKeys {
			known = known || k == key
		}
		if !is || !known {
			return fmt.Errorf("%s:%d: write KEY=VALUE with one of %s", path, n, strings.Join(accessKeys, ", "))
		}
		a.keys[key] = strings.Trim(value, `"'`)
	}
	return lines.Err()
}

// isRemote reports whether rows are in an object store.
func isRemote(dataPath string) bool { return strings.Contains(dataPath, "://") }

// loadCatalog loads what the catalog needs.
func (l *Lake) loadCatalog(ctx context.Context, q Execer) error {
	if err := l.Access.load(ctx, q, "ducklake"); err != nil || !l.usesPostgres() {
		return err
	}
	if err := l.Access.load(ctx, q, "postgres_scanner"); err != nil {
		return err
	}
	password := l.Access.keys["PGPASSWORD"]
	if password == "" {
		return nil
	}
	return secret(ctx, q, "CREATE OR REPLACE SECRET __default_postgres (TYPE postgres, PASSWORD "+Quote(password)+")")
}

// loadData loads what the place of the rows needs.
func (l *Lake) loadData(ctx context.Context, q Execer, dataPath string) error {
	if !isRemote(dataPath) {
		return nil
	}
	if err := l.Access.load(ctx, q, "httpfs"); err != nil {
		return err
	}
	k, kind := l.Access.keys, "s3"
	if strings.HasPrefix(dataPath, "gs://") || strings.HasPrefix(dataPath, "gcs://") {
		kind = "gcs"
	}
	if k["AWS_ACCESS_KEY_ID"] == "" || k["AWS_SECRET_ACCESS_KEY"] == "" {
		return fmt.Errorf("the lake's rows are in %s: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in the environment or in the file that `secret` in .prof/config.yaml names", dataPath)
	}
	s := fmt.Sprintf("CREATE OR REPLACE SECRET prof_lake (TYPE %s, KEY_ID %s, SECRET %s", kind, Quote(k["AWS_ACCESS_KEY_ID"]), Quote(k["AWS_SECRET_ACCESS_KEY"]))
	if t := k["AWS_SESSION_TOKEN"]; t != "" {
		s += ", SESSION_TOKEN " + Quote(t)
	}
	if r := k["AWS_REGION"]; r != "" {
		s += ", REGION " + Quote(r)
	}
	if e := k["AWS_ENDPOINT_URL"]; e != "" {
		at, err := url.Parse(e)
		if err != nil || at.Host == "" {
			return errors.New("AWS_ENDPOINT_URL: write an address such as https://s3.example.com:9000")
		}
		s += fmt.Sprintf(", ENDPOINT %s, URL_STYLE 'path', USE_SSL %t", Quote(at.Host), at.Scheme != "http")
	}
	return secret(ctx, q, s+")")
}

// secret makes a secret of DuckDB's, which stays in memory. Its error must not have the statement.
func secret(ctx context.Context, q Execer, statement string) error {
	if _, err := q.ExecContext(ctx, statement); err != nil {
		kind, _, _ := strings.Cut(err.Error(), ":")
		return fmt.Errorf("DuckDB refuses the secret of the lake: %s", kind)
	}
	return nil
}

// load loads an extension of DuckDB, as DuckDB signed it: from the folder that is named, else from DuckDB's own, into which it is fetched once.
func (a LakeAccess) load(ctx context.Context, q Execer, name string) error {
	if a.Extensions != "" {
		path, err := a.find(name)
		if err == nil {
			_, err = q.ExecContext(ctx, "LOAD "+Quote(path))
		}
		if err != nil {
			return fmt.Errorf("PROF_EXTENSIONS=%s: %w", a.Extensions, err)
		}
		return nil
	}
	_, missing := q.ExecContext(ctx, "LOAD "+name)
	if missing == nil {
		return nil
	}
	if _, err := q.ExecContext(ctx, "INSTALL "+name); err != nil {
		return fmt.Errorf("DuckDB's extension %s cannot be installed (%s): without a network, name a folder that has %s.duckdb_extension of DuckDB %s for %s with PROF_EXTENSIONS: %w",
			name, firstLine(err), name, DuckDBVersion(), platform(), missing)
	}
	if _, err := q.ExecContext(ctx, "LOAD "+name); err != nil {
		return fmt.Errorf("load DuckDB's extension %s: %w", name, err)
	}
	return nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// platform is the name that DuckDB gives to what it was built for.
func platform() string {
	system := map[string]string{"darwin": "osx"}[runtime.GOOS]
	if system == "" {
		system = runtime.GOOS
	}
	return system + "_" + runtime.GOARCH
}

// find finds an extension in the folder, however deep: packages of PyPI and DuckDB's own folder have it below others.
func (a LakeAccess) find(name string) (path string, err error) {
	want := name + ".duckdb_extension"
	err = filepath.WalkDir(a.Extensions, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != want {
			return err
		}
		path = p
		return fs.SkipAll
	})
	if err == nil && path == "" {
		err = fmt.Errorf("there is no %s in it or below; DuckDB %s for %s needs it", want, DuckDBVersion(), platform())
	}
	return path, err
}
