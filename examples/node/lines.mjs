// Talks to prism-rpc one JSON message a line, with Node.js alone. From the root of this repository:
//
//     node examples/node/lines.mjs
//
// It runs `prism-rpc` from PATH, or the program that $PRISM_RPC names.
import { spawn } from "node:child_process";
import { once } from "node:events";

const server = spawn(process.env.PRISM_RPC ?? "prism-rpc", [
  "--provider", "mock", "--mock-script", "examples/mock.yaml", // for a real model: --provider openai --model …
  "--store", "memory", "--config", "examples/prism.yaml",
], { stdio: ["pipe", "pipe", "inherit"] });

const waiting = new Map(); // id → [resolve, reject]
let lastId = 0;

const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

function request(method, params) {
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    waiting.set(id, [resolve, reject]);
    send({ id, method, params });
  });
}

// Lines end at \n alone. node:readline would also split at U+2028 and U+2029, which may stand inside a JSON string.
let rest = "";
server.stdout.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  lines.forEach((line) => receive(JSON.parse(line)));
});

function receive({ id, method, params, result, error }) {
  if (method === "event") return onEvent(params);
  if (method) return; // notices, and whatever later versions add
  const [resolve, reject] = waiting.get(id);
  waiting.delete(id);
  error ? reject(error) : resolve(result);
}

let storyBegins;
const begun = new Promise((resolve) => (storyBegins = resolve));
function onEvent(event) {
  show("event", event);
  if (event.type === "message_delta" && event.text.startsWith("Once")) storyBegins(event.runId);
}

const show = (name, value) => console.log(name, JSON.stringify(value));

show("initialize", await request("initialize", { clientInfo: { name: "node-lines" } }));

// A turn with two injectors: its events come first, then its result.
show("first", await request("prompt", { input: "Who are you?", instructionInjectors: ["json-always", "project"] }));

// A name that nobody registered sends nothing to the model.
await request("prompt", { input: "Hello?", instructionInjectors: ["json-allways"] }).catch((error) => show("unknown", error));

// While one turn runs, a followUp waits. Cancelled, the first one ends with a result, and the second has its turn.
const story = request("prompt", { input: "Tell me a story." });
const next = request("followUp", { input: "And then?" });
const runId = await begun;
show("abort", await request("abort", { runId }));
show("story", await story);
show("next", await next);

show("shutdown", await request("shutdown"));
send({ method: "exit" });
show("exit", (await once(server, "exit"))[0]);
