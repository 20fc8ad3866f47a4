#!/bin/sh
# usage: build.sh FOLDER
# Bundles the front end of reports into FOLDER/report.html. Its packages, those of package-lock.json, are installed
# in FOLDER/node_modules. If that fails it says so and succeeds: only pages of reports are missing then.
set -e
here=$(cd "$(dirname "$0")" && pwd)
folder=$1

leave() {
    echo "web: $*: 'orrery report' writes no pages, all else works" >&2
    exit 0
}

mkdir -p "$folder"
cd "$folder"
command -v npm >/dev/null || leave "the front end of reports needs node and npm, which 'make setup' installs"
if ! cmp -s "$here/package-lock.json" installed.json; then
    cp "$here/package.json" "$here/package-lock.json" .
    npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=30000 >npm.log 2>&1 ||
        leave "cannot get the packages of the front end from $(npm config get registry 2>/dev/null) (see $folder/npm.log)"
    cp package-lock.json installed.json
fi
node "$here/build.mjs" report.html
