import { PassThrough } from "node:stream";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createLocalAgent } from "../fixtures/local-agent.ts";
import { INITIALIZE } from "../fixtures/serve.ts";
import { createAgentServer, serveStdio } from "./index.ts";
import { MAX_BATCH_MESSAGES, MAX_STDIO_MESSAGE_BYTES } from "./limits.ts";

const { agent } = createLocalAgent();
afterAll(() => agent.dispose());

type Answer = { id: unknown; result?: object; error?: { code: number } };

function open() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = "";
  output.setEncoding("utf8").on("data", (more: string) => (text += more));
  const serving = serveStdio(createAgentServer({ agent }), { input, output });
  onTestFinished(() => serving.close());
  const answers = (): Answer[] =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Answer);
  return { input, serving, answers };
}

const ping = (id: unknown): object => ({ jsonrpc: "2.0", id, method: "ping" });
const error = (id: unknown, code: number): object => ({ id, error: { code } });

describe("a line over stdio that is no message", () => {
  it.each<[string, unknown, object[]]>([
    ["an id that is no whole number", ping(1.5), [error(1.5, -32_600)]],
    ["parameters that are a list", { ...ping(7), params: [1] }, [error(7, -32_600)]],
    ["a progress token", { ...ping("a"), params: { _meta: { progressToken: {} } } }, [error("a", -32_600)]],
    ["no JSON", '{"jsonrpc":"2.0","id":9,', [error(null, -32_700)]],
    ["a number", 5, [error(null, -32_600)]],
    ["no batch", [], [error(null, -32_600)]],
    ["a batch", [ping(1), ping(1.5), ping(2)], [error(1.5, -32_600), { id: 1 }, { id: 2 }]],
    ["a large batch", Array.from({ length: MAX_BATCH_MESSAGES + 1 }, () => ping(3)), [error(null, -32_600)]],
    ["an answer to nothing", { jsonrpc: "2.0", id: 4, result: "x" }, []],
    ["a notification", { jsonrpc: "2.0", method: "notifications/cancelled", params: [1] }, []],
  ])("is answered: %s", async (_, line, expected) => {
    const { input, answers } = open();
    const json = typeof line === "string" ? line : JSON.stringify(line);
    input.write(
      `${INITIALIZE.replace("2025-11-25", "2025-03-26")}\n\n${json}\n${JSON.stringify(ping("z"))}\n`,
    );
    await expect.poll(() => answers().some(({ id }) => id === "z")).toBe(true);
    const others = answers().filter(({ id, result }) => id !== "z" && !(result && "serverInfo" in result));
    expect(others).toMatchObject(expected);
    expect(others).toHaveLength(expected.length);
  });

  it.each([
    [
      "the official client",
      (text: string) => ({ method: "ping", params: { text }, jsonrpc: "2.0", id: 5 }),
      5,
    ],
    ["others", (text: string) => ({ ...ping("a-1"), params: { text } }), "a-1"],
    ["no request", (text: string) => [text], null],
  ])("is answered where it is too long, and the next is read: %s", async (_, message, id) => {
    const { input, answers } = open();
    const long = JSON.stringify(message("x".repeat(MAX_STDIO_MESSAGE_BYTES)));
    input.write(`${INITIALIZE}\n${long}\n${JSON.stringify(ping("z"))}\n`);
    await expect.poll(() => answers().some((answer) => answer.id === "z")).toBe(true);
    expect(answers().filter((answer) => answer.error)).toMatchObject([error(id, -32_600)]);
  });
});
