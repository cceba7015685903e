// What vscode-jsonrpc makes of its arguments, and what it carries.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";

const { createMessageConnection, StreamMessageReader, StreamMessageWriter, Trace } =
  createRequire(new URL("../../../examples/node/package.json", import.meta.url))("vscode-jsonrpc/node");

const server = spawn(process.env.PRISM_RPC, ["--provider", "mock", "--store", "memory"], { stdio: ["pipe", "pipe", "inherit"] });
const connection = createMessageConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
const show = (name, value) => console.log(name, JSON.stringify(value));
const request = (...args) => connection.sendRequest(...args).catch((error) => ({ code: error.code }));
for (const [name, on] of [["error", "onError"], ["unhandled", "onUnhandledNotification"]]) connection[on]((what) => show(name, what));
connection.onNotification("event", () => {});
connection.listen();

await connection.trace(Trace.Verbose, { log: () => {} }, { sendNotification: true }); // $/setTrace, also as VS Code's settings make it
show("nothing", await request("ping"));
show("undefined", await request("ping", undefined));
show("null", await request("ping", null));
show("positional", await request("ping", {}, undefined));
show("slash", await request("textDocument/hover", {}));

const pings = await Promise.all(Array.from({ length: 200 }, () => request("ping", {})));
show("pings", pings.filter((result) => Object.keys(result).length === 0).length);

const input = "é💎 \u2028\u2029\u0085\u0000 \"\\/<>&\t\n".repeat(40_000);
await request("prompt", { sessionId: "s", input });
const { messages } = await request("messages", { sessionId: "s" });
show("large", messages[0].content[0].text === input);

await request("shutdown");
await connection.sendNotification("exit");
show("exit", (await once(server, "exit"))[0]);
connection.dispose();
