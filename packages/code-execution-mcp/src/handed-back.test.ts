import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { makeProject } from "../test/upstream-project.ts";
import { createAgent, customTool, defineTool, runServer } from "./index.ts";
import type { ConfigInput } from "./index.ts";

/** Each test starts a server, perhaps on a busy machine. */
vi.setConfig({ testTimeout: 120_000 });

const SECRET = "x/9'k$4`{}tQ-Zp";
const BEFORE = {
  step: 1,
  people: [
    { email: "ada@example.com", phone: "+1 202 555 0143", card: 4_111_111_111_111_111 },
    { email: "bob@example.com", note: "Write to ada@example.com or bob@example.com." },
  ],
  "ada@example.com": { seen: true },
  password: SECRET,
};

async function open(more: ConfigInput = {}) {
  const project = await makeProject();
  const file = path.join(project.folder, "workspace", "state.json");
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(BEFORE));
  const saved: unknown[] = [];
  const keep = customTool({
    name: "keep_contact",
    description: "Keeps a contact.",
    inputSchema: z.object({ email: z.string() }),
    handler: (input) => {
      saved.push(input);
      return "kept";
    },
  });
  const running = await runServer({
    ...project.source({}, { logging: { level: "ERROR" }, ...more }),
    transport: "http",
    port: 0,
    customTools: [keep],
    tools: { crm: { who: defineTool({ description: "Who.", execute: async () => ({ password: SECRET }) }) } },
  });
  onTestFinished(() => running.close(0));
  const connect = async (mode: "legacy" | { pin: string } = "legacy") => {
    const client = new Client({ name: "model", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
    onTestFinished(() => client.close());
    return async (name: string, args: object = {}) => {
      const answer = await client.callTool({ name, arguments: { ...args } });
      const [block] = answer.content as unknown as [{ text: string }];
      return { ...answer, text: block.text, data: answer.structuredContent as Record<string, unknown> };
    };
  };
  return { connect, saved, read: async () => JSON.parse(await readFile(file, "utf8")) as unknown };
}

type State = typeof BEFORE;

describe("what a client got as tokens and hands back", () => {
  it.each(["values", "tokens"] as const)("is kept in the state as it was: code sees %s", async (guest) => {
    const { connect, read } = await open({ privacy: { guest, rules: [{ from: "crm", action: "deny" }] } });
    const call = await connect();
    const got = await call("get_state");
    expect(got.text).not.toMatch(/example\.com|202 555|4111 ?1111/u);
    const state = got.data["data"] as State;
    const next = { ...state, step: 2, people: state.people.toReversed(), first: state.people[0]?.email };
    const { version } = got.data;
    expect((await call("save_state", { state_data: next, version })).isError ?? false).toBe(false);
    expect(await read()).toEqual({
      ...BEFORE,
      step: 2,
      people: BEFORE.people.toReversed(),
      first: "ada@example.com",
    });
  });

  it("is refused, and nothing is kept, where a token is of another session, cut or made up", async () => {
    const { connect, read } = await open();
    const [call, other] = [await connect(), await connect()];
    const mine = (await call("get_state")).data["data"] as State;
    const theirs = (await other("get_state")).data["data"] as State;
    const own = String(mine.people[0]?.email);
    for (const [wrong, key] of [
      [{ ...mine, people: [{ email: theirs.people[0]?.email }] }, "people[0].email"],
      [{ ...mine, owner: { email: own.slice(0, -5) } }, "owner.email"],
      [{ ...mine, owner: `${own.slice(0, 12)}…]]` }, "owner"],
      [{ ...mine, owner: own.replace(/..\]\]$/u, "]]") }, "owner"],
      [{ ...mine, [String(theirs.people[1]?.email)]: 1 }, String(theirs.people[1]?.email)],
      [{ ...mine, card: theirs.people[0]?.card }, "card"],
    ] as const) {
      const { isError, text } = await call("save_state", { state_data: wrong });
      expect(isError).toBe(true);
      expect(text).toContain(`${key} has `);
      expect(text).toContain("Nothing was saved");
      expect(await read()).toEqual(BEFORE);
    }
  });

  it("is a value to code that keeps it, and to a custom tool", async () => {
    const { connect, saved, read } = await open();
    const call = await connect();
    const state = (await call("get_state")).data["data"] as State;
    const code = `import { writeFileSync } from "node:fs";
// ${state.password}
writeFileSync("/workspace/state.json", JSON.stringify({ email: '${state.people[0]?.email}', single: '${state.password}', template: \`${state.password}\`, parsed: JSON.parse('{"database":"${state.password}"}') }));
return true;`;
    expect((await call("execute_code", { code })).data).toMatchObject({ success: true, error: null });
    expect(await read()).toEqual({
      email: "ada@example.com",
      single: SECRET,
      template: SECRET,
      parsed: { database: SECRET },
    });
    await call("keep_contact", { email: state.people[0]?.email });
    expect(saved).toEqual([{ email: "ada@example.com" }]);
    const unknown = "[[EMAIL:aaaabbbbccccdddd]]";
    expect((await call("keep_contact", { email: unknown })).text).toContain(unknown);
    expect(saved).toHaveLength(1);
    const refused = await call("execute_code", { code: `return 1;\n// x\nconst email = "${unknown}";` });
    expect(refused.text).toContain(`Line 3: ${unknown} stands for no value of this session.`);
  });

  it("is known in each request of a client without a session, without its key and when it comes back", async () => {
    const { connect, saved } = await open();
    const call = await connect({ pin: "2026-07-28" });
    const importing = 'import { who } from "./servers/crm/index.ts";\n';
    const { content, data } = await call("execute_code", {
      code: `${importing}return (await who({})).password;`,
    });
    expect(data["result"]).toEqual(expect.stringMatching(/^\[\[SECRET:[a-z2-7]{16}\]\]$/u));
    expect(JSON.stringify(content[1])).toContain("stand for values kept from you: write them whole");
    expect((await call("execute_code", { code: "return 1;" })).content).toHaveLength(1);
    await call("keep_contact", { email: data["result"] });
    expect(saved).toEqual([{ email: SECRET }]);
  });

  it("is refused in a skill, which another session could not read", async () => {
    const { connect } = await open();
    const call = await connect();
    const state = (await call("get_state")).data["data"] as State;
    const { isError, text } = await call("save_skill", {
      name: "mail",
      description: "Mails.",
      code: `export const to = "${state.people[0]?.email}";`,
      test: 'import { to } from "./skills/mail/index.ts";\nreturn to !== "";',
    });
    expect([isError, text]).toEqual([true, expect.stringContaining("pass it as an argument")]);
  });
});

