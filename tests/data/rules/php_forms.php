<?php
const TABLE = "users";
function helper($n) { return "SELECT '" . $n . "'"; }
function cmds($x) {
  // ruleid: php-command-injection
  system("ls " . escapeshellarg($x) . $x);
  // ruleid: php-command-injection
  system("ls $x");
  $c = "ls " . $x;
  // ruleid: php-command-injection
  exec($c);
  // ruleid: php-command-injection
  call_user_func("system", "ls " . $x);
  // ruleid: php-command-injection
  pcntl_exec("/bin/sh", ["-c", $x]);
  // ruleid: php-command-injection
  proc_open(["sh", "-c", "ls " . $x], $a, $b);
  // ruleid: php-command-injection
  system(trim(escapeshellarg($x), "'"));
  $f = "system";
  // ruleid: php-command-injection
  $f("ls " . $x);
  // ok: php-command-injection
  system("ls " . escapeshellarg($x));
  // ok: php-command-injection
  system("ls " . escapeshellarg($x) . " -l");
  $q = escapeshellarg($x);
  // ok: php-command-injection
  system("ls " . $q);
  // ok: php-command-injection
  shell_exec("ls " . intval($x));
  // ok: php-command-injection
  proc_open(["ls", $x], $a, $b);
  // ok: php-command-injection
  system("ls");
  $k = "ls";
  // ok: php-command-injection
  system($k);
}
function sqls($db, $n, $ns) {
  // ruleid: php-sql-injection
  $db->query(helper($n));
  // ruleid: php-sql-injection
  $db->query(sprintf("SELECT '%s'", $n));
  // ruleid: php-sql-injection
  $db->query(implode("", ["SELECT '", $n]));
  // ruleid: php-sql-injection
  $db->query(str_replace("N", $n, "SELECT 'N'"));
  $s = "SELECT '";
  $s .= $n;
  // ruleid: php-sql-injection
  $db->query($s);
  // ruleid: php-sql-injection
  $db->query("SELECT '{$n}'");
  // ruleid: php-sql-injection
  $db->query("SELECT '$n'");
  $marks = implode(",", array_fill(0, count($ns), "?"));
  // ok: php-sql-injection
  $db->prepare("SELECT * FROM t WHERE n IN ($marks)");
  // ok: php-sql-injection
  $db->prepare("SELECT * FROM t WHERE n IN (" . $marks . ")");
  // ok: php-sql-injection
  $db->query("SELECT " . intval($n));
  // ok: php-sql-injection
  $db->query("SELECT " . (int) $n);
  // ok: php-sql-injection
  $db->query(sprintf("SELECT %d", intval($n)));
  $i = (int) $n;
  // ok: php-sql-injection
  $db->query("SELECT $i");
  // ok: php-sql-injection
  $db->query("SELECT * FROM " . TABLE);
  // ok: php-sql-injection
  $db->query("SELECT " . "1");
}
function later($n) { return sprintf("SELECT '%s'", $n); }

function run_in_other_forms($x) {
    // ruleid: php-command-injection
    $a = `ls $x`;
    // ruleid: php-command-injection
    $b = `ls {$x["a"]}`;
    // ruleid: php-command-injection
    "system"($x);
    $q = escapeshellarg($x);
    // ok: php-command-injection
    $c = `ls $q`;
    // ok: php-command-injection
    $d = `ls`;
}
