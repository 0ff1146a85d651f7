#!/usr/bin/env bash
# Creates .venv from requirements.txt, fetches Spark's jars and archives Spark's classes. Every make target starts with
# it; if everything exists, it takes less than a second. A missing prerequisite is reported before anything is changed.
set -euo pipefail
cd "$(dirname "$0")/.."
made_of=.venv/made-of
jars=.venv/jars
archived=.venv/archived

stop() {
  echo "$1" >&2
  exit 1
}

fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

# Programs in .venv contain its absolute path, so one that was moved or copied does not work.
has_environment() {
  fits .venv/bin/python || return 1
  if [ -e $made_of ]; then
    [ "$(head -n 1 $made_of)" = "$(pwd)" ]
  else
    .venv/bin/python -c 'import pip' 2>/dev/null
  fi
}

find_python() {
  local name how
  for name in ${PYTHON:-} python3.11 python3 python3.12 python3.13 python3.14; do
    if command -v "$name" >/dev/null && fits "$name"; then
      "$name" -c 'import ensurepip, venv' 2>/dev/null ||
        stop "Python's venv module is needed: $name has none; install it (Debian: apt-get install python3-venv)"
      echo "$name"
      return
    fi
  done
  how="install one (Debian 12: apt-get install python3 python3-venv; macOS: brew install python@3.11) or set PYTHON to its path"
  stop "Python 3.11 or newer is needed: $(python3 --version 2>/dev/null || echo 'no python3') is on PATH; $how"
}

check_java() {
  local how="
  fix: install one (Debian: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17) or let\
 JAVA_HOME point at it"
  local needed="JAVA_MISSING
  Java 17 or newer is needed:"
  local java version
  java="${JAVA_HOME:+$JAVA_HOME/bin/java}"
  java="${java:-$(command -v java || true)}"
  [ -n "$java" ] || stop "$needed no java on PATH and JAVA_HOME is not set$how"
  [ -x "$java" ] || stop "$needed $java does not exist$how"
  # Java 8 calls itself 1.8
  java_version=$("$java" -version 2>&1 || true)
  version=$(sed -nE 's/.* version "(1\.)?([0-9]+).*/\2/p' <<<"$java_version")
  [ "${version:-0}" -ge 17 ] || stop "$needed $java is Java ${version:-of no known version}$how"
}

make_environment() {
  local wanted site
  wanted=$(pwd && cat requirements.txt)
  if has_environment && [ "$(cat $made_of 2>/dev/null)" = "$wanted" ]; then
    return
  fi
  echo "setup: installing requirements.txt into .venv (a minute or two, once)"
  has_environment || "$python" -m venv --clear .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
  # With pipelines/ on the path, .venv/bin/python runs `-m dlt_local` and `-m cdc` from the checkout itself.
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$(pwd)/pipelines" >"$site/debezium-dlt.pth"
  echo "$wanted" >$made_of
}

fetch_jars() {
  local lock folder
  lock=$(cksum <pipelines/dlt_local/spark/ivy.xml)
  if [ "$(sed -n 1p $jars 2>/dev/null)" = "$lock" ] && [ -d "$(sed -n 2p $jars)" ]; then
    return
  fi
  echo "setup: fetching Spark's jars into the cache (23 MB, once)"
  folder=$(.venv/bin/python -m dlt_local jars spark)
  printf '%s\n%s\n' "$lock" "$folder" >$jars
}

archive_classes() {
  local wanted
  wanted=$(echo "$java_version" && cat $jars $made_of)
  if [ "$(cat $archived 2>/dev/null)" = "$wanted" ]; then
    return
  fi
  echo "setup: archiving Spark's classes, from which it starts faster (a minute, 200 MB, once)"
  # Without the archive everything runs, only more slowly, so a Java that cannot write one stops nothing.
  .venv/bin/python -m dlt_local class-archive >/dev/null || true
  echo "$wanted" >$archived
}

has_environment || python=$(find_python)
check_java
make_environment
fetch_jars
archive_classes
