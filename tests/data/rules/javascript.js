const child_process = require("child_process");
const { exec } = require("child_process");
const crypto = require("crypto");
const fs = require("fs");
const jwt = require("jsonwebtoken");
const path = require("path");

function code(text) {
  // ruleid: javascript-eval
  eval(text);
  // ruleid: javascript-eval
  new Function("a", text);
  // ok: javascript-eval
  eval("1 + 1");
  // ok: javascript-eval
  JSON.parse(text);
}

function commands(name) {
  // ruleid: javascript-command-injection
  child_process.exec("ls " + name);
  // ruleid: javascript-command-injection
  child_process.execSync(`ls ${name}`);
  // ruleid: javascript-command-injection
  exec("ls " + name, () => {});
  // ok: javascript-command-injection
  child_process.exec("ls");
  // ok: javascript-command-injection
  child_process.execFile("ls", [name]);
  // ok: javascript-command-injection
  /a+/.exec(name);
  // ruleid: javascript-command-injection
  child_process.spawn(name, [], { shell: true });
}

function page(element, text) {
  // ruleid: javascript-dom-xss
  element.innerHTML = text;
  // ruleid: javascript-dom-xss
  document.write("<b>" + text + "</b>");
  // ok: javascript-dom-xss
  element.innerHTML = "";
  // ok: javascript-dom-xss
  element.textContent = text;
}

async function handler(req, res) {
  // ruleid: javascript-reflected-xss
  res.send("<h1>" + req.query.name + "</h1>");
  // ok: javascript-reflected-xss
  res.json({ name: req.query.name });
  // ok: javascript-reflected-xss
  res.send(escapeHtml(req.query.name));
  // ruleid: javascript-open-redirect
  res.redirect(req.query.next);
  // ok: javascript-open-redirect
  res.redirect("/home");
  // ruleid: javascript-path-traversal
  fs.readFileSync("./data/" + req.params.name);
  // ok: javascript-path-traversal
  fs.readFileSync("./data/" + path.basename(req.params.name));
  // ruleid: javascript-ssrf
  await fetch(req.body.url);
  // ok: javascript-ssrf
  await fetch("https://example.com/?q=" + encodeURIComponent(req.body.q));
}

function sql(db, id) {
  // ruleid: javascript-sql-injection
  db.query("SELECT * FROM users WHERE id = " + id);
  // ruleid: javascript-sql-injection
  db.query(`SELECT * FROM users WHERE id = ${id}`);
  const statement = "SELECT * FROM users WHERE id = '" + id + "'";
  // ruleid: javascript-sql-injection
  db.execute(statement);
  // ok: javascript-sql-injection
  db.query("SELECT * FROM users WHERE id = ?", [id]);
  // ok: javascript-sql-injection
  db.query("SELECT * " + "FROM users");
}

function tokens(text, key) {
  // ruleid: javascript-insecure-random
  const token = Math.random().toString(36);
  // ok: javascript-insecure-random
  const width = Math.random() * 10;
  // ruleid: javascript-jwt-unverified
  jwt.verify(text, key, { algorithms: ["none"] });
  // ruleid: javascript-jwt-unverified
  jwt.decode(text);
  // ok: javascript-jwt-unverified
  jwt.verify(text, key, { algorithms: ["HS256"] });
  // ruleid: javascript-weak-hash
  crypto.createHash("md5").update(text);
  // ok: javascript-weak-hash
  crypto.createHash("sha256").update(text);
  return [token, width];
}

// ruleid: javascript-tls-verification-off
const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
// ok: javascript-tls-verification-off
const other = new https.Agent({ rejectUnauthorized: true });
