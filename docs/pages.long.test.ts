import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startChatServer } from "../packages/codegen/fixtures/chat-server.ts";
import type { ChatServer } from "../packages/codegen/fixtures/chat-server.ts";
import { modelThatRuns } from "../packages/ai/fixtures/shop.ts";
import { blocksOf, fileNameOf } from "./scripts/blocks.ts";

const folder = path.resolve(import.meta.dirname, ".cem/pages");
const PAGES = ["express", "fastify", "nextjs", "one-agent-per-customer"];
const QUESTION = { question: "What is six times seven?", user: "ada" };

let model: ChatServer | undefined;
const children: ChildProcess[] = [];

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  for (const page of PAGES) {
    for (const block of blocksOf(`docs/how-to/${page}.md`).filter(({ language }) => language === "ts")) {
      const file = path.join(folder, page, fileNameOf(block));
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, block.code);
    }
  }
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await model?.close();
  model = undefined;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a module of a page in a process of its own. */
async function start(file: string): Promise<ChildProcess> {
  model = await modelThatRuns("return 6 * 7;");
  const child = spawn(process.execPath, ["--conditions=@cem/source", path.join(folder, file)], {
    cwd: path.dirname(path.join(folder, file)),
    env: { ...process.env, PORT: "0", OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${model.origin}/v1` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  return child;
}

/** Resolves to what the process prints, once it matches. */
async function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    text += String(chunk);
    const [, found] = pattern.exec(text) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error(`It ended after printing: ${text}`);
}

describe("the code of the pages", () => {
  it.each(["express", "fastify"])("answers a question, with %s", async (page) => {
    const port = await printed(await start(`${page}/server.ts`), /Listening on port (\d+)/u);
    const response = await fetch(`http://localhost:${port}/ask`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(QUESTION),
    });
    expect(await response.json()).toEqual({ text: "Done." });
    expect(JSON.stringify(model?.requests[1]?.body.input)).toContain('\\"result\\":42');
  });

  it("answers a question, as a route of Next.js", async () => {
    const route = pathToFileURL(path.join(folder, "nextjs/app/api/ask/route.ts"));
    writeFileSync(
      path.join(folder, "nextjs/main.ts"),
      `import { registerHooks } from "node:module";
// Next.js finds a module without its ending.
registerHooks({ resolve: (name, context, next) => next(name.endsWith("/lib/agent") ? name + ".ts" : name, context) });
const { POST } = await import(${JSON.stringify(route)});
const request = new Request("http://localhost/api/ask", { method: "POST", body: ${JSON.stringify(JSON.stringify(QUESTION))} });
const answer = await POST(request);
console.log(\`answer: \${await answer.text()}\`);
const { agent } = await import("./lib/agent.ts");
await agent.dispose();
`,
    );
    expect(await printed(await start("nextjs/main.ts"), /answer: (.*)\n/u)).toBe("Done.");
    expect(JSON.stringify(model?.requests[1]?.body.messages)).toContain('\\"result\\":42');
  });

  it("has Azure asked as Azure wants it", async () => {
    const page = blocksOf("docs/how-to/language-model.md");
    const { code = "" } = page.find((block) => block.code.includes("azure_deployment_name")) ?? {};
    model = await startChatServer({ replies: [{ text: "```ts\nexport default 6 * 7;\n```" }] });
    const cwd = path.join(folder, "azure");
    mkdirSync(cwd, { recursive: true });
    writeFileSync(path.join(cwd, "config.yaml"), code);
    const cem = path.join(import.meta.dirname, "../apps/cli/src/cem.ts");
    const words = ["--conditions=@cem/source", cem, "run", "--json", "What is six times seven?"];
    const child = spawn(process.execPath, words, {
      cwd,
      env: {
        PATH: process.env["PATH"],
        HOME: cwd,
        CEM_TRUST_FOLDER: "1",
        AZURE_OPENAI_API_KEY: "0123456789abcdef0123456789abcdef",
        AZURE_OPENAI_ENDPOINT: model.origin,
        OPENAI_API_KEY: "sk-not-for-azure-0123456789abcdef",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    const result = JSON.parse(await printed(child, /^(\{.*\})\n$/su)) as object;
    expect(result).toMatchObject({ status: "success", value: 42, origin: "llm" });
    const [asked] = model.requests;
    expect(asked?.path).toBe("/openai/deployments/my-gpt-4o-mini/chat/completions?api-version=2024-10-21");
    expect(asked?.headers["api-key"]).toBe("0123456789abcdef0123456789abcdef");
    expect(JSON.stringify(asked?.headers)).not.toContain("not-for-azure");
  });

  it("keeps customers apart", async () => {
    expect(await printed(await start("one-agent-per-customer/main.ts"), /(.*)\n/u)).toBe("secret error");
  });
});
