package sample

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/tls"
	"database/sql"
	"fmt"
	"os/exec"
)

func commands(name string) {
	// ruleid: go-command-injection
	exec.Command("sh", "-c", "ls "+name)
	// ok: go-command-injection
	exec.Command("sh", "-c", "ls")
	// ok: go-command-injection
	exec.Command("ls", name)
}

func hashes(data []byte) {
	// ruleid: go-weak-hash
	md5.Sum(data)
	// ok: go-weak-hash
	sha256.Sum256(data)
}

func connect() {
	// ruleid: go-tls-verification-off
	_ = &tls.Config{InsecureSkipVerify: true}
	// ok: go-tls-verification-off
	_ = &tls.Config{MinVersion: tls.VersionTLS12}
}

func query(db *sql.DB, name string) {
	// ruleid: go-sql-injection
	db.Query(fmt.Sprintf("SELECT * FROM users WHERE name = '%s'", name))
	// ruleid: go-sql-injection
	db.Exec("DELETE FROM users WHERE name = '" + name + "'")
	// ok: go-sql-injection
	db.Query("SELECT * FROM users WHERE name = ?", name)
}
