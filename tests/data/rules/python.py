import asyncio
import hashlib
import os
import pickle
import random
import ssl
import subprocess
import tempfile
import xml.etree.ElementTree as ET

import flask
import jwt
import requests
import yaml
from Crypto.Cipher import AES, DES
from flask import Flask, redirect, render_template_string, request, send_file, url_for
from werkzeug.utils import secure_filename

app = Flask(__name__)


def commands(name, host):
    # ruleid: python-subprocess-shell
    subprocess.run(f"ping {host}", shell=True)
    # ruleid: python-subprocess-shell
    subprocess.Popen("ls " + name, shell=True, stdout=None)
    # ok: python-subprocess-shell
    subprocess.run("ls /tmp", shell=True)
    # ok: python-subprocess-shell
    subprocess.run(["ping", host])
    # ok: python-subprocess-shell
    subprocess.run(["ping", host], shell=False)
    # ruleid: python-subprocess-shell
    subprocess.getoutput("id " + name)
    # ruleid: python-os-command
    os.system("rm " + name)
    # ruleid: python-os-command
    os.popen(name)
    # ok: python-os-command
    os.system("clear")


async def commands_async(name):
    # ruleid: python-subprocess-shell
    await asyncio.create_subprocess_shell("ls " + name)


def code(text):
    # ruleid: python-eval
    eval(text)
    # ruleid: python-eval
    exec(text, {})
    # ok: python-eval
    eval("1 + 1")
    # ok: python-eval
    model.eval()


def data(blob):
    # ruleid: python-unsafe-deserialization
    pickle.loads(blob)
    # ok: python-unsafe-deserialization
    pickle.dumps(blob)
    # ruleid: python-yaml-unsafe-load
    yaml.load(blob)
    # ruleid: python-yaml-unsafe-load
    yaml.load(blob, Loader=yaml.UnsafeLoader)
    # ruleid: python-yaml-unsafe-load
    yaml.load(blob, yaml.Loader)
    # ok: python-yaml-unsafe-load
    yaml.load(blob, Loader=yaml.SafeLoader)
    # ok: python-yaml-unsafe-load
    yaml.load(blob, yaml.CSafeLoader)
    # ok: python-yaml-unsafe-load
    yaml.safe_load(blob)
    # ruleid: python-xml-external-entities
    ET.fromstring(blob)
    # ok: python-xml-external-entities
    ET.tostring(blob)


def hashes(text, key):
    # ruleid: python-weak-hash
    hashlib.md5(text)
    # ruleid: python-weak-hash
    hashlib.new("sha1", text)
    # ok: python-weak-hash
    hashlib.md5(text, usedforsecurity=False)
    # ok: python-weak-hash
    hashlib.sha256(text)
    # ruleid: python-weak-cipher
    DES.new(key)
    # ruleid: python-weak-cipher
    AES.new(key, AES.MODE_ECB)
    # ok: python-weak-cipher
    AES.new(key, AES.MODE_GCM)


def server():
    # ruleid: python-debug-server
    app.run(host="127.0.0.1", debug=True)
    # ok: python-debug-server
    app.run(debug=False)


def templates(name):
    # ruleid: python-template-injection
    render_template_string("<p>" + name + "</p>")
    # ruleid: python-template-injection
    flask.render_template_string(name, a=1)
    # ok: python-template-injection
    render_template_string("<p>{{ name }}</p>", name=name)


def sql(db, name, cursor):
    # ruleid: python-sql-injection
    db.execute(f"SELECT * FROM users WHERE name = '{name}'")
    # ruleid: python-sql-injection
    db.execute("SELECT * FROM users WHERE name = '" + name + "'")
    # ruleid: python-sql-injection
    db.execute("SELECT * FROM users WHERE name = '%s'" % name)
    # ruleid: python-sql-injection
    db.execute("SELECT * FROM users WHERE name = '{}'".format(name))
    query = "SELECT * FROM users WHERE name = '" + name + "'"
    # ruleid: python-sql-injection
    cursor.execute(query)
    # ok: python-sql-injection
    db.execute("SELECT * FROM users WHERE name = ?", (name,))
    # ok: python-sql-injection
    db.execute("SELECT * FROM users WHERE name = %s", [name])
    # ok: python-sql-injection
    db.execute("SELECT * " + "FROM users")


def tls(url):
    # ruleid: python-tls-verification-off
    requests.get(url, verify=False)
    session = requests.Session()
    # ruleid: python-tls-verification-off
    session.post(url, verify=False)
    # ok: python-tls-verification-off
    requests.get(url, verify="/etc/ca.pem")
    # ruleid: python-tls-verification-off
    ssl._create_unverified_context()


def files():
    # ruleid: python-insecure-tempfile
    tempfile.mktemp()
    # ok: python-insecure-tempfile
    tempfile.mkstemp()


def tokens(text, key):
    # ruleid: python-jwt-unverified
    jwt.decode(text, key, verify=False)
    # ruleid: python-jwt-unverified
    jwt.decode(text, options={"verify_signature": False})
    # ok: python-jwt-unverified
    jwt.decode(text, key, algorithms=["HS256"])
    # ruleid: python-insecure-random
    token = "".join(random.choice("abc") for _ in range(20))
    # ruleid: python-insecure-random
    reset_token = random.randint(0, 999999)
    # ok: python-insecure-random
    colour = random.choice(["red", "blue"])
    return token, reset_token, colour


@app.route("/file")
def view():
    name = request.args.get("name")
    # ruleid: python-path-traversal
    with open("/data/" + name) as stream:
        stream.read()
    # ruleid: python-path-traversal
    send_file(request.args["name"])
    # ok: python-path-traversal
    open("/data/" + secure_filename(name))
    # ok: python-path-traversal
    open("/data/fixed")
    # ruleid: python-ssrf
    requests.get(request.form["url"])
    # ok: python-ssrf
    requests.get("https://example.com/")
    # ruleid: python-open-redirect
    redirect(request.args.get("next"))
    # ok: python-open-redirect
    return redirect(url_for("index"))
