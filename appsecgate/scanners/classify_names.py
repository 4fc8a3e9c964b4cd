"""File names: which of them stand for which language, for text, for a lock, for no text at all."""

import re


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# One line per language; every name that semgrep's core knows is spelled as it spells it.
_LANGUAGE_EXTENSIONS = {
    "python": "py pyi pyw py3 py2 pyt wsgi gyp xsh",
    "javascript": "js jsx mjs cjs es es6 jsm",
    "typescript": "ts tsx mts cts",
    "java": "java jav",
    "go": "go",
    "c": "c h",
    "cpp": "cc cpp cxx c++ cp hh hpp hxx h++ ipp ixx tcc tpp cu cuh",
    "csharp": "cs csx",
    "ruby": "rb rake gemspec ru rbw podspec jbuilder",
    "php": "php php3 php4 php5 php7 php8 phtml phps phpt",
    "bash": "sh bash ksh zsh dash bats ebuild",
    "kotlin": "kt kts ktm",
    "scala": "scala sc sbt",
    "rust": "rs",
    "swift": "swift",
    "objc": "m mm",
    "lua": "lua",
    "ocaml": "ml mli",
    "r": "r",
    "julia": "jl",
    "dart": "dart",
    "elixir": "ex exs",
    "clojure": "clj cljs cljc edn",
    "lisp": "lisp cl el lsp",
    "scheme": "scm ss",
    "solidity": "sol",
    "cairo": "cairo",
    "circom": "circom",
    "apex": "cls trigger apex",
    "hack": "hack hck hhi",
    "powershell": "ps1 psm1 psd1",
    "vue": "vue",
    "terraform": "tf hcl tfvars tofu",
    "json": "json json5 jsonc geojson webmanifest ipynb har",
    "jsonnet": "jsonnet libsonnet",
    "yaml": "yml yaml",
    "html": "html htm xhtml svelte astro",
    "xml": "xml plist pom xsd xsl xslt wsdl csproj vbproj props targets config resx svg",
    "protobuf": "proto",
    "promql": "promql",
    # known to us, without a parser in semgrep's open core: a scan without them must say so
    "groovy": "groovy gradle gvy",
    "perl": "pl pm t pod",
    "visual_basic": "vb vbs bas frm",
    "fsharp": "fs fsx fsi",
    "haskell": "hs lhs",
    "erlang": "erl hrl",
    "delphi": "pas dpr",
    "cobol": "cob cbl",
    "fortran": "f90 f95 f03 f77",
    "plsql": "pls pkb pks plsql",
    "sql": "sql",
    "coffeescript": "coffee",
    "nim": "nim",
    "zig": "zig",
    "vlang": "vsh",
    "crystal": "cr",
    "batch": "bat cmd",
    "jsp": "jsp jspx jspf",
    "asp": "asp aspx ascx ashx cshtml vbhtml razor",
    "erb": "erb ejs haml",
    "cython": "pyx pxd pxi",
    "ipython": "ipy",
    "sage": "sage",
    "renpy": "rpy",
    "mdx": "mdx",
    "starlark": "bzl star",
    "bicep": "bicep bicepparam",
}
DATA_LANGUAGES = frozenset(
    {
        "json",
        "jsonnet",
        "yaml",
        "html",
        "xml",
        "terraform",
        "dockerfile",
        "protobuf",
        "promql",
        "bicep",
        "sql",
    }
)
"""Languages whose files are settings, markup or descriptions: no source code to miss."""

EXTENSION_LANGUAGE = {
    extension: language for language, names in _LANGUAGE_EXTENSIONS.items() for extension in names.split()
}

_LANGUAGE_NAMES = {
    "python": "sconstruct sconscript wscript .pythonrc .pdbrc",
    "starlark": "build workspace tiltfile buck",
    "ruby": "rakefile gemfile guardfile vagrantfile capfile podfile brewfile fastfile dangerfile .irbrc .pryrc",
    "groovy": "jenkinsfile",
    "bash": ".bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile .kshrc"
    " pkgbuild apkbuild .envrc gradlew configure",
    "javascript": "jakefile",
    "json": ".eslintrc .babelrc .jshintrc .prettierrc .swcrc composer.lock pipfile.lock flake.lock deno.lock",
    "yaml": ".clang-format .clang-tidy pubspec.lock",
}
NAME_LANGUAGE = {name: language for language, names in _LANGUAGE_NAMES.items() for name in names.split()}

