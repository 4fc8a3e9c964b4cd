class S {
  const string Table = "users";
  string Helper(string n) { return "SELECT '" + n + "'"; }
  void Q(string n, SqlConnection c, int id) {
    // ruleid: csharp-sql-injection
    new SqlCommand(Helper(n), c);
    // ruleid: csharp-sql-injection
    new SqlCommand(string.Format("SELECT '{0}'", n), c);
    // ruleid: csharp-sql-injection
    new SqlCommand(string.Concat("SELECT '", n), c);
    // ruleid: csharp-sql-injection
    new SqlCommand("SELECT 'N'".Replace("N", n), c);
    var sb = new StringBuilder();
    sb.Append(n);
    // ruleid: csharp-sql-injection
    new SqlCommand(sb.ToString(), c);
    var q = "SELECT '";
    q += n;
    // ruleid: csharp-sql-injection
    new SqlCommand(q, c);
    // ruleid: csharp-sql-injection
    cmd.CommandText = $"SELECT '{n}'";
    // ok: csharp-sql-injection
    new SqlCommand("SELECT " + id, c);
    // ok: csharp-sql-injection
    new SqlCommand($"SELECT {id}", c);
    // ok: csharp-sql-injection
    new SqlCommand("SELECT " + int.Parse(n), c);
    // ok: csharp-sql-injection
    new SqlCommand($"SELECT * FROM {Table}", c);
    // ok: csharp-sql-injection
    new SqlCommand("SELECT * FROM " + Table, c);
    // ruleid: csharp-command-injection
    Process.Start("cmd.exe", string.Format("/c {0}", n));
    var a = "/c " + n;
    // ruleid: csharp-command-injection
    Process.Start("cmd.exe", a);
    // ruleid: csharp-command-injection
    info.Arguments = "/c " + n;
    // ruleid: csharp-command-injection
    new ProcessStartInfo { FileName = "cmd.exe", Arguments = $"/c {n}" };
    // ok: csharp-command-injection
    Process.Start("cmd.exe", "/c " + "dir");
    // ruleid: csharp-weak-hash
    HashAlgorithm.Create("MD5");
    // ok: csharp-weak-hash
    HashAlgorithm.Create("SHA256");
  }
}
