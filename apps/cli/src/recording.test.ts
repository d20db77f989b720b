import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";

const SECRET = "token-4c7d02f1";
/** The host tool in the folder is one's own. */
const TRUSTED = { CEM_TRUST_FOLDER: "1" };
let cwd: string;

const TOOL = `import { defineTool } from "code-execution-mcp";

export default defineTool({
  description: "Greet somebody.",
  input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  execute: ({ name }) => \`Hello \${name}, \${process.env.GREETER_TOKEN}\`,
});
`;

beforeAll(() => {
  cwd = temporaryFolder();
  mkdirSync(path.join(cwd, "servers/greeter"), { recursive: true });
  writeFileSync(path.join(cwd, "servers/greeter/greet.host.ts"), TOOL);
  writeFileSync(
    path.join(cwd, "hello.ts"),
    `import { greet } from "./servers/greeter/index.ts";\nexport default await greet({ name: "Ada" });\n`,
  );
  writeFileSync(
    path.join(cwd, "other.ts"),
    readFileSync(path.join(cwd, "hello.ts"), "utf8").replace("Ada", "Bob"),
  );
});

describe("cem exec --record and --replay", () => {
  it("runs again from the recording, without the tool and its secret", async () => {
    const env = { ...TRUSTED, GREETER_TOKEN: SECRET };
    const recorded = await runCem(["exec", "hello.ts", "-q", "--record", "run.json"], { cwd, env });
    expect(recorded).toMatchObject({ code: 0, stdout: `Hello Ada, ${SECRET}\n` });
    const file = path.join(cwd, "run.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).not.toContain(SECRET);

    const replayed = await runCem(["exec", "hello.ts", "-q", "--replay", "run.json"], { cwd, env: TRUSTED });
    expect(replayed).toMatchObject({ code: 0, stdout: "Hello Ada, [redacted]\n" });
    const other = await runCem(["exec", "other.ts", "-q", "--replay", "run.json"], { cwd, env: TRUSTED });
    expect(other.code).toBe(1);
    expect(other.stderr.replaceAll(/\s+/g, " ")).toContain("these arguments is not in the recording");
    rmSync(file);
    const missing = await runCem(["exec", "hello.ts", "--json", "--replay", "run.json"], {
      cwd,
      env: TRUSTED,
    });
    expect(missing.code).toBe(2);
    expect(JSON.parse(missing.stdout)).toMatchObject({ error: { code: "RECORDING_UNREADABLE" } });
  });

  it("lists the tool, and refuses both options at once", async () => {
    const { stdout } = await runCem(["tools", "greeter"], { cwd, env: TRUSTED });
    expect(stdout).toContain("greet(input: { name: string })");
    const both = await runCem(["exec", "hello.ts", "--record", "a", "--replay", "b"], { cwd, env: TRUSTED });
    expect(both.code).toBe(2);
    expect(both.stderr).toContain("--replay");
  });
});
