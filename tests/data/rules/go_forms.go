package a
import ("os/exec";"fmt";"crypto/md5";"crypto";"crypto/hmac";"strings";"strconv";"database/sql")
const table = "users"
func helper(n string) string { return "SELECT '" + n + "'" }
func cmds(x string, env []string) {
	sh := "sh"
	// ruleid: go-command-injection
	exec.Command(sh, "-c", "ls "+x)
	// ruleid: go-command-injection
	exec.Command("/bin/bash", "-e", "-c", "ls "+x)
	// ruleid: go-command-injection
	exec.Command("env", "sh", "-c", x)
	args := []string{"-c", x}
	// ruleid: go-command-injection
	exec.Command("sh", args...)
	// ruleid: go-command-injection
	exec.Command("cmd", "/c", fmt.Sprintf("dir %s", x))
	f := exec.Command
	// ruleid: go-command-injection
	f("sh", "-c", x)
	// ok: go-command-injection
	exec.Command("ls", x)
	// ok: go-command-injection
	exec.Command("sh", "-c", "ls")
	const c = "ls"
	// ok: go-command-injection
	exec.Command("sh", "-c", c)
	// ok: go-command-injection
	exec.Command("sh", "-c", "ls \"$1\"", "sh", x)
}
func hs(k []byte) {
	h := md5.New
	// ruleid: go-weak-hash
	h()
	// ruleid: go-weak-hash
	crypto.MD5.New()
	// ruleid: go-weak-hash
	hmac.New(md5.New, k)
}
func tl(v bool) {
	// ruleid: go-tls-verification-off
	_ = &tls.Config{InsecureSkipVerify: v}
	// ruleid: go-tls-verification-off
	_ = &tls.Config{InsecureSkipVerify: !false}
	// ok: go-tls-verification-off
	_ = &tls.Config{InsecureSkipVerify: false}
}
func q(db *sql.DB, n string, id int, ns []string) {
	// ruleid: go-sql-injection
	db.Query(helper(n))
	var sb strings.Builder
	sb.WriteString("SELECT '")
	sb.WriteString(n)
	// ruleid: go-sql-injection
	db.Query(sb.String())
	// ruleid: go-sql-injection
	db.Query(strings.Join([]string{"SELECT '", n, "'"}, ""))
	// ruleid: go-sql-injection
	db.Query(strings.Replace("SELECT 'N'", "N", n, 1))
	s := "SELECT '"
	s += n
	// ruleid: go-sql-injection
	db.Query(s)
	t := fmt.Sprintf("SELECT '%s'", n)
	// ruleid: go-sql-injection
	db.Query(t)
	// ruleid: go-sql-injection
	db.Query(fmt.Sprint("SELECT '", n))
	marks := strings.Repeat("?,", len(ns))
	// ok: go-sql-injection
	db.Query(fmt.Sprintf("SELECT * FROM t WHERE n IN (%s0)", marks), ns)
	// ok: go-sql-injection
	db.Query("SELECT * FROM t WHERE n IN (" + marks + "0)", ns)
	// ok: go-sql-injection
	db.Query(fmt.Sprintf("SELECT %d", id))
	// ok: go-sql-injection
	db.Query("SELECT " + strconv.Itoa(id))
	// ok: go-sql-injection
	db.Query("SELECT * FROM " + table)
	// ok: go-sql-injection
	db.Query(fmt.Sprintf("SELECT * FROM %s", table))
	// ok: go-sql-injection
	db.Query(fmt.Sprintf("SELECT 1"))
	i, _ := strconv.Atoi(n)
	// ok: go-sql-injection
	db.Query(fmt.Sprintf("SELECT %d", i))
	// ok: go-sql-injection
	db.Query("SELECT ?", "a"+n)
}
