import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { JsonObject } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import * as z from "zod";
import { inspectTrust, trustItems } from "./admin/trust.ts";
import { createServer, definePlugin, defineTool, openWorkflows, runServer } from "./index.ts";
import type { AgentOptions, ConfigInput, OwnWorkflows } from "./index.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const example = (name: string): string => path.join(root, "examples/workflows", name);

let folder: string;
let runs: string;
let workflows: OwnWorkflows;
const configWith = (more: ConfigInput = {}): AgentOptions => ({
  configFile: false,
  config: {
    ...more,
    execution: {
      workspaceDir: folder,
      serversDir: path.join(root, "servers"),
      skillsDir: path.join(root, "skills"),
      workflowRunsDir: runs,
      ...more.execution,
    },
    optimizations: { toolCacheFile: path.join(folder, "tools.json"), sandboxPooling: false },
  },
});

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "cem-workflows-"));
  runs = path.join(mkdtempSync(path.join(tmpdir(), "cem-runs-")), "workflows");
  workflows = await openWorkflows(
    configWith({
      toolMappings: [{ serverName: "calculator", toolName: "add", pythonFunctionName: "plus" }],
    }),
  );
});
afterAll(async () => {
  await workflows.dispose();
  for (const one of [folder, path.dirname(runs)]) rmSync(one, { recursive: true, force: true });
});

const call = (name: string, config: JsonObject, more: JsonObject = {}) => ({
  name,
  type: "tool_call",
  config,
  ...more,
});

