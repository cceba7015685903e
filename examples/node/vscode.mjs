// Talks to prism-rpc through vscode-jsonrpc, as VS Code extensions do. From the root of this repository:
//
//     npm ci --prefix examples/node && node examples/node/vscode.mjs
//
// It runs `prism-rpc` from PATH, or the program that $PRISM_RPC names.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { CancellationTokenSource, createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";

const server = spawn(process.env.PRISM_RPC ?? "prism-rpc", [
  "--provider", "mock", "--mock-script", "examples/mock.yaml", // for a real model: --provider openai --model …
  "--store", "memory", "--config", "examples/prism.yaml",
], { stdio: ["pipe", "pipe", "inherit"] });

// The server sees the Content-Length headers and answers with them. Leave out what isn't there: vscode-jsonrpc sends an
// undefined token as a second, positional param, which is refused.
const connection = createMessageConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));

const show = (name, value) => console.log(name, JSON.stringify(value));

let storyBegins;
const begun = new Promise((resolve) => (storyBegins = resolve));
connection.onNotification("event", (event) => {
  show("event", event);
  if (event.type === "message_delta" && event.text.startsWith("Once")) storyBegins();
});
connection.listen();

show("initialize", await connection.sendRequest("initialize", { clientInfo: { name: "vscode-jsonrpc" } }));

// A turn with two injectors: its events come first, then its result.
show("first", await connection.sendRequest("prompt", { input: "Who are you?", instructionInjectors: ["json-always", "project"] }));

// A name that nobody registered sends nothing to the model. The error is a ResponseError.
await connection.sendRequest("prompt", { input: "Hello?", instructionInjectors: ["json-allways"] }).catch((error) => show("unknown", error.toJson()));

// While one turn runs, a followUp waits. The token sends $/cancelRequest; a cancelled turn ends with a result, not with
// an error, and the next one has its turn.
const cancel = new CancellationTokenSource();
const story = connection.sendRequest("prompt", { input: "Tell me a story." }, cancel.token);
const next = connection.sendRequest("followUp", { input: "And then?" });
await begun;
cancel.cancel();
show("story", await story);
show("next", await next);

show("shutdown", await connection.sendRequest("shutdown"));
const exited = once(server, "exit");
await connection.sendNotification("exit");
show("exit", (await exited)[0]);
connection.dispose();
