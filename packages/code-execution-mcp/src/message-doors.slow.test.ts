import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { person, valuesOf } from "../../mcp-client/fixtures/people.ts";
import { messageTypes, openDoors } from "../test/message-doors.ts";
import type { Doors, Way } from "../test/message-doors.ts";

vi.setConfig({ testTimeout: 240_000 });

/** Two ways in which everything differs; all of them with `pnpm test:canary`. */
const WAYS: readonly Way[] =
  process.env["CEM_TESTS"] === "all"
    ? (["stdio", "http"] as const).flatMap((client) =>
        (["legacy", "modern"] as const).flatMap((era) =>
          (["stdio", "http"] as const).map((behind) => ({ client, era, behind })),
        ),
      )
    : [
        { client: "stdio", era: "legacy", behind: "stdio" },
        { client: "http", era: "modern", behind: "http" },
      ];

/** The doors of each way, which several tests share: each opening starts up to five processes. */
const opened = new Map<Way, Doors>();
const closing: (() => Promise<void>)[] = [];
let answerOf: (text: string) => string = () => "";
afterEach(() => {
  answerOf = () => "";
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

async function doorsOf(way: Way): Promise<Doors> {
  const options = { answer: (text: string) => answerOf(text) };
  const doors = opened.get(way) ?? (await openDoors(way, options, (close) => void closing.push(close)));
  opened.set(way, doors);
  doors.forget();
  return doors;
}

const VALUES = Array.from({ length: 200 }, (_, index) => valuesOf(person(index))).flat();
const EMAIL_TOKEN = /\[\[EMAIL:[a-z2-7]{16}\]\]|user\.[a-z2-7]{16}@redacted\.invalid/g;

/** The types of messages in which clients get tokens. */
const WITH_TOKENS = [
  "CallToolResult",
  "CompleteResult",
  "GetPromptResult",
  "JSONRPCErrorResponse",
  "ListPromptsResult",
  "ListResourceTemplatesResult",
  "ListResourcesResult",
  "ProgressNotification",
  "ReadResourceResult",
];
/** Sent to who watches a resource, which only 2025-11-25 and older have, here and behind. */
const UPDATED = "ResourceUpdatedNotification";
/** Those in which clients are asked something. */
const QUESTIONS: Readonly<Record<Way["era"], readonly string[]>> = {
  legacy: ["CreateMessageRequest", "ElicitRequest"],
  modern: ["InputRequiredResult"],
};

/** The values that stand in something, as they are or as base64. */
function leaked(seen: unknown): string[] {
  const plain = typeof seen === "string" ? seen : JSON.stringify(seen);
  const blobs = [...plain.matchAll(/[A-Za-z\d+/]{40,}={0,2}/g)].map(([blob]) =>
    Buffer.from(blob, "base64").toString("latin1"),
  );
  const text = [plain, ...blobs].join("\n");
  return VALUES.filter((value) => text.includes(value));
}

function tokensIn(data: unknown): string[] {
  return JSON.stringify(data).match(EMAIL_TOKEN) ?? [];
}

/** Uses everything that servers offer. */
async function visitAll({ client, run }: Doors, onForeign: (tokens: string[]) => void): Promise<void> {
  const { resources } = await client.listResources();
  await client.listResourceTemplates();
  const profile = resources.find(({ uri }) => uri.startsWith("mcp://directory/"))?.uri ?? "";
  await client.readResource({ uri: profile });
  const { prompts } = await client.listPrompts();
  const named = (ending: string): string =>
    prompts.find(({ name }) => name.startsWith(`directory.${ending}`))?.name ?? "";
  const [who = ""] = tokensIn(
    await client.getPrompt({ name: named("welcome"), arguments: { who: "nobody" } }),
  );
  await client.getPrompt({ name: named("welcome"), arguments: { who: `to ${who}` } });
  await client.getPrompt({ name: named("fail") }).catch(() => {});
  const ref = { type: "ref/prompt", name: named("welcome") } as const;
  await client.complete({ ref, argument: { name: "who", value: who } });
  for (const query of ["ask_model", "keep"])
    await client.callTool({ name: "search_tools", arguments: { query } });
  await client.callTool({ name: "get_server_tools", arguments: { server_name: "directory" } });
  await client.callTool({ name: "list_servers", arguments: {} });
  await run("return directory.report({});");
  await run("return directory.refuse({});");
  await run("return directory.ask_user({});");
  // The answer of the model quotes a value of the other server, whose token it read in a result.
  onForeign(tokensIn(await run("return other.report({});")));
  await run("return directory.ask_model({});");
}

describe.each(WAYS)("between a client of the $era protocol over $client and servers over $behind", (way) => {
  it("personal data is in no message to the client, and reaches the server that it is of", async () => {
    let foreign: string[] = [];
    const doors = await doorsOf(way);
    answerOf = (text) => `You said ${text}, they said ${foreign.join()}`;
    const { received, got } = doors;
    await visitAll(doors, (tokens) => (foreign = tokens));

    for (const { type, message } of received) expect([type, leaked(message)]).toEqual([type, []]);
    const shown = new Set(
      received.filter(({ message }) => tokensIn(message).length > 0).map(({ type }) => type),
    );
    expect([...shown].toSorted()).toEqual([...WITH_TOKENS, ...QUESTIONS[way.era]].toSorted());
    expect(leaked(doors.log())).toEqual([]);
    expect(doors.log()).toMatch(/"other.{0,4} has is missing from a list:.*Contact \[\[EMAIL:/);
    expect(doors.log().includes("directory (stderr): Contact [[EMAIL:")).toBe(way.behind === "stdio");

    const uri = `people://${person(20).email}/profile`;
    expect(got("read")).toEqual([uri]);
    const [first, second, failing] = got("prompted") as { name: string; who?: string }[];
    expect(first).toEqual({ name: `welcome ${person(25).email}`, who: "nobody" });
    expect(VALUES).toContain(second?.who?.replace("to ", ""));
    expect(failing).toEqual({ name: "fail" });
    expect(VALUES).toContain((got("completed")[0] as { argument: { value: string } }).argument.value);
    expect(got("answered")).toEqual([{ name: `Yes, ${person(34).email}` }]);
    const sampled = JSON.stringify(got("sampled"));
    expect(sampled).toContain(person(30).email);
    expect(sampled).toContain(person(31).iban);
    // A model has no say in where values go: a token of the other server stays one.
    expect(foreign).toHaveLength(1);
    expect(sampled).toContain(`they said ${foreign.join()}`);
  });

  it("a reason to cancel goes no further, of a run or of a request to a server behind", async () => {
    const doors = await doorsOf(way);
    const cancelled = async (
      count: number,
      start: (signal: AbortSignal) => Promise<unknown>,
    ): Promise<void> => {
      const controller = new AbortController();
      const running = start(controller.signal).catch(() => {});
      await vi.waitFor(() => expect(doors.got("waiting")).toHaveLength(count), 60_000);
      controller.abort(`${person(60).email} hung up`);
      await running;
      await vi.waitFor(() => expect(doors.got("cancelled")).toHaveLength(count), 20_000);
    };
    await cancelled(1, (signal) => doors.run("return directory.wait({});", { signal }));
    await cancelled(2, (signal) => doors.client.getPrompt({ name: "directory.wait" }, { signal }));
    expect(leaked(doors.got("cancelled"))).toEqual([]);
    expect(leaked(doors.received.map(({ message }) => message))).toEqual([]);
  });
});

describe.each(WAYS.filter(({ era, behind }) => era === "legacy" && behind === "stdio"))(
  "between a client of the $era protocol over $client and servers over $behind that it watches",
  (way) => {
    // With servers that no other test has used, so that one process behind is both watched and changed.
    it("a resource is watched by the URI that the client was shown, and a question is withdrawn without words", async () => {
      const { client, run, received, got } = await openDoors(way, { answer: () => "" }, onTestFinished);
      const { resources } = await client.listResources();
      const uri = resources.find((one) => one.uri.startsWith("mcp://directory/"))?.uri ?? "";
      await client.subscribeResource({ uri });
      await run("return directory.touch({});");
      await run("return directory.withdraw({});");
      await client.unsubscribeResource({ uri });
      const own = `people://${person(20).email}/profile`;
      expect([got("subscribed"), got("unsubscribed")]).toEqual([[own], [own]]);
      const of = (wanted: string): JSONRPCMessage[] =>
        received.filter(({ type }) => type === wanted).map(({ message }) => message);
      expect(of(UPDATED)).toMatchObject([{ params: { uri } }]);
      expect(of("CancelledNotification")).toMatchObject([
        { params: { reason: expect.stringContaining("no longer asked") } },
      ]);
      expect(leaked(received)).toEqual([]);
    });
  },
);

describe("the table of messages", () => {
  const page = readFileSync(
    path.resolve(import.meta.dirname, "../../../docs/explanation/personal-data.md"),
    "utf8",
  );
  const rows = page
    .split("\n")
    .filter((line) => /^\| (?!Type )\w/.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map(([, type = "", toClient = "", toServer = ""]) => ({ type, toClient, toServer }));

  it("has every type of message that the SDK knows, and no other", () => {
    expect(rows.map(({ type }) => type)).toEqual(messageTypes().toSorted());
  });

  it("says of each what is replaced in it, or why nothing is", () => {
    for (const { type, toClient, toServer } of rows) {
      expect([type, toClient]).toEqual([
        type,
        expect.stringMatching(/^(?:Tokens[.,:]|Nothing: |Not sent[.:])/),
      ]);
      expect([type, toServer]).toEqual([
        type,
        expect.stringMatching(/^(?:Values[ ,]|Nothing: |Not sent[.:])/),
      ]);
    }
  });

  it("promises tokens in those messages in which a client was seen to get them", () => {
    const promised = rows.filter(({ toClient }) => toClient.startsWith("Tokens")).map(({ type }) => type);
    expect(promised.toSorted()).toEqual(
      [...WITH_TOKENS, ...Object.values(QUESTIONS).flat(), UPDATED].toSorted(),
    );
  });
});
