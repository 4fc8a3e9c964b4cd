fun s(n: String, db: SQLiteDatabase) {
  // ruleid: kotlin-command-injection
  Runtime.getRuntime().exec(arrayOf("sh", "-c", "ls " + n))
  // ruleid: kotlin-command-injection
  ProcessBuilder("sh", "-c", n)
  // ruleid: kotlin-command-injection
  ProcessBuilder(listOf("bash", "-c", n))
  // ok: kotlin-command-injection
  Runtime.getRuntime().exec(arrayOf("ls", n))
  // ok: kotlin-command-injection
  ProcessBuilder("ls", n)
  // ok: kotlin-command-injection
  ProcessBuilder("sh", "-c", "ls")
  val q = "SELECT '" + n + "'"
  // ruleid: kotlin-sql-injection
  db.execSQL(q)
  // ruleid: kotlin-sql-injection
  db.execSQL("SELECT '$n'")
  // ruleid: kotlin-sql-injection
  db.execSQL(String.format("SELECT '%s'", n))
  // ruleid: kotlin-sql-injection
  db.execSQL("SELECT 'N'".replace("N", n))
  var s = "SELECT '"
  s += n
  // ruleid: kotlin-sql-injection
  db.execSQL(s)
  // ok: kotlin-sql-injection
  db.execSQL("SELECT ${n.toInt()}")
  // ok: kotlin-sql-injection
  db.execSQL("SELECT " + "1")
  val a = "MD5"
  // ruleid: kotlin-weak-hash
  MessageDigest.getInstance(a)
}
