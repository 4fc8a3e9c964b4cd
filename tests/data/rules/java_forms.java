import java.util.*;
class S {
  static final String TABLE = "users";
  String helper(String n) { return "SELECT '" + n + "'"; }
  void cmds(String x, String[] args) throws Exception {
    Runtime r = Runtime.getRuntime();
    // ruleid: java-command-injection
    r.exec("ls " + x);
    // ruleid: java-command-injection
    Runtime.getRuntime().exec(new String[]{"sh", "-c", "ls " + x});
    // ruleid: java-command-injection
    new ProcessBuilder("/bin/sh", "-c", x).start();
    // ruleid: java-command-injection
    new ProcessBuilder(Arrays.asList("bash", "-lc", x)).start();
    // ruleid: java-command-injection
    new ProcessBuilder(List.of("cmd.exe", "/c", x)).start();
    String[] c = {"sh", "-c", x};
    // ruleid: java-command-injection
    Runtime.getRuntime().exec(c);
    // ruleid: java-command-injection
    new ProcessBuilder(c);
    List<String> l = List.of("sh", "-c", x);
    // ruleid: java-command-injection
    new ProcessBuilder(l);
    // ruleid: java-command-injection
    Runtime.getRuntime().exec(String.format("ls %s", x));
    // ok: java-command-injection
    Runtime.getRuntime().exec(new String[]{"ls", x});
    // ok: java-command-injection
    Runtime.getRuntime().exec("ls");
    // ok: java-command-injection
    new ProcessBuilder("sh", "-c", "ls").start();
    // ok: java-command-injection
    new ProcessBuilder("ls", x).start();
    // ok: java-command-injection
    new ProcessBuilder(List.of("ls", x)).start();
    // ok: java-command-injection
    new ProcessBuilder("sh", "-c", "ls \"$1\"", "sh", x).start();
    String[] ok = {"ls", x};
    // ok: java-command-injection
    Runtime.getRuntime().exec(ok);
  }
  void q(java.sql.Statement s, java.sql.Connection k, String n, int id, List<String> ns) throws Exception {
    // ruleid: java-sql-injection
    s.executeQuery(helper(n));
    // ruleid: java-sql-injection
    s.executeQuery(later(n));
    StringBuilder sb = new StringBuilder("SELECT '");
    sb.append(n);
    // ruleid: java-sql-injection
    s.executeQuery(sb.toString());
    // ruleid: java-sql-injection
    s.executeQuery(new StringBuilder("SELECT '").append(n).append("'").toString());
    // ruleid: java-sql-injection
    s.executeQuery("SELECT '".concat(n));
    // ruleid: java-sql-injection
    s.executeQuery("SELECT 'N'".replace("N", n));
    // ruleid: java-sql-injection
    s.executeQuery(String.join("", "SELECT '", n));
    // ruleid: java-sql-injection
    s.executeQuery("SELECT '%s'".formatted(n));
    String q = "SELECT '";
    q += n;
    // ruleid: java-sql-injection
    s.executeQuery(q);
    String w = String.format("SELECT '%s'", n);
    // ruleid: java-sql-injection
    s.execute(w);
    String marks = String.join(",", Collections.nCopies(ns.size(), "?"));
    // ok: java-sql-injection
    k.prepareStatement("SELECT * FROM t WHERE n IN (" + marks + ")");
    // ok: java-sql-injection
    s.executeQuery("SELECT " + id);
    // ok: java-sql-injection
    s.executeQuery("SELECT " + Integer.parseInt(n));
    // ok: java-sql-injection
    s.executeQuery(String.format("SELECT %d", id));
    // ok: java-sql-injection
    s.executeQuery("SELECT * FROM " + TABLE);
    StringBuilder cb = new StringBuilder("SELECT ");
    cb.append("1");
    // ok: java-sql-injection
    s.executeQuery(cb.toString());
    // ok: java-sql-injection
    k.prepareStatement("SELECT * FROM " + TABLE + " WHERE n = ?");
  }
  String later(String n) { return String.format("SELECT '%s'", n); }
  void h() throws Exception {
    String a = "MD5";
    // ruleid: java-weak-hash
    MessageDigest.getInstance(a);
    // ruleid: java-weak-hash
    MessageDigest.getInstance("SHA" + "1");
    // ok: java-weak-hash
    MessageDigest.getInstance("SHA-256");
    String ci = "AES/ECB/PKCS5Padding";
    // ruleid: java-weak-cipher
    Cipher.getInstance(ci);
    // ok: java-weak-cipher
    Cipher.getInstance("AES/GCM/NoPadding");
  }

    void qualified(String command) throws Exception {
        // ruleid: java-weak-hash
        java.security.MessageDigest.getInstance("MD5");
        // ok: java-weak-hash
        java.security.MessageDigest.getInstance("SHA-256");
        // ruleid: java-weak-cipher
        javax.crypto.Cipher.getInstance("DES");
        // ruleid: java-command-injection
        java.lang.Runtime.getRuntime().exec(command);
        java.lang.Runtime runtime = java.lang.Runtime.getRuntime();
        // ruleid: java-command-injection
        runtime.exec(command);
        // ruleid: java-command-injection
        new java.lang.ProcessBuilder("sh", "-c", command).start();
    }
}