describe("a rule that asks", () => {
  it.each([
    ["onElicit", "cem"],
    [
      "onApprove",
      "privacy.rules say to ask: may a value of type EMAIL that came from crm.who go to mail.send?",
    ],
  ] as const)("asks by the agent's %s", async (by, shown) => {
    const { folder } = await makeProject();
    const asked: string[] = [];
    const asking = {
      onElicit: async ({ server }: { server: string }) => {
        asked.push(server);
        return { action: "accept" as const, content: { allow: true } };
      },
      onApprove: async ({ reason }: { reason: string }) => {
        asked.push(reason);
        return "once" as const;
      },
    };
    const mail = { description: "Send.", input: z.object({ to: z.string() }), execute: () => "sent" };
    const agent = createAgent({
      cwd: folder,
      configFile: false,
      config: { privacy: { rules: [{ from: "crm", to: "mail", action: "ask" }] } },
      tools: {
        crm: { who: defineTool({ description: "Who.", execute: () => ({ email: "ada@example.com" }) }) },
        mail: { send: defineTool(mail) },
      },
      [by]: asking[by],
    });
    onTestFinished(() => agent.dispose());
    const result = await agent.executeCode(`import { who } from "./servers/crm/index.ts";
import { send } from "./servers/mail/index.ts";
return await send({ to: (await who() as { email: string }).email });`);
    expect([result.error, result.value]).toEqual([null, "sent"]);
    expect(asked).toEqual([shown]);
  });
});

describe("the result of a run", () => {
  it("has no secret in its output that a key in its value tells", async () => {
    const { folder } = await makeProject();
    const agent = createAgent({ cwd: folder, configFile: false });
    onTestFinished(() => agent.dispose());
    const made = 'const word = ["Tr0ub4dor", "77x"].join("-");';
    const result = await agent.executeCode(
      `${made} console.log("about to set " + word); return { account: { password: word } };`,
    );
    expect(result.status).toBe("success");
    expect(result.output).toMatch(/^about to set \[\[SECRET:/u);
    expect(JSON.stringify(result)).not.toContain("Tr0ub4dor-77x");
  });
});