SHEBANG_LANGUAGES = (
    ("python", re.compile(r"(?:python|pypy|jython|ipython)[\d.w]*(?:-[\w.]+)?|uv|pipx")),
    ("bash", re.compile(r"(?:ba|da|k|mk|pdk|z|a)?sh|bats|busybox")),
    ("javascript", re.compile(r"node(?:js)?[\d.]*|bun|zx|osascript")),
    ("typescript", re.compile(r"deno|ts-node(?:-\w+)?|tsx")),
    ("ruby", re.compile(r"[jt]?ruby[\d.]*|rake")),
    ("php", re.compile(r"php[\d.]*")),
    ("perl", re.compile(r"perl[\d.]*")),
    ("lua", re.compile(r"lua(?:jit)?[\d.]*")),
    ("powershell", re.compile(r"pwsh|powershell")),
    ("groovy", re.compile(r"groovy")),
    ("r", re.compile(r"Rscript")),
    ("julia", re.compile(r"julia")),
    ("ocaml", re.compile(r"ocaml(?:run)?")),
    ("elixir", re.compile(r"elixir")),
    ("scala", re.compile(r"scala(?:-cli)?")),
    ("kotlin", re.compile(r"kotlin")),
    ("swift", re.compile(r"swift")),
    ("go", re.compile(r"gorun|yaegi")),
)

LOCK_NAMES = word_set(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock deno.lock poetry.lock "
    "uv.lock pdm.lock pipfile.lock pylock.toml conda-lock.yml pixi.lock cargo.lock composer.lock "
    "gemfile.lock podfile.lock go.sum go.work.sum mix.lock rebar.lock pubspec.lock flake.lock "
    "packages.lock.json paket.lock gradle.lockfile verification-metadata.xml .terraform.lock.hcl "
    "brewfile.lock.json cartfile.resolved package.resolved module.bazel.lock elm-stuff.json "
    "stack.yaml.lock cabal.project.freeze chart.lock bun.lockb"
)
FOREIGN_MANIFEST_NAMES = word_set(
    "package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock deno.lock go.mod go.sum "
    "cargo.toml cargo.lock gemfile gemfile.lock composer.json composer.lock pom.xml build.gradle build.gradle.kts "
    "gradle.lockfile packages.config packages.lock.json mix.exs mix.lock pubspec.yaml pubspec.lock podfile "
    "podfile.lock package.swift package.resolved cartfile.resolved conda-lock.yml environment.yml environment.yaml "
    "conanfile.txt vcpkg.json rebar.lock stack.yaml.lock cabal.project.freeze"
)
"""Dependencies that no scanner here audits: those of other ecosystems, and conda's."""
MANIFEST_NAMES = word_set(
    "pyproject.toml poetry.lock uv.lock pdm.lock pipfile pipfile.lock pylock.toml setup.cfg setup.py"
)

TEXT_EXTENSIONS = word_set(
    "txt md rst adoc toml ini cfg conf cnf properties env csv tsv log tex css scss sass less graphql gql "
    "lock sum mod map patch diff j2 jinja jinja2 tmpl tpl template mustache hbs in am ac cmake mk make "
    "pem key crt cer asc pub netrc npmrc pypirc htpasswd service http rest ics vcf srt po pot tap nix "
    "dhall rego cue ldif reg textile org"
)
TEXT_NAMES = word_set(
    "makefile gnumakefile procfile license readme changelog authors contributing notice copying "
    "codeowners .env .gitignore .gitattributes .dockerignore .npmrc .pypirc .netrc .htpasswd "
    ".editorconfig id_rsa id_dsa id_ecdsa id_ed25519 credentials config"
)


BINARY_EXTENSIONS = word_set(
    "png jpg jpeg gif bmp ico webp tif tiff psd ai eps heic avif mp3 mp4 m4a m4v wav flac ogg oga ogv avi "
    "mov mkv webm ttf otf woff woff2 eot pdf doc docx xls xlsx ppt pptx odt ods odp zip gz tgz bz2 xz zst "
    "lz4 7z rar tar jar war ear whl egg apk aab ipa deb rpm dmg iso img exe dll so dylib a lib o obj pdb "
    "class pyc pyo pyd elc beam wasm bin dat db sqlite sqlite3 mdb parquet arrow feather orc npy npz pkl "
    "pickle h5 hdf5 onnx pt pth safetensors gguf mo jks keystore p12 pfx swf bundle pack idx"
)
ARCHIVE_EXTENSIONS = word_set(
    "zip gz tgz bz2 xz zst lz4 7z rar tar jar war ear whl egg apk aab ipa deb rpm dmg iso img"
)
PROSE_EXTENSIONS = word_set("md rst txt adoc orig bak")
