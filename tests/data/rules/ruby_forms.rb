require "shellwords"
TABLE = "users"
def helper(n)
  "SELECT '#{n}'"
end
def cmds(x)
  # ruleid: ruby-command-injection
  system("ls " + x)
  c = "ls #{x}"
  # ruleid: ruby-command-injection
  system(c)
  # ruleid: ruby-command-injection
  system(x)
  # ruleid: ruby-command-injection
  system("sh", "-c", "ls #{x}")
  # ruleid: ruby-command-injection
  Open3.capture2e("bash", "-lc", x)
  # ruleid: ruby-command-injection
  `ls #{Shellwords.escape(x)} #{x}`
  # ruleid: ruby-command-injection
  Kernel.system("ls #{x}")
  # ruleid: ruby-command-injection
  exec("ls %s" % x)
  # ruleid: ruby-command-injection
  send(:system, "ls #{x}")
  # ok: ruby-command-injection
  system("ls #{Shellwords.escape(x)}")
  # ok: ruby-command-injection
  system("ls #{x.shellescape}")
  # ok: ruby-command-injection
  `ls #{Shellwords.escape(x)}`
  q = Shellwords.escape(x)
  # ok: ruby-command-injection
  system("ls #{q}")
  # ok: ruby-command-injection
  system("ls", x)
  # ok: ruby-command-injection
  system("ls")
  # ok: ruby-command-injection
  system("sh", "-c", "ls")
  # ok: ruby-command-injection
  system(*args)
end
def ev(t)
  # ruleid: ruby-eval
  Kernel.eval(t)
  # ruleid: ruby-eval
  send(:eval, t)
  # ruleid: ruby-eval
  binding.eval(t)
  # ruleid: ruby-eval
  method(:eval).call(t)
  # ruleid: ruby-eval
  instance_eval(t)
  # ok: ruby-eval
  eval("1")
  # ok: ruby-eval
  obj.instance_eval { x }
end
def sqls(n, ns, db)
  # ruleid: ruby-sql-injection
  User.where("a = '" + n + "'")
  # ruleid: ruby-sql-injection
  User.where("a = '%s'" % n)
  # ruleid: ruby-sql-injection
  User.where(format("a = '%s'", n))
  q = "a = '"
  q << n
  # ruleid: ruby-sql-injection
  User.where(q)
  # ruleid: ruby-sql-injection
  User.find_by_sql(["SELECT '", n].join)
  # ruleid: ruby-sql-injection
  db.execute(helper(n))
  # ruleid: ruby-sql-injection
  db.execute("SELECT 'N'".sub("N", n))
  w = "a = '#{n}'"
  # ruleid: ruby-sql-injection
  User.where(w)
  # ok: ruby-sql-injection
  User.where("a = #{n.to_i}")
  marks = ns.map { "?" }.join(",")
  # ok: ruby-sql-injection
  db.execute("SELECT * FROM t WHERE n IN (#{marks})", ns)
  # ok: ruby-sql-injection
  User.where("a = ?", n)
  # ok: ruby-sql-injection
  User.where(name: n)
  # ok: ruby-sql-injection
  db.execute("SELECT * FROM #{TABLE}")
  d = "MD5"
  # ruleid: ruby-weak-hash
  OpenSSL::Digest.new(d)
  # ok: ruby-weak-hash
  OpenSSL::Digest.new("SHA256")
end

def send_in_other_forms(code, object)
  # ruleid: ruby-eval
  send("eval", code)
  # ruleid: ruby-eval
  object.public_send("instance_eval", code)
  # ruleid: ruby-eval
  __send__(:eval, code)
  # ok: ruby-eval
  send("eval", "1 + 1")
end
