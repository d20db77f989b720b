import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { chromium } from "playwright-core";
import { expect, it, onTestFinished, vi } from "vitest";
import { isInstalled } from "../../../vitest.tools.ts";
import { recordSpans } from "../../core/fixtures/recorded-spans.ts";
import { WRITTEN_FORMS, WRITTEN_VALUES } from "../../mcp-client/fixtures/written-forms.ts";
import { makeProject } from "../test/upstream-project.ts";
import { generateTools } from "./admin.ts";
import { runServer } from "./index.ts";

vi.setConfig({ testTimeout: 600_000 });

const fixture = fileURLToPath(new URL("../../mcp-client/fixtures/forms-server.ts", import.meta.url));
const servers = { forms: { command: process.execPath, args: ["--conditions=@cem/source", fixture] } };
const importing = 'import * as forms from "./servers/forms/index.ts";\nawait forms.plain({});\n';
const FORMS = Object.keys(WRITTEN_FORMS);

/** A text of something, with that of the blobs in it. */
function textOf(seen: unknown): string {
  const plain = typeof seen === "string" ? seen : JSON.stringify(seen);
  const blobs = [...plain.matchAll(/[A-Za-z\d+/]{40,}={0,2}/g)].map(([blob]) =>
    Buffer.from(blob, "base64").toString(),
  );
  return [plain, ...blobs].join("\n");
}

/** The values that stand in something in a form, also in blobs. */
function leaked(seen: unknown, form: string): string[] {
  const text = textOf(seen);
  const write = WRITTEN_FORMS[form] ?? String;
  return Object.values(WRITTEN_VALUES).filter((value) => {
    const written = write(value);
    return [written, JSON.stringify(written).slice(1, -1), value].some((one) => text.includes(one));
  });
}

/** Every seventh run, which is of each door and each form, takes less than a minute. */
const RENDERED = 7;

/** The runs on the console's page, as a browser shows them. */
async function pagesOf(server: URL, runs: readonly { id: string }[]): Promise<string> {
  const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    const shown: string[] = [];
    for (const { id } of runs.filter((_, at) => at % RENDERED === 0)) {
      await page.goto("about:blank");
      await page.goto(new URL(`/console/#runs/${id}`, server).href);
      await page.getByText("forms.").first().waitFor();
      shown.push(await page.content());
    }
    return shown.join("\n");
  } finally {
    await browser.close();
  }
}

