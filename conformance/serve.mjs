// Serves the fixtures of the file named by the first argument on a free
// loopback port, prints the address as one line and runs until its input ends.
import { LLMock } from "@copilotkit/aimock";

const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent", auth: { apiKeys: [process.env.OPENAI_API_KEY] } });
mock.loadFixtureFile(process.argv[2]);
await mock.start();
console.log(mock.url);

process.stdin.resume();
process.stdin.on("end", async () => {
  await mock.stop();
  process.exit(0);
});
