import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { COMPILE_CACHE, makeProject, reference } from "../test/upstream-project.ts";
import type { Project } from "../test/upstream-project.ts";
import { generateTools } from "./admin.ts";
import { runServer } from "./index.ts";
import type { RunningServer } from "./index.ts";

type Era = "modern" | "legacy";
const ERAS: readonly Era[] = ["modern", "legacy"];

const growing = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../../mcp-client/fixtures/growing-server.ts", import.meta.url))],
  env: { ...COMPILE_CACHE },
};
const servers = { everything: reference("everything"), growing };

let project: Project;
let running: RunningServer;

beforeAll(async () => {
  project = await makeProject(afterAll);
  await generateTools(project.source(servers));
  running = await runServer({
    ...project.source(servers, { execution: { typeCheck: "before" }, logging: { level: "ERROR" } }),
    transport: "http",
    port: 0,
    expose: ["resources", "prompts"],
  });
});
afterAll(() => running.close(0));

/** A client whose user answers by the name that its runs ask for. */
async function connect(era: Era, name?: string, model?: string) {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    {
      capabilities: {
        ...(name === undefined ? {} : { elicitation: { form: {} } }),
        ...(model === undefined ? {} : { sampling: {} }),
      },
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
      listChanged: { tools: { autoRefresh: false, onChanged: () => changed.tools++ } },
    },
  );
  const changed = { tools: 0 };
  const logged: unknown[] = [];
  client.setNotificationHandler("notifications/message", ({ params }) => void logged.push(params.data));
  if (name !== undefined) {
    client.setRequestHandler("elicitation/create", async () => ({
      action: "accept",
      content: { name, check: true },
    }));
  }
  if (model !== undefined) {
    client.setRequestHandler("sampling/createMessage", async () => ({
      model,
      role: "assistant",
      content: { type: "text", text: `${model} says hello` },
    }));
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
  onTestFinished(() => client.close());
  const run = async (code: string, options = {}) => {
    const result = await client.callTool({ name: "execute_code", arguments: { code } }, options);
    return result.structuredContent as { success: boolean; result: unknown; error: string | null };
  };
  return { client, run, changed, logged };
}

const everything = (names: string, code: string): string =>
  `import { ${names} } from "./servers/everything/index.ts";\n${code}`;

describe.each(ERAS)("between a client of the %s protocol and the servers behind", (era) => {
  it("questions of two calls side by side both get their answers", async () => {
    const { run } = await connect(era, "Ada");
    const code = everything(
      "trigger_elicitation_request",
      "return JSON.stringify(await trigger_elicitation_request({}));",
    );
    const answers = await Promise.all([run(code), run(code), run(code)]);
    expect(answers.map(({ success, result }) => [success, String(result).includes("Ada")])).toEqual(
      Array.from({ length: 3 }, () => [true, true]),
    );
  });

  it("questions of two clients reach each one's own user", async () => {
    const [ada, bob] = [await connect(era, "Ada"), await connect(era, "Bob")];
    const code = everything(
      "trigger_elicitation_request",
      "return JSON.stringify(await trigger_elicitation_request({}));",
    );
    const [one, other] = await Promise.all([ada.run(code), bob.run(code)]);
    expect([String(one?.result).includes("Ada"), String(other?.result).includes("Bob")]).toEqual([
      true,
      true,
    ]);
  });

  it("sampling is passed to a client that has a model, and refused with a sentence where it has none", async () => {
    const code = everything(
      "trigger_sampling_request",
      'return JSON.stringify(await trigger_sampling_request({ prompt: "Say hello" }));',
    );
    const { run } = await connect(era, undefined, "model-a");
    const answers = await Promise.all([run(code), run(code)]);
    const says: unknown = expect.stringContaining("model-a says hello");
    expect(answers.map(({ result, error }) => String(error ?? result))).toEqual([says, says]);
    const without = await (await connect(era)).run(code);
    expect(without).toMatchObject({
      success: false,
      error: expect.stringContaining("Sampling was refused: The client offers no model."),
    });
  });

  it("progress of a tool rises all the way", async () => {
    const { run } = await connect(era);
    const seen: { progress: number; message?: string | undefined }[] = [];
    const code = everything(
      "trigger_long_running_operation",
      "await trigger_long_running_operation({ duration: 0.5, steps: 4 });\nreturn 1;",
    );
    expect(await run(code, { onprogress: (made: (typeof seen)[0]) => seen.push(made) })).toMatchObject({
      success: true,
    });
    const numbers = seen.map(({ progress }) => progress);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));
    const words = seen.map(({ message = "" }) => message).filter((message) => message.includes(" of 4"));
    expect(words).toHaveLength(4);
    expect(words.at(-1)).toContain("everything.trigger-long-running-operation: 4 of 4");
  });

  it("new tools can be found, checked and imported at once, and clients are told", async () => {
    const { client, run, changed, logged } = await connect(era);
    const name = `times_seven_${era}`;
    const grown = await run(
      `import { grow } from "./servers/growing/index.ts";\nreturn grow({ name: "${name}" });`,
    );
    expect(grown).toMatchObject({ success: true, result: "grown" });
    await vi.waitFor(() => expect(changed.tools).toBeGreaterThan(0), 10_000);
    const told = `Tools of server "growing": new 1 (${name})`;
    expect(logged.join("\n").includes(told)).toBe(era === "legacy");
    const found = await client.callTool({ name: "search_tools", arguments: { query: name } });
    expect(JSON.stringify(found.content)).toContain(`${name}(input: { number: number })`);
    const call = (number: string) =>
      run(
        `import { ${name} } from "./servers/growing/index.ts";\nreturn (await ${name}({ number: ${number} })).product;`,
      );
    expect(await call("6")).toMatchObject({ success: true, result: 42 });
    expect(await call('"six"')).toMatchObject({ success: false, error: expect.stringContaining("number") });
  });
});

