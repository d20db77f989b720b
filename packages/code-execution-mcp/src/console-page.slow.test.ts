import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import axe from "axe-core";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { createCustomerFolders } from "@cem/workspace";
import { startRedis } from "../../store/test/redis-server.ts";
import { defineTool, runServer, runWorker } from "./index.ts";
import type { ConfigInput, RunningServer } from "./index.ts";
import { compareInPage } from "../test/compare-pictures.ts";
import { describeWith, isInstalled } from "../../../vitest.tools.ts";

const BROWSER = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
const TOKEN = "a-token-that-is-long-enough";
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;
/** A form with each kind of choice that MCP has, and with defaults. */
const CHOICES = {
  type: "object",
  properties: {
    plan: {
      type: "string",
      title: "Plan",
      description: "You can change it later.",
      oneOf: [
        { const: "p1", title: "Free" },
        { const: "p2", title: "Professional" },
      ],
    },
    level: { type: "string", enum: ["a", "b"], enumNames: ["Alpha", "Beta"], default: "b" },
    days: {
      type: "array",
      title: "Days",
      items: { type: "string", enum: ["mo", "tu", "we"] },
      default: ["tu"],
    },
    hours: { type: "array", title: "Hours", items: { anyOf: [{ const: "8", title: "Eight" }] } },
    none: { type: "array", title: "None", items: { type: "string", enum: ["one"] } },
    name: { type: "string", title: "Name", default: "Ada" },
    age: { type: "integer", title: "Age", default: 7 },
    news: { type: "boolean", title: "News", description: "Once a week." },
    terms: {
      type: "boolean",
      oneOf: [
        { const: true, title: "Agreed" },
        { const: false, title: "Not yet" },
      ],
    },
    floor: { enum: [1, 2], default: 2 },
    notes: { type: "array", title: "Notes", items: { type: "string" } },
  },
  required: ["plan", "hours", "none"],
};
/** Where pictures are put, to be looked at. */
const pictures = process.env["CEM_CONSOLE_PICTURES"];

/** The looks that are compared with pictures of before, in a quarter of their size. Remove a picture to take it anew. */
const COMPARED = new Set(["sign-in", "empty", "workflows", "guests", "customers", "queue"]);
const BASELINES = path.resolve(import.meta.dirname, "../test/console-pictures");
const SCALE = 4;
/** Of the pixels, those that may differ: times and figures, and edges of letters. */
const MAX_DIFFERENT_SHARE = 0.03;
const MAX_CHANNEL_DIFFERENCE = 40;

const WIDE = { width: 1280, height: 800 };

let running: RunningServer;
let browser: Browser;
let page: Page;
/** Where pictures are compared. */
let blank: Page;
let isOpen = false;
const problems: string[] = [];

function newFolder(): string {
  return mkdtempSync(path.join(os.tmpdir(), "cem-console-page-"));
}

function serve(cwd: string, config: ConfigInput = {}): Promise<RunningServer> {
  return runServer({
    cwd,
    transport: "http",
    port: 0,
    config: { logging: { level: "CRITICAL" }, server: { authToken: TOKEN }, ...config },
    tools: {
      crm: {
        remove: defineTool({
          description: `Remove a contact. ${HOSTILE}`,
          annotations: { destructiveHint: true },
          input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
          execute: () => ({ removed: `${HOSTILE}\u202E`, mail: "ada@example.org" }),
        }),
        choose: defineTool({
          description: "Asks for a plan.",
          input: { type: "object", properties: {} },
          execute: async (_, { elicit }) =>
            (await elicit({ mode: "form", message: "Which?", requestedSchema: CHOICES })).action,
        }),
      },
    },
  });
}

/** Opens a view of a server as who has signed in. */
async function open(view: string, { url } = running): Promise<void> {
  const address = new URL("/console/", url).href;
  if (!page.url().startsWith(address)) {
    await page.goto(address);
    await page.evaluate(`sessionStorage.setItem("cem-console-token", ${JSON.stringify(TOKEN)})`);
    await page.reload();
  }
  await page.locator("nav").getByRole("link", { name: view, exact: true }).click();
}

/** It broke none of its own rules, and ran nothing that a tool returned. */
function checkHarmless(title: string): void {
  expect(problems.splice(0)).toEqual([]);
  expect(title).toContain("Console");
}

async function runCode(code: string): Promise<void> {
  await page.getByRole("radio", { name: "Code" }).check();
  await page.getByLabel("TypeScript to run").fill(code);
  await page.keyboard.press("Control+Enter");
}

