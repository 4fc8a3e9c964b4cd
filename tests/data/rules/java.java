import java.io.ObjectInputStream;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.Statement;
import javax.crypto.Cipher;

class Sample {
  void commands(String name) throws Exception {
    // ruleid: java-command-injection
    Runtime.getRuntime().exec("ls " + name);
    // ok: java-command-injection
    Runtime.getRuntime().exec("ls");
    // ok: java-command-injection
    new ProcessBuilder("ls", name).start();
  }

  void sql(Connection connection, Statement statement, String name) throws Exception {
    // ruleid: java-sql-injection
    statement.executeQuery("SELECT * FROM users WHERE name = '" + name + "'");
    String query = String.format("SELECT * FROM users WHERE name = '%s'", name);
    // ruleid: java-sql-injection
    statement.executeQuery(query);
    // ok: java-sql-injection
    connection.prepareStatement("SELECT * FROM users WHERE name = ?");
  }

  void hashes() throws Exception {
    // ruleid: java-weak-hash
    MessageDigest.getInstance("MD5");
    // ok: java-weak-hash
    MessageDigest.getInstance("SHA-256");
    // ruleid: java-weak-cipher
    Cipher.getInstance("AES/ECB/PKCS5Padding");
    // ruleid: java-weak-cipher
    Cipher.getInstance("DES");
    // ok: java-weak-cipher
    Cipher.getInstance("AES/GCM/NoPadding");
  }

  Object data(java.io.InputStream input) throws Exception {
    ObjectInputStream stream = new ObjectInputStream(input);
    // ruleid: java-unsafe-deserialization
    return stream.readObject();
  }

  // ruleid: java-tls-verification-off
  public void checkServerTrusted(X509Certificate[] chain, String type) { }
}
