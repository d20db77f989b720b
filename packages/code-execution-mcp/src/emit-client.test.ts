import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { emitClient, generateTools } from "./admin.ts";
import type { ServerSource } from "./admin.ts";

const { resolve } = createRequire(import.meta.url);
const everything = resolve("@modelcontextprotocol/server-everything/dist/index.js");
let folder: string;
let source: ServerSource;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), "cem-emit-"));
  source = {
    cwd: folder,
    configFile: false,
    config: {
      mcpServers: {
        everything: { command: process.execPath, args: [everything], env: { GREETING: "secret-value" } },
        remote: {
          url: "https://${REMOTE_HOST:-example.com}/mcp",
          headers: { Authorization: "Bearer ${TOKEN}", "X-Key": "secret-value" },
        },
      },
    },
  };
  await generateTools({ ...source, servers: ["everything"] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("emitClient", () => {
  it("prints a client that is typed, and that works without this project", async () => {
    const code = await emitClient("everything", source);
    expect(code).not.toContain("secret-value");
    expect(code).not.toContain("@cem");
    const project = path.join(folder, "project");
    const modules = path.join(project, "node_modules/@modelcontextprotocol");
    mkdirSync(modules, { recursive: true });
    symlinkSync(path.dirname(findPackage("@modelcontextprotocol/client")), path.join(modules, "client"));
    symlinkSync(path.dirname(findPackage("@types/node")), path.join(project, "node_modules/types-node"));
    writeFileSync(path.join(project, "package.json"), '{"type":"module"}');
    writeFileSync(path.join(project, "everything.ts"), code);
    writeFileSync(
      path.join(project, "use.ts"),
      `import { connect, ToolError } from "./everything.ts";
const client = await connect();
const echo: unknown = await client.echo({ message: "hello" });
const weather = await client.get_structured_content({ location: "Chicago" });
const temperature: number = weather.temperature;
// @ts-expect-error -- the message is a text
const refused = await client.echo({ message: 5 }).catch((error: unknown) => error instanceof ToolError);
console.log(JSON.stringify([echo, typeof temperature, refused]));
await client.close();
`,
    );
    writeFileSync(
      path.join(project, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          target: "ES2023",
          lib: ["ES2024", "ESNext.Disposable"],
          module: "NodeNext",
          skipLibCheck: true,
          verbatimModuleSyntax: true,
          erasableSyntaxOnly: true,
          noUnusedLocals: true,
          allowImportingTsExtensions: true,
          types: [path.dirname(findPackage("@types/node"))],
        },
        include: ["*.ts"],
      }),
    );
    const tsc = path.join(path.dirname(findPackage("@typescript/native")), "bin/tsc");
    execFileSync(process.execPath, [tsc, "-p", project], { stdio: "inherit" });
    const printed = execFileSync(process.execPath, [path.join(project, "use.ts")], { encoding: "utf8" });
    expect(JSON.parse(printed)).toEqual(["Echo: hello", "number", true]);
  });

  it("refuses a server that there is not, and one whose tools are unknown", async () => {
    await expect(emitClient("everythin", source)).rejects.toMatchObject({
      code: "SERVER_NOT_FOUND",
      message: expect.stringContaining("everything"),
    });
    await expect(emitClient("remote", source)).rejects.toMatchObject({ code: "TOOL_NOT_GENERATED" });
  });
});

function findPackage(name: string): string {
  for (const from of [import.meta.dirname, path.join(import.meta.dirname, "../../..")]) {
    for (let at = from; at !== path.dirname(at); at = path.dirname(at)) {
      const file = path.join(at, "node_modules", name, "package.json");
      if (existsSync(file)) return file;
    }
  }
  throw new Error(`${name} is not installed.`);
}
