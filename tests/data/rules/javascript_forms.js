const child_process = require("child_process");
const { exec, execSync, spawn } = require("child_process");
const { exec: run } = require("child_process");
const crypto = require("crypto");
const execAsync = require("util").promisify(exec);
const execA2 = promisify(exec);
const TABLE = "users";
function helper(n) { return "SELECT '" + n + "'"; }
const arrow = (n) => `SELECT '${n}'`;
function ev(text) {
  // ruleid: javascript-eval
  Function(text)();
  // ruleid: javascript-eval
  new Function("a", text);
  // ruleid: javascript-eval
  setTimeout("go(" + text + ")", 1);
  // ruleid: javascript-eval
  setTimeout(`go(${text})`, 1);
  // ruleid: javascript-eval
  window.setTimeout(`go(${text})`, 1);
  const e = eval;
  // ruleid: javascript-eval
  e(text);
  // ruleid: javascript-eval
  (0, eval)(text);
  // ruleid: javascript-eval
  globalThis.eval(text);
  // ruleid: javascript-eval
  window["eval"](text);
  // ruleid: javascript-eval
  [].constructor.constructor(text)();
  // ruleid: javascript-eval
  new vm.Script(text);
  // ok: javascript-eval
  setTimeout(() => go(text), 1);
  // ok: javascript-eval
  setTimeout(go, 1);
  // ok: javascript-eval
  eval("1 + 1");
  // ok: javascript-eval
  JSON.parse(text);
}
function cmd(x, opts) {
  const e = child_process.exec;
  // ruleid: javascript-command-injection
  e("ls " + x);
  // ruleid: javascript-command-injection
  run("ls " + x);
  // ruleid: javascript-command-injection
  execA2("ls " + x);
  // ruleid: javascript-command-injection
  exec(`ls ${x}`);
  // ruleid: javascript-command-injection
  exec(x);
  // ruleid: javascript-command-injection
  child_process["exec"]("ls " + x);
  // ruleid: javascript-command-injection
  require("child_process").exec("ls " + x);
  const c = "ls " + x;
  // ruleid: javascript-command-injection
  exec(c);
  // ruleid: javascript-command-injection
  child_process.exec(c, cb);
  // ruleid: javascript-command-injection
  spawn("sh", ["-c", x]);
  // ruleid: javascript-command-injection
  child_process.spawn("/bin/bash", ["-lc", `ls ${x}`]);
  // ruleid: javascript-command-injection
  child_process.execFile("cmd.exe", ["/c", "dir " + x], cb);
  // ruleid: javascript-command-injection
  spawn("ls " + x, { shell: 1 });
  // ruleid: javascript-command-injection
  spawn("ls " + x, [], { shell: "/bin/sh" });
  // ruleid: javascript-command-injection
  exec(["ls", x].join(" "));
  // ok: javascript-command-injection
  exec("lpr -a");
  // ok: javascript-command-injection
  exec(`lpr -a`, cb);
  const k = "lpr -a";
  // ok: javascript-command-injection
  exec(k);
  // ok: javascript-command-injection
  child_process.execSync("ls");
  // ok: javascript-command-injection
  spawn("sh", ["-c", "ls"]);
  // ok: javascript-command-injection
  spawn("sh", ["-c", 'ls "$1"', "sh", x]);
  // ok: javascript-command-injection
  spawn("ls", [x], { shell: false });
  // ok: javascript-command-injection
  spawn("ls", [x]);
  // ok: javascript-command-injection
  child_process.execFile("ls", [x]);
  // ok: javascript-command-injection
  /a/.exec(x);
  // ok: javascript-command-injection
  re.exec(x);
  // ok: javascript-command-injection
  Model.find(x).exec(cb);
}
function dom(el, x) {
  // ruleid: javascript-dom-xss
  el["innerHTML"] = x;
  // ruleid: javascript-dom-xss
  el.innerHTML += x;
  // ruleid: javascript-dom-xss
  el.insertAdjacentHTML("beforeend", "<b>" + x + "</b>");
  // ruleid: javascript-dom-xss
  el.insertAdjacentHTML("beforeend", x);
  // ruleid: javascript-dom-xss
  document["write"](x);
  // ruleid: javascript-dom-xss
  Object.assign(el, { innerHTML: x });
  // ruleid: javascript-dom-xss
  $(el).html(x);
  const p = "innerHTML";
  // ruleid: javascript-dom-xss
  el[p] = x;
  // ruleid: javascript-dom-xss
  el.innerHTML = `<b>${x}</b>`;
  // ok: javascript-dom-xss
  el.innerHTML = "<b>hi</b>";
  // ok: javascript-dom-xss
  el.innerHTML = `<b>hi</b>`;
  // ok: javascript-dom-xss
  el.insertAdjacentHTML("beforeend", "<b>hi</b>");
  // ok: javascript-dom-xss
  el.innerHTML = DOMPurify.sanitize(x);
  // ok: javascript-dom-xss
  el.insertAdjacentHTML("beforeend", DOMPurify.sanitize(x));
  const clean = DOMPurify.sanitize(x);
  // ok: javascript-dom-xss
  el.innerHTML = clean;
  // ok: javascript-dom-xss
  el.textContent = x;
  // ok: javascript-dom-xss
  el["textContent"] = x;
  // ok: javascript-dom-xss
  el.insertAdjacentText("beforeend", x);
  // ok: javascript-dom-xss
  el.replaceChildren();
}
function sql(db, n, ids) {
  // ruleid: javascript-sql-injection
  db.query("SELECT '".concat(n, "'"));
  // ruleid: javascript-sql-injection
  db.query(["SELECT '", n, "'"].join(""));
  // ruleid: javascript-sql-injection
  db.query("SELECT 'N'".replace("N", n));
  // ruleid: javascript-sql-injection
  db.query(helper(n));
  // ruleid: javascript-sql-injection
  db.query(arrow(n));
  let q = "SELECT '";
  q += n;
  // ruleid: javascript-sql-injection
  db.query(q);
  const parts = ["SELECT '", n];
  // ruleid: javascript-sql-injection
  db.query(parts.join(""));
  // ruleid: javascript-sql-injection
  db["query"]("SELECT '" + n);
  // ruleid: javascript-sql-injection
  db.query(`SELECT '${n}' ${Number(n)}`);
  // ok: javascript-sql-injection
  db.query(`SELECT * FROM t WHERE n IN (${ids.map(() => "?").join(",")})`, ids);
  const marks = ids.map(() => "?").join(",");
  // ok: javascript-sql-injection
  db.query(`SELECT * FROM t WHERE n IN (${marks})`, ids);
  // ok: javascript-sql-injection
  db.query("SELECT * FROM t WHERE n IN (" + marks + ")", ids);
  // ok: javascript-sql-injection
  db.query(`SELECT ${Number(n)}`);
  const i = parseInt(n, 10);
  // ok: javascript-sql-injection
  db.query(`SELECT ${i}`);
  // ok: javascript-sql-injection
  db.query(`SELECT * FROM ${TABLE}`);
  // ok: javascript-sql-injection
  db.query("SELECT * FROM " + TABLE + " WHERE n = ?", [n]);
  // ok: javascript-sql-injection
  db.query("SELECT ?", [`a${n}`]);
}
function misc(x) {
  const a = "md5";
  // ruleid: javascript-weak-hash
  crypto.createHash(a);
  // ruleid: javascript-weak-hash
  crypto["createHash"]("md5");
  // ruleid: javascript-weak-hash
  crypto.createHash("sha" + "1");
  // ok: javascript-weak-hash
  crypto.createHash("sha256");
  // ruleid: javascript-tls-verification-off
  f({ rejectUnauthorized: 0 });
  // ruleid: javascript-tls-verification-off
  f({ rejectUnauthorized: !1 });
  // ruleid: javascript-tls-verification-off
  agent.options.rejectUnauthorized = false;
  // ruleid: javascript-tls-verification-off
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  // ruleid: javascript-tls-verification-off
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = 1 - 1;
  // ok: javascript-tls-verification-off
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "1";
  // ok: javascript-tls-verification-off
  f({ rejectUnauthorized: true });
}

function nothingUnrelatedMakesItSafe(db, values, other, item) {
  const number = Number(other);
  // ruleid: javascript-sql-injection
  db.query("SELECT " + values[0]);
  // ruleid: javascript-sql-injection
  db.query(`SELECT ${item.name}`);
  // ok: javascript-sql-injection
  db.query("SELECT " + number);
  other = Number(other);
  // ok: javascript-sql-injection
  db.query("SELECT " + other);
}
