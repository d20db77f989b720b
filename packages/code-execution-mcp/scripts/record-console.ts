// Uses the console of a real server as a person would, and keeps what the browser showed: docs/public/console.svg.
//   node --conditions=@cem/source packages/code-execution-mcp/scripts/record-console.ts
import { mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";
import type { Page } from "playwright-core";
import { defineTool, runServer } from "../src/index.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const VIEW = { width: 1120, height: 700 };
const FRAME_SECONDS = 2.5;
/** The frame that is shown where pictures don't move. */
const STILL = 3;
const CODE = `import { get_forecast } from "./servers/weather/index.ts";
import { invite } from "./servers/mail/index.ts";

const days = await get_forecast({ location: "San Francisco", days: 7 });
for (const day of days) console.log(day.date, day.temperature, day.condition);
const mild = days.filter(({ temperature }) => temperature >= 12.5);
return await invite({ to: "ada@example.org", dates: mild.map(({ date }) => date) });`;

const running = await runServer({
  cwd: mkdtempSync(path.join(os.tmpdir(), "cem-record-console-")),
  transport: "http",
  port: 0,
  config: { logging: { level: "CRITICAL" }, execution: { serversDir: path.join(root, "servers") } },
  tools: {
    mail: {
      invite: defineTool({
        description: "Invite somebody to choose one of some dates.",
        annotations: { destructiveHint: true },
        input: {
          type: "object",
          properties: { to: { type: "string" }, dates: { type: "array", items: { type: "string" } } },
          required: ["to", "dates"],
        },
        execute: ({ to, dates }) => ({ sent: true, to, dates }),
      }),
    },
  },
});
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const page = await browser.newPage({ viewport: VIEW, reducedMotion: "reduce" });
  await page.goto(new URL("/console/", running.url).href);
  const frames = await record(page);
  const file = path.join(root, "docs/public/console.svg");
  writeFileSync(file, draw(frames));
  process.stdout.write(`${path.relative(process.cwd(), file)}: ${frames.length} frames\n`);
} finally {
  await browser.close();
  await running.close(0);
}

async function record(page: Page): Promise<string[]> {
  const frames: string[] = [];
  const keep = async (): Promise<void> => void frames.push(await asWebp(page));
  await page.getByText("No runs yet").waitFor();
  await keep();
  await page.getByRole("radio", { name: "Code" }).check();
  await page.getByLabel("TypeScript to run").fill(CODE);
  await keep();
  await page.getByLabel("TypeScript to run").press("Control+Enter");
  const question = page.getByRole("form", { name: "Question of" });
  await question.getByRole("radio", { name: "Yes, this once" }).check();
  await keep();
  await question.getByRole("button", { name: "Answer" }).click();
  await page.getByText("Kept out of context").waitFor();
  await keep();
  await page.getByText("answered").first().click();
  await page.getByText("answered").first().scrollIntoViewIfNeeded();
  await page.mouse.move(VIEW.width * 0.7, VIEW.height / 2);
  await page.mouse.wheel(0, VIEW.height / 2);
  await keep();
  await page.getByRole("link", { name: "Tools", exact: true }).click();
  await page.getByLabel("Search by what").fill("will it rain tomorrow");
  await page.getByRole("region", { name: "Found" }).waitFor();
  await keep();
  await page.getByRole("link", { name: "Guests", exact: true }).click();
  await page.getByText("Warm, ready for a first run").waitFor();
  await keep();
  return frames;
}

/** A screenshot of the page, in a format that takes a fourth of a PNG's room. */
async function asWebp(page: Page): Promise<string> {
  const shot = (await page.screenshot()).toString("base64");
  const blank = await browser.newPage();
  const webp = await blank.evaluate(`(async () => {
    const image = new Image();
    image.src = "data:image/png;base64,${shot}";
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.8);
  })()`);
  await blank.close();
  return String(webp);
}

function draw(frames: readonly string[]): string {
  const { width, height } = VIEW;
  const share = 100 / frames.length;
  const images = frames.map(
    (frame, at) =>
      `<image class="frame${at === STILL ? " still" : ""}" width="${width}" height="${height}" href="${frame}" style="animation-delay:${at * FRAME_SECONDS}s"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>The console: code is written, asks before it sends a mail, and shows its result and its calls</title>
<style>
.frame { visibility: hidden; animation: show ${frames.length * FRAME_SECONDS}s step-end infinite }
@keyframes show { 0% { visibility: visible } ${share.toFixed(2)}% { visibility: hidden } }
@media (prefers-reduced-motion: reduce) { .frame { animation: none } .still { visibility: visible } }
</style>
${images.join("\n")}
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" fill="none" stroke="#8886"/>
</svg>
`;
}
