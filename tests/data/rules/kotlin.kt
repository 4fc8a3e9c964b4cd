fun sample(name: String, db: SQLiteDatabase) {
  // ruleid: kotlin-command-injection
  Runtime.getRuntime().exec("ls " + name)
  // ok: kotlin-command-injection
  Runtime.getRuntime().exec("ls")
  // ruleid: kotlin-sql-injection
  db.rawQuery("SELECT * FROM users WHERE name = '" + name + "'", null)
  // ruleid: kotlin-sql-injection
  db.execSQL("DELETE FROM users WHERE name = '${name}'")
  // ok: kotlin-sql-injection
  db.rawQuery("SELECT * FROM users WHERE name = ?", arrayOf(name))
  // ruleid: kotlin-weak-hash
  MessageDigest.getInstance("MD5")
  // ok: kotlin-weak-hash
  MessageDigest.getInstance("SHA-256")
}