describe("openWorkflows", () => {
  it("holds a file with a form back where its folder is not taken for trusted, until a yes to it as it is", async () => {
    vi.stubEnv("XDG_CONFIG_HOME", path.join(folder, "home"));
    onTestFinished(() => void vi.unstubAllEnvs());
    const file = path.join(folder, "with-form.yaml");
    const form =
      "{ name: f, target: { type: tool, tool: calculator.add }, fields: [{ name: a, type: number }] }";
    const inner = `[{ name: ask, type: form, config: { trial: true, form: ${form}, data: { a: 1 } } }]`;
    const write = (version: number): void =>
      writeFileSync(
        file,
        `name: w\nversion: "${version}.0"\nsteps: [{ name: s, type: condition, config: { condition: true, then: ${inner} } }]\n`,
      );
    write(1);
    const source = { ...configWith(), trustFolder: false };
    const strict = await openWorkflows(source);
    onTestFinished(() => strict.dispose());
    await expect(strict.run(file)).rejects.toMatchObject({
      code: "FOLDER_UNTRUSTED",
      details: { folder: file },
    });
    const allow = async (): Promise<void> => {
      const report = await inspectTrust(source, file);
      await trustItems(report.folder, report.requested);
    };
    await allow();
    const trusted = await openWorkflows(source);
    onTestFinished(() => trusted.dispose());
    expect(await trusted.run(file)).toMatchObject({ status: "success" });
    write(2);
    await expect(trusted.run(file)).rejects.toMatchObject({ code: "FOLDER_UNTRUSTED" });
    // Whoever calls the library has named the file.
    expect(await workflows.run(file)).toMatchObject({ status: "success" });
  });

  it("are validated with the tools that they call and the code that they run", async () => {
    const step = (name: string, type: string, config: JsonObject): JsonObject => ({ name, type, config });
    const steps = [
      step("plus", "tool_call", { tool: "plus", arguments: { a: 1, b: 2 } }),
      step("later", "tool_call", { server: "${{ variables.server }}", tool: "add" }),
      step("code", "code_execution", { code: "const text = `${{ a: 1 }.a}`;\nreturn text;" }),
    ];
    const variables = { server: "calculator" };
    await expect(workflows.validate({ name: "right", variables, steps })).resolves.toBeDefined();
    const body = [step("inner", "code_execution", { code: "const a = 1;\nconst = 2;" })];
    const wrong = [
      step("server", "tool_call", { server: "calculater", tool: "add" }),
      step("tool", "tool_call", { server: "calculator", tool: "ad" }),
      step("loop", "loop", { items: [1], steps: body }),
    ];
    const refused = workflows.validate({ name: "wrong", steps: wrong });
    await expect(refused).rejects.toMatchObject({ code: "WORKFLOW_INVALID" });
    const message = await refused.catch((error: Error) => error.message);
    expect(message).toMatch(
      /steps\[0\].config.tool .*calculator.*\n.*steps\[1\].config.tool .*add.*\n.*in its line 2/u,
    );
  });

  it("runs the examples", async () => {
    const weather = await workflows.run(example("city-weather.yaml"), {
      variables: { cities: ["Paris", "Cairo"] },
    });
    expect(weather).toMatchObject({
      status: "success",
      outputs: { warmest: "Cairo", report: "reports/weather.txt" },
    });
    expect(readFileSync(path.join(folder, "reports/weather.txt"), "utf8")).toMatch(
      /^Warmest in July: Cairo \(/u,
    );
    const check = await workflows.run(example("order-check.yaml"), { variables: { limit: 1 } });
    expect(check).toMatchObject({ status: "success", outputs: { verdict: "many" } });
  });

  it("calls a tool by its name in tool_mappings, by server and name, and says what a wrong name may mean", async () => {
    const args = { a: 1, b: 2 };
    const result = await workflows.run({
      name: "names",
      steps: [
        call("mapped", { tool: "plus", arguments: args }),
        call("dotted", { tool: "calculator.add", arguments: args }),
        call("wrong", { server: "calculator", tool: "ad", arguments: args }, { on_error: "continue" }),
      ],
      outputs: {
        mapped: "${{ steps.mapped }}",
        dotted: "${{ steps.dotted }}",
        wrong: "${{ errors.wrong.message }}",
      },
    });
    expect(result.outputs).toMatchObject({
      mapped: 3,
      dotted: 3,
      wrong: expect.stringContaining('Did you mean "add"?') as string,
    });
  });

  it("repeats no code that failed after a call which is not to be repeated, unless the call itself failed", async () => {
    const made: string[] = [];
    const said = (name: string, annotations = {}, fails = false) =>
      defineTool({
        description: `Does ${name}.`,
        input: z.object({}),
        annotations,
        execute: async () => {
          made.push(name);
          if (fails) throw new Error(`${name} failed`);
          return name;
        },
      });
    const shop = {
      read: said("read", { readOnlyHint: true }),
      book: said("book"),
      full: said("full", {}, true),
    };
    const opened = await openWorkflows({ ...configWith(), tools: { shop } });
    onTestFinished(() => opened.dispose());
    const run = (code: string) => {
      made.length = 0;
      const retry = { on_error: "retry", retry: { attempts: 2, delay: 0 } };
      const step = { name: "act", type: "code_execution", ...retry, config: { code } };
      return opened.run({ name: "once", steps: [step] });
    };
    const use = 'import { read, book, full } from "./servers/shop/index.ts";\n';
    const { run: id, error } = await run(`${use}await read({}); await book({}); throw new Error("later");`);
    expect(error?.message).toMatch(/later.* was not tried again, since it may have been executed/u);
    expect(await opened.resume(id)).toMatchObject({ error: { code: "WORKFLOW_STEP_UNCERTAIN" } });
    expect(made).toEqual(["read", "book"]);
    await run(`${use}await book({}); await full({});`);
    expect(made).toEqual(["book", "full"]);
    await run(`${use}await full({}).catch(() => {}); throw new Error("later");`);
    expect(made).toEqual(["full"]);
    await run(`${use}await read({}); await full({});`);
    expect(made).toEqual(["read", "full", "read", "full"]);
    await run(`${use}await read({}); throw new Error("later");`);
    expect(made).toEqual(["read", "read"]);
    made.length = 0;
    const step = call("act", { tool: "shop.full" }, { on_error: "retry", retry: { attempts: 2, delay: 0 } });
    await opened.run({ name: "call", steps: [step] });
    expect(made).toEqual(["full", "full"]);
  });

  it("has the guardrails of a step hold for tools that are files", async () => {
    const write = call("write", {
      server: "filesystem",
      tool: "write_file",
      arguments: { path: "guarded.txt", content: "x" },
    });
    const run = (approvals: string[]) =>
      workflows.run({ name: "g", steps: [{ ...write, guardrails: { approvals } }] });
    expect(await run(["writes"])).toMatchObject({ status: "error", error: { code: "NOT_APPROVED" } });
    expect(existsSync(path.join(folder, "guarded.txt"))).toBe(false);
    expect(await run(["calculator"])).toMatchObject({ status: "success" });
  });

  it("tightens guardrails for a step, and never loosens them", async () => {
    const step = call("sum", { tool: "plus", arguments: { a: 1, b: 2 } });
    const blocked = await workflows.run({
      name: "g",
      steps: [{ ...step, guardrails: { blocked_tools: ["calculator.*"] } }],
    });
    expect(blocked).toMatchObject({ status: "error" });
    expect(blocked.error?.message).toMatch(/blocked/u);
    const looser = await workflows.run({ name: "g", guardrails: { enabled: false }, steps: [step] });
    expect(looser.error?.message).toMatch(/only tighten/u);
  });

  it("counts the calls of steps with guardrails of their own and of others together", async () => {
    const limits = [{ tools: ["calculator.add"], calls: 1, per: 600 }];
    const limited = await openWorkflows(configWith({ guardrails: { rateLimits: limits } }));
    onTestFinished(() => limited.dispose());
    const sum = { server: "calculator", tool: "add", arguments: { a: 1, b: 2 } };
    const { error } = await limited.run({
      name: "g",
      steps: [
        call("one", sum),
        call("other", sum, { needs: ["one"], guardrails: { max_execution_time: 20 } }),
      ],
    });
    expect(error).toMatchObject({ code: "RATE_LIMITED", message: expect.stringContaining("Step other") });
  });

  it("keeps personal values out of what it writes, and gives them to the tool that is to have them", async () => {
    const email = "ada.lovelace@example.com";
    const result = await workflows.run(
      {
        name: "mail",
        variables: { to: { type: "string" } },
        steps: [
          {
            name: "read",
            type: "code_execution",
            config: { inputs: { to: "${{ variables.to }}" }, code: "export default { to: inputs.to };" },
          },
        ],
      },
      { variables: { to: email } },
    );
    expect(result.status).toBe("success");
    const runFolder = path.join(runs, result.run);
    for (const name of ["run.json", "journal.jsonl"])
      expect(readFileSync(path.join(runFolder, name), "utf8")).not.toContain(email);
    expect(JSON.stringify(result.outputs)).not.toContain(email);
  });

  it("keeps runs where code in a step neither sees nor changes them", async () => {
    const code = `
      const found: string[] = [];
      const tried: string[] = [];
      const attempt = async (what: string, work: () => Promise<unknown>) => {
        try { await work(); tried.push(what); } catch { /* refused */ }
      };
      const walk = async (folder: string) => {
        for await (const { name, isDirectory } of Deno.readDir(folder)) {
          found.push(folder + "/" + name);
          if (isDirectory && !["servers", "skills"].includes(name)) await walk(folder + "/" + name);
        }
      };
      await walk("/workspace");
      for (const place of [inputs.runs, inputs.runs + "/" + inputs.run, "../" + inputs.run]) {
        await attempt("list " + place, () => Array.fromAsync(Deno.readDir(place)));
        await attempt("read " + place, () => Deno.readTextFile(place + "/journal.jsonl"));
        await attempt("write " + place, () => Deno.writeTextFile(place + "/journal.jsonl", "{}"));
        await attempt("link " + place, () => Deno.symlink(place, "/workspace/runs-" + found.length));
        await attempt("follow " + place, () => Deno.readTextFile("/workspace/runs-" + found.length + "/journal.jsonl"));
        await attempt("remove " + place, () => Deno.remove(place, { recursive: true }));
      }
      export default { found: found.filter((file) => /journal|run\\.json|lock/.test(file)), tried };`;
    const result = await workflows.run({
      name: "nosy",
      steps: [
        call("before", { tool: "plus", arguments: { a: 1, b: 2 } }),
        {
          name: "look",
          type: "code_execution",
          needs: ["before"],
          config: { inputs: { runs, run: "${{ run.id }}" }, code },
        },
      ],
    });
    expect(result).toMatchObject({ status: "success", outputs: { look: { found: [] } } });
    // A link is made, and leads nowhere: what it names is not there.
    const { tried } = result.outputs["look"] as { tried: string[] };
    expect(tried.filter((what) => !what.startsWith("link"))).toEqual([]);
    const { steps, status } = await workflows.show(result.run);
    expect([status, steps.map(({ step }) => step)]).toEqual(["success", ["before", "look"]]);
  });

  it.each(["workspaceDir", "mountDirectories"] as const)(
    "refuses to keep runs within %s",
    async (setting) => {
      const place = path.join(folder, "within");
      const execution =
        setting === "workspaceDir" ? {} : { mountDirectories: [path.dirname(runs)], workflowRunsDir: runs };
      const options = configWith({ execution: { workflowRunsDir: place, ...execution } });
      await expect(openWorkflows(options)).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringContaining("workflow_runs_dir") as string,
      });
    },
  );
});

