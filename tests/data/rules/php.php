<?php
function sample($name, $db, $link) {
  // ruleid: php-command-injection
  system("ls " . $name);
  // ok: php-command-injection
  system("ls");
  // ruleid: php-command-injection
  shell_exec($name);
  // ruleid: php-eval
  eval($name);
  // ruleid: php-unsafe-deserialization
  unserialize($name);
  // ok: php-unsafe-deserialization
  unserialize($name, ['allowed_classes' => false]);
  // ruleid: php-sql-injection
  mysqli_query($link, "SELECT * FROM users WHERE name = '" . $name . "'");
  // ruleid: php-sql-injection
  $db->query("SELECT * FROM users WHERE name = '$name'");
  // ok: php-sql-injection
  $db->query("SELECT * FROM users");
  // ok: php-sql-injection
  $db->prepare("SELECT * FROM users WHERE name = ?");
  // ruleid: php-xss
  echo "<p>" . $_GET['name'] . "</p>";
  // ok: php-xss
  echo htmlspecialchars($_GET['name'], ENT_QUOTES);
  // ruleid: php-file-inclusion
  include($_GET['page']);
  // ok: php-file-inclusion
  include("footer.php");
}
