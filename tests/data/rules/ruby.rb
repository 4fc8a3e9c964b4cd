def sample(name, blob)
  # ruleid: ruby-command-injection
  system("ls #{name}")
  # ruleid: ruby-command-injection
  `ls #{name}`
  # ok: ruby-command-injection
  system("ls", name)
  # ruleid: ruby-eval
  eval(name)
  # ok: ruby-eval
  eval("1 + 1")
  # ruleid: ruby-unsafe-deserialization
  Marshal.load(blob)
  # ruleid: ruby-unsafe-deserialization
  YAML.load(blob)
  # ok: ruby-unsafe-deserialization
  YAML.safe_load(blob)
  # ruleid: ruby-sql-injection
  User.where("name = '#{name}'")
  # ok: ruby-sql-injection
  User.where("name = ?", name)
  # ruleid: ruby-weak-hash
  Digest::MD5.hexdigest(name)
  # ok: ruby-weak-hash
  Digest::SHA256.hexdigest(name)
end