describeWith("chromium")("the console's page", () => {
  const folder = newFolder();
  beforeAll(async () => {
    running = await serve(folder, {
      customers: { quotas: [{ per: "hour", runs: 100 }] },
      workflows: [
        {
          name: "greet",
          description: "Greets twice.",
          mcpTool: true,
          steps: [
            { name: "first", type: "code_execution", config: { code: "return 1;" } },
            { name: "second", type: "code_execution", needs: ["first"], config: { code: "return 2;" } },
          ],
        },
      ],
    });
    browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
    blank = await browser.newPage();
  });
  afterAll(async () => {
    await browser?.close();
    await running?.close(0);
  });
  // Each test begins where none was before, so that it can be tried again by itself; a failed one leaves no page behind.
  beforeEach(async () => {
    if (isOpen) return;
    isOpen = true;
    page = await browser.newPage({ viewport: WIDE });
    page.setDefaultTimeout(60_000);
    page.on("console", (message) => {
      // Chromium says so itself where a request is refused, nothing is there, or no server answers.
      if (message.type() === "error" && !/40[0134]|net::ERR_/.test(message.text()))
        problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
  });
  afterEach(async ({ task }) => {
    const title = await page.title();
    if (task.result?.state === "fail") {
      isOpen = false;
      await page.close();
    }
    checkHarmless(title);
  });

  it("asks for the token, says where it is refused, and what to do first", async () => {
    const fresh = await serve(newFolder());
    onTestFinished(() => fresh.close(0));
    await page.goto(new URL("/console", fresh.url).href);
    const field = page.getByLabel("Access token");
    await look("sign-in");
    await field.fill("not-the-token-of-this-server");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("does not accept").waitFor();
    await field.fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.getByText("No runs yet").waitFor();
    expect(await page.getByRole("button", { name: "Sign out" }).count()).toBe(1);
    await look("empty");
    await open("Runs");
  });

  it("runs code, has a call approved, and shows its result as text, by keyboard alone", async () => {
    await open("Runs");
    await page.getByRole("radio", { name: "Code" }).focus();
    await page.keyboard.press("Space");
    await page.getByLabel("TypeScript to run").focus();
    await page.keyboard.insertText(
      `import { remove } from "./servers/crm/index.ts";\nconsole.log("asking");\nreturn await remove({ id: "c    1" });`,
    );
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const question = page.getByRole("form", { name: "Question of" });
    await question.waitFor();
    await page.locator("nav").getByText("waiting for an answer").waitFor();
    expect(await question.getByRole("alert").innerText()).toContain('"c    1"');
    await look("asking");
    await question.getByRole("radio", { name: "Yes, this once" }).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    const result = page.getByRole("region", { name: "Result" });
    await result.waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("details-title");
    expect(await result.textContent()).toContain("<script>");
    expect(await result.textContent()).toContain("<U+202E>");
    expect(await result.textContent()).not.toContain("ada@example.org");
    expect(await result.locator("mark").textContent()).toBe("email");
    await page.getByText("Kept out of context").waitFor();
    await page.getByText("answered").first().click();
    await page.getByRole("region", { name: "answered" }).getByText("removed").waitFor();
    await look("finished");
  });

  it("shows what code prints while it runs, starts code by Ctrl+Enter, and runs it again", async () => {
    await open("Runs");
    await runCode(
      `// Counts slowly.\nfor (let at = 1; at <= 3; at += 1) {\n  console.log("at", at);\n  await new Promise((go) => setTimeout(go, at === 3 ? 60_000 : 100));\n}`,
    );
    const output = page.getByRole("region", { name: "Output" });
    await output.getByText("at 2").waitFor();
    expect(await page.getByRole("button", { name: "End this run" }).count()).toBe(1);
    expect(await page.getByRole("region", { name: "Code" }).locator(".is-keyword").count()).toBeGreaterThan(
      0,
    );
    await page.getByRole("heading", { name: "for (let at = 1; at <= 3; at += 1) {" }).waitFor();
    await look("streaming");
    await page.getByRole("button", { name: "End this run" }).click();
    const first = page.url();
    await page.getByRole("button", { name: "Run again" }).click();
    await page.getByRole("button", { name: "End this run" }).click();
    expect(page.url()).not.toBe(first);
  });

  it("offers the choices of a question by their titles, and its defaults", async () => {
    await open("Runs");
    await runCode(`import { choose } from "./servers/crm/index.ts";\nreturn await choose({});`);
    const question = page.getByRole("form", { name: "Question of" });
    await question.getByRole("radio", { name: "Professional" }).check();
    await question.getByText("You can change it later.").waitFor();
    await question.getByText("Once a week.").waitFor();
    expect(await question.getByRole("radio", { name: "Beta" }).isChecked()).toBe(true);
    await question.getByRole("checkbox", { name: "we", exact: true }).check();
    await question.getByRole("checkbox", { name: "Eight" }).check();
    await question.getByRole("radio", { name: "Not yet" }).check();
    await look("choices");
    const sent = page.waitForRequest(/\/questions\//);
    await question.getByRole("button", { name: "Answer" }).click();
    expect((await sent).postDataJSON()).toEqual({
      action: "accept",
      content: {
        plan: "p2",
        level: "b",
        days: ["tu", "we"],
        hours: ["8"],
        none: [],
        name: "Ada",
        age: 7,
        news: false,
        terms: false,
        floor: 2,
      },
    });
    await page.getByRole("region", { name: "Result" }).getByText("accept").waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("details-title");
  });

  it("runs nothing again of which it has a part only", async () => {
    await open("Runs");
    await runCode(`return "whole";\n// ${"x".repeat(70_000)}`);
    await page.getByText("too long to be kept whole").waitFor();
    await page.getByText("The rest is cut.").waitFor();
    expect(await page.getByRole("button", { name: "Run again" }).count()).toBe(0);
  });

  it("says why the server refuses it, where that is not the token", async () => {
    const several = await serve(newFolder(), {
      server: { authToken: TOKEN, trustedProxies: ["127.0.0.1"] },
      customers: { header: "x-customer" },
    });
    onTestFinished(() => several.close(0));
    await open("Runs", several);
    await page.getByRole("alert").getByText("does not say which customer").first().waitFor();
    expect(await page.getByLabel("Access token").count()).toBe(0);
    await open("Runs");
  });

  it("says that the server can't be reached, and keeps the focus of who answers", async () => {
    const gone = await serve(newFolder());
    onTestFinished(() => gone.close(0));
    await open("Runs", gone);
    await runCode(`import { choose } from "./servers/crm/index.ts";\nreturn await choose({});`);
    const decline = page.getByRole("button", { name: "Decline" });
    await decline.waitFor();
    await gone.close(0);
    await decline.click();
    await page.getByRole("form").getByText("The server can't be reached.").waitFor();
    expect(await decline.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
    await open("Runs");
  });

  it("says of addresses that nothing is there", async () => {
    await open("Runs");
    for (const hash of ["#nowhere", "#runs/%E0%A4%A", "#runs/none", "#workflows/run:none"]) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page
        .getByText(/has no page at|No run|no run/)
        .first()
        .waitFor();
      expect(await page.getByRole("heading", { level: 1 }).count()).toBeGreaterThan(0);
      if (["#nowhere", "#runs/none"].includes(hash)) await look(`not-found-${hash.replaceAll(/\W+/gu, "")}`);
    }
  });

  it("finds runs by their status and their text", async () => {
    await open("Runs");
    await runCode(`return "a needle";`);
    await page.getByRole("region", { name: "Result" }).waitFor();
    await page.getByLabel("Find runs").fill("needle");
    await page
      .getByRole("status")
      .getByText(/^\d runs?$/u)
      .waitFor();
    await page.getByLabel("Status of runs").selectOption("error");
    await page.getByRole("status").getByText("No run is like that.").waitFor();
    expect(await page.locator(".runs a").count()).toBe(0);
    await look("filtered");
    await page.getByLabel("Status of runs").selectOption("");
    await page.getByLabel("Find runs").fill("");
    await page.locator(".runs a").first().waitFor();
  });

  it("lists and finds tools", async () => {
    await open("Tools");
    await page.getByText("crm.remove").waitFor();
    await page.getByLabel("Search by what").fill("delete a contact");
    await page.getByRole("region", { name: "Found" }).getByText("crm.remove").waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    await look("tools");
  });

  it("draws workflows", async () => {
    await open("Workflows");
    await page.getByText("None yet. Start one").waitFor();
    await page.getByRole("link", { name: /greet/ }).click();
    await expect.poll(() => page.getByText("code  after first").isVisible()).toBe(true);
    await page.getByRole("img", { name: "first; second after first." }).waitFor();
    await look("workflows");
  });

  it("shows sessions with what a model is told of them, and counts guests", async () => {
    await open("Runs");
    await runCode("return 1;");
    await page.getByRole("region", { name: "Result" }).waitFor();
    await open("Sessions");
    await page
      .getByRole("link", { name: /session_001/ })
      .first()
      .click();
    await expect.poll(() => page.getByRole("region", { name: "Recap" }).isVisible()).toBe(true);
    await look("sessions");
    await open("Guests");
    await page.getByText("Warm, ready for a first run").waitFor();
    await look("guests");
  });

  it("deletes a customer once the id is written again, by keyboard alone", async () => {
    const customers = createCustomerFolders(path.join(folder, "workspaces"));
    for (const id of ["ada", "bob"]) await customers.open(id);
    await open("Customers");
    const button = page.getByRole("button", { name: "Delete ada" });
    await button.focus();
    await look("customers");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByLabel("Write the id once more").focus();
    await page.keyboard.type("bob");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing was removed").waitFor();
    await look("customer-delete");
    await page.getByRole("dialog").getByLabel("Write the id once more").fill("ada");
    await page.keyboard.press("Enter");
    await button.waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "Delete bob" }).count()).toBe(1);
  });

  it.each([
    ["Skills", "No skills yet"],
    ["State", "Nothing is kept here"],
    ["Queue", "No queue here"],
  ])("says what to do where there are no %s", async (view, words) => {
    await open(view);
    await page.getByText(words).waitFor();
    expect(await page.title()).toContain(view);
    await look(`no-${view.toLowerCase()}`);
  });

  it.skipIf(!isInstalled("redis-server"))(
    "shows what waits for a worker, and how the queue keeps up",
    async () => {
      const redis = await startRedis();
      const [cwd, config] = [newFolder(), { queue: { url: redis.url } }] as const;
      const queued = await serve(cwd, config);
      onTestFinished(async () => {
        await queued.close(0);
        await redis.stop();
      });
      await open("Runs", queued);
      await runCode("return 1;");
      await page.getByText("no worker takes runs").first().waitFor();
      await page.locator(".runs .status.waiting").waitFor();
      await open("Queue", queued);
      await page.getByRole("alert").getByText("No worker takes runs.").waitFor();
      await page.getByText("1 waiting").waitFor();
      await look("queue");
      const worker = await runWorker({ cwd, config: { ...config, logging: { level: "CRITICAL" } } });
      onTestFinished(() => worker.close());
      await page.getByText("nothing waits").waitFor();
      await page.getByText("1, 0 running now").waitFor();
      await open("Runs", queued);
      const ended = page.locator(".runs a", { hasText: "return 1" });
      await expect.poll(() => ended.getByText("success").isVisible()).toBe(true);
      await worker.close();
      const execution = { sandboxType: "kubernetes" };
      const broken = await runWorker({
        cwd,
        config: { ...config, execution, logging: { level: "CRITICAL" } },
      });
      onTestFinished(() => broken.close());
      await runCode("return 2;");
      await page.locator(".runs .status.error").waitFor();
      await open("Queue", queued);
      await page.getByText("Not executed (1)").waitFor();
      await page.getByText(/cem queue retry \S+/u).waitFor();
      await look("queue-error");
      await open("Runs");
    },
  );
});

