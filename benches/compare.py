"""What benches/compare.sh times, once everything is installed."""

import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(os.environ["FOLDER"])
ROUNDS = int(os.environ["ROUNDS"])
MODULES = FOLDER / "node_modules"
BIN = MODULES / ".bin"
HOME = Path(tempfile.mkdtemp())
SERVER = str(MODULES / "@modelcontextprotocol/server-everything/dist/index.js")
NODE = shutil.which("node")
ENV = {"PATH": os.environ["PATH"], "HOME": str(HOME), "NO_COLOR": "1"}


def run(command, env=ENV):
    """The output of a command that has to call `echo` well."""
    done = subprocess.run(command, env=env, cwd=HOME, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def raw(keep=None):
    """A client that writes lines and reads lines, and ends the server with SIGTERM after the answer."""
    server = subprocess.Popen([NODE, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(id, method, params):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n")
        server.stdin.flush()
        while json.loads(line := server.stdout.readline()).get("id") != id:
            pass
        return line

    client = {"name": "raw", "version": "0"}
    ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    ask(2, "tools/list", {})
    assert b"Echo: hi" in ask(3, "tools/call", {"name": "echo", "arguments": {"message": "hi"}})
    server.terminate()
    server.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def contest(title, contestants):
    """Times each in turn, so that variations of the machine affect all alike, and prints a table."""
    times, refused = {name: [] for name in contestants}, {}
    for round in range(ROUNDS + 1):
        for name, command in contestants.items():
            if name in refused:
                continue
            start = time.perf_counter()
            if callable(command):
                command()
            else:
                code, output = run(command)
                if code != 0 or "Echo: hi" not in output:
                    refused[name] = output.strip().splitlines()[-1:] or [f"exit {code}"]
                    continue
            # The first round fills caches.
            if round > 0:
                times[name].append(time.perf_counter() - start)
    ours = statistics.median(times["toolnexus"])
    print(f"\n| {title} | median | beside toolnexus |\n| --- | --- | --- |")
    for name in sorted((name for name in times if times[name]), key=lambda name: statistics.median(times[name])):
        median = statistics.median(times[name])
        print(f"| {name} | {median * 1000:.0f} ms | {median / ours:.2f} |")
    for name, why in refused.items():
        print(f"{name} did not make the call: {why[0]}", file=sys.stderr)


def version(package):
    return json.loads((MODULES / package / "package.json").read_text())["version"]


def main():
    toolnexus = os.environ["TOOLNEXUS"]
    config = HOME / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"everything": {"command": NODE, "args": [SERVER]}}}))
    config = str(config)
    fastmcp, repl = str(FOLDER / "venv/bin/fastmcp"), str(FOLDER / "cargo/bin/mcp-repl")
    names = {
        "inspector": f"MCP Inspector {version('@modelcontextprotocol/inspector')} `--cli`",
        "mcpdo": f"`mcpdo` of MCP Inspector {version('@modelcontextprotocol/inspector')}",
        "mcpc": f"mcpc {version('@apify/mcpc')}",
        "mcporter": f"mcporter {version('mcporter')}",
        "fastmcp": f"fastmcp {run([fastmcp, 'version'])[1].split('FastMCP version:')[-1].split()[0]} `call`",
    }
    print(run([toolnexus, "--version"])[1].strip(), platform.machine(), f"{os.cpu_count()} cores,", time.strftime("%Y-%m-%d"))

    stdio = {
        "toolnexus": [toolnexus, "--config", config, "call", "everything", "echo", "message=hi"],
        "a raw client": raw,
        names["inspector"]: [BIN / "mcp-inspector", "--cli", "--config", config, "--server", "everything", "--method",
            "tools/call", "--tool-name", "echo", "--tool-arg", "message=hi"],
        names["mcporter"]: [BIN / "mcporter", "--config", config, "call", "everything.echo", "message=hi"],
        names["fastmcp"]: [fastmcp, "call", config, "echo", "message=hi"],
    }
    if Path(repl).exists():
        label = run([repl, "--version"])[1].strip()
        stdio[label] = [repl, "-c", "call echo message=hi", "--", NODE, SERVER]
    contest("a call over stdio, server-everything", stdio)

    port = free_port()
    web = subprocess.Popen([NODE, SERVER, "streamableHttp"], env={**ENV, "PORT": str(port)}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/mcp"
    while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
        time.sleep(0.05)
    contest("a call over HTTP, server-everything", {
        "toolnexus": [toolnexus, "call", url, "echo", "message=hi"],
        names["inspector"]: [BIN / "mcp-inspector", "--cli", url, "--method", "tools/call", "--tool-name", "echo",
            "--tool-arg", "message=hi"],
        names["mcporter"]: [BIN / "mcporter", "call", "--http-url", url, "--allow-http", "echo", "message=hi"],
        names["fastmcp"]: [fastmcp, "call", url, "echo", "message=hi"],
    })
    web.kill()

    run([toolnexus, "--config", config, "up", "everything"])
    run([BIN / "mcpdo", "--config", config, "connect", "everything"])
    run([BIN / "mcpc", "connect", f"{config}:everything", "@warm"])
    contest("a call over a connection that is kept, server-everything", {
        "toolnexus": [toolnexus, "--config", config, "call", "everything", "echo", "message=hi"],
        names["mcpdo"]: [BIN / "mcpdo", "--connection", "everything", "tools/call", "echo", "message:=hi"],
        names["mcpc"]: [BIN / "mcpc", "@warm", "tools-call", "echo", "message:=hi"],
    })
    run([toolnexus, "--config", config, "down", "--all"])
    run([BIN / "mcpdo", "daemon", "stop"])
    run([BIN / "mcpc", "close", "@warm"])
    shutil.rmtree(HOME, ignore_errors=True)


main()
