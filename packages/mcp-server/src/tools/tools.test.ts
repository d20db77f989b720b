import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createStateStore } from "@cem/workspace";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectHttp, firstText, jsonOf } from "../../fixtures/clients.ts";
import { createFolderResults } from "../../fixtures/folder-results.ts";
import { createRealAgent } from "../../fixtures/real-agent.ts";
import { quietLogger } from "../../fixtures/serve.ts";
import { createAgentServer, serveHttp } from "../index.ts";
import type { HttpServing } from "../index.ts";

const { agent, workspaceDir, close } = createRealAgent();
let serving: HttpServing;
const clients: Partial<Record<"modern" | "legacy", Client>> = {};

beforeAll(async () => {
  const server = createAgentServer({
    agent,
    state: createStateStore({ workspaceDir }),
    results: createFolderResults(workspaceDir),
    hintFor: ({ code }) =>
      code === "SERVER_NOT_FOUND" || code === "CODE_THREW" ? `A hint for ${code}.` : undefined,
  });
  serving = await serveHttp(server, { port: 0, logger: quietLogger });
  clients.modern = await connectHttp(serving.url, "modern");
  clients.legacy = await connectHttp(serving.url, "legacy");
});

afterAll(async () => {
  await clients.modern?.close();
  await clients.legacy?.close();
  await serving?.close();
  await close();
});

async function call(name: string, args: Record<string, unknown> = {}, era: "modern" | "legacy" = "modern") {
  const client = clients[era];
  if (client === undefined) throw new Error(`not connected: ${era}`);
  return client.callTool({ name, arguments: args });
}