describe("tools of a server behind that change while it serves", () => {
  it("are held back, and clients are told", async () => {
    const { run, changed, logged } = await connect("legacy");
    await run('import { alter } from "./servers/growing/index.ts";\nreturn alter();');
    await vi.waitFor(() => expect(changed.tools).toBeGreaterThan(0), 10_000);
    expect(logged.join("\n")).toContain("changed 1 (greet), held back until accepted");
    const greeted = await run('import { greet } from "./servers/growing/index.ts";\nreturn greet();');
    expect(greeted).toMatchObject({ success: false, error: expect.stringContaining("held back") });
  });
});

describe.each(ERAS)("resources and prompts of the servers behind, by the %s protocol", (era) => {
  it("are listed and read under their server's name", async () => {
    const { client } = await connect(era);
    const { resources } = await client.listResources();
    const [first] = resources;
    expect(first?.uri).toMatch(/^mcp:\/\/everything\/demo:\/\//);
    expect(first?.name).toMatch(/^everything\./);
    const { contents } = await client.readResource({ uri: first?.uri ?? "" });
    expect(contents).toMatchObject([{ uri: first?.uri, text: expect.any(String) }]);
    const { resourceTemplates } = await client.listResourceTemplates();
    const template = resourceTemplates.find(({ uriTemplate }) => uriTemplate.includes("text/"));
    expect(template?.uriTemplate).toMatch(/^mcp:\/\/everything\/demo:\/\/.*\{resourceId\}$/);
    const uri = template?.uriTemplate.replace("{resourceId}", "1") ?? "";
    expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri }] });
    const own = first?.uri.replace("mcp://everything/", "") ?? "";
    expect(await client.readResource({ uri: own })).toMatchObject({ contents: [{ uri: own }] });
    await expect(client.readResource({ uri: "mcp://nowhere/x" })).rejects.toThrow(/nowhere/);
    await expect(client.readResource({ uri: "mcp://everything/no://such" })).rejects.toThrow(/no:/);
  });

  it("are rendered and completed", async () => {
    const { client } = await connect(era);
    const { prompts } = await client.listPrompts();
    const names = prompts.map(({ name }) => name);
    expect(names).toContain("everything.simple-prompt");
    expect(await client.getPrompt({ name: "everything.simple-prompt" })).toMatchObject({
      messages: [{ role: "user" }],
    });
    // Only one server has this one, so that its own name is enough.
    expect(await client.getPrompt({ name: "simple-prompt" })).toMatchObject({ messages: [{}] });
    await expect(client.getPrompt({ name: "no-such" })).rejects.toThrow(/no prompt/);
    const ref = { type: "ref/prompt", name: "everything.completable-prompt" } as const;
    const argument = { name: "department", value: "E" };
    const { completion } = await client.complete({ ref, argument });
    expect(completion.values).toContain("Engineering");
  });

  it("are listed and read by code", async () => {
    const { run } = await connect(era);
    const code = everything(
      "mcp_resources_list, mcp_resources_read, mcp_prompts_list, mcp_prompts_get",
      `const { resources } = await mcp_resources_list();
const { contents } = await mcp_resources_read({ uri: resources[0]!.uri });
const { prompts } = await mcp_prompts_list();
const { messages } = await mcp_prompts_get({ name: "simple-prompt" });
return [resources.length > 0, (contents[0]?.text ?? "").length > 0, prompts.length > 0, messages.length];`,
    );
    expect(await run(code)).toMatchObject({ success: true, result: [true, true, true, 1] });
  });
});
