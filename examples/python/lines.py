"""Talks to prism-rpc one JSON message a line, with Python's standard library alone. From the root of this repository:

    python3 examples/python/lines.py

It runs `prism-rpc` from PATH, or the program that $PRISM_RPC names.
"""
import itertools
import json
import os
import subprocess

server = subprocess.Popen(
    [os.environ.get("PRISM_RPC", "prism-rpc"),
     "--provider", "mock", "--mock-script", "examples/mock.yaml",  # for a real model: --provider openai --model …
     "--store", "memory", "--config", "examples/prism.yaml"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # bytes: text mode would use the locale's encoding

ids = (f"py-{n}" for n in itertools.count(1))
replies = {}  # id → message
story = None  # the runId of the story, once it has begun


def send(**message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def request(method, **params):
    """Sends a request and returns its id, for reply."""
    request_id = next(ids)
    send(id=request_id, method=method, params=params)
    return request_id


def receive():
    """Reads one message: an event, a reply, or what later versions add."""
    global story
    message = json.loads(server.stdout.readline())
    if message.get("method") == "event":
        event = message["params"]
        show("event", event)
        if event["type"] == "message_delta" and event["text"].startswith("Once"):
            story = event["runId"]
    elif "method" not in message:
        replies[message["id"]] = message


def reply(request_id):
    """Waits for a reply and returns its result, or its error: {code, message, data}."""
    while request_id not in replies:
        receive()
    message = replies.pop(request_id)
    return message["error"] if "error" in message else message["result"]


def show(name, value):
    print(name, json.dumps(value), flush=True)


show("initialize", reply(request("initialize", clientInfo={"name": "python-lines"})))

# A turn with two injectors: its events come first, then its result.
show("first", reply(request("prompt", input="Who are you?", instructionInjectors=["json-always", "project"])))

# A name that nobody registered sends nothing to the model.
show("unknown", reply(request("prompt", input="Hello?", instructionInjectors=["json-allways"])))

# While one turn runs, a followUp waits. Cancelled, the first one ends with a result, and the second has its turn.
first, second = request("prompt", input="Tell me a story."), request("followUp", input="And then?")
while not story:
    receive()
send(method="abort", params={"runId": story})
show("story", reply(first))
show("next", reply(second))

show("shutdown", reply(request("shutdown")))
send(method="exit")
show("exit", server.wait())
