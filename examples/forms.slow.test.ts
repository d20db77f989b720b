import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { CemError } from "@cem/core";
import { fillForm, parseForm } from "@cem/forms";
import { expect, it } from "vitest";
import { parse } from "yaml";

const root = path.resolve(import.meta.dirname, "..");

it("forms are filled on paper, and on a page where a browser is there", async () => {
  const workspace = mkdtempSync(path.join(os.tmpdir(), "cem-example-"));
  const script = path.join(root, "examples/forms/make-samples.ts");
  const samples = spawn(process.execPath, [script, workspace, "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: samples.stdout })[Symbol.asyncIterator]();
  try {
    const [, url] = [await lines.next(), (await lines.next()).value as string];
    const read = (name: string) => readFileSync(path.join(root, "examples/forms", name), "utf8");
    const { name, born, membership, terms, ...others } = parse(read("ada.yaml")) as Record<string, unknown>;
    const data = { name, born, membership, terms };
    const paper = await fillForm(parseForm(read("membership-pdf.yaml")), { data, workspace });
    expect(paper).toMatchObject({ status: "success", problems: [] });
    const page = parseForm(read("membership.yaml").replace("http://127.0.0.1:8123/", url));
    const filling = fillForm(page, { data: { ...data, ...others }, workspace });
    const code = await filling.then(
      ({ status }) => status,
      (error: unknown) => (CemError.isInstance(error) ? error.code : "UNEXPECTED"),
    );
    expect(["success", "BROWSER_NOT_FOUND"]).toContain(code);
  } finally {
    samples.kill();
    await once(samples, "close");
    rmSync(workspace, { recursive: true });
  }
});
