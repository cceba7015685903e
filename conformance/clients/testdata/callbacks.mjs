// A client whose injectors are callbacks: vscode-jsonrpc answers what the server asks.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";

const { createMessageConnection, ResponseError, StreamMessageReader, StreamMessageWriter } =
  createRequire(new URL("../../../examples/node/package.json", import.meta.url))("vscode-jsonrpc/node");

const server = spawn(process.env.PRISM_RPC, ["--provider", "mock", "--store", "memory", "--injector-timeout", "1s"], { stdio: ["pipe", "pipe", "inherit"] });
const connection = createMessageConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
const show = (name, value) => console.log(name, JSON.stringify(value));
const skipped = [];
connection.onNotification("event", (event) => {
  if (event.type === "injector_skipped") skipped.push(`${event.name}: ${event.reason}`);
});
const answers = {
  good: ({ turn, input }) => ({ instructions: `Turn ${turn}: ${input[0].text}`, tools: [] }),
  later: () => new Promise((resolve) => setTimeout(resolve, 50, { contextBlocks: [{ title: "Repo", content: "A monorepo." }] })),
  none: () => null,
  broken: () => { throw new ResponseError(-32000, "no"); },
  nothing: () => undefined,
  never: (_, token) => new Promise((resolve) => token.onCancellationRequested(() => { show("cancelled", true); resolve(null); })),
};
connection.onRequest("applyInjector", ({ name, context }, token) => answers[name](context, token));
connection.listen();

const names = Object.keys(answers);
await connection.sendRequest("initialize", { initializationOptions: { injectors: names.map((name) => ({ name, when: "every_turn", callback: true })) } });
const { injected } = await connection.sendRequest("prompt", { input: "hi", instructionInjectors: names });
show("injected", injected.map(({ name, placement, ignored }) => [name, placement, ignored ?? []]));
show("skipped", skipped);
await connection.sendRequest("registerInjector", { name: "broken", when: "every_turn", callback: true, onError: "fail" });
show("fail", await connection.sendRequest("prompt", { input: "hi", instructionInjectors: ["broken"] }).catch(({ code }) => ({ code })));
await connection.sendRequest("shutdown");
const exited = once(server, "exit");
await connection.sendNotification("exit");
show("exit", (await exited)[0]);
connection.dispose();
