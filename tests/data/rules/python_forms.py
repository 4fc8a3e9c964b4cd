import sqlite3, itertools, hashlib, yaml, requests, builtins, ast, hmac, httpx, functools, certifi
from string import Template
from yaml import CSafeLoader as CL
TABLE = "users"
SQLC = f"SELECT * FROM {TABLE}"
Y = yaml.Loader
YS = yaml.SafeLoader
GQ = "SELECT '" + input() + "'"
def helper(n):
    return "SELECT '" + n + "'"
def helper2(n):
    q = f"SELECT '{n}'"
    return q
lam = lambda n: "SELECT '%s'" % n
class K(object):
    def mk(self, n):
        return f"SELECT '{n}'"
    def run(self, db, n):
        # todoruleid: python-sql-injection
        db.execute(self.mk(n))
def sql(db, n, ns, cursor):
    # ruleid: python-sql-injection
    db.execute("".join(["SELECT '", n, "'"]))
    # ruleid: python-sql-injection
    db.execute("".join(("SELECT '", n, "'")))
    # ruleid: python-sql-injection
    db.execute(helper(n))
    # ruleid: python-sql-injection
    db.execute(helper2(n))
    # ruleid: python-sql-injection
    db.execute(lam(n))
    # ruleid: python-sql-injection
    db.execute(GQ)
    # ruleid: python-sql-injection
    db.execute("SELECT '%s'" % n)
    # ruleid: python-sql-injection
    db.execute("SELECT '%s' %s" % (n, n))
    # ruleid: python-sql-injection
    db.execute("SELECT '%(n)s'" % {"n": n})
    # ruleid: python-sql-injection
    db.execute("SELECT '{}'".format(n))
    # ruleid: python-sql-injection
    db.execute("SELECT '{n}'".format(n=n))
    # ruleid: python-sql-injection
    db.execute("SELECT '{n}'".format(**locals()))
    # ruleid: python-sql-injection
    db.execute(f"SELECT '{n}'")
    # ruleid: python-sql-injection
    db.execute(f"SELECT '{n}' {int(n)}")
    # ruleid: python-sql-injection
    db.execute(Template("SELECT '$n'").substitute(n=n))
    q = "SELECT '"
    q += n
    # ruleid: python-sql-injection
    db.execute(q)
    # ruleid: python-sql-injection
    db.execute("SELECT 'N'".replace("N", n))
    t = "SELECT '{}'"
    # ruleid: python-sql-injection
    db.execute(t.format(n))
    parts = ["SELECT '", n, "'"]
    # ruleid: python-sql-injection
    db.execute("".join(parts))
    ex = db.execute
    # ruleid: python-sql-injection
    ex("SELECT '" + n + "'")
    # ruleid: python-sql-injection
    getattr(db, "execute")("SELECT '" + n + "'")
    w = "SELECT '{}'"
    v = w.format(n)
    # ruleid: python-sql-injection
    cursor.execute(v)
    vv = str(v)
    # ruleid: python-sql-injection
    cursor.execute(vv)
    # ruleid: python-sql-injection
    db.execute("SELECT '" + ",".join(ns) + "'")
    # ruleid: python-sql-injection
    db.execute("SELECT " + ",".join(map(str, ns)))
    # ruleid: python-sql-injection
    db.execute("SELECT " + ",".join(str(i) for i in ns))
    # ruleid: python-sql-injection
    db.execute("SELECT '" + n.replace("'", "''") + "'")
    marks = ",".join("?" for _ in ns)
    # ok: python-sql-injection
    db.execute(f"SELECT * FROM t WHERE n IN ({marks})", ns)
    # ok: python-sql-injection
    db.execute("SELECT * FROM t WHERE n IN (" + marks + ")", ns)
    # ok: python-sql-injection
    db.execute("SELECT * FROM t WHERE n IN (%s)" % marks, ns)
    # ok: python-sql-injection
    db.execute("SELECT * FROM t WHERE n IN ({})".format(marks), ns)
    m2 = ",".join(["?"] * len(ns))
    # ok: python-sql-injection
    db.execute(f"SELECT * FROM t WHERE n IN ({m2})", ns)
    m3 = ",".join("?" * len(ns))
    # ok: python-sql-injection
    db.execute(f"SELECT * FROM t WHERE n IN ({m3})", ns)
    # ok: python-sql-injection
    db.execute(f"SELECT * FROM t WHERE n IN ({','.join('?' * len(ns))})", ns)
    # ok: python-sql-injection
    db.execute("SELECT * FROM t WHERE n IN (%s)" % ",".join("?" * len(ns)), ns)
    # ok: python-sql-injection
    db.execute(f"SELECT n={int(n)}")
    # ok: python-sql-injection
    db.execute(f"SELECT n={int(n)} LIMIT {int(n)}")
    # ok: python-sql-injection
    db.execute("SELECT n=" + str(int(n)))
    # ok: python-sql-injection
    db.execute("SELECT n=%d" % int(n))
    i = int(n)
    # ok: python-sql-injection
    db.execute(f"SELECT n={i}")
    # ok: python-sql-injection
    db.execute("SELECT n=" + str(i))
    # ok: python-sql-injection
    db.execute(SQLC)
    # ok: python-sql-injection
    db.execute(f"SELECT * FROM {TABLE}")
    # ok: python-sql-injection
    db.execute("SELECT * FROM " + TABLE + " WHERE n=?", (n,))
    s = "SELECT * "
    s += "FROM t"
    # ok: python-sql-injection
    db.execute(s)
    # ok: python-sql-injection
    db.execute("SELECT ? + ?", (n + "a", f"x{n}"))
    # ok: python-sql-injection
    db.execute(" ".join(["SELECT", "1"]))
    # ok: python-sql-injection
    db.execute("SELECT * " "FROM t WHERE n = ?", (n,))
    cols = ["a = ?", "b = ?"]
    # ok: python-sql-injection
    db.execute("SELECT 1 WHERE " + " AND ".join(cols))
    cl = []
    cl.append("a = ?")
    cl.append("b = ?")
    # ok: python-sql-injection
    db.execute("SELECT 1 WHERE " + " AND ".join(cl), ns)
    where = " AND ".join(cl)
    # ok: python-sql-injection
    db.execute(f"SELECT 1 WHERE {where}", ns)
    bad = []
    bad.append(f"a = '{n}'")
    # ruleid: python-sql-injection
    db.execute("SELECT 1 WHERE " + " AND ".join(bad))
    # ok: python-sql-injection
    db.execute(QUERY, (n,))
