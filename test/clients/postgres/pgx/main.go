// What pgx reads at the PostgreSQL door in one of its modes, as lines `name: JSON`. Arguments: address, mode, and a statement whose
// rows are told whole.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func told(name string, value any, err error) {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		value = "refused " + refused.Code
	} else if err != nil {
		value = "failed: " + err.Error()
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: %s\n", name, text)
}

// first is the first error of several.
func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// rows are the values of a statement; times are as HTTP writes them.
func rows(ctx context.Context, from interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}, sql string, args ...any) ([][]any, error) {
	found, err := from.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) ([]any, error) {
		values, err := row.Values()
		for at, value := range values {
			if moment, is := value.(time.Time); is {
				values[at] = moment.UTC().Format(time.RFC3339Nano)
			}
		}
		return values, err
	})
}

func main() {
	ctx := context.Background()
	config, err := pgx.ParseConfig(os.Args[1] + "?default_query_exec_mode=" + os.Args[2])
	if err != nil {
		panic(err)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		panic(err)
	}
	defer conn.Close(ctx)
	ask := func(name, sql string, args ...any) {
		found, err := rows(ctx, conn, sql, args...)
		told(name, found, err)
	}

	ask("whole", os.Args[3])
	from := `select n, word from "demo/all" where `
	ask("values", from+`n = $1 or word = $2 order by n`, 5, "w7")
	ask("times", from+`moment between $1 and $2 order by n limit 2`, time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC),
		time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	ask("doubles", from+`f > $1 order by n limit 1`, 0.75)
	ask("nothing", from+`word is not distinct from $1::text order by n limit 1`, nil)
	ask("texts", from+`word = any($1) order by n`, []string{"w1", "w3"})
	ask("numbers", from+`n = any($1::bigint[]) order by n`, []int64{2, 4})
	ask("a list", "select [1, 2] as l")
	ask("column of a value", `select $1::text as a, n as b from "demo/all" order by n limit 1`, "x")

	batch := &pgx.Batch{}
	batch.Queue("select 1")
	batch.Queue(`select n from "demo/all" where n = $1`, 9)
	results := conn.SendBatch(ctx, batch)
	var one, two int
	err = first(results.QueryRow().Scan(&one), results.QueryRow().Scan(&two), results.Close())
	told("batch", []int{one, two}, err)

	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		panic(err)
	}
	inner, err := tx.Begin(ctx)
	if err == nil {
		_, err = inner.Exec(ctx, "select nothing")
		told("savepoint", nil, err)
		err = inner.Rollback(ctx)
	}
	found, rowsErr := rows(ctx, tx, `select count(*) from "demo/all"`)
	told("transaction", found, first(err, rowsErr, tx.Commit(ctx)))

	_, err = conn.Exec(ctx, `delete from "demo/all"`)
	told("write", nil, err)
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"demo", "all"}, []string{"n"}, pgx.CopyFromRows([][]any{{1}}))
	told("copy in", nil, err)
	ask("after", "select 1")
}