/**
 * Checks that nothing is cut in light and dark, wide and narrow. Accessibility is checked once for each colour scheme and
 * once for each width: what depends on one does not depend on the other.
 */
async function look(name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of [WIDE.width, 390, 320]) {
      await page.setViewportSize({ ...WIDE, width });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      if (width === 320) continue;
      const isWide = width === WIDE.width;
      if (isWide === (colorScheme === "light")) await checkAccessibility(`${name} ${colorScheme} ${width}`);
      if (COMPARED.has(name)) await compare(`${name}-${colorScheme}-${width}`);
      if (pictures !== undefined)
        await page.screenshot({ path: path.join(pictures, `${name}-${colorScheme}-${width}.png`) });
    }
  }
  await page.setViewportSize(WIDE);
}

async function checkAccessibility(shown: string): Promise<void> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run({ resultTypes: ["violations"] })`);
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  expect([shown, ...found]).toEqual([shown]);
}

/** Compares what the page looks like with its picture of before, which is written where there is none. */
async function compare(name: string): Promise<void> {
  const times = page.getByText(/ at work |^Since |waiting$/);
  const shot = await page.screenshot({ mask: [times, page.locator(".chart strong, .grid dd")] });
  const file = path.join(BASELINES, `${name}.png`);
  const before = existsSync(file) ? readFileSync(file).toString("base64") : undefined;
  const { small, different } = await blank.evaluate(compareInPage, {
    shot: shot.toString("base64"),
    before,
    scale: SCALE,
    most: MAX_CHANNEL_DIFFERENCE,
  });
  if (before === undefined) {
    mkdirSync(BASELINES, { recursive: true });
    writeFileSync(file, Buffer.from(small, "base64"));
  }
  expect(different, `${name} differs from ${file}`).toBeLessThanOrEqual(MAX_DIFFERENT_SHARE);
}
