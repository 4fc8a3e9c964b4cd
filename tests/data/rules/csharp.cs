using System.Data.SqlClient;
using System.Security.Cryptography;

class Sample {
  void Run(string name, SqlConnection connection) {
    // ruleid: csharp-sql-injection
    var a = new SqlCommand("SELECT * FROM users WHERE name = '" + name + "'", connection);
    // ruleid: csharp-sql-injection
    var b = new SqlCommand($"SELECT * FROM users WHERE name = '{name}'", connection);
    // ok: csharp-sql-injection
    var c = new SqlCommand("SELECT * FROM users WHERE name = @name", connection);
    // ruleid: csharp-unsafe-deserialization
    var formatter = new BinaryFormatter();
    // ruleid: csharp-weak-hash
    var weak = MD5.Create();
    // ok: csharp-weak-hash
    var strong = SHA256.Create();
    // ruleid: csharp-command-injection
    Process.Start("cmd.exe", "/c " + name);
    // ok: csharp-command-injection
    Process.Start("notepad.exe");
  }
}
