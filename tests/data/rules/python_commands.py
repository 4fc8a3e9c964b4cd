import subprocess, shlex, os, asyncio, builtins, hashlib, yaml, requests, ast, functools, string
from string import Template
from textwrap import dedent
SQLC = "SELECT * FROM t"
Y = yaml.Loader
OPTS = {"shell": True}
def cmds(x, flag, xs):
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + x, shell=bool(1))
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + x, shell=1)
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + x, **{'shell': True})
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + x, **dict(shell=True))
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + x, **OPTS)
    kw = {"shell": True}
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + x, **kw)
    kx = dict(shell=True)
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + x, **kx)
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + x, shell=flag)
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + x, shell=not False)
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + x, None, None, shell="yes")
    # ruleid: python-subprocess-shell
    subprocess.run(["sh", "-c", "ls " + x])
    # ruleid: python-subprocess-shell
    subprocess.run(["/bin/bash", "-lc", f"ls {x}"], check=True)
    # ruleid: python-subprocess-shell
    subprocess.run(("cmd", "/c", "dir " + x))
    # ruleid: python-subprocess-shell
    subprocess.run(["env", "sh", "-e", "-c", x])
    # ruleid: python-subprocess-shell
    subprocess.run([os.environ["SHELL"], "-c", x])
    cmd = ["sh", "-c", "ls " + x]
    # ruleid: python-subprocess-shell
    subprocess.run(cmd)
    # ruleid: python-os-command
    os.execlp("sh", "sh", "-c", x)
    # ruleid: python-os-command
    os.execvp("sh", ["sh", "-c", x])
    # ruleid: python-os-command
    os.spawnlp(os.P_WAIT, "sh", "sh", "-c", x)
    r = subprocess.run
    # ruleid: python-subprocess-shell
    r("ls " + x, shell=True)
    # ruleid: python-subprocess-shell
    getattr(subprocess, "run")("ls " + x, shell=True)
    # ruleid: python-subprocess-shell
    functools.partial(subprocess.run, shell=True)("ls " + x)
    # ruleid: python-subprocess-shell
    subprocess.run(args="ls " + x, shell=True)
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + shlex.quote(x) + x, shell=True)
    # ruleid: python-subprocess-shell
    subprocess.run(x + " " + shlex.quote(x), shell=True)
    # ruleid: python-subprocess-shell
    subprocess.run(f"ls {shlex.quote(x)} {x}", shell=True)
    # ruleid: python-subprocess-shell
    subprocess.run("ls {} {}".format(shlex.quote(x), x), shell=True)
    # ruleid: python-subprocess-shell
    subprocess.run("ls %s %s" % (shlex.quote(x), x), shell=True)
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + f(shlex.quote(x)), shell=True)
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + shlex.quote(x).replace("'", ""), shell=True)
    # ruleid: python-subprocess-shell
    subprocess.run(x, shell=True)
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + (shlex.quote(x) if flag else x), shell=True)
    # ruleid: python-subprocess-shell
    subprocess.run("ls " + x, shell=(shlex.quote(x) and True))
    # ruleid: python-subprocess-shell
    await_ = asyncio.create_subprocess_shell("ls " + x)
    # ruleid: python-subprocess-shell
    asyncio.create_subprocess_exec("sh", "-c", "ls " + x)
    # ruleid: python-subprocess-shell
    subprocess.getoutput("ls " + x)
    # ruleid: python-os-command
    os.system("ls " + x)
    # ruleid: python-os-command
    os.popen(f"ls {x}")
    s = os.system
    # ruleid: python-os-command
    s("ls " + x)
    # ruleid: python-os-command
    getattr(os, "system")("ls " + x)
    # ruleid: python-os-command
    os.system(x % shlex.quote(x))
    # ruleid: python-os-command
    os.system(x.format(shlex.quote(x)))
    # ok: python-os-command
    subprocess.run("ls " + shlex.quote(x), shell=True)
    # ok: python-os-command
    subprocess.run("ls " + shlex.quote(x) + " -l", shell=True)
    # ok: python-os-command
    subprocess.run("ls " + shlex.quote(x) + " " + shlex.quote(flag), shell=True)
    # ok: python-os-command
    subprocess.run(f"ls {shlex.quote(x)}", shell=True, check=True)
    # ok: python-os-command
    subprocess.run(f"ls {shlex.quote(x)} {shlex.quote(flag)}", shell=True, check=True)
    # ok: python-os-command
    subprocess.run("ls {}".format(shlex.quote(x)), shell=True)
    # ok: python-os-command
    subprocess.run("ls %s" % shlex.quote(x), shell=True)
    # ok: python-os-command
    subprocess.run("ls %s %s" % (shlex.quote(x), shlex.quote(x)), shell=True)
    q = shlex.quote(x)
    # ok: python-os-command
    subprocess.run("ls " + q, shell=True)
    # ok: python-os-command
    subprocess.run(f"ls {q} | wc", shell=True)
    line = f"ls {q} | wc"
    # ok: python-os-command
    subprocess.run(line, shell=True)
    # ok: python-os-command
    subprocess.run("ls " + shlex.join(xs), shell=True)
    # ok: python-os-command
    subprocess.run(shlex.join(xs), shell=True)
    # ok: python-os-command
    subprocess.run("ls " + " ".join(shlex.quote(a) for a in xs), shell=True)
    # ok: python-os-command
    os.system("ls " + shlex.quote(x))
    # ok: python-os-command
    os.popen(f"ls {shlex.quote(x)}")
    # ok: python-os-command
    subprocess.getoutput("ls " + shlex.quote(x))
    # ok: python-os-command
    subprocess.run("ls /tmp", shell=True, check=True, text=True)
    # ok: python-os-command
    subprocess.run(args="ls /tmp", shell=True, check=True, text=True)
    # ok: python-os-command
    subprocess.run(["ls", x], shell=False)
    # ok: python-os-command
    subprocess.run(["ls", x], shell=0)
    # ok: python-os-command
    subprocess.run(["ls", x], shell=None)
    # ok: python-os-command
    subprocess.run(["sh", "-c", "ls -l"])
    # ok: python-os-command
    subprocess.run(["sh", "-c", 'ls "$1"', "sh", x])
    # ok: python-os-command
    subprocess.run(["sh", "-c", "ls " + shlex.quote(x)])
    # ok: python-os-command
    subprocess.run(["git", "-c", x])
    # ok: python-os-command
    subprocess.run(shlex.split(x))
    # ok: python-os-command
    os.execvp("ls", ["ls", x])
    off = False
    # ok: python-os-command
    subprocess.run(["ls", x], shell=off)

def sub(x, **kw):
    # ok: python-os-command
    subprocess.run(["ls", x], **kw)