it.each(["values", "tokens"] as const)("no value passes a door in any form: guest: %s", async (guest) => {
  const project = await makeProject();
  const { onLog: _onLog, ...source } = project.source(servers);
  await generateTools(project.source(servers));
  const log: string[] = [];
  const running = await runServer({
    ...source,
    expose: ["resources", "prompts"],
    config: { ...source.config, privacy: { guest } },
    log: (level, message) => void log.push(`${level} ${message}`),
    transport: "http",
    port: 0,
  });
  onTestFinished(() => running.close(0));
  const url = new URL(running.url ?? "");
  let asked: unknown[] = [];
  const connect = async (mode: "legacy" | { pin: string }): Promise<Client> => {
    const opened = new Client(
      { name: "test", version: "1.0.0" },
      { capabilities: { elicitation: { form: {} }, sampling: {} }, versionNegotiation: { mode } },
    );
    opened.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params);
      return { action: "accept" as const, content: { name: "x" } };
    });
    opened.setRequestHandler("sampling/createMessage", async ({ params }) => {
      asked.push(params);
      return { model: "test", role: "assistant", content: { type: "text", text: "x" } };
    });
    await opened.connect(new StreamableHTTPClientTransport(url));
    onTestFinished(() => opened.close());
    return opened;
  };
  const client = await connect("legacy");
  const newer = await connect({ pin: "2026-07-28" });

  const run = async (code: string, from = client): Promise<unknown[]> => {
    const progress: unknown[] = [];
    asked = [];
    const answer = await from.callTool(
      { name: "execute_code", arguments: { code: importing + code } },
      { onprogress: (one) => progress.push(one), timeout: 120_000 },
    );
    return [answer, progress, asked];
  };
  const call =
    (tool: string, from = client) =>
    (form: string) =>
      run(`return forms.${tool}({ form: ${JSON.stringify(form)} });`, from);
  const byCode = (use: string) => (form: string) =>
    run(`const write = ${String(WRITTEN_FORMS[form])};
const text = Object.values(await forms.plain({})).map((value) => write(String(value))).join("\\n");\n${use}`);
  const read = (kind: string) => (form: string) =>
    client
      .readResource({ uri: `mcp://forms/forms://${kind}/${encodeURIComponent(form)}` })
      .catch(() => client.readResource({ uri: `forms://${kind}/${encodeURIComponent(form)}` }));
  const doors: Record<string, (form: string) => Promise<unknown>> = {
    "tool: text": call("text"),
    "tool: structured": call("structured"),
    "tool: error": call("fail"),
    elicitation: call("ask"),
    sampling: call("sample"),
    "progress, logs": call("tell"),
    "newer: text": call("text", newer),
    "newer: error": call("fail", newer),
    "newer: questions": call("ask", newer),
    "newer: progress": call("tell", newer),
    "code: result": byCode("return { text };"),
    "code: console": byCode("console.log(text); return 1;"),
    "code: error": byCode("throw new Error(text);"),
    "prompts/get": (form) => client.getPrompt({ name: "forms.say", arguments: { form } }),
    "blob: csv": read("csv"),
    "blob: ndjson": read("ndjson"),
    "blob: eml": read("eml"),
    "blob: untyped": read("untyped"),
  };
  const matrix = new Map<string, Record<string, number>>();
  const note = (door: string, form: string, seen: unknown): void =>
    void matrix.set(door, { ...matrix.get(door), [form]: leaked(seen, form).length });
  await run("return 1;");
  const exported: Record<string, string> = {};
  const spans = recordSpans();
  onTestFinished(() => spans.stop());
  for (const [door, use] of Object.entries(doors)) {
    for (const form of FORMS) {
      log.length = 0;
      const seen = await use(form);
      note(door, form, seen);
      // The values came that far, with tokens in their places. What code makes of a token may be none.
      const isOfTokens = guest === "tokens" && door.startsWith("code:");
      const isSeen = isOfTokens || /\[\[[A-Z_]+:[a-z2-7]{16}\]\]/.test(textOf(seen));
      expect([door, form, isSeen]).toEqual([door, form, true]);
      exported[form] = `${exported[form] ?? ""}${spans.take()}`;
      if (door !== "progress, logs") continue;
      note("stderr in the log", form, log.join("\n"));
    }
  }
  const rest = await fetch(new URL("/api/v1/runs", url)).then((answer) => answer.text());
  const { runs } = JSON.parse(rest) as { runs: { id: string }[] };
  const pages = await Promise.all(
    runs.map(async ({ id }) => (await fetch(new URL(`/api/v1/runs/${id}`, url))).text()),
  );
  const files = readdirSync(project.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
  const rendered = isInstalled("chromium") ? await pagesOf(url, runs) : "";
  for (const form of FORMS) {
    expect(exported[form]).toContain("execute_tool");
    note("OpenTelemetry", form, exported[form]);
    note("pages, rendered", form, rendered);
    note("REST: runs", form, rest);
    note("console: a run", form, pages.join("\n"));
    note("files, records", form, files);
  }
  const lines = [...matrix].map(([door, cells]) =>
    [door.padEnd(18), ...FORMS.map((form) => String(cells[form] || "·").padStart(form.length))].join("  "),
  );
  process.stdout.write(
    `guest: ${guest}. Values of ${Object.keys(WRITTEN_VALUES).length} that passed, by door and form:\n${["".padEnd(18), ...FORMS].join("  ")}\n${lines.join("\n")}\n`,
  );
  const open = [...matrix].flatMap(([door, cells]) =>
    FORMS.filter((form) => cells[form] !== 0).map((form) => `${door}, ${form}`),
  );
  expect(open).toEqual([]);
});