describe("steps of type form", () => {
  const mail = "ada@example.org";
  const FIELDS: JsonObject[] = [
    { name: "mail", type: "email", pii: "EMAIL" },
    { name: "name", required: true, pii: "NAME" },
  ];
  /** Fills a form with a mail address, and a name where it asks for one. */
  const source = (target: JsonObject, fields = FIELDS, data: JsonObject = {}): JsonObject => ({
    name: "join",
    variables: { mail: { type: "string" } },
    steps: [
      {
        name: "fill",
        type: "form",
        config: {
          form: { name: "club", fields, target },
          data: { mail: "${{ variables.mail }}", ...data },
        },
      },
    ],
  });

  it("fill a tool, which alone gets personal values", async () => {
    const got: unknown[] = [];
    const opened = await openWorkflows({
      ...configWith(),
      tools: {
        club: {
          join: defineTool({
            description: "Adds a member.",
            input: z.object({ name: z.string(), mail: z.string() }),
            execute: async (member) => (got.push(member), { joined: member.name }),
          }),
        },
      },
    });
    try {
      const join = source({ type: "tool", tool: "club.join" }, FIELDS, { name: "Ada Lovelace" });
      const result = await opened.run(join, { variables: { mail } });
      expect(result).toMatchObject({ status: "success", outputs: { fill: { status: "success" } } });
      expect(got).toEqual([{ name: "Ada Lovelace", mail }]);
      expect(JSON.stringify(result.outputs)).not.toMatch(/Lovelace|ada@/u);
    } finally {
      await opened.dispose();
    }
  });

  it("fill a PDF file of the workspace, and say what is missing", async () => {
    copyFileSync(
      path.join(root, "packages/forms/src/testing/sample.pdf"),
      path.join(folder, "membership.pdf"),
    );
    const output = path.join(folder, "out/membership.pdf");
    const target = { type: "pdf", template: "membership.pdf", output: "out/membership.pdf" };
    // It has no field for the name.
    const withoutName = source(target, [{ name: "mail", type: "email", pii: "EMAIL" }]);
    const result = await workflows.run(withoutName, { variables: { mail } });
    expect(result).toMatchObject({
      status: "success",
      outputs: { fill: { status: "success", output, readBack: [{ field: "mail", matches: true }] } },
    });
    expect(existsSync(output)).toBe(true);
    expect(JSON.stringify(result.outputs)).not.toContain(mail);
    const missing = await workflows.run(source(target), { variables: { mail } });
    expect(missing.error).toMatchObject({
      code: "FORM_NOT_FILLED",
      message: expect.stringMatching(
        /: name is missing: Nobody could be asked: the run has no user\.$/u,
      ) as string,
    });
  });
});

