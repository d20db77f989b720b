// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

const cem = (...args) => execFileSync("npx", ["--no-install", "cem", ...args], { encoding: "utf8" });
cem("init", ".");
assert.equal(cem("run", "--quiet", "Greet the person named Ada").trim(), "Hello, Ada!");
assert.equal(JSON.parse(cem("run", "--json", "Calculate 5 + 3")).value, 8);
const failed = spawnSync("npx", ["--no-install", "cem", "exec", "--json", "-"], {
  input: 'throw new Error("no")',
});
assert.equal(JSON.parse(failed.stdout).error.code, "CODE_THREW");

// As a client starts it: { "command": "npx", "args": ["-y", "@cem/cli", "serve"] }.
const server = spawn("npx", ["--no-install", "@cem/cli", "serve"], { stdio: ["pipe", "pipe", "inherit"] });
const answers = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
const ask = async (id, method, params) => {
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  return JSON.parse((await answers.next()).value).result;
};
const clientInfo = { name: "packed", version: "1.0.0" };
const opened = await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
assert.equal(opened.serverInfo.name, "code-execution-mcp");
assert.equal((await ask(2, "tools/list", {})).tools.length, 12);
const called = await ask(3, "tools/call", { name: "execute_code", arguments: { code: "return 6 * 7;" } });
assert.equal(called.structuredContent.result, 42);
server.stdin.end();
const [status] = await once(server, "close");
assert.equal(status, 0);

// Over HTTP the service is in a thread of its own, whose module is found beside the installed ones.
const temporary = mkdtempSync(path.join(tmpdir(), "cem-packed-http-"));
const entry = path.resolve("node_modules/@cem/cli/dist/cem.js");
const http = spawn(process.execPath, [entry, "serve", "http", "--port", "0"], {
  env: { ...process.env, TMPDIR: temporary, TEMP: temporary },
  stdio: ["ignore", "inherit", "pipe"],
});
let url;
for await (const line of createInterface({ input: http.stderr })) {
  ({ url } = JSON.parse(line));
  if (url !== undefined) break;
}
http.stderr.resume();
assert.equal(await (await fetch(new URL("/healthz", url))).text(), "ok\n");
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const post = async (id, method, params) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const response = await fetch(url, { method: "POST", headers, body });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  headers["mcp-session-id"] ??= response.headers.get("mcp-session-id");
  const json = text.startsWith("{") ? text : /^data: (\{.*)$/m.exec(text)[1];
  return JSON.parse(json).result;
};
const initialized = await post(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo,
});
assert.equal(initialized.serverInfo.name, "code-execution-mcp");
const answer = await post(2, "tools/call", { name: "execute_code", arguments: { code: "return 6 * 7;" } });
assert.equal(answer.structuredContent.result, 42);
http.kill("SIGTERM");
assert.deepEqual(await once(http, "exit"), [143, null]);
// The folder of this user's locks stays.
const left = readdirSync(temporary).filter((name) => !/^(?:node-compile-cache$|cem-locks-)/u.test(name));
assert.deepEqual(left, []);
rmSync(temporary, { recursive: true });

// Optional packages are not beside the command. It finds them where the project is, once the person trusts them there.
const project = mkdtempSync(path.join(tmpdir(), "cem-packed-project-"));
const write = (name, text) => {
  mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
  writeFileSync(path.join(project, name), text);
};
const canary = (name) => path.join(project, `${name} was loaded`);
for (const [name, exported] of [
  ["openai", "export class OpenAI {}"],
  ["playwright-core", "export const chromium = {};"],
]) {
  const code = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(canary(name))}, "");\n${exported}`;
  write(`node_modules/${name}/index.mjs`, code);
  write(
    `node_modules/${name}/package.json`,
    JSON.stringify({ name, version: "7.0.0", exports: "./index.mjs" }),
  );
}
const target = { type: "web", url: "http://127.0.0.1:9/", submit: "Send" };
write("form.json", JSON.stringify({ name: "registration", fields: [{ name: "given" }], target }));
write("ada.json", '{"given":"Ada"}');
const inProject = (...args) => {
  const env = {
    ...process.env,
    HOME: project,
    LLM_ENABLED: "true",
    OPENAI_API_KEY: "k",
    XDG_CONFIG_HOME: "",
  };
  const { stdout, stderr } = spawnSync(process.execPath, [entry, ...args], {
    cwd: project,
    env,
    encoding: "utf8",
  });
  return stdout + stderr;
};
const fill = ["form", "fill", "form.json", "--data", "ada.json", "--trial"];
assert.match(inProject("run", "Calculate 5 + 3"), /held back: package openai\./);
assert.match(inProject("doctor", "--quiet"), /^llm: warning, openai \S+ can't be asked$/m);
assert.match(
  inProject(...fill),
  /playwright-core in the folder \S+ is held back until that folder is trusted/,
);
assert.match(
  inProject("trust", "--yes"),
  /package +openai[^]*package +playwright-core|playwright-core[^]*openai/,
);
assert.deepEqual([existsSync(canary("openai")), existsSync(canary("playwright-core"))], [false, false]);
inProject("run", "Calculate 5 + 3");
assert.doesNotMatch(inProject(...fill), /playwright-core/);
assert.deepEqual([existsSync(canary("openai")), existsSync(canary("playwright-core"))], [true, true]);
rmSync(path.join(project, "node_modules"), { recursive: true });
assert.match(inProject("run", "Calculate 5 + 3"), /Install it: npm install openai@7/);
rmSync(project, { recursive: true });