def ev(t, m):
    e = eval
    # ruleid: python-eval
    e(t)
    # ruleid: python-eval
    getattr(__builtins__, 'eval')(t)
    # ruleid: python-eval
    getattr(builtins, "eval")(t)
    # ruleid: python-eval
    builtins.eval(t)
    # ruleid: python-eval
    builtins.__dict__["exec"](t)
    # ruleid: python-eval
    __builtins__["eval"](t)
    # ruleid: python-eval
    globals()["eval"](t)
    # ruleid: python-eval
    __import__("builtins").eval(t)
    # ruleid: python-eval
    list(map(eval, [t]))
    x = builtins.exec
    # ruleid: python-eval
    x(t)
    # ruleid: python-eval
    exec(compile(t, "a", "exec"))
    # ok: python-eval
    ast.parse(t, mode="eval")
    # ok: python-eval
    ast.literal_eval(t)
    # ok: python-eval
    m.eval()
    # ok: python-eval
    m.exec(t)
    # ok: python-eval
    eval("1+1", {})
    c = "1+1"
    # ok: python-eval
    eval(c)
    # ok: python-eval
    pd = m.eval(t)
def ya(b, L, kw):
    # ruleid: python-yaml-unsafe-load
    yaml.load(b, Loader=L)
    # ruleid: python-yaml-unsafe-load
    yaml.load(b, Loader=Y)
    # ruleid: python-yaml-unsafe-load
    yaml.load(b, yaml.FullLoader)
    # ruleid: python-yaml-unsafe-load
    yaml.load(b, Loader=yaml.CLoader)
    # ruleid: python-yaml-unsafe-load
    yaml.unsafe_load(b)
    # ruleid: python-yaml-unsafe-load
    yaml.full_load(b)
    # ruleid: python-yaml-unsafe-load
    yaml.load(b, Loader=getattr(yaml, "UnsafeLoader"))
    l = yaml.load
    # ruleid: python-yaml-unsafe-load
    l(b, Loader=yaml.Loader)
    # ok: python-yaml-unsafe-load
    yaml.load(b, Loader=YS)
    # ok: python-yaml-unsafe-load
    yaml.load(b, Loader=yaml.SafeLoader)
    # ok: python-yaml-unsafe-load
    yaml.load(b, Loader=CL)
    # ok: python-yaml-unsafe-load
    yaml.load(b, yaml.BaseLoader)
    # ok: python-yaml-unsafe-load
    yaml.load(b, Loader=yaml.CBaseLoader)
    # ok: python-yaml-unsafe-load
    yaml.load_all(b, Loader=yaml.SafeLoader)
    # ok: python-yaml-unsafe-load
    yaml.safe_load_all(b)