describe("steps of plugins", () => {
  it("are steps like others, with what the plugin's folder brings", async () => {
    const project = path.join(folder, "project");
    mkdirSync(path.join(project, "node_modules"), { recursive: true });
    const plugin = "cem-plugin-journal";
    symlinkSync(
      path.join(root, "examples/plugins", plugin),
      path.join(project, "node_modules", plugin),
      "junction",
    );
    const options = configWith({
      plugins: [{ plugin, options: { file: path.join(runs, "../told.jsonl") } }],
    });
    const opened = await openWorkflows({ ...options, cwd: project });
    const steps = [{ name: "tell", type: "journal", config: { text: "Hello" } }];
    try {
      expect(await opened.run({ name: "tell", steps })).toMatchObject({
        status: "success",
        outputs: { tell: { written: true } },
      });
      expect(readFileSync(path.join(runs, "../told.jsonl"), "utf8")).toContain('"text":"Hello"');
    } finally {
      await opened.dispose();
    }
  });

  it("can't be named as one that there is", async () => {
    const names = ["tool_call", "code_execution", "condition", "loop", "workflow", "form"];
    const steps = names.map((name) => ({
      specificationVersion: "v1" as const,
      name,
      configSchema: {},
      run: async () => "mine",
    }));
    const taker = definePlugin({
      specificationVersion: "v1",
      name: "taker",
      version: "1.0.0",
      setup: () => ({ steps }),
    });
    const lines: string[] = [];
    const onLog = (line: string): void => void lines.push(line);
    const opened = await openWorkflows({ ...configWith(), plugins: [taker], onLog });
    await opened.dispose();
    for (const name of names)
      expect(lines).toContainEqual(
        expect.stringMatching(new RegExp(`The step ${name} of .* is left out`, "u")),
      );
  });
});

describe("createServer", () => {
  it("offers marked workflows as tools with the schema of their variables", async () => {
    const options = configWith({
      workflows: [
        {
          name: "add_up",
          description: "Adds two numbers",
          mcpTool: true,
          variables: { a: { type: "number" }, b: 2 },
          steps: [
            call("sum", {
              server: "calculator",
              tool: "add",
              arguments: { a: "${{ variables.a }}", b: "${{ variables.b }}" },
            }),
          ],
          outputs: { sum: "${{ steps.sum }}" },
        },
      ],
    });
    const server = await createServer(options);
    const running = await runServer({ server, transport: "http", port: 0 });
    const client = new Client({ name: "test", version: "1" });
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === "add_up")).toMatchObject({
        description: "Adds two numbers",
        inputSchema: { properties: { a: { type: "number" }, b: { default: 2 } }, required: ["a"] },
      });
      const told: (string | undefined)[] = [];
      const onprogress = ({ message }: { message?: string | undefined }): void => void told.push(message);
      const answer = await client.callTool({ name: "add_up", arguments: { a: 40 } }, { onprogress });
      expect(told[0]).toBe("Running the code");
      expect(answer.structuredContent).toMatchObject({ success: true, result: { sum: 42 } });
    } finally {
      await client.close();
      await running.close();
    }
  });
});
