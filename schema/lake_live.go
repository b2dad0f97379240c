package schema

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// lakeEvery is how often a Live looks for a new commit of a lake: each look is a question to PostgreSQL.
const lakeEvery = time.Second

// lakeWatch sees commits of a lake.
type lakeWatch struct {
	db   *sql.DB
	conn *sql.Conn
}

func watchLake(ctx context.Context, l *Lake) (*lakeWatch, error) {
	db, err := connect(ctx, "", "READ_WRITE", "", Options{})
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		err = l.attach(ctx, conn, toRead)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &lakeWatch{db, conn}, nil
}

// commit names the last commit.
func (w *lakeWatch) commit(ctx context.Context) (id string, err error) {
	return id, w.conn.QueryRowContext(ctx, "SELECT id::VARCHAR FROM "+lakeName+".current_snapshot()").Scan(&id)
}

func (w *lakeWatch) close() error {
	if w == nil {
		return nil
	}
	return errors.Join(w.conn.Close(), w.db.Close())
}
