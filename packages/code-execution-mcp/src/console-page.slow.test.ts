import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createCustomerFolders } from "@cem/workspace";
import { defineTool, runServer } from "./index.ts";
import type { RunningServer } from "./index.ts";
import { compareInPage } from "../test/compare-pictures.ts";
import { describeWith } from "../../../vitest.tools.ts";

const BROWSER = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
const TOKEN = "a-token-that-is-long-enough";
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;
/** Where pictures are put, to be looked at. */
const pictures = process.env["CEM_CONSOLE_PICTURES"];

/** The looks that are compared with pictures of before, in a quarter of their size. Remove a picture to take it anew. */
const COMPARED = new Set(["sign-in", "empty", "workflows", "guests", "customers"]);
const BASELINES = path.resolve(import.meta.dirname, "../test/console-pictures");
const SCALE = 4;
/** Of the pixels, those that may differ: times and figures, and edges of letters. */
const MAX_DIFFERENT_SHARE = 0.03;
const MAX_CHANNEL_DIFFERENCE = 40;

let running: RunningServer;
let browser: Browser;
let page: Page;
const problems: string[] = [];

describeWith("chromium")("the console's page", () => {
  beforeAll(async () => {
    const cwd = mkdtempSync(path.join(os.tmpdir(), "cem-console-page-"));
    const customers = createCustomerFolders(path.join(cwd, "workspaces"));
    for (const id of ["ada", "bob"]) await customers.open(id);
    running = await runServer({
      cwd,
      transport: "http",
      port: 0,
      config: {
        logging: { level: "CRITICAL" },
        server: { authToken: TOKEN },
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
      },
      tools: {
        crm: {
          remove: defineTool({
            description: `Remove a contact. ${HOSTILE}`,
            annotations: { destructiveHint: true },
            input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
            execute: () => ({ removed: HOSTILE, mail: "ada@example.org" }),
          }),
        },
      },
    });
    browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("console", (message) => {
      // Chromium says so itself where a token is refused, or nothing is there.
      if (message.type() === "error" && !/40[014]/.test(message.text())) problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(new URL("/console", running.url).href);
  });
  afterAll(async () => {
    await browser?.close();
    await running?.close(0);
  });

  const open = (view: string) => page.locator("nav").getByRole("link", { name: view }).click();

  it("asks for the token, and says where it is refused", async () => {
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
  });

  it("runs code, has a call approved, and shows its result as text, by keyboard alone", async () => {
    await page.getByRole("radio", { name: "Code" }).focus();
    await page.keyboard.press("Space");
    await page.getByLabel("TypeScript to run").focus();
    await page.keyboard.insertText(
      `import { remove } from "./servers/crm/index.ts";\nconsole.log("asking");\nreturn await remove({ id: "c1" });`,
    );
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const question = page.getByRole("form", { name: "Question of" });
    await question.waitFor();
    await page.locator("nav").getByText("waiting for an answer").waitFor();
    await look("asking");
    await question.getByRole("radio", { name: "Yes, this once" }).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    const result = page.getByRole("region", { name: "Result" });
    await result.waitFor();
    expect(await result.textContent()).toContain("<script>");
    expect(await result.textContent()).not.toContain("ada@example.org");
    expect(await result.locator("mark").textContent()).toBe("email");
    await page.getByText("Kept out of context").waitFor();
    await look("finished");
  });

  it("shows what code prints while it runs, starts code by Ctrl+Enter, and runs it again", async () => {
    await open("Runs");
    await page.getByRole("radio", { name: "Code" }).check();
    await page
      .getByLabel("TypeScript to run")
      .fill(
        `// Counts slowly.\nfor (let at = 1; at <= 3; at += 1) {\n  console.log("at", at);\n  await new Promise((go) => setTimeout(go, at === 3 ? 60_000 : 100));\n}`,
      );
    await page.keyboard.press("Control+Enter");
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

  it.each(["#nowhere", "#runs/%E0%A4%A", "#runs/none", "#workflows/run:none"])(
    "says of the address %s that nothing is there",
    async (hash) => {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page
        .getByText(/has no page at|No run|no run/)
        .first()
        .waitFor();
      expect(await page.getByRole("heading", { level: 1 }).count()).toBeGreaterThan(0);
      await look(`not-found-${hash.replaceAll(/\W+/gu, "")}`);
    },
  );

  it("finds runs by their status and their text", async () => {
    await open("Runs");
    await page.getByLabel("Find runs").fill("CRM");
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

  it("shows what calls were given and answered", async () => {
    await open("Runs");
    await page.locator(".runs a", { hasText: "asking" }).first().click();
    await page.getByText("answered").first().click();
    await expect
      .poll(() => page.getByRole("region", { name: "answered" }).getByText("removed").isVisible())
      .toBe(true);
    await look("call");
  });

  it("draws workflows", async () => {
    await open("Workflows");
    await page.getByText("None yet. Start one").waitFor();
    await page.getByRole("link", { name: /greet/ }).click();
    await expect.poll(() => page.getByText("code  after first").isVisible()).toBe(true);
    await page.getByRole("img", { name: "first; second after first." }).waitFor();
    await look("workflows");
  });

  it("shows sessions with what a model is told of them", async () => {
    await open("Sessions");
    await page.getByRole("link", { name: /session_001/ }).click();
    await expect.poll(() => page.getByRole("region", { name: "Recap" }).isVisible()).toBe(true);
    await look("sessions");
  });

  it("counts guests", async () => {
    await open("Guests");
    await expect.poll(() => page.getByText("Warm, ready for a first run").isVisible()).toBe(true);
    await look("guests");
  });

  it("deletes a customer once the id is written again, by keyboard alone", async () => {
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
  ])("says what to do where there are no %s", async (view, words) => {
    await open(view);
    await page.getByText(words).waitFor();
    expect(await page.title()).toContain(view);
    await look(view.toLowerCase());
  });

  it("broke none of its own rules, and ran nothing that a tool returned", async () => {
    expect(problems).toEqual([]);
    expect(await page.title()).toContain("Console");
  });
});

/** Checks accessibility, and that nothing is cut, in light and dark, wide and narrow. */
async function look(name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of [1280, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      if (width === 320) continue;
      // The page's policy keeps scripts of others out, so the check is not run in frames.
      const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      expect([name, colorScheme, width, ...found]).toEqual([name, colorScheme, width]);
      if (COMPARED.has(name)) await compare(`${name}-${colorScheme}-${width}`);
      if (pictures !== undefined)
        await page.screenshot({ path: path.join(pictures, `${name}-${colorScheme}-${width}.png`) });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** Compares what the page looks like with its picture of before, which is written where there is none. */
async function compare(name: string): Promise<void> {
  const times = page.getByText(/ at work |^Since /);
  const shot = await page.screenshot({ mask: [times, page.locator(".chart strong, .grid dd")] });
  const file = path.join(BASELINES, `${name}.png`);
  const before = existsSync(file) ? readFileSync(file).toString("base64") : undefined;
  const blank = await browser.newPage();
  try {
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
  } finally {
    await blank.close();
  }
}