describe("the tools", () => {
  describe.each(["modern", "legacy"] as const)("of the %s protocol", (era) => {
    it("are all described", async () => {
      const tools = (await clients[era]?.listTools())?.tools ?? [];
      expect(tools.map(({ name }) => name)).toEqual([
        "execute_code",
        "execute_task",
        "search_tools",
        "list_servers",
        "get_server_tools",
        "list_available_tools",
        "read_result",
        "get_state",
        "save_state",
      ]);
      for (const tool of tools) {
        expect(tool).toMatchObject({ title: expect.any(String), outputSchema: { type: expect.any(String) } });
        expect(Object.keys(tool.annotations ?? {})).toContain("openWorldHint");
      }
    });

    it("run code", async () => {
      const code = `import { add } from "./servers/calculator/index.ts"; console.log("hi"); return await add({ a: 5, b: 3 });`;
      const result = await call("execute_code", { code }, era);
      expect(result.structuredContent).toEqual({ success: true, result: 8, output: "hi\n", error: null });
      expect(jsonOf(result)).toEqual(result.structuredContent);
      expect(result.content[1]).toMatchObject({
        text: expect.stringMatching(/^Tool calls: calculator\.add 1x/),
      });
    });

    it("list as arrays, which the older protocol wraps", async () => {
      const result = await call("list_servers", {}, era);
      const names = ["calculator", "database", "filesystem", "weather"];
      expect(jsonOf(result)).toEqual(names);
      expect(result.structuredContent).toEqual(era === "modern" ? names : { result: names });
    });
  });

  describe("execute_task", () => {
    it("answers in the original's shape", async () => {
      const result = await call("execute_task", { task_description: "Calculate 5 + 3", verbose: true });
      expect(jsonOf(result)).toEqual({ success: true, result: 8, output: expect.any(String), error: null });
      expect(result.content[1]).toMatchObject({
        text: expect.stringMatching(/Selected: calculator\..*Code, by rules/su),
      });
    });

    it("says what nothing here can do, as an error", async () => {
      const result = await call("execute_task", { task_description: "Send an email to bob@example.com" });
      expect(result.isError).toBe(true);
      expect(jsonOf(result)).toMatchObject({
        success: false,
        error: expect.stringContaining("Nothing was run"),
      });
    });
  });

  describe("execute_code", () => {
    it.each([
      [`import { add } from "./servers/calculatr/index.ts"; return add({});`, "Did you mean calculator?"],
      [
        `import { ad } from "./servers/calculator/index.ts"; return ad({});`,
        "ad is not exported by ./servers/calculator/index.ts. It exports add, calculate,",
      ],
      [`return await nothing();`, "nothing is not defined"],
      [`return (`, "is not valid TypeScript"],
      ["  ", "The code is empty"],
    ])("tells what is wrong with %s", async (code, message) => {
      const result = await call("execute_code", { code });
      expect(result.isError).toBe(true);
      expect(firstText(result)).toContain(message);
    });

    it.each([{}, { code: 5 }, { code: null }])("refuses %j", async (args) => {
      const result = await call("execute_code", args);
      expect(result.isError).toBe(true);
      expect(firstText(result)).toContain("code");
    });

    it("keeps base64 as bytes, and shows the image that it is", async () => {
      const code = `const png = new Uint8Array(1_200).map((_, at) => (at * 31) % 256);
        png.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a]);
        const text = btoa(String.fromCharCode(...png));
        return { text, url: ["data:application/pdf;base64," + text], short: text.slice(0, 100) };`;
      const answer = await call("execute_code", { code });
      const { result } = answer.structuredContent as { result: Record<string, unknown> };
      expect(result).toMatchObject({
        text: { type: "image", mimeType: "image/png", size: 1_200, was: "1600 characters of base64" },
        url: [{ type: "resource", mimeType: "application/pdf", size: 1_200 }],
        short: expect.stringMatching(/^iVBORw0/u),
      });
      expect(answer.content).toContainEqual(
        expect.objectContaining({ type: "image", mimeType: "image/png" }),
      );
    });

    it("keeps a value that is too large, and read_result pages it", async () => {
      const result = await call("execute_code", { code: `return "äöü€".repeat(20_000);` });
      const { result: handle } = result.structuredContent as { result: { path: string; size: number } };
      expect(handle).toMatchObject({ type: "text", size: 180_000, preview: expect.stringMatching(/^äöü€/) });
      let text = "";
      for (let offset: number | undefined = 0; offset !== undefined;) {
        const page = await call("read_result", { handle: handle.path, offset, limit: 50_001 });
        const data = page.structuredContent as { text: string; next_offset?: number };
        text += data.text;
        offset = data.next_offset;
      }
      expect(text).toBe("äöü€".repeat(20_000));
    });

    it("tells of a value that is kept how long it is, what it has and how code reads it", async () => {
      const code = "return Array.from({ length: 5_000 }, (_, id) => ({ id, name: `name ${id}` }));";
      const { structuredContent } = await call("execute_code", { code });
      const { result: kept } = structuredContent as { result: { path: string; size: number; read: string } };
      expect(kept).toMatchObject({ type: "json", items: 5_000, first: expect.any(Array) });
      const again = await call("execute_code", { code: `${kept.read} return value[4_999].name;` });
      expect(again.structuredContent).toMatchObject({ result: "name 4999" });

      const page = await call("read_result", { handle: kept.path, offset: 1_000, limit: 3 });
      expect(page.structuredContent).toMatchObject({
        note: expect.stringMatching(
          new RegExp(
            `^Bytes 1000 to 1003 of ${kept.size}; offset and limit count bytes\\. This is a part of a JSON text`,
          ),
        ),
      });
      const whole = await call("read_result", { handle: kept.path, limit: 262_144 });
      expect(JSON.parse((whole.structuredContent as { text: string }).text)).toHaveLength(5_000);
      expect(whole.structuredContent).not.toHaveProperty("note");
    });

    it("tells the keys of an object that is kept, and the length of a text", async () => {
      const keep = async (code: string) =>
        ((await call("execute_code", { code })).structuredContent as { result: { read: string } }).result;
      expect(await keep(`return { rows: "x".repeat(40_000), total: 5 };`)).toMatchObject({
        keys: ["rows", "total"],
      });
      const text = await keep(`return "x".repeat(40_000);`);
      expect(text).toMatchObject({ characters: 40_000 });
      const again = await call("execute_code", { code: `${text.read} return value.length;` });
      expect(again.structuredContent).toMatchObject({ result: 40_000 });
      const many = `return Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => ["key" + at, at]));`;
      expect(JSON.stringify(await keep(many))).toContain("… and 4970 more");
    });

    it("shows the beginning and end of long output, and keeps all of it", async () => {
      const result = await call("execute_code", {
        code: `for (let n = 0; n < 9000; n++) console.log(n); return null;`,
      });
      const { output } = result.structuredContent as { output: string };
      expect(output).toMatch(
        /^0\n1\n.*characters are left out here\. All \d+: read_result \{"handle":"\/workspace\/results\/.*or read that file in code\].*8999\n$/su,
      );
      expect(output.length).toBeLessThan(17_000);
    });

    it("hands images, sounds and files on as what they are", async () => {
      const results = createFolderResults(workspaceDir);
      for (const name of ["a.png", "b.wav", "c.pdf"]) {
        writeFileSync(path.join(workspaceDir, "results", name), name);
      }
      writeFileSync(path.join(workspaceDir, "results", "large.png"), Buffer.alloc(2 * 1024 * 1024));
      const handle = (type: string, mimeType: string, name: string, size = 5) =>
        JSON.stringify({ type, mimeType, size, path: `/workspace/results/${name}` });
      const result = await call("execute_code", {
        code: `return [${handle("image", "image/png", "a.png")}, { deep: ${handle("audio", "audio/wav", "b.wav")} },
          ${handle("resource", "application/pdf", "c.pdf")}, ${handle("image", "image/png", "large.png")},
          ${handle("image", "image/png", "../../../../etc/passwd")}];`,
      });
      const data = (name: string) => Buffer.from(name).toString("base64");
      expect(result.content.slice(1)).toEqual([
        { type: "image", mimeType: "image/png", data: data("a.png") },
        { type: "audio", mimeType: "audio/wav", data: data("b.wav") },
        {
          type: "resource",
          resource: {
            uri: "file:///workspace/results/c.pdf",
            mimeType: "application/pdf",
            blob: data("c.pdf"),
          },
        },
      ]);
      const lines = Buffer.from('{"é":1}\n'.repeat(400));
      writeFileSync(path.join(workspaceDir, "results", "0123456789ab-lines.bin"), lines);
      const page = await call("read_result", {
        handle: "/workspace/results/0123456789ab-lines.bin",
        limit: 21,
      });
      // Text of a type that does not tell it is read as text, so that values at the border of a page are found.
      expect(jsonOf(page)).toMatchObject({ text: '{"é":1}\n{"é":1}\n{"', next_offset: 20 });
      const image = await call("read_result", { handle: "/workspace/results/large.png", limit: 1000 });
      expect(image.content[1]).toMatchObject({ type: "resource" });
      expect(image.structuredContent).toEqual({ offset: 0, size: 2 * 1024 * 1024, next_offset: 1000 });
      await expect(results.read("/etc/passwd")).rejects.toMatchObject({ code: "RESULT_NOT_FOUND" });
    });
  });

  describe("an error with a hint", () => {
    it("shows it after the message, in runs too", async () => {
      const result = await call("execute_code", { code: "return await nothing();" });
      expect(jsonOf(result)).toMatchObject({
        error: expect.stringMatching(/not defined.* A hint for CODE_THREW\.$/),
      });
    });
  });

  describe("progress", () => {
    it.each(["modern", "legacy"] as const)(
      "of a run is reported by the %s protocol to who asked",
      async (era) => {
        const messages: string[] = [];
        let last = 0;
        const code = `import { add } from "./servers/calculator/index.ts"; return await add({ a: 1, b: 2 });`;
        await clients[era]?.callTool(
          { name: "execute_code", arguments: { code } },
          {
            onprogress: ({ progress, message = "" }) => {
              expect(progress).toBeGreaterThan(last);
              last = progress;
              messages.push(message);
            },
          },
        );
        expect(messages).toEqual([
          "Looking at the tools",
          "Reviewing the code",
          "Running the code",
          expect.stringMatching(/^calculator\.add answered after \d+ ms$/),
        ]);
      },
    );
  });

  describe("search_tools", () => {
    it("answers with signatures, on which comments say what types can't", async () => {
      const result = await call("search_tools", { query: "weather forecast" });
      const lines = firstText(result).split("\n");
      expect(lines).toContain('// import from "./servers/weather/index.ts"');
      const forecast = lines.find((line) => line.startsWith("get_forecast(")) ?? "";
      expect(forecast).toContain(
        "days?: number /* integer 1–31, how many days, beginning tomorrow, default 5 */",
      );
      expect(forecast).toContain("date: string /* The day, as YYYY-MM-DD (UTC) */");
      expect(forecast).toContain('condition: "sunny" | ');
      expect(forecast).toMatch(/ \/\/ Get a forecast of the weather .*\.$/u);
      expect(result.structuredContent).toEqual({
        types: [],
        tools: { "./servers/weather/index.ts": expect.arrayContaining([forecast]) },
        also: expect.arrayContaining(["weather.get_weather"]),
      });
      expect(result.content[1]).toEqual({
        type: "text",
        text: expect.stringMatching(
          /^Also: weather\.get_weather\b.*Names as the query give their signatures\.$/u,
        ),
      });
    });

    it("says how many more there are, and how to get them", async () => {
      const args = { query: "numbers", max_results: 1 };
      const cut = await call("search_tools", args);
      const [, count = "", wanted = ""] =
        /(\d+) more match: "max_results": (\d+) shows them\./u.exec(
          JSON.stringify(cut.content[1]).replaceAll("\\", ""),
        ) ?? [];
      expect(Number(wanted)).toBe(Number(count) + 1);
      const all = await call("search_tools", { ...args, max_results: Number(wanted), detail_level: "name" });
      expect(Object.values(jsonOf(all) as Record<string, string[]>).flat()).toHaveLength(Number(wanted));
      expect(JSON.stringify(all.content)).not.toContain("more match");
    });

    it("answers in three other shapes", async () => {
      const search = async (detail: string) =>
        jsonOf(await call("search_tools", { query: "weather", detail_level: detail, max_results: 1 }));
      expect(await search("name")).toEqual({ weather: ["get_weather"] });
      expect(await search("description")).toEqual({
        weather: { get_weather: { description: expect.stringContaining("weather") } },
      });
      expect(await search("full")).toEqual({
        weather: {
          get_weather: {
            code: expect.stringMatching(
              /^import \{ get_weather \} from "\.\/servers\/weather\/index\.ts";\ntype Month = .*\nget_weather\(/u,
            ),
            example: 'await get_weather({ location: "San Francisco" })',
            description: expect.any(String),
            source: expect.stringContaining("export async function get_weather("),
          },
        },
      });
    });

    it("lists what is relevant alone", async () => {
      const result = await call("search_tools", { query: "weather forecast tomorrow", detail_level: "name" });
      const found = jsonOf(result) as Record<string, string[]>;
      expect(Object.keys(found)).toEqual(["weather"]);
      expect(found["weather"]?.[0]).toBe("get_forecast");
      expect(result.content).toHaveLength(1);
    });

    it("answers with nothing and what to try where nothing matches", async () => {
      const result = await call("search_tools", { query: "order a pizza", detail_level: "full" });
      expect(jsonOf(result)).toEqual({});
      expect(result.structuredContent).toEqual({});
      expect(result.content[1]).toMatchObject({
        text: expect.stringMatching(
          /^No tool is about these words\. Try others, or the name of a server: calculator, database, /,
        ),
      });
    });

    it.each(["order a pizza", "query the crm for contacts"])(
      "says why servers have no tools: %s",
      async (query) => {
        const message = 'The MCP server "crm" has given no tools yet: it is down.';
        const discoverTools: typeof agent.discoverTools = async (options) => ({
          ...(await agent.discoverTools(options)),
          problems: [{ server: "crm", file: "/servers/crm", message }],
        });
        const own = createAgentServer({ agent: { ...agent, discoverTools } });
        const served = await serveHttp(own, { port: 0, logger: quietLogger });
        const client = await connectHttp(served.url, "modern");
        const { content } = await client.callTool({ name: "search_tools", arguments: { query } });
        expect(JSON.stringify(content)).toContain(JSON.stringify(message).slice(1, -1));
        await client.close();
        await served.close();
      },
    );

    it.each([{ query: "x", detail_level: "most" }, { query: "x", max_results: 0 }, {}])(
      "refuses %j",
      async (args) => {
        expect(await call("search_tools", args)).toMatchObject({ isError: true });
      },
    );
  });

  describe("get_server_tools and list_available_tools", () => {
    it("name tools, and suggest a server", async () => {
      const names = jsonOf(await call("get_server_tools", { server_name: "calculator" }));
      expect(names).toEqual(expect.arrayContaining(["add", "divide"]));
      expect(jsonOf(await call("list_available_tools"))).toMatchObject({ calculator: names });
      const unknown = await call("get_server_tools", { server_name: "calculater" });
      expect(unknown.isError).toBe(true);
      expect(firstText(unknown)).toBe(
        'There is no server "calculater". Did you mean "calculator"? A hint for SERVER_NOT_FOUND.',
      );
    });
  });

  describe("get_state and save_state", () => {
    it("share a file with guest code", async () => {
      expect(jsonOf(await call("get_state", { state_file: "t.json" }))).toMatchObject({
        exists: false,
        data: {},
      });
      const saved = await call("save_state", { state_data: { count: 1 }, state_file: "t.json" });
      expect(jsonOf(saved)).toMatchObject({ success: true, file: "/workspace/t.json" });
      const code = `import { readFile, writeFile } from "node:fs/promises";
        const state = JSON.parse(await readFile("/workspace/t.json", "utf8"));
        await writeFile("/workspace/t.json", JSON.stringify({ count: state.count + 1 }));`;
      expect((await call("execute_code", { code })).isError).toBeUndefined();
      expect(jsonOf(await call("get_state", { state_file: "t.json" }))).toMatchObject({
        exists: true,
        data: { count: 2 },
      });
      const { version } = jsonOf(saved) as { version: string };
      const late = await call("save_state", { state_data: {}, state_file: "t.json", version });
      expect(firstText(late)).toContain("was changed by someone else");
    });

    it.each(["../x.json", "/etc/x.json", "a/../../x.json"])("refuse %s", async (file) => {
      const read = await call("get_state", { state_file: file });
      const saved = await call("save_state", { state_data: {}, state_file: file });
      expect([read.isError, saved.isError]).toEqual([true, true]);
      expect(firstText(saved)).toContain("A state file is a path inside the workspace");
    });

    it("hold 50 saves at once, of both protocols", async () => {
      const saves = Array.from({ length: 50 }, (_, index) =>
        call(
          "save_state",
          { state_data: { index }, state_file: "many.json" },
          index % 2 ? "modern" : "legacy",
        ),
      );
      for (const result of await Promise.all(saves)) expect(result.isError).toBeUndefined();
      const { index } = JSON.parse(readFileSync(path.join(workspaceDir, "many.json"), "utf8")) as {
        index: number;
      };
      expect(index).toBeGreaterThanOrEqual(0);
    });
  });

  describe("unknown ones", () => {
    it.each(["modern", "legacy"] as const)("are an error of the %s protocol", async (era) => {
      await expect(call("execute", {}, era)).rejects.toThrow(/execute not found/);
    });
  });
});