def ha(b, k):
    # ruleid: python-weak-hash
    getattr(hashlib, "md5")(b)
    # ruleid: python-weak-hash
    hashlib.new("md5")
    alg = "md5"
    # ruleid: python-weak-hash
    hashlib.new(alg, b)
    # ruleid: python-weak-hash
    hashlib.new("md" + "5", b)
    # ruleid: python-weak-hash
    hashlib.new("MD5", b)
    h = hashlib.md5
    # ruleid: python-weak-hash
    h(b)
    # ruleid: python-weak-hash
    hmac.new(k, b, hashlib.md5)
    # ruleid: python-weak-hash
    hmac.new(k, b, "sha1")
    # ruleid: python-weak-hash
    hashlib.md5(b, usedforsecurity=True)
    # ok: python-weak-hash
    hashlib.md5(b, usedforsecurity=False)
    # ok: python-weak-hash
    hashlib.new("md5", b, usedforsecurity=False)
    # ok: python-weak-hash
    hashlib.new("sha256", b)
    # ok: python-weak-hash
    getattr(hashlib, "sha256")(b)
    # ok: python-weak-hash
    hmac.new(k, b, "sha256")
def tl(u, flag, ca_bundle, s):
    # ruleid: python-tls-verification-off
    requests.get(u, verify=0)
    # ruleid: python-tls-verification-off
    requests.get(u, verify=flag)
    # ruleid: python-tls-verification-off
    requests.get(u, verify=not True)
    # ruleid: python-tls-verification-off
    requests.get(u, verify=bool(0))
    # ruleid: python-tls-verification-off
    requests.get(u, verify="")
    # ruleid: python-tls-verification-off
    requests.get(u, **{"verify": False})
    no = False
    # ruleid: python-tls-verification-off
    requests.get(u, verify=no)
    # ruleid: python-tls-verification-off
    s.verify = False
    g = requests.get
    # ruleid: python-tls-verification-off
    g(u, verify=False)
    # ruleid: python-tls-verification-off
    functools.partial(requests.get, verify=False)(u)
    # ok: python-tls-verification-off
    requests.get(u, verify=True)
    # ok: python-tls-verification-off
    requests.get(u, verify="/etc/ca.pem")
    # ok: python-tls-verification-off
    requests.get(u, verify=ca_bundle)
    # ok: python-tls-verification-off
    requests.get(u, verify=certifi.where())
    yes = True
    # ok: python-tls-verification-off
    requests.get(u, verify=yes)
    # ok: python-tls-verification-off
    requests.get(u)


def imported_where_it_is_used(command):
    # ruleid: python-os-command
    __import__("os").system(command)
    # ruleid: python-os-command
    importlib.import_module("os").popen(command)
    # ok: python-os-command
    __import__("os").system("ls")


def nothing_unrelated_makes_it_safe(db, values, other, item):
    quoted = shlex.quote(other)
    number = int(other)
    # ruleid: python-os-command
    os.system(values[0] + "ls")
    # ruleid: python-os-command
    os.system("ls {a}".format(**item))
    # ruleid: python-os-command
    os.system("ls " + item())
    # ruleid: python-os-command
    os.system(f"ls {item.name}")
    line = "ls " + shlex.quote(item)
    # ok: python-os-command
    os.system(line)
    # ruleid: python-sql-injection
    db.execute("SELECT " + values[0])
    # ruleid: python-sql-injection
    db.execute(f"SELECT {item.name}")
    # ok: python-sql-injection
    db.execute(f"SELECT {number}")
