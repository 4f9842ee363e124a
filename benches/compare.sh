#!/usr/bin/env bash
# Compares toolnexus with other command-line MCP clients, on the same servers, in turn, with warm caches: one call of
# server-everything over stdio, one over HTTP, and one over a connection that each keeps in its own way. Prints medians,
# ratios and versions as a table. Installs the others with npm, pip and cargo.
# usage: benches/compare.sh [ROUNDS]    default: 15
set -euo pipefail
cd "$(dirname "$0")/.."

rounds="${1:-15}"
for need in cargo npm python3; do
  command -v "$need" >/dev/null || { echo "benches/compare.sh needs $need" >&2; exit 1; }
done

cargo build --quiet --release
target="$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')"
folder="$target/compare"
mkdir -p "$folder"
npm install --prefix "$folder" --no-audit --no-fund --loglevel=error node@22 >/dev/null
export PATH="$folder/node_modules/node/bin:$PATH"
npm install --prefix "$folder" --no-audit --no-fund --loglevel=error @modelcontextprotocol/server-everything@latest \
  @modelcontextprotocol/inspector@latest @apify/mcpc@latest mcporter@latest >/dev/null
[[ -x "$folder/venv/bin/fastmcp" ]] || { python3 -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet fastmcp; }
[[ -x "$folder/cargo/bin/mcp-repl" ]] ||
  cargo install --quiet --root "$folder/cargo" mcp-repl || echo "mcp-repl cannot be built here, and is left out" >&2

export TOOLNEXUS="$target/release/toolnexus" FOLDER="$folder" ROUNDS="$rounds"
exec python3 benches/compare.py
