# A client whose injectors are callbacks, with nothing but Python's own library.
import json, os, subprocess

server = subprocess.Popen(
    [os.environ["PRISM_RPC"], "--provider", "mock", "--store", "memory"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", bufsize=1)


def send(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def ask(id, method, params):
    """The answer to a request; what the server asks meanwhile is answered."""
    send({"id": id, "method": method, "params": params})
    for line in server.stdout:
        message = json.loads(line)
        if message.get("method") == "applyInjector":
            send({"id": message["id"], "result": {"instructions": "漢字 for " + message["params"]["context"]["input"][0]["text"]}})
        elif "method" not in message and message["id"] == id:
            return message.get("result", message.get("error"))


ask(1, "registerInjector", {"name": "good", "when": "on_input", "predicate": 'input contains "hi"', "callback": True})
for id, text in (2, "hi"), (3, "bye"):
    print(text, json.dumps([i["bytes"] for i in ask(id, "prompt", {"input": text, "instructionInjectors": ["good"]})["injected"]]))
server.stdin.close()
server.stdout.read()
print("exit", server.wait())
